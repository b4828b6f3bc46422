"""The commands ``pttt course ...`` about submissions: finding them, judging them again, rulings, downloads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pttt_ooc.course.server.client import TokenOption, send_pick
from pttt_ooc.course.server.commands import (
    AssignmentArgument,
    CourseOptions,
    DecisionOptions,
    DryRunOption,
    ReasonOption,
    TeamArgument,
    command,
    open_course,
    reading,
    tell,
    trying,
    writing,
)
from pttt_ooc.course.server.grade_commands import tell_grades
from pttt_ooc.disk.outputs import check_output
from pttt_ooc.options import ForceOption

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_LISTED = 50
NumberArgument = Annotated[int, typer.Argument(metavar="NUMBER", help="Number of the submission.")]
KindArgument = Annotated[str, typer.Argument(metavar="KIND", help="strategies, bots, agents or report.")]


@command("submissions 'Team A' --state rejected --data course")
def submissions(
    here: CourseOptions,
    search: Annotated[
        str, typer.Argument(metavar="TEXT", help="A team, a member, a number, or the beginning of a digest.")
    ] = "",
    kind: Annotated[str, typer.Option(metavar="KIND", help="strategies, bots, agents or report.")] = "",
    state: Annotated[str, typer.Option(metavar="STATE", help="accepted, rejected, waiting or ruled.")] = "",
    page: Annotated[int, typer.Option(min=1, metavar="N", help="The page; each has 50 rows.")] = 1,
) -> None:
    """Find what teams have handed in, the latest first."""
    with reading(here) as session:
        from pttt_ooc.course.data.assignments import term_of
        from pttt_ooc.course.data.dates import readable_instant
        from pttt_ooc.course.data.names import readable_name
        from pttt_ooc.course.grades.search import find

        found, zone = find(session, here.data, search, kind, state, page, _LISTED), term_of(session).zone
        told = {"total": found.total, "page": found.page, "pages": found.pages}
        rows = [
            f"{one.kind}{' of ' + one.of if one.of else ''} {one.number}  {readable_name(one.team.own_name)}  "
            + f"{one.part}  {readable_instant(one.at, zone)}  {one.status}"
            + (f", {one.ruling}" if one.ruling else "")
            + (f": {one.note}" if one.note else "")
            for one in found.rows
        ]
    more = [f"Page {found.page} of {found.pages}."] if found.pages > 1 else []
    facts = [one.facts() for one in found.rows]
    tell({**told, "submissions": facts}, here, [*(rows or ["Nothing is found."]), *more])


@command("rejudge 17 --dry-run --data course")
def rejudge(
    here: DecisionOptions,
    numbers: Annotated[list[int] | None, typer.Argument(metavar="[NUMBER...]", help="Numbers of submissions.")] = None,
    kind: Annotated[str, typer.Option(metavar="KIND", help="strategies or agents.")] = "strategies",
    everything: Annotated[bool, typer.Option("--all", help="All of the kind with a verdict.")] = False,
    team: Annotated[str | None, typer.Option(metavar="TEAM", help="All of a team.")] = None,
    dry_run: DryRunOption = False,
) -> None:
    """Judge submissions again, accepted ones too; --dry-run judges them here, and tells what would change.

    With an accepted strategy, all accepted ones of the team for the same player are judged again, because one of the
    others may now be its best. The matches of an agent against other teams' are played again, though not in a dry run.
    """
    with open_course(here) as database:
        from pttt_ooc.course.grades.rejudging import NOUNS, begin_again, changed_points, points_now

        with database.reading() as session:
            chosen = _chosen_numbers(session, kind, numbers or [], everything, team)
        if not dry_run:
            with database.writing() as session:
                queued = begin_again(session, chosen, here.by, kind)
            told: dict[str, Any] = {"queued": queued, "kind": kind, "dry_run": False}
            lines = [f"{NOUNS[kind].capitalize()} {number} is in the queue again." for number in queued]
            tell(told, here, lines)
            return
        from pttt_ooc.course.grades.rejudging import rehearse

        with trying(database, True) as session:
            before = points_now(session)
            found = rehearse(session, here.data, chosen, kind, on_progress=_progress)
            grades = changed_points(before, points_now(session))
    lines = [str(one) for one in found]
    changed = [{"submission": one.number, "before": one.before, "after": one.after} for one in found]
    tell(
        {"verdicts": changed, "kind": kind, "grades": grades, "dry_run": True},
        here,
        lines + (grades or ["No grade changes."]),
    )


def _chosen_numbers(session: Session, kind: str, numbers: list[int], everything: bool, team: str | None) -> list[int]:
    from pttt_ooc.course.grades.rejudging import all_numbers, table_of
    from pttt_ooc.course.people.teams import require_team
    from pttt_ooc.errors import CourseError

    table_of(kind)
    if sum((bool(numbers), everything, team is not None)) != 1:
        raise CourseError("Name submissions by their numbers, or a --team, or --all.")
    if numbers:
        return numbers
    found = all_numbers(session, None if team is None else require_team(session, team).id, kind)
    if not found:
        raise CourseError(f"There are no {kind} with a verdict.")
    return found


def _progress(count: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{count + 1} of {total} ", end="\n" if count + 1 == total else "", file=sys.stderr, flush=True)


@command("rejudgements --data course")
def rejudgements(
    here: CourseOptions,
    number: Annotated[int | None, typer.Argument(metavar="NUMBER", help="One of them, in full.")] = None,
) -> None:
    """List what was judged again and the desk's dry runs, with their progress."""
    with reading(here) as session:
        from pttt_ooc.course.data.assignments import term_of
        from pttt_ooc.course.data.dates import readable_instant
        from pttt_ooc.course.grades import rejudging
        from pttt_ooc.errors import CourseError

        zone = term_of(session).zone
        found = [one for one in rejudging.rejudgements(session) if number in (None, one.id)]
        if number is not None and not found:
            raise CourseError(f"There is no rejudgement {number}.")
        told, lines = [], []
        for one in found:
            facts = rejudging.facts_of(session, one)
            told.append(facts)
            what = "dry run" if one.dry_run else "rejudgement"
            count = f"{facts['done']} of {facts['total']}"
            lines.append(f"{one.id}  {readable_instant(one.at, zone)}  {what} of {one.kind} by {one.by}: {count}")
            if number is not None:
                changed = [e for e in facts["verdicts"] if e["before"] != e["after"]]
                lines += [f"~ {rejudging.NOUNS[one.kind]} {e['number']}: {e['before']} → {e['after']}" for e in changed]
                lines += [*one.grades, *([one.trouble] if one.trouble else [])]
    tell(told, here, lines or ["Nothing was judged again."])


