"""Time the four checkers of certificates: ``python -m docs.make.checkers [--repeat N] [GAME ...]``.

For the named games, or else those of the table of times in ``docs/exact.md``, its rows are printed: processor seconds
and MB of ``verify.py``, ``pttt verify``, the verified program and the theorem, each in a process of its own.  Of
several runs, the median.  The seconds of a theorem include the start of Coq; the last line is for the start alone.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2] / "proof" / "coq"))

import prove  # noqa: E402  (nothing large is imported here: a process begins with the memory of its parent)

GAMES = (
    "pttt-classical",
    "dark-hex-3x3-abrupt",
    "pttt-2x4k3-abrupt",
    "dark-hex-4x3-classical",
    "pttt-abrupt",
    "pttt-2x5k3-abrupt",
)
HEAD = "| game | `verify.py` | `pttt verify` | verified program | theorem |"
BEGIN = "From Coq Require Import List QArith.\nFrom Phantom Require Import Numbers Statement Bounds Reading.\n"

Cost = tuple[float, float]
"""Processor seconds and MB."""


def cell(run: Callable[[], Cost], repeat: int) -> str:
    """The medians of several runs."""
    seconds, memory = zip(*(run() for _ in range(repeat)), strict=True)
    return f"{median(seconds):.1f}, {median(memory):,.0f} MB"


def checkers(name: str, folder: Path, program: Path) -> list[Callable[[], Cost]]:
    """What runs each of the checkers on a game's certificate."""
    path = prove.CERTIFICATES / f"{name}.txt.gz"
    text = gzip.decompress(path.read_bytes())
    return [
        lambda: prove.run([sys.executable, prove.CERTIFICATES / "verify.py", path], folder)[1:],
        lambda: prove.run([sys.executable, "-m", "pttt_ooc.cli", "verify", path], folder)[1:],
        lambda: prove.run([program], folder, text)[1:],
        lambda: prove.prove(folder, name),
    ]


def start(folder: Path) -> Cost:
    """The start of Coq, with the library of a claim."""
    (folder / "begin.v").write_text(BEGIN)
    return prove.compile_file(folder, "begin")[1:]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("games", nargs="*", metavar="GAME")
    arguments = parser.parse_args()
    sys.setrecursionlimit(10000)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        try:
            library = prove.compile_library(folder)
            program = prove.make_program(folder)
            print(HEAD)
            for name in arguments.games or GAMES:
                cells = [cell(run, arguments.repeat) for run in checkers(name, folder, program)]
                print(f"| `{name}` | {' | '.join(cells)} |", flush=True)
            print(f"start of Coq: {cell(lambda: start(folder), arguments.repeat)}; library: {library:.1f} s")
        except prove.Refused as refused:
            sys.exit(f"refused: {refused}")


if __name__ == "__main__":
    main()
