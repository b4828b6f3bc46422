"""Games against a strategy: `pttt play`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.cli.options import DATA, KINDS, DataOption, ToldGameOption, check_game
from pttt_ooc.errors import StrategyFileError


def add_commands(app: typer.Typer) -> None:
    """Give the commands to the command line."""
    app.command(epilog="Example: pttt play data/pttt-abrupt/full --player 1")(play)


def play(
    opponent: Annotated[
        str | None,
        typer.Argument(metavar="[OPPONENT]", help=f"A strategy: {KINDS}.  [default: the solution in DIR]"),
    ] = None,
    player: Annotated[
        int | None,
        typer.Option("--player", min=0, max=1, help="Whom you play.  [default: 0, if the opponent lets you]"),
    ] = None,
    game: ToldGameOption = None,
    data: DataOption = DATA,
) -> None:
    """Play against a strategy on the terminal.

    At the end both boards are shown, what each of your attempts lost, and what could be believed before it.
    """
    check_game(game)
    from pttt_ooc.explore.dialogue import Dialogue
    from pttt_ooc.explore.here import Here, pair_of
    from pttt_ooc.explore.terminal_play import play as played
    from pttt_ooc.library.structures import configure

    configure(data)
    pair, sides = pair_of(opponent or _solution(data, game), game)
    fitting = [1 - side for side in sides if player in (None, 1 - side)]
    if not fitting:
        raise StrategyFileError(f"{opponent} plays player {sides[0]}, so that you play player {1 - sides[0]}.")
    code = played(Here(pair, 1 - min(fitting)), Dialogue())
    raise typer.Exit(code)


def _solution(data: Path, game: str | None) -> str:
    place = data / (game or "pttt-abrupt") / "full"
    if not place.is_dir():
        raise StrategyFileError(
            f"There is no solution in {place}; name an opponent, such as uniform, or run make solve."
        )
    return str(place)
