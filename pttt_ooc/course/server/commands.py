"""The commands ``pttt course ...``: what they share, and those about the course as a whole.

The others are in :mod:`.people_commands`, :mod:`.grade_commands` and :mod:`.desk_commands`.  What they need is
imported when they run: help comes at once, and without the extra ``course`` a sentence says what is missing.

The log names the person who used a command "console", unless ``--by`` says who it was.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from pttt_ooc.disk.outputs import check_output
from pttt_ooc.extras import extra
from pttt_ooc.options import COURSE, DataOption, ForceOption, GameOption, JsonOption, group, spread

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from pttt_ooc.course.data.database import Database
    from pttt_ooc.course.server.backup import Copy

SECTIONS = {
    "Begin a course": ("init", "serve", "apply", "file", "assignments", "kit", "doctor"),
    "Teams and people": (
        *("teams", "list-teams", "add-team", "rotate-token", "remove-team", "invite", "link", "staff"),
    ),
    "Submissions": (
        *("submissions", "pick", "rejudge", "rejudgements", "rule", "disqualify", "similar", "download"),
        *("open", "close", "house"),
    ),
    "Points and deadlines": ("grades", "release", "mark", "adjust", "extend", "history"),
    "News and records": ("announce", "deliveries", "publish", "log", "backup", "restore"),
}
"""The commands in sections, the likeliest first."""

course = group("Run a course: assignments, teams, deadlines, points.", SECTIONS)

TeamArgument = Annotated[str, typer.Argument(metavar="TEAM", help="The team's name.")]
AssignmentArgument = Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="The assignment's name.")]
ByOption = Annotated[str, typer.Option("--by", metavar="WHO", help="Who decides, for the log.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]
ReasonOption = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the team sees it.")]


class CourseOptions(NamedTuple):
    """The options of a command that looks at a course."""

    as_json: JsonOption = False
    data: DataOption = COURSE


class DecisionOptions(NamedTuple):
    """The options of a command by which somebody decides."""

    as_json: JsonOption = False
    data: DataOption = COURSE
    by: ByOption = "console"


def command(example: str, name: str | None = None) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Adds a function to ``pttt course`` as a command, with an example of its use."""
    return lambda made: course.command(name, epilog=f"Example: pttt course {example}")(spread(made))


def add_commands(app: typer.Typer) -> None:
    """Add all commands to the command line."""
    for others in ("people", "grade", "desk"):  # these add their commands to the group when they are imported
        import_module(f"pttt_ooc.course.server.{others}_commands")
    app.add_typer(course, name="course")


@contextmanager
def open_course(here: CourseOptions | DecisionOptions) -> Iterator[Database]:
    """The database of a course for the block."""
    with extra("course", "The course"):
        from pttt_ooc.course.data.assignments import settle_assignments
        from pttt_ooc.course.data.database import Database
        from pttt_ooc.course.data.settings import read_settings
        from pttt_ooc.disk.permissions import private
    settings = read_settings(here.data)
    with private(), closing(Database.of(here.data, settings.database_url, settings.game)) as database:
        settle_assignments(database, here.data)
        yield database


@contextmanager
def reading(here: CourseOptions | DecisionOptions) -> Iterator[Session]:
    """A session of a course's database that changes nothing."""
    with open_course(here) as database, database.reading() as session:
        yield session


@contextmanager
def writing(here: CourseOptions | DecisionOptions) -> Iterator[Session]:
    """A transaction of a course's database."""
    with open_course(here) as database, database.writing() as session:
        yield session


@contextmanager
def trying(database: Database, dry_run: bool) -> Iterator[Session]:
    """A transaction, which a dry run takes back."""
    if not dry_run:
        with database.writing() as session:
            yield session
        return
    with database.reading() as session:
        yield session
        session.rollback()


def tell(told: Any, here: CourseOptions | DecisionOptions, lines: list[str]) -> None:
    """Print facts as JSON, or lines for people."""
    if here.as_json:
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        print("\n".join(lines))


