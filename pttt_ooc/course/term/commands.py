"""The commands ``pttt course ...``: all that a term needs, on the server itself.

What they need is imported when they run.  Who used a command is in the log as "console", unless ``--by`` says who.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pttt_ooc.course.copy_commands import add_copy_commands
from pttt_ooc.disk.outputs import check_output
from pttt_ooc.extras import extra
from pttt_ooc.options import GRADER, CourseGameOption, DataOption, ForceOption, JsonOption, group

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from pttt_ooc.course.database import Database
    from pttt_ooc.course.term.decisions import Desk
    from pttt_ooc.course.term.tables import GradeRow

course = group("Run a course: assignments, people, dates, grades.")

TeamArgument = Annotated[str, typer.Argument(metavar="TEAM", help="The team's name.")]
AssignmentArgument = Annotated[str, typer.Argument(metavar="ASSIGNMENT", help="The assignment's name.")]
ByOption = Annotated[str, typer.Option("--by", metavar="WHO", help="Who decides, for the log.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]
HoursOption = Annotated[float, typer.Option(min=0.1, max=8760, metavar="HOURS", help="How long it can be used.")]
ServerOption = Annotated[str, typer.Option(metavar="URL", help="The server's address, to be printed before the link.")]
ReasonOption = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the team sees it.")]


def add_commands(app: typer.Typer) -> None:
    """Give the commands to the command line."""
    app.add_typer(course, name="course")


add_copy_commands(course, "course")


@contextmanager
def opened(data: Path) -> Iterator[Database]:
    """The database of a course for the block."""
    with extra("grader", "The course"):
        from pttt_ooc.course.database import Database
        from pttt_ooc.course.settings import read_settings
        from pttt_ooc.course.term.assignments import settle_assignments
        from pttt_ooc.disk.rights import private
    settings = read_settings(data)
    with private():
        database = Database.of(data, settings.database_url, settings.game)
        try:
            settle_assignments(database, data)
            yield database
        finally:
            database.close()


@contextmanager
def _desk(data: Path, by: str) -> Iterator[Desk]:
    """The decisions of one transaction."""
    with opened(data) as database:
        from pttt_ooc.course.term.decisions import Desk

        with database.writing() as session:
            yield Desk(session, data, by)


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


def tell(told: Any, as_json: bool, lines: list[str]) -> None:
    """Print facts as JSON, or lines for people."""
    if as_json:
        print(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        print("\n".join(lines))


# ---------------------------------------------------------------------------------------------
# The course


@course.command(epilog="Example: pttt course init --data grader --name 'Ada Lovelace' --email ada@example.org")
def init(
    name: Annotated[str, typer.Option(metavar="NAME", help="The first instructor.")],
    email: Annotated[str, typer.Option(metavar="EMAIL", help="The instructor's address.")],
    game: CourseGameOption = None,
    data: DataOption = GRADER,
) -> None:
    """Make a course and its first instructor; prints the instructor's token, once.

    A directory of `pttt serve` may be there already: it becomes a course, with all that is in it.
    """
    with extra("grader", "The course"):
        from pttt_ooc.course.settings import make_settings
        from pttt_ooc.course.term import course_file
        from pttt_ooc.course.term.audit import CONSOLE, note
        from pttt_ooc.course.term.people import add_staff
        from pttt_ooc.course.term.tables import INSTRUCTOR
        from pttt_ooc.disk.files import atomic_write_text
        from pttt_ooc.disk.rights import private
        from pttt_ooc.errors import GraderError
    with private():
        make_settings(data, game)
    with opened(data) as database:
        file = data / course_file.COURSE_FILE
        with database.writing() as session:
            from pttt_ooc.course.term.people import staff

            if any(one.role == INSTRUCTOR for one in staff(session)):
                raise GraderError(f"{data} has an instructor already; `pttt course staff` adds others.")
            token = add_staff(session, name, email, INSTRUCTOR)
            note(session, CONSOLE, "staff", email=email, role=INSTRUCTOR)
            text = course_file.text_of(course_file.course_file(session))
        if not file.exists():
            with private():
                atomic_write_text(file, text)
    print(token)
    typer.echo(f"{file} describes the assignments; edit it, then: pttt course apply {file} --data {data}", err=True)


@course.command(epilog="Example: pttt course staff 'Alan Turing' alan@example.org --role assistant")
def staff(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Somebody new, or with a new token.")] = None,
    email: Annotated[str | None, typer.Argument(metavar="EMAIL", help="The address.")] = None,
    role: Annotated[str, typer.Option(metavar="ROLE", help="instructor or assistant.")] = "assistant",
    remove: Annotated[str | None, typer.Option(metavar="EMAIL", help="Take somebody's rights.")] = None,
    as_json: JsonOption = False,
    data: DataOption = GRADER,
) -> None:
    """Give somebody rights and print the token, once; or list all people with rights."""
    with opened(data) as database:
        from pttt_ooc.course.term import people
        from pttt_ooc.course.term.audit import CONSOLE, note
        from pttt_ooc.errors import GraderError

        if name is not None and email is None:
            raise GraderError("The address is missing: pttt course staff NAME EMAIL.")
        with database.writing() as session:
            if remove is not None:
                gone = people.remove_staff(session, remove)
                note(session, CONSOLE, "remove staff", email=gone.email)
            if name is not None and email is not None:
                token = people.add_staff(session, name, email, role)
                note(session, CONSOLE, "staff", email=email, role=role)
            found = [{"name": one.name, "email": one.email, "role": one.role} for one in people.staff(session)]
    if name is not None:
        print(token)
    else:
        tell(found, as_json, [f"{one['role']:11} {one['name']} <{one['email']}>" for one in found])


@course.command(epilog="Example: pttt course teams roster.csv --tokens tokens.csv --data grader")
def teams(
    roster: Annotated[
        Path | None, typer.Argument(metavar="ROSTER.csv", help="Columns: team, name, email and, if wanted, number.")
    ] = None,
    tokens: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Where to write the tokens of new teams.")
    ] = None,
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
    data: DataOption = GRADER,
) -> None:
    """Make teams of a roster, or list teams with their members.

    Students whom the roster does not name stay where they are.
    """
    with opened(data) as database:
        if roster is None:
            _list_teams(database, as_json)
            return
        _apply_roster(database, data, roster, tokens, dry_run, as_json)


def _list_teams(database: Database, as_json: bool) -> None:
    from pttt_ooc.course.names import shown
    from pttt_ooc.course.teams import find_team, list_teams
    from pttt_ooc.course.term.people import members

    told: list[dict[str, Any]] = []
    facts = list_teams(database)
    with database.reading() as session:
        people = members(session)
        for one in facts:
            team = find_team(session, one.name)
            inside = [{"name": p.name, "email": p.email} for p in people.get(team.id if team else 0, [])]
            told.append({"team": one.name, "submissions": one.submissions, "members": inside})
    lines = [f"{shown(one['team'])}: {', '.join(m['name'] for m in one['members']) or '–'}" for one in told]
    tell(told, as_json, lines)


def _apply_roster(
    database: Database, data: Path, roster: Path, tokens: Path | None, dry_run: bool, as_json: bool
) -> None:
    from pttt_ooc.course.term.audit import CONSOLE, note
    from pttt_ooc.course.term.exports import safe, table
    from pttt_ooc.course.term.people import apply_roster, read_roster
    from pttt_ooc.disk.files import atomic_write_text
    from pttt_ooc.disk.rights import private
    from pttt_ooc.errors import GraderError

    if tokens is not None:
        check_output(tokens, [data, roster], force=False, suffix=".csv")
    try:
        text = roster.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise GraderError(f"{roster} cannot be read: {error}.") from None
    rows = read_roster(text, str(roster))
    with trying(database, dry_run) as session:
        change = apply_roster(session, rows)
        if not change.is_empty:
            note(session, CONSOLE, "teams", changes=change.lines())
        if change.tokens and tokens is not None and not dry_run:
            with private():
                written = [("team", "token"), *((safe(name), token) for name, token in change.tokens)]
                atomic_write_text(tokens, table(written))
    shown = change.lines() or ["Nothing changes."]
    if tokens is None and not dry_run:
        shown += [f"{name}: {token}" for name, token in change.tokens]
    told = {"changes": change.lines(), "tokens": {} if dry_run or tokens else dict(change.tokens), "dry_run": dry_run}
    tell(told, as_json, shown)


@course.command(epilog="Example: pttt course assignments --data grader")
def assignments(as_json: JsonOption = False, data: DataOption = GRADER) -> None:
    """List the assignments with their dates."""
    with opened(data) as database:
        import time

        from pttt_ooc.course.term import dates
        from pttt_ooc.course.term.assignments import all_assignments, term_of
        from pttt_ooc.course.term.course_file import course_file
        from pttt_ooc.course.term.gradebook import most_of

        with database.reading() as session:
            zone, now = term_of(session).zone, time.time()
            told = course_file(session).model_dump(mode="json", exclude_none=True)
            rows = [
                f"{one.name}: {one.kind}, {one.dates.state(now)}, "
                + (f"due {dates.shown(one.due_at, zone)}" if one.due_at is not None else "no deadline")
                + f", {most_of(one):g} points{', released' if one.released else ''}"
                for one in all_assignments(session)
            ]
    tell(told, as_json, rows or ["There are no assignments."])


@course.command("file", epilog="Example: pttt course file --data grader > course.yaml")
def write_file(data: DataOption = GRADER) -> None:
    """Print the course as a course.yaml, as it is now."""
    with opened(data) as database:
        from pttt_ooc.course.term.course_file import course_file, text_of

        with database.reading() as session:
            print(text_of(course_file(session)), end="")


@course.command(epilog="Example: pttt course apply course.yaml --dry-run --data grader")
def apply(
    file: Annotated[Path, typer.Argument(metavar="COURSE.yaml", help="The course as it is to be.")],
    dry_run: DryRunOption = False,
    as_json: JsonOption = False,
    data: DataOption = GRADER,
    by: ByOption = "console",
) -> None:
    """Make the course as its file says, and show what changes, grades included."""
    with opened(data) as database:
        from pttt_ooc.course.term.course_file import apply as applied
        from pttt_ooc.course.term.course_file import read_course_file
        from pttt_ooc.course.term.rejudging import changed_points, points_now

        wanted = read_course_file(file)
        with trying(database, dry_run) as session:
            before = points_now(session)
            changes = [str(change) for change in applied(session, wanted, data, by)]
            grades = changed_points(before, points_now(session))
    tell({"changes": changes, "grades": grades, "dry_run": dry_run}, as_json, changes + grades or ["Nothing changes."])


def _shown(points: float | None) -> str:
    return "–" if points is None else f"{points:g}"


# ---------------------------------------------------------------------------------------------
# Grades


@course.command(epilog="Example: pttt course grades --format canvas -o grades.csv --data grader")
def grades(
    assignment: Annotated[str | None, typer.Option(metavar="NAME", help="Only this assignment.")] = None,
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="csv, json, canvas or gradescope.")] = "csv",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The file to write; default: print them.")
    ] = None,
    as_json: JsonOption = False,
    force: ForceOption = False,
    data: DataOption = GRADER,
) -> None:
    """Settle all grades, and export them."""
    with opened(data) as database:
        from pttt_ooc.course.term.exports import export
        from pttt_ooc.course.term.gradebook import settle
        from pttt_ooc.disk.files import atomic_write_text
        from pttt_ooc.disk.rights import private

        if output is not None:
            check_output(output, [data], force=force)
        with database.writing() as session:
            settle(session, data, "grades exported")
            text = export(session, "json" if as_json else form, assignment)
        if output is None:
            print(text, end="")
        else:
            with private():
                atomic_write_text(output, text)


def _decided(rows: list[GradeRow]) -> None:
    print("\n".join(f"The grade is now {_shown(row.points)}." for row in rows) or "No grade changes.")


@course.command(epilog="Example: pttt course mark 'Team A' extreme search 18 --comment 'Clear.' --data grader")
def mark(
    team: TeamArgument,
    assignment: AssignmentArgument,
    criterion: Annotated[str, typer.Argument(metavar="CRITERION", help="Of the rubric.")],
    points: Annotated[float, typer.Argument(metavar="POINTS", help="From 0 to the criterion's points.")],
    comment: Annotated[str, typer.Option(metavar="TEXT", help="For the team.")] = "",
    data: DataOption = GRADER,
    by: ByOption = "console",
) -> None:
    """Give points by hand for a criterion of the rubric; they replace earlier ones."""
    with _desk(data, by) as desk:
        _decided(desk.mark(team, assignment, criterion, points, comment))


@course.command(
    epilog="Example: pttt course adjust 'Team A' extreme --points=-5 --reason 'Code of others' --data grader"
)
def adjust(
    team: TeamArgument,
    assignment: AssignmentArgument,
    points: Annotated[float, typer.Option(metavar="POINTS", help="More, or fewer: --points=-5.")],
    reason: ReasonOption,
    data: DataOption = GRADER,
    by: ByOption = "console",
) -> None:
    """Give points more or fewer, with a reason."""
    with _desk(data, by) as desk:
        _decided(desk.adjust(team, assignment, points, reason))


@course.command(epilog="Example: pttt course extend 'Team A' extreme '2027-03-01 23:55' --reason ill --data grader")
def extend(
    team: TeamArgument,
    assignment: AssignmentArgument,
    until: Annotated[str, typer.Argument(metavar="TIME", help="The new deadline; none takes it back.")],
    reason: ReasonOption,
    data: DataOption = GRADER,
    by: ByOption = "console",
) -> None:
    """Move a team's deadline; the end of late uploads moves with it."""
    with _desk(data, by) as desk:
        _decided(desk.extend(team, assignment, None if until == "none" else until, reason))


