"""The check of a bot that is handed in: does it load and play ten moves, or whole games to settle its version?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pttt_ooc.other_games.extreme.analysis import after
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import NAMES, BotProgram, read_program
from pttt_ooc.other_games.extreme.bot_version import (
    FEW,
    LONG,
    Tell,
    breaches_of,
    has_forfeited,
    settle_version,
    trial_games,
    warnings_about,
)
from pttt_ooc.other_games.extreme.hard_positions import SLOW, HardPosition, Trial, hard_positions
from pttt_ooc.other_games.extreme.match import BotMatch, play_match

ENOUGH = 10
"""Moves that a bot must play."""
MOST_TRIALS = 8
"""Maximum number of hard positions that a bot is tried in."""
BREAKS = "BREAKS THE FORMAL RULES"
"""The message of a bot that plays, but is refused."""


@dataclass(frozen=True)
class Finding:
    """The result of a check.

    Attributes
    ----------
    accepted
        Whether the bot plays, and keeps the formal rules where it must.
    python, why
        The Python that runs it, and the reason for this one.
    message, detail
        How it failed: the course's message, and more; empty if it plays.
    moves
        Number of moves it played; fewer than ten for each side if a game ended before.
    load_seconds, slowest
        Seconds for making the player, and for its slowest move.
    printed
        The beginning of what it printed.
    changes
        The changes of a conversion from Python 2, as a unified diff.
    warnings
        What differs between Python 2 and 3, or is lost in a conversion; a sentence in each line.
    breaches
        Formal rules that the file breaks; a sentence in each line.
    hard
        The positions in which it forfeited or was slow, for the next bot.
    trials
        How it does in the positions in which a bot before it forfeited or was slow.
    """

    accepted: bool
    python: str
    why: str
    message: str
    detail: str
    moves: int
    load_seconds: float
    slowest: float
    printed: str
    changes: str
    warnings: str
    breaches: str
    hard: tuple[HardPosition, ...] = ()
    trials: tuple[Trial, ...] = ()


def most_seconds(program: BotProgram, conditions: Conditions) -> float:
    """Seconds that a check takes at most, where the machine keeps no bot waiting; positions of former bots come on top.

    Bots of an unknown version are tried in both first, for few moves if they use their time.
    """
    limit, load = conditions.time_limit, conditions.load_limit
    tried = load + max(FEW * limit, LONG + limit) if len(program.pythons) > 1 else 0.0
    return 2 * (len(program.pythons) * tried + load + ENOUGH * limit)


def check(
    program: BotProgram,
    conditions: Conditions,
    strict: bool = False,
    former: Sequence[HardPosition] = (),
    tell: Tell | None = None,
) -> Finding:
    """Let a bot play ten moves as x and ten as o against random moves, or to the end of the game.

    Parameters
    ----------
    strict
        Whether a file that breaks the formal rules of the course's document is refused.
    former
        Positions in which a bot of the team forfeited or was slow.  If this one plays, it makes a move in each; that
        does not decide whether it is accepted, because a bot may rely on having seen the moves before.
    tell
        Called after each move of the bot.

    Raises
    ------
    ExtremeError
        If bots cannot be run on this machine as the conditions say.
    """
    # Games that have settled the version count for the check if they are long enough; else two are played.
    version = settle_version(program, conditions, tell)
    one, found = version.program, version.games or []
    if not found or any(not match.message and not _is_enough(match, side) for side, match in enumerate(found)):
        found = trial_games(one, conditions, _is_enough, tell)
    # The report is about the first game that the bot has lost by its own fault, or about its game as x.
    failed = [match for side, match in enumerate(found) if has_forfeited(match, side)]
    first = failed[0] if failed else found[0]
    side = found.index(first)
    used = [seconds for own, match in enumerate(found) for seconds in match.used(own)]
    # Positions to remember for the next bot; and how this one, if it plays, does in those of the bots before it.
    hard = [
        position
        for own, match in enumerate(found)
        for position in hard_positions(match.as_json(), own, conditions.time_limit)
    ]
    trials = () if failed else try_positions(one, conditions, former)
    # Breaches of formal rules are reported in any case, and are a reason to refuse only with `strict`.
    python, broken = first.pythons[side], breaches_of(one)
    refused = strict and broken and not failed
    return Finding(
        accepted=not failed and not refused,
        python=python,
        why=one.why,
        message=first.message if failed else BREAKS if refused else "",
        detail=first.detail if failed else "\n".join(broken) if refused else "",
        moves=len(used),
        load_seconds=round(max(match.load_seconds[own] for own, match in enumerate(found)), 6),
        slowest=round(max(used, default=0.0), 6),
        printed=first.printed[side],
        changes=one.changes if python == "converted" else "",
        warnings="\n".join((*version.warnings, *warnings_about(one, python))),
        breaches="\n".join(broken),
        hard=tuple(hard),
        trials=tuple(trials),
    )


def _is_enough(match: BotMatch, side: int) -> bool:
    return len(match.used(side)) >= ENOUGH


def try_positions(program: BotProgram, conditions: Conditions, positions: Iterable[HardPosition]) -> list[Trial]:
    """Let a bot make one move in each of the first `MOST_TRIALS` different positions.

    Raises
    ------
    ExtremeError
        If bots cannot be run on this machine as the conditions say.
    """
    random = read_program(Path(NAMES[0]), conditions.walls)
    found = []
    for position in list({one.moves: one for one in positions}.values())[:MOST_TRIALS]:
        opening = {"moves": [{"cell": cell} for cell in position.moves]}
        side = after(opening, len(position.moves)).player
        pair = (program, random) if side == 0 else (random, program)
        match = play_match(pair, conditions, lambda _: False, opening=position.moves)
        lost = has_forfeited(match, side)
        seconds = 0.0 if lost else round(match.moves[-1].seconds, 6)
        found.append(Trial(position, match.message if lost else "", seconds, seconds >= SLOW * conditions.time_limit))
    return found
