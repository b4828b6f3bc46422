"""Wings whose pages stand beside the ones of `pttt explore` or `pttt serve`: which of them, and their processes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.errors import StoreError
from pttt_ooc.service.processes import Child, Web

SOLVED = "smbc"
"""The folder in which the workflow leaves its match with secret goals, beside the games."""

WEBSERVER = "pttt_ooc.cli.webserver"
_NONE = "none"

SecretGoalsOption = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="A solved match of tic-tac-toe with secret goals, to be explored and played too; none: no such pages.  "
        "[default: data/smbc, if it is there]",
    ),
]
ArenaOption = Annotated[
    Path | None,
    typer.Option(
        "--arena",
        metavar="DIR",
        help="With the pages of the arena: games against its agents, and the matches in DIR.  [default: without]",
    ),
]


@dataclass
class Beside:
    """Wings beside another one.

    Attributes
    ----------
    told
        What the web process is told: names of wings, each with the arguments of its parts.
    others
        The processes that the wings need.
    """

    told: dict[str, list[str]] = field(default_factory=dict)
    others: list[Child] = field(default_factory=list)

    def add(self, wing: str, arguments: Sequence[object], others: Sequence[Child]) -> None:
        """Add a wing, with the arguments of its parts and the processes that it needs."""
        self.told[wing] = [*map(str, arguments)]
        self.others += others

    def web(self, wing: str, arguments: Sequence[object] = (), others: Sequence[Child] = ()) -> Web:
        """The web process of `wing` with these beside it; its own first arguments, and the processes that it asks."""
        return Web([WEBSERVER, wing, json.dumps(self.told), *map(str, arguments)], [*others, *self.others])


@contextmanager
def beside(match: Path | None, kept: Path | None, arena: Path | None, course: Path | None = None) -> Iterator[Beside]:
    """The wings that were asked for; their processes are still to be started.

    Parameters
    ----------
    match
        The directory of a solved match with secret goals; None: without.
    kept
        The directory where people's matches with secret goals are kept; None: with the solved one.
    arena
        The directory of the arena's matches; None: without.
    course
        The directory of a grader, which may have a league; None: without.

    Raises
    ------
    PtttError
        If something cannot be opened or kept.  It is better told now than by processes that would be started again
        and again.
    """
    wings = Beside()
    with ExitStack() as stack:
        if match is not None:
            from pttt_ooc.smbc.pages import local_server as secret_goals
            from pttt_ooc.smbc.pages.matches_file import matches_file

            matches = kept or match
            matches_file(matches)
            child, address = stack.enter_context(secret_goals.answerer(match))
            wings.add("secret goals", (address, matches), [child])
        if arena is not None:
            from pttt_ooc.arena.pages import local_server

            child, address = stack.enter_context(local_server.answerer(arena))
            wings.add("arena", (address,), [child])
        if course is not None:
            from pttt_ooc.course.kinds.bots.processes import processes

            if others := processes(course):
                wings.add("league", (), others)
        yield wings


def found_match(named: str | None, results: Path) -> Path | None:
    """The directory of the match with secret goals whose pages are shown, if any.

    Parameters
    ----------
    named
        The option of the command.
    results
        Where the workflow's results are: a match is looked for there if none is named.

    Raises
    ------
    StoreError
        If the one that is named is not there, or damaged.
    """
    if named == _NONE or (named is None and not (results / SOLVED).is_dir()):
        return None
    from pttt_ooc.smbc.solve import MANIFEST, checked_manifest

    directory = results / SOLVED if named is None else Path(named)
    if named is None and not (directory / MANIFEST).exists():  # nothing, or not solved to its end
        return None
    try:
        checked_manifest(directory)
    except StoreError as error:
        if named is not None:
            raise
        print(f"{error} Until then there are no pages on secret goals.", file=sys.stderr)
        return None
    return directory
