"""The commands ``backup`` and ``restore`` of a course, the same for ``pttt course`` and ``pttt course``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pttt_ooc.disk.outputs import check_output
from pttt_ooc.extras import extra
from pttt_ooc.options import COURSE, DataOption, ForceOption, JsonOption

if TYPE_CHECKING:
    from pttt_ooc.course.data.database import Database


@contextmanager
def database_of(data: Path, what: str = "The course") -> Iterator[Database]:
    """The database of a course for the block; `what` needs the extra."""
    with extra("course", what):
        from pttt_ooc.course.data.database import Database
        from pttt_ooc.course.data.settings import read_settings
        from pttt_ooc.disk.rights import private
    settings = read_settings(data)
    with private():
        database = Database.of(data, settings.database_url, settings.game)
        try:
            yield database
        finally:
            database.close()


def add_copy_commands(group: typer.Typer, name: str) -> None:
    """Give both commands to a group of this name."""
    group.command(epilog=f"Example: pttt {name} backup monday.tar --data course")(backup)
    group.command(epilog=f"Example: pttt {name} restore monday.tar --data restored")(restore)


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE.tar", help="The copy to write.")],
    force: ForceOption = False,
    as_json: JsonOption = False,
    data: DataOption = COURSE,
) -> None:
    """Copy all of a course into one file, while it goes on; prints a digest of the copy.

    The exit code is 1 if a file that should be in the copy is lost or damaged; all else is in it then.
    """
    with database_of(data) as database:
        from pttt_ooc.course.data.storage import Storage
        from pttt_ooc.course.server import backup as copies

        check_output(file, [data, *database.files()], force=force)
        copy = copies.write_backup(database, Storage(data), file)
    _tell(file, copy, as_json)
    if copy.missing:
        raise typer.Exit(1)


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE.tar", help="A copy.")],
    as_json: JsonOption = False,
    data: DataOption = COURSE,
    database_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="An empty database for the tables; none: a file in the directory, as by default."
        ),
    ] = None,
) -> None:
    """Make a course from a copy, in a directory that holds none; checks all of it, and prints the copy's digest."""
    with extra("course", "The course"):
        from pttt_ooc.course.server import backup as copies
        from pttt_ooc.disk.rights import private
    with private():
        copy = copies.read_backup(file, data, database_url)
    _tell(data, copy, as_json)
    if not as_json:
        print(f"Start it with `pttt serve --data {data}`.")


def _tell(path: Path, copy: object, as_json: bool) -> None:
    from pttt_ooc.course.server.backup import Copy

    assert isinstance(copy, Copy)
    if as_json:
        told = {"path": str(path), "submissions": copy.submissions, "digest": copy.digest or None}
        print(json.dumps({**told, "missing": list(copy.missing)}, ensure_ascii=False, indent=2))
        return
    known = f"digest {copy.digest}" if copy.digest else "written by an older version, without digests"
    print(f"{path}: {copy.submissions} submissions, {known}.")
    for sentence in copy.missing:
        print(sentence, file=sys.stderr)
