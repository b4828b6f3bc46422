"""The exact exploitability of anybody's agent: `pttt lab score`."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pttt_ooc.disk.outputs import check_output
from pttt_ooc.games.rules.catalogue import DEFAULT_GAME, named_game
from pttt_ooc.options import (
    DATA,
    DataOption,
    ForceOption,
    GameOption,
    GameValueOption,
    JsonOption,
    ThreadsOption,
)

if TYPE_CHECKING:
    from pttt_ooc.games.rules.game import Game
    from pttt_ooc.library.api.strategies import Strategy
    from pttt_ooc.library.scoring.ladder import LadderPlace
    from pttt_ooc.library.scoring.scores import Score

_AGENT = (
    "FILE.py:NAME, MODULE:NAME, a .onnx, a .cleanrl_model, a .zip of Stable-Baselines3, or a strategy: a .zip, .npy or "
    ".h5, the directory of a solution, uniform."
)


def score(
    names: Annotated[
        list[str],
        typer.Argument(metavar="AGENT [AGENT1]", help=f"Both players' agent, or player 0's and player 1's: {_AGENT}"),
    ],
    replays: Annotated[
        bool,
        typer.Option("--replays", help="The names are files: replays of kaggle-environments or OpenSpiel; judge each."),
    ] = False,
    outputs: Annotated[
        str, typer.Option(metavar="KIND", help="What the agent's numbers are: probabilities or logits.")
    ] = "probabilities",
    greedy: Annotated[bool, typer.Option("--greedy", help="Always attempt the most probable square.")] = False,
    block: Annotated[int, typer.Option(min=1, metavar="N", help="Infosets that the agent is asked at a time.")] = 65536,
    games: Annotated[
        int | None,
        typer.Option(metavar="N", help="Play N games against an equilibrium instead, and estimate what is lost."),
    ] = None,
    equilibrium: Annotated[
        str | None,
        typer.Option(
            metavar="STRATEGY",
            help="With --games, the opponent, also a plan or a certificate .txt.gz; with --page and --replays, what "
            "mistakes are measured against; default: the best solution of the game in --data.",
        ),
    ] = None,
    matches: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="With --games, write each match: what each attempt lost, beliefs."),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Write a page: the score, the place on the ladder, where it loses."),
    ] = None,
    force: ForceOption = False,
    seed: Annotated[
        int | None, typer.Option(min=0, help="With --games, of the opponent's draws.  [default: 0]")
    ] = None,
    game_value: GameValueOption = None,
    as_json: JsonOption = False,
    threads: ThreadsOption = None,
    memory_mb: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="MB", help="Memory limit, without the agent's own; the rest is mapped from files in --data."
        ),
    ] = None,
    game: GameOption = None,
    data: DataOption = DATA,
) -> None:
    """Score an agent exactly.

    The agent is asked for its strategy at all infosets of the game; then both best responses are computed.
    Its exploitability as player 0 and as player 1 is what it loses against an opponent who knows it; 0 is perfect.
    Their mean is half of NashConv, which OpenSpiel and many papers call exploitability.  It gives the place on the
    ladder, among the rows of docs/lab/ladder.md.

    An agent that can only be played, such as a bot, is played by --games against an equilibrium.  What it loses is
    estimated by AIVAT, with an interval; its mean exploitability is at least that.  So are agents for boards whose
    infosets are not listed, against a plan that `pttt exact` or a certificate gives.

    With --replays, it tells whether each move is legal, and in solved games what it lost and what the player could
    believe.  Nothing in the files is run.
    """
    from pttt_ooc import configure
    from pttt_ooc.cli.score_games import score_played
    from pttt_ooc.cli.score_replays import score_replays
    from pttt_ooc.errors import ConfigError
    from pttt_ooc.library.api.strategy_reader import parse_interval
    from pttt_ooc.library.scoring import agent_answers, checkpoints, scores
    from pttt_ooc.library.scoring.ladder import place_of

    if replays:
        if (games, matches, page, seed, game_value, memory_mb) != (None,) * 6 or greedy:
            raise ConfigError("With --replays, only --equilibrium, --data, --threads and --json have a meaning.")
        configure(data=data, threads=threads)
        score_replays(names, equilibrium, as_json)
        return
    if len(names) > 2:
        raise ConfigError(f"Name one agent for both players, or two, not {len(names)}.")
    agent, other = names[0], names[-1]
    # Options that do not go together are refused before the agent is loaded.
    if page is not None:
        if games is not None:
            raise ConfigError("A page is about an exact score; leave out --games or --page.")
        check_output(page, [Path(name) for name in names if name], force=force, suffix=".html")
    if equilibrium is not None and games is None and page is None:
        raise ConfigError("--equilibrium is for --games and --page; give one of them, or leave it out.")
    if games is None and (seed, matches) != (None, None):
        raise ConfigError("--seed and --matches are for --games; leave them out.")
    if matches is not None:
        check_output(matches, [Path(name) for name in names if name], force=force, suffix=".jsonl")
    if games is not None and (memory_mb, game_value) != (None, None):
        raise ConfigError("--memory-mb and --game-value are for an exact score; leave them out, or --games.")
    if outputs not in ("probabilities", "logits"):
        raise ConfigError(f"--outputs is {outputs!r}, but must be probabilities or logits.")
    interval = parse_interval(game_value) if game_value is not None else None
    configure(data=data, threads=threads)
    # An agent for each player; one that was named alone plays both.
    rules, agents = _agents((agent, other), game, games is not None, equilibrium)
    kind: checkpoints.Outputs = "logits" if outputs == "logits" else "probabilities"
    # An agent that can only be played: its losses are estimated, and there is no place on the ladder.
    if games is not None:
        manner = agent_answers.Manner(kind, greedy, block, _report)
        score_played(rules, agents, equilibrium, games, manner, seed or 0, matches, as_json)
        return
    # The strategy that mistakes are measured against is found before the long work, so that a wrong name ends it early.
    limit, opponents = memory_mb or math.inf, None
    if page is not None and (name := equilibrium or _solution(rules)):
        opponents = name, _opponents(rules, name)
    # Exactly: the agent's answers at all infosets, then both best responses.  Their mean gives the place.
    found, strategies = scores.score_strategies(rules, agents, kind, greedy, block, _report, interval, limit)
    place = place_of(rules.name, found.mean_exploitability)
    if as_json:
        print(json.dumps({**found.as_record(), "ladder": None if place is None else asdict(place)}))
    else:
        print(_line(found, place))
    # The page needs the strategies once more, to find where they lose.
    if page is not None:
        from pttt_ooc.library.scoring.page import write_page

        _report("Where it loses", 0.0)
        write_page(page, (agent, other), found, strategies, opponents, limit)
        _report("Where it loses", 1.0)


def _solution(rules: Game) -> str | None:
    """The name of the best solution in the data directory; None if there is none."""
    from pttt_ooc.errors import StoreError
    from pttt_ooc.library.api.strategy_reader import best_solution
    from pttt_ooc.library.api.structures import data_directory

    try:
        return str(best_solution(rules, data_directory()))
    except StoreError:
        return None


def _opponents(rules: Game, name: str) -> tuple[Strategy, Strategy]:
    from pttt_ooc.library.api.strategies import Strategy
    from pttt_ooc.library.api.strategy_names import named_strategy

    first, second = (Strategy.of_named(named_strategy(name, player), rules) for player in (0, 1))
    return first, second


def _agents(
    names: tuple[str, str], game: str | None, played: bool, equilibrium: str | None
) -> tuple[Game, dict[int, Any]]:
    """The game, and each player's agent; `played`: whether it plays games, so that no infosets need to be listed."""
    from pttt_ooc.cli.score_games import game_of_plan, played_agent_of
    from pttt_ooc.config import Config, check_listed
    from pttt_ooc.errors import ConfigError
    from pttt_ooc.library.api.openspiel import check_told_game
    from pttt_ooc.library.api.strategies import Strategy
    from pttt_ooc.library.api.strategy_names import further_of, named_strategy
    from pttt_ooc.library.scoring.agents import find_agent, policies_of, told_game_of

    objects = {name: find_agent(name) for name in dict.fromkeys(names)}
    if game is None and (told := told_game_of(objects.values())):
        game = told.name
    if played and game is None:
        files = [equilibrium, *(name for name in objects if objects[name] is None)]
        game = next((name for file in files if file is not None and (name := game_of_plan(file))), None)
    # Where nothing is listed, uniform play and plans tell probabilities at the infosets that games reach.
    if played and game is not None and not Config(game=game).is_listed:
        for name in objects:
            if objects[name] is None:
                objects[name] = played_agent_of(name, game)
    named = {p: named_strategy(name, p) for p, name in enumerate(names) if objects[name] is None}
    rules = further_of(list(named.values()), game) if named else named_game(game or DEFAULT_GAME)
    if not played or named:
        check_listed(Config(game=rules.name), "a score")
    for policy in policies_of(objects.values()):
        check_told_game(policy, rules)
    agents: dict[int, Any] = {}
    for player, name in enumerate(names):
        found = objects[name]
        if player in named:
            found = Strategy.of_named(named[player], rules)
        elif isinstance(found, dict):
            if player not in found:
                raise ConfigError(f"{name} has nothing for player {player}; name another agent for that player, too.")
            found = found[player]
        agents[player] = found
    return rules, agents


def _line(found: Score, place: LadderPlace | None) -> str:
    both = " and ".join(
        f"{'unknown' if one is None else f'{one:.6f}'} as player {player}"
        for player, one in enumerate((found.exploitability_0, found.exploitability_1))
    )
    return (
        f"{found.game}, {found.version}: mean exploitability {found.mean_exploitability:.6f} (NashConv "
        f"{found.nashconv:.6f}); exploitability {both}; {found.infosets:,} infosets asked"
        + (f"; place {place.place} of {place.rows + 1} on the ladder." if place else ".")
    )


def _report(what: str, share: float) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{what}: {share:.0%}" if share < 1 else "\r\033[K", end="", file=sys.stderr, flush=True)
