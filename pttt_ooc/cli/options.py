"""Options that several commands have, with the words that `--help` says of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.aliases import Symmetry
from pttt_ooc.rules.catalogue import named_game

GameOption = Annotated[str, typer.Option("--game", metavar="NAME", help="The game; `pttt info` lists them.")]
ToldGameOption = Annotated[
    str | None,
    typer.Option("--game", metavar="NAME", help="The game; default: found in the files, or else pttt-abrupt."),
]
CourseGameOption = Annotated[
    str | None,
    typer.Option("--game", metavar="NAME", help="The game; `pttt info` lists them.  [default: pttt-abrupt]"),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="A config.yaml; options of this command override it."),
]
SymmetryOption = Annotated[
    Symmetry | None, typer.Option("--symmetry", help="full: 7 times less work.  [default: full]")
]
PlayerOption = Annotated[int, typer.Option("--player", min=0, max=1, help="Whose infosets: 0 or 1.")]
DataOption = Annotated[Path, typer.Option("--data", metavar="DIR", help="Where indices are kept; made if missing.")]
ThreadsOption = Annotated[int | None, typer.Option(min=1, metavar="N", help="Number of threads; default: all cores.")]
MemoryOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="MB", help="Most memory to use; the rest is mapped from files.  [default: 512]"),
]
LevelOption = Annotated[int, typer.Option(min=0, max=9, help="Of the zip files: 0 none, 1 fast, 9 small.")]
Infosets0Option = Annotated[
    Path | None, typer.Option("--infosets0", metavar="FILE", help="Player 0's infosets, in the order of the rows.")
]
Infosets1Option = Annotated[
    Path | None, typer.Option("--infosets1", metavar="FILE", help="Player 1's infosets, in the order of the rows.")
]
GameValueOption = Annotated[
    str | None,
    typer.Option(metavar="X", help="The value of the game: a number or LOW,HIGH; default: the best known."),
]
KINDS = "a .zip, .npy or .h5, the directory of a solution, or the word uniform"

DATA = Path("data")
"""The directory of the workflow's results."""


def check_game(name: str | None) -> None:
    """Raise an UnknownGameError unless there is such a game, or none was named."""
    if name is not None:
        named_game(name)