@course.command(epilog="Example: pttt course release extreme --data grader")
def release(
    assignment: AssignmentArgument,
    hide: Annotated[bool, typer.Option("--hide", help="Hide the points again.")] = False,
    data: DataOption = GRADER,
    by: ByOption = "console",
) -> None:
    """Show teams their points for an assignment."""
    with _desk(data, by) as desk:
        desk.release(assignment, not hide)
    print(f"Teams {'no longer ' if hide else ''}see their points for {assignment}.")


@course.command(epilog="Example: pttt course history 'Team A' extreme --data grader")
def history(
    team: TeamArgument, assignment: AssignmentArgument, as_json: JsonOption = False, data: DataOption = GRADER
) -> None:
    """Show all grades that a team has had for an assignment, and why they changed."""
    with opened(data) as database:
        from pttt_ooc.course.names import shown as readable
        from pttt_ooc.course.teams import find_team
        from pttt_ooc.course.term import gradebook
        from pttt_ooc.course.term.assignments import find_assignment, term_of
        from pttt_ooc.course.term.dates import shown
        from pttt_ooc.errors import GraderError

        with database.reading() as session:
            found = find_team(session, team)
            if found is None:
                raise GraderError(f"There is no team {readable(team)}; `pttt course teams` lists them.")
            zone = term_of(session).zone
            rows = gradebook.history(session, found.id, find_assignment(session, assignment).id)
            told = [{"at": row.at, "points": row.points, "because": row.because, "grade": row.facts} for row in rows]
            text = [f"{shown(row.at, zone)}  {_shown(row.points):>6}  {row.because}" for row in rows]
    tell(told, as_json, text or ["There is no grade yet."])