@command("rule strategies 17 withdrawn --reason 'The file of others'")
def rule(
    here: DecisionOptions,
    kind: KindArgument,
    number: Annotated[int, typer.Argument(min=1, metavar="NUMBER", help="The number of the submission.")],
    ruling: Annotated[str, typer.Argument(metavar="RULING", help="hidden, withdrawn or none.")],
    reason: ReasonOption,
    of: Annotated[str, typer.Option(metavar="NAME", help="The further game or league that has it.")] = "",
) -> None:
    """Hide a submission (still counts), withdraw it (no longer counts), or undo either."""
    with writing(here) as session:
        from pttt_ooc.course.grades.decisions import rule as decide

        rows = decide(session, here.data, here.by, kind, number, ruling, reason, of)
        tell_grades(session, rows, here, kind=kind, number=number, ruling=ruling)


@command("disqualify 'Team A' strategies --reason 'Code of others'")
def disqualify(
    here: DecisionOptions,
    team: TeamArgument,
    assignment: AssignmentArgument,
    reason: ReasonOption,
    undo: Annotated[bool, typer.Option("--undo", help="Reinstate the team.")] = False,
) -> None:
    """Take a team's points and rank in an assignment; --undo gives them back."""
    with writing(here) as session:
        from pttt_ooc.course.grades.decisions import disqualify as decide

        rows = decide(session, here.data, here.by, team, assignment, reason, holds=not undo)
        tell_grades(session, rows, here, team=team, assignment=assignment, disqualified=not undo)


@command("pick 'Team A' strategies 17 --data course")
def pick(
    here: DecisionOptions,
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[TEAM] ASSIGNMENT NUMBER",
            help="For staff the team, the assignment and the submission; for a team the last two.  The number none: "
            "the last submissions count.",
        ),
    ],
    server: Annotated[
        str | None, typer.Option(metavar="URL", envvar="PTTT_SERVER", help="The course, for a team that chooses.")
    ] = None,
    token: TokenOption = None,
) -> None:
    """Choose which submission counts, where teams choose.

    A team chooses by --server, until the assignment closes; staff choose for a team in --data, also after that.
    """
    from pttt_ooc.errors import CourseError

    if len(words) not in (2, 3) or (len(words) == 2 and server is None):
        raise CourseError(
            "Name the team, the assignment and the submission; a team leaves itself out, and gives --server."
        )
    *of, assignment, number = words
    if number != "none" and not (number.isascii() and number.isdecimal()):
        raise CourseError(f"{number!r} is neither the number of a submission nor none.")
    chosen = None if number == "none" else int(number)
    if not of:
        send_pick(assignment, chosen, server or "", token, here.as_json)
        return
    team = of[0]
    with writing(here) as session:
        from pttt_ooc.course.grades.decisions import Desk

        rows = Desk(session, here.data, here.by).pick(team, assignment, chosen)
        tell_grades(session, rows, here, team=team, assignment=assignment, pick=number)


