"""The commands of the arena: ``pttt arena ...``.

Imports are inside the commands, so that ``pttt --help`` is fast.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from pttt_ooc.errors import on_one_line
from pttt_ooc.options import JsonOption, group
from pttt_ooc.other_games.arena.options import AgentArgument, GameOption, ProcessesOption
from pttt_ooc.other_games.arena.research.solvers.row_commands import solve
from pttt_ooc.other_games.arena.terminal.play_commands import play, replay, train

arena = group("Games in which both players see everything: agents, matches.")


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    arena.command(epilog="Example: pttt arena match alphabeta:heur=3 random --games 200")(match)
    arena.command(epilog="Example: pttt arena play alphabeta:time=1")(play)
    arena.command(epilog="Example: pttt arena replay data/arena/match 0")(replay)
    arena.command(epilog="Example: pttt arena solve --board 5x5 --need 4")(solve)
    arena.command(epilog="Example: pttt arena train -i 500000 -b 3 -n 3")(train)
    app.add_typer(arena, name="arena")


def match(
    one: AgentArgument,
    other: AgentArgument,
    game: GameOption = "ultimate",
    games: Annotated[int, typer.Option(help="Number of games.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="The games follow from it, unless a clock decides.")] = 0,
    start: Annotated[str, typer.Option(help="Who starts: random, both (in turn), or first.")] = "random",
    opening: Annotated[int, typer.Option(min=0, help="Moves at random with which each game begins.")] = 0,
    limit: Annotated[float | None, typer.Option(help="Seconds for a move; a slower move loses the game.")] = None,
    clock: Annotated[str, typer.Option(help="The clock of the limit: wall or processor.")] = "wall",
    stop_early: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="LOW HIGH",
            help="End when it is clear that the first agent's score is LOW or HIGH, such as 0.5 0.55; both start.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="The directory to write the games to; default: none."),
    ] = None,
    processes: ProcessesOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let two agents play many games, and test who is stronger.

    With --output, the same command continues after an interruption.
    """
    from pttt_ooc.disk.resources import cores
    from pttt_ooc.other_games.arena.experiments.significance import Units, told_detectable
    from pttt_ooc.other_games.arena.games.base import ArenaError
    from pttt_ooc.other_games.arena.matches.runner import run
    from pttt_ooc.other_games.arena.matches.settings import Match
    from pttt_ooc.other_games.arena.matches.statistics import Sequential, pairs_of, rate_of

    # A sequential test looks at pairs of games with swapped sides, so that the agents start in turn.
    if stop_early is not None and not 0 < stop_early[0] < stop_early[1] < 1:
        raise ArenaError("--stop-early needs two scores between 0 and 1, the lower one first.")
    wanted = Match(game, (one, other), games, seed, "both" if stop_early else start, limit, clock, opening)
    test = Sequential(*stop_early) if stop_early else None

    # After each game: show the score, and end once the test has its verdict.
    def tell(done: list[dict[str, Any]]) -> bool:
        if sys.stderr.isatty():
            print(f"\r{len(done)} of {games} games: {rate_of(done).rate:.2%}", end="", file=sys.stderr)
        return test is not None and test.verdict(pairs_of(done)) is not None

    done = run(wanted, output, processes or min(cores(), games), tell)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    # The record: the score, the exact test over independent units, and who has forfeited why.
    rate = rate_of(done)
    record = wanted.to_json() | {"games": len(done)} | rate.to_json()
    units = Units.of(record | {"pairs": pairs_of(done) if wanted.start == "both" else None})
    record |= {"interval": list(units.interval), "log10_p": units.log10_p, "units": units.number}
    faults = [[one["forfeit"] for one in done if "forfeit" in one and one["winner"] == 1 - own] for own in (0, 1)]
    record["forfeits"], record["first_forfeits"] = [len(own) for own in faults], [(own or [""])[0] for own in faults]
    if test is not None:
        record["pairs"], record["verdict"] = pairs_of(done), test.verdict(pairs_of(done))
    if as_json:
        print(json.dumps(record))
        return
    # The same in sentences.
    low, high = units.interval
    print(f"{wanted.agents[0]} scores {rate.rate:.2%} against {wanted.agents[1]} in {rate.games} games of {game}.")
    print(f"It won {rate.wins}, drew {rate.draws}, lost {rate.losses}; 95% interval {low:.2%} to {high:.2%}.")
    print(
        f"Exact test that both are equally strong, over {units.number} {('games', 'pairs of games')[units.games - 1]}: "
        f"{p_text(units.log10_p)}; {told_detectable(units.detectable)}."
    )
    for text, lost, why in zip(wanted.agents, record["forfeits"], record["first_forfeits"], strict=True):
        if lost:
            print(f"{text} forfeited {lost} games; the first: {on_one_line(why)}")
    if test is not None:
        print(f"Sequential test between {test.low:g} and {test.high:g}: {record['verdict'] or 'undecided'}.")


def p_text(log10_p: float) -> str:
    """A p-value for people."""
    return f"p = {10**log10_p:.3g}" if log10_p > -10 else f"p = 10^{log10_p:.1f}"