@course.command(epilog="Example: pttt course log --data grader")
def log(
    most: Annotated[int, typer.Option(min=1, metavar="N", help="So many lines, the latest first.")] = 50,
    as_json: JsonOption = False,
    data: DataOption = GRADER,
) -> None:
    """Show what people with rights have done."""
    with opened(data) as database:
        from pttt_ooc.course.term.assignments import term_of
        from pttt_ooc.course.term.audit import lines
        from pttt_ooc.course.term.dates import shown

        with database.reading() as session:
            zone = term_of(session).zone
            found = lines(session, most)
            told = [{"at": one.at, "by": one.by, "what": one.what, "facts": one.facts} for one in found]
            text = [
                f"{shown(one.at, zone)}  {one.by}: {one.what} {json.dumps(one.facts, ensure_ascii=False)}"
                for one in found
            ]
    tell(told, as_json, text or ["The log is empty."])


@course.command(epilog="Example: pttt course announce 'The viva' --text 'Room 32-144, on 3 March.' --data grader")
def announce(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="One line.")],
    text: Annotated[str, typer.Option(metavar="TEXT", help="What there is to say.")] = "",
    data: DataOption = GRADER,
    by: ByOption = "console",
) -> None:
    """Tell everybody something: on the page Assignments, and in its Atom feed."""
    with _desk(data, by) as desk:
        desk.announce(title, text)
    print("It is on the page Assignments.")


