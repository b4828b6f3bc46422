"""Judging an agent: a check that it plays at all, then the games against the opponents, which make its score."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from pttt_ooc.course.agents.settings import AgentSettings
from pttt_ooc.course.agents.walled_agent import WalledAgent
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.matches.agent_processes import LocalAgent
from pttt_ooc.other_games.arena.matches.referee import PlayedGame, play
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import BotProgram

_FILE = "file"  # how a match's settings name a team's agent
_CHECKED = 2  # games of the check: the agent begins one of them
_LONGEST = 300  # characters of a forfeit that are kept


@dataclass
class Verdict:
    """What the games say about an agent; the columns of :class:`~pttt_ooc.course.data.agents_tables.Agent`."""

    accepted: bool
    message: str = ""
    detail: str = ""
    printed: str = ""
    score: float | None = None
    results: list[dict[str, Any]] = field(default_factory=list)
    load_seconds: float = 0.0
    slowest: float = 0.0


def judge(
    program: BotProgram,
    settings: AgentSettings,
    conditions: Conditions,
    tell: Callable[[float], None] = lambda share: None,
    stopping: threading.Event | None = None,
) -> Verdict:
    """Check an agent by a game as each side against random moves; if it makes no fault, play against the opponents.

    A fault in the check rejects the file; a later fault loses one game and nothing else.

    Parameters
    ----------
    conditions
        How agents are run, and on which core.
    tell
        Called with the share of the games that are played.
    stopping
        Breaks the judgement off when it is set.

    Raises
    ------
    StoppedError
        If `stopping` was set.
    ExtremeError
        If agents cannot be run on this machine as the conditions say.
    """
    played = game(settings.game)
    with closing(WalledAgent(played, program, conditions, stopping)) as agent:
        rejected = _check(settings, agent)
        printed, found = agent.printed, Verdict(rejected is None)
        if rejected is not None:
            found.message, found.detail = rejected
        else:
            _measure(settings, agent, found, tell)
        found.printed = printed
        found.load_seconds, found.slowest = round(agent.load_seconds, 6), round(agent.slowest, 6)
    return found


def _match(settings: AgentSettings, opponent: str, games: int) -> Match:
    return Match(settings.game, (_FILE, opponent), games, settings.seed, "both", opening=settings.opening)


def _check(settings: AgentSettings, agent: WalledAgent) -> tuple[str, str] | None:
    """The message and the detail of a fault; None if there is none."""
    match = Match(settings.game, (_FILE, "random"), _CHECKED, settings.seed, "both")
    played = game(settings.game)
    with closing(LocalAgent(played, "random")) as other:
        for number in range(_CHECKED):
            one = play(match, played, (agent, other), number)  # type: ignore[arg-type]
            if one.forfeit:
                agent.close()
                return agent.forfeit or ("INVALID MOVE", f"{one.forfeit[:1].upper()}{one.forfeit[1:]}")
    agent.close()
    return None


def _measure(settings: AgentSettings, agent: WalledAgent, found: Verdict, tell: Callable[[float], None]) -> None:
    played, points, done = game(settings.game), 0.0, 0
    for opponent in settings.opponents:
        match = _match(settings, opponent, settings.games)
        with closing(LocalAgent(played, opponent)) as other:
            games = []
            for number in range(settings.games):
                tell(done / (settings.games * len(settings.opponents)))
                games.append(play(match, played, (agent, other), number))  # type: ignore[arg-type]
                done += 1
        result = _result(games)
        found.results.append({"opponent": opponent, **result})
        points += result["wins"] + result["draws"] / 2
    found.score = points / done


def _result(games: list[PlayedGame]) -> dict[str, Any]:
    winners = [one.winner for one in games]
    lost = [one.forfeit for one in games if one.forfeit and one.winner == 1]
    counts = {"wins": winners.count(0), "draws": winners.count(2), "losses": winners.count(1)}
    return {**counts, "forfeits": len(lost), "forfeit": lost[0][:_LONGEST] if lost else ""}


def meet(
    programs: tuple[BotProgram, BotProgram],
    settings: AgentSettings,
    conditions: Conditions,
    stopping: threading.Event | None = None,
) -> dict[str, int]:
    """Let two teams' agents play; returns the first one's wins, draws and losses, and how many games a fault ended.

    Raises
    ------
    StoppedError, ExtremeError
        As in :func:`judge`.
    """
    played = game(settings.game)
    match = _match(settings, _FILE, settings.league)
    first, second = (WalledAgent(played, program, conditions, stopping) for program in programs)
    with closing(first), closing(second):
        games = [play(match, played, (first, second), n) for n in range(settings.league)]  # type: ignore[arg-type]
    winners = [one.winner for one in games]
    counts = {"wins": winners.count(0), "draws": winners.count(2), "losses": winners.count(1)}
    return {**counts, "forfeits": sum(bool(one.forfeit) for one in games)}
