"""An exact equilibrium without listing the game: `pttt exact`."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Annotated

import typer

from pttt_ooc.cli.console import say
from pttt_ooc.options import GameOption, JsonOption, ThreadsOption

if TYPE_CHECKING:
    from pttt_ooc.double_oracle.oracle import Round

_EXACT = 1e-11
"""A width of the interval that is rounding only."""
_LINE_SECONDS = 2.0  # seconds between two lines of progress


def add_commands(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command(epilog="Example: pttt exact --game dark-hex-3x3-abrupt")(exact)


def exact(
    game: GameOption = "pttt-abrupt",
    gap: Annotated[float, typer.Option(min=0, metavar="X", help="Stop at an interval of this width.")] = 1e-12,
    max_minutes: Annotated[float, typer.Option(min=0, help="Stop after so many minutes.")] = 60,
    memo_mb: Annotated[float, typer.Option(min=1, metavar="MB", help="Memory for the bounds of best responses.")] = 96,
    threads: ThreadsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the value of a game and an equilibrium, without listing its infosets.

    A restricted game is solved, and both players' best responses in the whole game enlarge it, until they gain
    nothing.  In each round the value of the game is proven to be in an interval, up to rounding of double precision.
    Nothing is read and nothing is written.  With --json, the last line is one object.
    """
    from pttt_ooc.disk.resources import MB, cores, peak_rss_bytes
    from pttt_ooc.double_oracle.oracle import DoubleOracle
    from pttt_ooc.extras import check_extra
    from pttt_ooc.rules.catalogue import named_game

    rules = named_game(game)
    check_extra("exact", "The command `pttt exact`")
    say(f"{game}: getting ready ...")
    oracle = DoubleOracle(rules, memo_mb, threads or cores())
    begin = spoken = time.monotonic()
    while True:
        last = oracle.round()
        seconds = time.monotonic() - begin
        ends = last.settled or last.nashconv <= gap or seconds >= 60 * max_minutes
        if ends or time.monotonic() - spoken > _LINE_SECONDS:
            spoken = time.monotonic()
            say(_line(last, seconds))
        if ends:
            break
    if as_json:
        record = {
            "game": game,
            "lower": last.best_lower,
            "upper": last.best_upper,
            "nashconv": last.nashconv,
            "exact": last.nashconv <= _EXACT,
            "rounds": last.number,
            "seconds": round(seconds, 3),
            "sequences": last.sequences,
            "support": last.support,
            "histories": last.histories,
            "visited": last.visited,
            "peak_mb": round(peak_rss_bytes() / MB, 1),
        }
        print(json.dumps(record))
    else:
        _show(last, game, seconds)


def _line(last: Round, seconds: float) -> str:
    return (
        f"round {last.number}, value in {last.best_lower:.6f} .. {last.best_upper:.6f}, gap {last.nashconv:.1e}, "
        f"{last.sequences[0]:,} and {last.sequences[1]:,} sequences, {seconds:.0f} s so far"
    )


def _show(last: Round, game: str, seconds: float) -> None:
    lines = {
        "game": game,
        "value for player 0": f"{last.best_lower:.15f} .. {last.best_upper:.15f}",
        "NashConv of the last pair": f"{last.nashconv:.1e}",
        "rounds": f"{last.number}, in {seconds:.1f} s",
        "sequences": f"{last.sequences[0]:,} and {last.sequences[1]:,}",
        "of them played": f"{last.support[0]:,} and {last.support[1]:,}",
        "infosets visited at last": f"{last.visited[0]:,} and {last.visited[1]:,}",
    }
    for name, text in lines.items():
        print(f"{name:26} {text}")
