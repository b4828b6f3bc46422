"""Options that commands on the arena's games share."""

from __future__ import annotations

from typing import Annotated

import typer

from pttt_ooc.other_games.arena.names import GAMES


def _games(incomplete: str) -> list[str]:
    """Games whose names a shell proposes."""
    return [name for name in GAMES if name.startswith(incomplete)]


GameOption = Annotated[
    str,
    typer.Option(
        "--game",
        metavar="NAME",
        help="The game, with its options after a colon, such as ultimate:open.",
        autocompletion=_games,
    ),
]
ProcessesOption = Annotated[int | None, typer.Option(min=1, metavar="N", help="Games at a time.  [default: all cores]")]
AgentArgument = Annotated[
    str, typer.Argument(metavar="AGENT", help="An agent with its options, such as alphabeta:heur=3,depth=2.")
]