@course.command(epilog="Example: pttt course invite --team 'Team A' --data grader")
def invite(
    team: Annotated[
        str | None, typer.Option(metavar="TEAM", help="The team; without it, into the course only.")
    ] = None,
    hours: HoursOption = 72.0,
    server: ServerOption = "",
    revoke: Annotated[int | None, typer.Option(metavar="NUMBER", help="Make an open link unusable.")] = None,
    by: ByOption = "console",
    data: DataOption = GRADER,
) -> None:
    """Print a link with which one person becomes a student of the course, and of a team.  It can be used once."""
    with opened(data) as database:
        from pttt_ooc.course.teams import named_team
        from pttt_ooc.course.term import invitations

        with database.writing() as session:
            if revoke is not None:
                invitations.revoke(session, by, revoke)
                return
            code = invitations.invite(session, by, None if team is None else named_team(session, team), hours)
    print(f"{server.rstrip('/')}{invitations.PAGE}#{code}")


@course.command(epilog="Example: pttt course link ada@example.org --data grader")
def link(
    email: Annotated[str, typer.Argument(metavar="EMAIL", help="A student, or somebody with rights.")],
    hours: HoursOption = 72.0,
    server: ServerOption = "",
    forget_password: Annotated[
        bool, typer.Option("--forget-password", help="Take the password, which is lost or known to others.")
    ] = False,
    by: ByOption = "console",
    data: DataOption = GRADER,
) -> None:
    """Print a link with which a person signs in, once; earlier ones of the person can no longer be used."""
    with opened(data) as database:
        from pttt_ooc.course.term import invitations, passwords
        from pttt_ooc.course.term.people import find_person

        with database.writing() as session:
            person = find_person(session, email)
            if forget_password:
                passwords.forget_password(session, person)
            code = invitations.link_to_sign_in(session, by, person, hours)
    print(f"{server.rstrip('/')}{invitations.PAGE}#{code}")


