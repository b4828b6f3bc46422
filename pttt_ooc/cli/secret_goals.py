"""The pages on tic-tac-toe with secret goals in the application of other wings: which match, and its processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.errors import StoreError
from pttt_ooc.web.processes import Web

SOLVED = "smbc"
"""The folder in which the workflow leaves its match, beside the games."""

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


def found_match(named: str | None, results: Path) -> Path | None:
    """The directory of the match whose pages are shown, if any.

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


@contextmanager
def with_match(web: Web, wing: str, match: Path | None, kept: Path | None) -> Iterator[Web]:
    """The web process of a wing, with the pages on a match and what answers them.

    Parameters
    ----------
    web
        The wing's own.
    match
        The directory of the match; None: `web` stays as it is.
    kept
        The directory where matches of people are kept.

    Raises
    ------
    StoreError
        If they cannot be kept there.
    """
    if match is None or kept is None:
        yield web
        return
    from pttt_ooc.smbc.pages.local import answerer
    from pttt_ooc.smbc.pages.matches_file import matches_file

    matches_file(kept)  # better told now than by a process that would be started again and again
    with answerer(match) as (child, address):
        yield Web([WEBSERVER, wing], [*web.further, str(address), str(kept)], [*web.others, child])
