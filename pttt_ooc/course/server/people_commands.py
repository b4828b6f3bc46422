"""The commands ``pttt course ...`` about people: those with rights, teams and their members, links to sign in."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pttt_ooc.course.server.commands import (
    CourseOptions,
    DecisionOptions,
    DryRunOption,
    TeamArgument,
    command,
    open_course,
    tell,
    trying,
    writing,
)
from pttt_ooc.disk.outputs import check_output

if TYPE_CHECKING:
    from pttt_ooc.course.data.database import Database

HoursOption = Annotated[float, typer.Option(min=0.1, max=8760, metavar="HOURS", help="How long it can be used.")]
ServerOption = Annotated[str, typer.Option(metavar="URL", help="The server's address, to be printed before the link.")]


@command("staff 'Alan Turing' alan@example.org --role assistant")
def staff(
    here: CourseOptions,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Somebody new, or with a new token.")] = None,
    email: Annotated[str | None, typer.Argument(metavar="EMAIL", help="The address.")] = None,
    role: Annotated[str, typer.Option(metavar="ROLE", help="instructor or assistant.")] = "assistant",
    remove: Annotated[str | None, typer.Option(metavar="EMAIL", help="Take away somebody's rights.")] = None,
) -> None:
    """Make somebody an instructor or assistant and print their token, once; without NAME, list them."""
    with writing(here) as session:
        from pttt_ooc.course.data.audit import CONSOLE, note
        from pttt_ooc.course.people import people
        from pttt_ooc.errors import CourseError

        if name is not None and email is None:
            raise CourseError("The address is missing: pttt course staff NAME EMAIL.")
        if remove is not None:
            gone = people.remove_staff(session, remove)
            note(session, CONSOLE, "remove staff", email=gone.email)
        if name is not None and email is not None:
            token = people.add_staff(session, name, email, role)
            note(session, CONSOLE, "staff", email=email, role=role)
        found = [{"name": one.name, "email": one.email, "role": one.role} for one in people.staff(session)]
    if name is not None:
        tell({"name": name, "email": email, "role": role, "token": token}, here, [token])
    else:
        tell(found, here, [f"{one['role']:11} {one['name']} <{one['email']}>" for one in found])


@command("teams roster.csv --tokens tokens.csv --data course")
def teams(
    here: CourseOptions,
    roster: Annotated[
        Path | None, typer.Argument(metavar="ROSTER.csv", help="Columns: team, name, email and, if wanted, number.")
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv", help="Where to write the tokens of new teams and of those that somebody leaves."
        ),
    ] = None,
    dry_run: DryRunOption = False,
) -> None:
    """Make teams of a roster, or list teams with their members.

    Students whom the roster does not name stay where they are.
    """
    with open_course(here) as database:
        if roster is None:
            _list_teams(database, here)
            return
        _apply_roster(database, here, roster, tokens, dry_run)


def _list_teams(database: Database, here: CourseOptions) -> None:
    from pttt_ooc.course.data.names import readable_name
    from pttt_ooc.course.people.people import members
    from pttt_ooc.course.people.teams import find_team, list_teams

    told: list[dict[str, Any]] = []
    facts = list_teams(database)
    with database.reading() as session:
        people = members(session)
        for one in facts:
            team = find_team(session, one.name)
            inside = [{"name": p.name, "email": p.email} for p in people.get(team.id if team else 0, [])]
            told.append({"team": one.name, "submissions": one.submissions, "members": inside})
    lines = [f"{readable_name(one['team'])}: {', '.join(m['name'] for m in one['members']) or '–'}" for one in told]
    tell(told, here, lines)


def _apply_roster(database: Database, here: CourseOptions, roster: Path, tokens: Path | None, dry_run: bool) -> None:
    from pttt_ooc.course.data.audit import CONSOLE, note
    from pttt_ooc.course.grades.exports import safe, table
    from pttt_ooc.course.grades.gradebook import settle_if_graded
    from pttt_ooc.course.people.people import apply_roster, read_roster
    from pttt_ooc.disk.files import atomic_write_text
    from pttt_ooc.disk.permissions import private
    from pttt_ooc.errors import CourseError

    if tokens is not None:
        check_output(tokens, [here.data, roster], force=None, suffix=".csv")
    try:
        text = roster.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{roster} cannot be read: {error}.") from None
    rows = read_roster(text, str(roster))
    with trying(database, dry_run) as session:
        change = apply_roster(session, rows)
        if not change.is_empty:
            note(session, CONSOLE, "teams", changes=change.lines())
            settle_if_graded(session, here.data, "a roster was applied")
        if change.tokens and tokens is not None and not dry_run:
            with private():
                written = [("team", "token"), *((safe(name), token) for name, token in change.tokens)]
                atomic_write_text(tokens, table(written))
    shown = change.lines() or ["Nothing changes."]
    if tokens is None and not dry_run:
        shown += [f"{name}: {token}" for name, token in change.tokens]
    told = {"changes": change.lines(), "tokens": {} if dry_run or tokens else dict(change.tokens), "dry_run": dry_run}
    tell(told, here, shown)


@command("add-team 'Team A' --data course")
def add_team(here: CourseOptions, name: TeamArgument) -> None:
    """Add a team, and print its token, once: only a hash of it is kept."""
    with open_course(here) as database:
        from pttt_ooc.course.people import teams

        token = teams.add_team(database, name)
    tell({"team": name, "token": token}, here, [token])


@command("rotate-token 'Team A' --data course")
def rotate_token(here: CourseOptions, name: TeamArgument) -> None:
    """Print a new token for a team; the old one stops working."""
    with open_course(here) as database:
        from pttt_ooc.course.people import teams

        token = teams.rotate_token(database, name)
    tell({"team": name, "token": token}, here, [token])


@command("remove-team 'Team A' --yes --data course")
def remove_team(
    here: CourseOptions,
    name: TeamArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove a team with all its submissions and files."""
    with open_course(here) as database:
        from pttt_ooc.course.people import teams

        if not yes and not typer.confirm(f"Remove {name} with all its submissions?", err=here.as_json):
            raise typer.Exit(1)
        files = teams.remove_team(database, here.data, name)
        for file in files:
            file.unlink(missing_ok=True)
    sentence = f"{name} is removed, and {len(files)} submissions with it."
    tell({"team": name, "submissions": len(files)}, here, [sentence])