@command("similar --data course")
def similar(here: CourseOptions) -> None:
    """List submissions of different teams that are alike: a hint, not a verdict."""
    with reading(here) as session:
        from pttt_ooc.course.grades.similarity import alike, lines

        found = alike(session, here.data)
    tell([one.facts() for one in found], here, lines(found) or ["None are found."])


@command("open 17 --data course", "open")
def open_submission(here: CourseOptions, number: NumberArgument) -> None:
    """Let everybody play against an accepted submission; its team can do so on its page."""
    _open_to_play(here, number, True, f"Everybody may play against submission {number}.")


@command("close 17 --data course", "close")
def close_submission(here: CourseOptions, number: NumberArgument) -> None:
    """Close a submission for play."""
    _open_to_play(here, number, False, f"Nobody can play against submission {number} any more.")


def _open_to_play(here: CourseOptions, number: int, opened: bool, sentence: str) -> None:
    with open_course(here) as database:
        from pttt_ooc.course.strategies.submissions import open_to_play

        open_to_play(database, number, opened)
    tell({"submission": number, "open": opened}, here, [sentence])


@command("house data/pttt-abrupt/full/pttt_pl0.zip data/pttt-abrupt/full/pttt_pl1.zip")
def house(
    here: DecisionOptions,
    first: Annotated[Path, typer.Argument(metavar="FILE0.zip", help="Player 0's strategy.")],
    second: Annotated[Path, typer.Argument(metavar="FILE1.zip", help="Player 1's strategy.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="The name in the head-to-head.")] = "Equilibrium",
) -> None:
    """Enter strategies of the instructors' own, such as an exact equilibrium, into the head-to-head.

    They have no rank and no grade, and students cannot see or download them.
    """
    with writing(here) as session:
        from pttt_ooc.course.data.storage import Storage
        from pttt_ooc.course.strategies.submissions import take_in_house

        rows = take_in_house(session, Storage(here.data), name, (first, second), here.by)
        numbers = [row.id for row in rows]
    tell(
        {"team": name, "submissions": numbers},
        here,
        [f"Submissions {numbers[0]} and {numbers[1]} are judged next."],
    )


@command("deliveries --data course")
def deliveries(
    here: CourseOptions,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="How many; the latest come first.")] = 50,
) -> None:
    """List announcements on their way to webhooks and by e-mail, and what became of them."""
    with reading(here) as session:
        from pttt_ooc.course.people.post import deliveries as found
        from pttt_ooc.course.people.post import facts

        told = facts(found(session, most))
    lines = [
        f"{one['announcement']}, {one['channel']} {one['target']}: {one['state']}"
        + (f" after {one['attempts']} attempts: {one['trouble']}" if one["trouble"] else "")
        for one in told
    ]
    tell(told, here, lines or ["Nothing was to be sent."])


@command("download strategies -o strategies.zip --data course")
def download(
    here: CourseOptions,
    assignment: AssignmentArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE.zip", help="The file to write.")],
    force: ForceOption = False,
) -> None:
    """Write all submissions of an assignment into one zip, with a table of them."""
    with open_course(here) as database:
        from pttt_ooc.course.data.assignments import term_of
        from pttt_ooc.course.data.storage import Storage
        from pttt_ooc.course.grades.downloads import members_of, zip_members
        from pttt_ooc.disk.files import replacing
        from pttt_ooc.disk.permissions import private

        check_output(output, [here.data], force=force, suffix=".zip")
        with database.reading() as session:
            members, zone = members_of(session, Storage(here.data), assignment), term_of(session).zone
        with private(), replacing(output) as path, open(path, "wb") as file:
            for piece in zip_members(members, zone):
                file.write(piece)
    size = output.stat().st_size
    told = {"file": str(output), "submissions": len(members), "bytes": size}
    tell(told, here, [f"{output}: {len(members)} submissions, {size / 1e6:.1f} MB."])