@course.command(epilog="Example: pttt course publish public --data grader")
def publish(
    directory: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="Empty, or an earlier publication.")],
    as_json: JsonOption = False,
    data: DataOption = GRADER,
) -> None:
    """Write the course as static pages: standings, assignments, announcements; no points and no students."""
    with opened(data) as database:
        from pttt_ooc.course.settings import read_settings
        from pttt_ooc.course.term.publication import publish as published

        with database.reading() as session:
            files = published(session, read_settings(data), data, directory)
    told = {"directory": str(directory), "files": [file.name for file in files]}
    tell(told, as_json, [f"{directory}: {len(files)} files; open index.html."])


@course.command(epilog="Example: pttt course doctor --data grader")
def doctor(
    digests: Annotated[bool, typer.Option("--digests", help="Also read all files, and compare their digests.")] = False,
    as_json: JsonOption = False,
    data: DataOption = GRADER,
) -> None:
    """Look for what needs attention; the exit code is 1 if there is anything."""
    with extra("grader", "The course"):
        from pttt_ooc.course.term.diagnosis import diagnosis
        from pttt_ooc.disk.rights import private
    with private():
        found = diagnosis(data, digests)
    tell(found, as_json, found or ["Nothing needs attention."])
    if found:
        raise typer.Exit(1)