# ---------------------------------------------------------------------------------------------
# The course


@command("init --data course --name 'Ada Lovelace' --email ada@example.org")
def init(
    here: CourseOptions,
    name: Annotated[str, typer.Option(metavar="NAME", help="The first instructor.")],
    email: Annotated[str, typer.Option(metavar="EMAIL", help="The instructor's address.")],
    game: GameOption = None,
) -> None:
    """Make a course and its first instructor; prints the instructor's token, once.

    A directory of `pttt course serve` may be there already: it becomes a course, with all that is in it.
    """
    with extra("course", "The course"):
        from pttt_ooc.course.data.audit import CONSOLE, note
        from pttt_ooc.course.data.settings import make_settings
        from pttt_ooc.course.data.term_tables import INSTRUCTOR
        from pttt_ooc.course.grades import course_file
        from pttt_ooc.course.people.people import add_staff, staff
        from pttt_ooc.disk.files import atomic_write_text
        from pttt_ooc.disk.permissions import private
        from pttt_ooc.errors import CourseError
    with private():
        make_settings(here.data, game)
    file = here.data / course_file.COURSE_FILE
    with writing(here) as session:
        if any(one.role == INSTRUCTOR for one in staff(session)):
            raise CourseError(f"{here.data} has an instructor already; `pttt course staff` adds others.")
        token = add_staff(session, name, email, INSTRUCTOR)
        note(session, CONSOLE, "staff", email=email, role=INSTRUCTOR)
        text = course_file.text_of(course_file.course_file(session))
    if not file.exists():
        with private():
            atomic_write_text(file, text)
    tell({"token": token, "name": name, "email": email, "file": str(file)}, here, [token])
    typer.echo(
        f"{file} describes the assignments; edit it, then: pttt course apply {file} --data {here.data}", err=True
    )


@command("assignments --data course")
def assignments(here: CourseOptions) -> None:
    """List the assignments with their dates."""
    with reading(here) as session:
        import time

        from pttt_ooc.course.data import dates
        from pttt_ooc.course.data.assignments import all_assignments, term_of
        from pttt_ooc.course.grades.course_file import course_file
        from pttt_ooc.course.grades.gradebook import most_of

        zone, now = term_of(session).zone, time.time()
        told = course_file(session).model_dump(mode="json", exclude_none=True)
        rows = [
            f"{one.name}: {one.kind}, {one.dates.state(now)}, "
            + (f"due {dates.readable_instant(one.due_at, zone)}" if one.due_at is not None else "no deadline")
            + f", {most_of(one):g} points{', released' if one.released else ''}"
            for one in all_assignments(session)
        ]
    tell(told, here, rows or ["There are no assignments."])


@command("file --data course > course.yaml", "file")
def write_file(here: CourseOptions) -> None:
    """Print the course as a course.yaml, as it is now."""
    with reading(here) as session:
        from pttt_ooc.course.grades.course_file import course_file, text_of

        found = course_file(session)
    tell(found.model_dump(mode="json", exclude_none=True), here, [text_of(found).rstrip("\n")])


@command("apply course.yaml --dry-run --data course")
def apply(
    here: DecisionOptions,
    file: Annotated[Path, typer.Argument(metavar="COURSE.yaml", help="The file that describes the course.")],
    dry_run: DryRunOption = False,
) -> None:
    """Change the course to what its file says, and show what changes, grades included."""
    with open_course(here) as database:
        from pttt_ooc.course.grades.course_file import apply as apply_file
        from pttt_ooc.course.grades.course_file import read_course_file
        from pttt_ooc.course.grades.rejudging import changed_points, points_now

        wanted = read_course_file(file)
        with trying(database, dry_run) as session:
            before = points_now(session)
            changes = [str(change) for change in apply_file(session, wanted, here.data, here.by)]
            grades = changed_points(before, points_now(session))
    tell(
        {"changes": changes, "grades": grades, "dry_run": dry_run},
        here,
        changes + grades or ["Nothing changes."],
    )


