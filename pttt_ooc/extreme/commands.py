"""The commands of the Extreme TicTacToe tournament: ``pttt extreme ...``.

What they need is imported when they run, so that ``pttt --help`` comes at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]

extreme = typer.Typer(
    help="The Extreme TicTacToe tournament: matches between bots in files, and a league.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


def add_commands(app: typer.Typer) -> None:
    """Give the commands to the command line."""
    extreme.command(epilog="Example: pttt extreme perft --depth 5 --moves 0.4.4,1.3.3")(perft)
    app.add_typer(extreme, name="extreme")


def perft(
    depth: Annotated[int, typer.Option(min=0, max=20, help="Moves of each sequence.")] = 4,
    moves: Annotated[
        str,
        typer.Option(metavar="M,M,...", help="Moves made first: BIG.ROW.COLUMN, or 81*BIG+9*ROW+COLUMN."),
    ] = "",
    as_json: JsonOption = False,
) -> None:
    """Count the sequences of moves of a length: they check the rules, and the speed of the kernels."""
    from pttt_ooc.arena.commands import perft as of_arena

    of_arena("extreme", depth, moves, as_json)
