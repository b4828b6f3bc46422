"""The pages of the arena in the application of other wings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.cli.secret_goals import WEBSERVER
from pttt_ooc.web.processes import Web

ARENA = "arena="
"""Begins the argument of the web process that names the answerer."""

ArenaOption = Annotated[
    Path | None,
    typer.Option(
        "--arena",
        metavar="DIR",
        help="With the pages of the arena: games against its agents, and the matches in DIR.  [default: without]",
    ),
]


@contextmanager
def with_arena(web: Web, wing: str, directory: Path | None) -> Iterator[Web]:
    """The web process of a wing, with the pages of the arena and what answers them.

    Parameters
    ----------
    web
        The wing's own, to which other wings may have added already.
    directory
        Of the arena's matches; None: `web` stays as it is.
    """
    if directory is None:
        yield web
        return
    from pttt_ooc.arena.pages.local import answerer

    module = web.module if web.module[0] == WEBSERVER else [WEBSERVER, wing]
    with answerer(directory) as (child, address):
        yield Web(module, [*web.further, f"{ARENA}{address}"], [*web.others, child])