@command("publish public --data course")
def publish(
    here: CourseOptions,
    directory: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="Empty, or an earlier publication.")],
) -> None:
    """Write the course as static pages: standings, assignments, announcements; no points and no students."""
    with open_course(here) as database:
        from pttt_ooc.course.data.game_directory import make_games
        from pttt_ooc.course.data.settings import read_settings
        from pttt_ooc.course.pages.publication import publish as write_pages

        make_games(database, here.data)  # then they know who is disqualified
        with database.reading() as session:
            files = write_pages(session, read_settings(here.data), here.data, directory)
    told = {"directory": str(directory), "files": [file.name for file in files]}
    tell(told, here, [f"{directory}: {len(files)} files; open index.html."])


@command("doctor --data course")
def doctor(
    here: CourseOptions,
    digests: Annotated[bool, typer.Option("--digests", help="Also read all files, and compare their digests.")] = False,
) -> None:
    """Look for what needs attention; the exit code is 1 if there is anything."""
    with extra("course", "The course"):
        from pttt_ooc.course.grades.diagnosis import diagnosis, notes
        from pttt_ooc.disk.permissions import private
    with private():
        found = diagnosis(here.data, digests)
        beside = notes(here.data)
    tell(found, here, [*(found or ["Nothing needs attention."]), *beside])
    if found:
        raise typer.Exit(1)


@command("kit starter-kit.zip --data course")
def kit(
    here: CourseOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE.zip", help="The starter kit to write.")],
    force: ForceOption = False,
) -> None:
    """Write the starter kit that the course hands out.

    It has both lists of infosets, the uniform strategies, and programs to start from.
    """
    check_output(file, [here.data], force=force, suffix=".zip")
    with extra("course", "The course"):
        from pttt_ooc.course.strategies.starter_kit import write_kit_of
        from pttt_ooc.disk.permissions import private
    with private():  # the index, which is made in the course's directory
        write_kit_of(here.data, file)
    size = file.stat().st_size
    tell({"file": str(file), "bytes": size}, here, [f"{file}: {size / 1e6:.1f} MB."])


# ---------------------------------------------------------------------------------------------
# Copies


@command("backup monday.tar --data course")
def backup(
    here: CourseOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE.tar", help="The copy to write.")],
    force: ForceOption = False,
) -> None:
    """Copy all of a course into one file, while it is served or not; prints a digest of the copy.

    The exit code is 1 if a file that should be in the copy is lost or damaged; all else is in it then.
    """
    with open_course(here) as database:
        from pttt_ooc.course.data.storage import Storage
        from pttt_ooc.course.server.backup import write_backup

        check_output(file, [here.data, *database.files()], force=force)
        copy = write_backup(database, Storage(here.data), file)
    _tell_copy(file, copy, here)
    if copy.missing:
        raise typer.Exit(1)


@command("restore monday.tar --data restored")
def restore(
    here: CourseOptions,
    file: Annotated[Path, typer.Argument(metavar="FILE.tar", help="A copy.")],
    database_url: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="An empty database for the tables; none: a file in the directory, as by default."
        ),
    ] = None,
) -> None:
    """Make a course from a copy, in a directory that holds none; checks all of it, and prints the copy's digest."""
    with extra("course", "The course"):
        from pttt_ooc.course.server.backup import read_backup
        from pttt_ooc.disk.permissions import private
    with private():
        copy = read_backup(file, here.data, database_url)
    _tell_copy(here.data, copy, here, f"Start it with `pttt course serve --data {here.data}`.")


def _tell_copy(path: Path, copy: Copy, here: CourseOptions, *more: str) -> None:
    told = {"path": str(path), "submissions": copy.submissions, "digest": copy.digest, "missing": list(copy.missing)}
    tell(told, here, [f"{path}: {copy.submissions} submissions, digest {copy.digest}.", *more])
    if not here.as_json:
        print(*copy.missing, sep="\n", end="\n" if copy.missing else "", file=sys.stderr)