@command("list-teams --data course")
def list_teams(here: CourseOptions) -> None:
    """List the teams with the numbers of their submissions."""
    with open_course(here) as database:
        from pttt_ooc.course.data.names import readable_name
        from pttt_ooc.course.people import teams
        from pttt_ooc.pipeline.show.tables import print_table, whole

        rows = teams.list_teams(database)
    if here.as_json:
        tell([asdict(team) for team in rows], here, [])
        return
    days = (time.strftime("%Y-%m-%d", time.gmtime(team.created_at)) for team in rows)
    cells = [
        (whole(readable_name(team.name)), team.submissions, team.accepted, day)
        for team, day in zip(rows, days, strict=True)
    ]
    print_table(("team", "submissions", "accepted", "since"), cells)


@command("invite --team 'Team A' --data course")
def invite(
    here: DecisionOptions,
    team: Annotated[
        str | None, typer.Option(metavar="TEAM", help="The team; without it, into the course only.")
    ] = None,
    hours: HoursOption = 72.0,
    server: ServerOption = "",
    revoke: Annotated[int | None, typer.Option(metavar="NUMBER", help="Revoke an open link.")] = None,
) -> None:
    """Print a link with which one person becomes a student of the course, and of a team.  It can be used once."""
    with writing(here) as session:
        from pttt_ooc.course.people import invitations
        from pttt_ooc.course.people.teams import named_team

        if revoke is not None:
            invitations.revoke(session, here.by, revoke)
            tell({"revoked": revoke}, here, [f"The link {revoke} can no longer be used."])
            return
        code = invitations.invite(session, here.by, None if team is None else named_team(session, team), hours)
    address = f"{server.rstrip('/')}{invitations.PAGE}#{code}"
    tell({"team": team, "link": address, "hours": hours}, here, [address])


@command("link ada@example.org --data course")
def link(
    here: DecisionOptions,
    email: Annotated[str, typer.Argument(metavar="EMAIL", help="A student, or somebody with rights.")],
    hours: HoursOption = 72.0,
    server: ServerOption = "",
    forget_password: Annotated[
        bool, typer.Option("--forget-password", help="Delete the password, because it is lost or others know it.")
    ] = False,
) -> None:
    """Print a link with which a person signs in, once; earlier ones of the person can no longer be used."""
    with writing(here) as session:
        from pttt_ooc.course.people import invitations, passwords
        from pttt_ooc.course.people.people import find_person

        person = find_person(session, email)
        if forget_password:
            passwords.forget_password(session, person)
        code = invitations.link_to_sign_in(session, here.by, person, hours)
    address = f"{server.rstrip('/')}{invitations.PAGE}#{code}"
    tell({"email": person.email, "link": address, "hours": hours}, here, [address])
