"""Games and their infosets: `pttt info`, `pttt infosets`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.disk.outputs import check_output
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.options import DATA, DataOption, ForceOption, GameOption, PlayerOption


def add_commands(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.command(epilog="Example: pttt info dark-hex-3x3-classical")(info)
    app.command(epilog="Example: pttt infosets --player 0 --output player0-infosets.txt")(infosets)


def info(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="Tell all about this game.")] = None,
) -> None:
    """List the games, or print the rules and size of one."""
    from pttt_ooc.cli import display

    if game is None:
        display.games()
    else:
        display.one_game(named_game(game))


def infosets(
    player: PlayerOption,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The file to write; default: standard output."),
    ] = None,
    force: ForceOption = False,
    game: GameOption = "pttt-abrupt",
    data: DataOption = DATA,
) -> None:
    """Write a player's infosets, one in each line.

    They are in the default order of rows: by number of attempts, then attempt by attempt by square, failed
    before placed.
    """
    named_game(game)
    if output:
        check_output(output, force=force)
    from pttt_ooc.pipeline.files import infosets
    from pttt_ooc.pipeline.stages.preparation import open_index

    index = open_index(data, game)
    rows = infosets.default_rows(index, player)
    if output:
        infosets.write_infosets(index, player, output, rows)
        return
    for _, nodes in infosets.row_blocks(rows):
        sys.stdout.buffer.write(infosets.as_lines(infosets.infoset_texts(index, player, nodes)))
    sys.stdout.buffer.flush()
