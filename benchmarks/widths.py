"""How long the lazy double oracle takes until the proven interval is narrow: the table of docs/lab/frontier.md.

``python -m benchmarks.widths GAME ...`` prints a row for each game: processor seconds until the interval has each of
some widths, and the number of sequences then.  The curve of one board, scaled to the time of another at a width of 0.1,
predicts the rest of the other's; the page says how good such an estimate was.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.games.rules.catalogue import named_game

WIDTHS = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-12)

Curve = list[tuple[float, float, int]]
"""After each round: processor seconds, width of the proven interval, sequences of both players."""


def curve(name: str, most_seconds: float, memory_mb: float) -> Curve:
    """The rounds of a game from the start, until it is exact or has taken this many processor seconds."""
    oracle = DoubleOracle(named_game(name), threads=2, memory_mb=memory_mb)
    begun, found = time.process_time(), Curve()
    for last in oracle.rounds():
        spent, (low, high) = time.process_time() - begun, last.interval
        found.append((spent, high - low, sum(last.sequences)))
        if spent > most_seconds:
            break
    return found


def cells(found: Curve) -> Iterator[str]:
    """A cell for each of :data:`WIDTHS`; empty where the run ended before."""
    for width in WIDTHS:
        reached = next(((spent, size) for spent, narrow, size in found if narrow <= width), None)
        yield f"{reached[0]:.1f}; {reached[1]:,}" if reached else ""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.widths", description=__doc__)
    parser.add_argument("games", nargs="+", metavar="GAME")
    parser.add_argument("--most", type=float, default=120, help="processor seconds after which a run is stopped")
    parser.add_argument("--memory-mb", type=float, default=4000, help="memory of a run")
    chosen = parser.parse_args(arguments)
    print(f"| game | {' | '.join('exact' if width < 1e-9 else f'{width:g}' for width in WIDTHS)} |")
    print("|---" * (1 + len(WIDTHS)) + "|")
    for name in chosen.games:
        print(f"| `{name}` | {' | '.join(cells(curve(name, chosen.most, chosen.memory_mb)))} |", flush=True)


if __name__ == "__main__":
    main()
