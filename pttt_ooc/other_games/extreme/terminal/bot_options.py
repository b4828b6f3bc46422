"""Options of the commands that run bots, and the conditions that they add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from pttt_ooc.other_games.extreme.bot_process import Conditions

_HEADING = "How bots run"
TimeOption = Annotated[
    float, typer.Option(min=0.001, metavar="SECONDS", help="Seconds for each move.", rich_help_panel=_HEADING)
]
LoadOption = Annotated[
    float, typer.Option(min=0.1, metavar="SECONDS", help="Seconds for starting a bot.", rich_help_panel=_HEADING)
]
MemoryOption = Annotated[
    int, typer.Option(min=64, metavar="MB", help="Memory that a bot may have.", rich_help_panel=_HEADING)
]
PythonOption = Annotated[
    str,
    typer.Option(
        metavar="VERSION",
        help="The version of Python that bots are written in: 2, 3, or guess, which tries both.",
        rich_help_panel=_HEADING,
    ),
]
LibraryOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A library that bots may import besides numpy, pandas and sklearn; repeatable."),
]
SandboxOption = Annotated[
    bool,
    typer.Option(
        "--sandbox/--no-sandbox",
        help="Shut bots in; without, run only files that you trust.",
        rich_help_panel=_HEADING,
    ),
]


class BotOptions(NamedTuple):
    """How a command runs bots."""

    time_limit: TimeOption = 24
    load_limit: LoadOption = 60
    memory_mb: MemoryOption = 2048
    python: PythonOption = "guess"
    sandbox: SandboxOption = True

    def conditions(self, library: list[str] | None = None) -> Conditions:
        """How they are run; raises what `checked_version` and `checked_libraries` raise."""
        from pttt_ooc.other_games.extreme.bot_process import Conditions

        version, libraries = checked_version(self.python), checked_libraries(library)
        return Conditions(*self[:3], self.sandbox, python=version, libraries=libraries)

    def check_walls(self) -> None:
        """Raise an error if bots are to be shut in, and cannot be on this machine."""
        from pttt_ooc.other_games.extreme.match import check_walls

        if self.sandbox:
            check_walls()


def checked_version(text: str) -> str:
    """The value of ``--python``; an ExtremeError if it is no version."""
    from pttt_ooc.other_games.extreme.bot_programs import PYTHONS
    from pttt_ooc.other_games.extreme.walls import ExtremeError

    if text not in PYTHONS:
        raise ExtremeError(f"--python {text} is no version of Python that bots can have; say 2, 3 or guess.")
    return text


def checked_libraries(names: list[str] | None) -> tuple[str, ...]:
    """The values of ``--library``; an ExtremeError if one is no name of a library."""
    from pttt_ooc.other_games.extreme.settings import library
    from pttt_ooc.other_games.extreme.walls import ExtremeError

    for name in names or ():
        try:
            library(name)
        except ValueError as error:
            raise ExtremeError(f"--library is {name!r}, but must be {error}.") from None
    return tuple(names or ())
