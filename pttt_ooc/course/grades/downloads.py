"""All submissions of an assignment as one zip, which is sent while it is written; with a table of its contents."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, cast
from zoneinfo import ZoneInfo

from sqlalchemy import select
from sqlalchemy.orm import Session, undefer

from pttt_ooc.course.bots.league import league_directory
from pttt_ooc.course.bots.submissions import Bot, open_bots
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import find_assignment, further_of
from pttt_ooc.course.data.choice import TeamDates
from pttt_ooc.course.data.dates import readable_instant
from pttt_ooc.course.data.game_directory import directory_of, strategies_of
from pttt_ooc.course.data.models import OF_STUDENTS, Judged, Submission, Team
from pttt_ooc.course.data.rules import AGENTS, BOTS, STRATEGIES
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Report
from pttt_ooc.course.grades.exports import safe, table
from pttt_ooc.course.grades.gradebook import current
from pttt_ooc.site.shell.zip_stream import Pieces

_PIECE = 1 << 20
TABLE = "submissions.csv"
"""The name of the table in the zip."""

_HEADING = ("team", "number", "file", "begun", "status", "note", "ruling", "counts", "digest")
_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest date of a zip: the table has the times


Content = Path | Callable[[], bytes | None]
"""A file, or a function that reads one from elsewhere."""


@dataclass(frozen=True)
class _Member:
    name: str
    row: Judged
    team: str
    content: Content
    note: str
    counts: bool


def members_of(session: Session, storage: Storage, name: str, only: Team | None = None) -> list[_Member]:
    """The files in an assignment's zip: uploads begun within their team's dates; CourseError for an unknown name.

    Files of strategies that several assignments share are in the zip of each.

    Parameters
    ----------
    only
        The team whose files are wanted; None: all teams.
    """
    assignment = find_assignment(session, name)
    teams = {team.id: team for team in session.scalars(select(Team).where(*OF_STUDENTS))}
    dates = TeamDates.of(session, assignment)
    # What counts now, as the latest grades of the assignment name it.
    counted = {
        (team, number)
        for (team, to), row in current(session).items()
        if to == assignment.id
        for number in row.facts["submissions"].values()
    }
    # All that was handed in of this kind, with its name in the zip.  Strategies for a further game lie in the directory
    # of the game, bots in the database of their league.
    found: list[_Member] = []
    rows: list[tuple[Judged, str, Content, str]] = []
    if assignment.kind == STRATEGIES:
        game = further_of(assignment)
        files = storage if game is None else Storage(directory_of(storage.data, game))
        with strategies_of(session, assignment, storage.data) as source:
            for one in source.scalars(select(Submission).order_by(Submission.id)) if source is not None else ():
                rows.append((one, f"strategy-{one.player}-{one.id}.zip", files.upload(one.file), one.note))
    elif assignment.kind == BOTS:
        rows = _bots(league_directory(storage.data, further_of(assignment)))
    elif assignment.kind == AGENTS:
        for agent in session.scalars(select(Agent).where(Agent.assignment_id == assignment.id).order_by(Agent.id)):
            rows.append((agent, f"agent-{agent.id}-{agent.given}", storage.upload(agent.file), agent.message))
    else:
        for report in session.scalars(select(Report).where(Report.assignment_id == assignment.id).order_by(Report.id)):
            given = re.sub(r"[^A-Za-z0-9._-]", "_", report.given)[-80:]
            rows.append((report, f"report-{report.id}-{given}", storage.upload(report.file), report.note))
    # From these, the uploads that the wanted teams began within their own dates, extensions included.
    for row, file, content, note in rows:
        team = teams.get(row.team_id)
        if team is None or (only is not None and team.id != only.id) or not dates.dates(team.id).takes(row.counts_from):
            continue
        counts = (team.id, row.id) in counted
        found.append(_Member(f"{folder_of(team)}/{file}", row, team.own_name, content, note, counts))
    return found


def folder_of(team: Team) -> str:
    """The folder of a team: its number, and the part of its name that every system takes."""
    return f"{team.id:03}-" + (re.sub(r"[^A-Za-z0-9]+", "_", team.own_name).strip("_") or "team")


def _bots(data: Path) -> list[tuple[Judged, str, Content, str]]:
    with open_bots(data) as bots:
        if bots is None:
            return []
        with bots.database.reading() as session:
            rows = session.scalars(select(Bot).order_by(Bot.id)).all()
    return [(bot, f"bot-{bot.id}-{bot.file}", partial(_bot, data, bot), bot.message) for bot in rows]


def _bot(data: Path, bot: Judged) -> bytes | None:
    found = bot_file(data, bot.id)
    return found[1] if found else None


def bot_file(data: Path, number: int) -> tuple[str, bytes] | None:
    """Name and content of a bot's file; None if there is no such bot, or it is no longer kept."""
    with open_bots(data) as bots:
        if bots is None:
            return None
        with bots.database.reading() as session:
            found = session.scalar(select(Bot).where(Bot.id == number).options(undefer(Bot.content)))
    return (found.file, found.content) if found else None


def zip_members(members: list[_Member], zone: ZoneInfo) -> Iterator[bytes]:
    """The zip, piece by piece; a lost file is only in the table, which says that it is lost."""
    pieces, lost = Pieces(), set[str]()
    with zipfile.ZipFile(cast(IO[bytes], pieces), "w", zipfile.ZIP_STORED) as archive:
        for member in members:
            made = zipfile.ZipInfo(member.name, _DATE)
            if not isinstance(member.content, Path):
                data = member.content()
                if data is None:
                    lost.add(member.name)
                else:
                    archive.writestr(made, data)
                    yield pieces.take()
                continue
            if not member.content.is_file():
                lost.add(member.name)
                continue
            with open(member.content, "rb") as source, archive.open(made, "w", force_zip64=True) as target:
                while data := source.read(_PIECE):
                    target.write(data)
                    yield pieces.take()
        rows = [
            [
                safe(one.team),
                str(one.row.id),
                "" if one.name in lost else one.name,
                readable_instant(one.row.counts_from, zone),
            ]
            + ["file lost" if one.name in lost else one.row.status, safe(one.note), one.row.ruling]
            + ["yes" if one.counts else "no", one.row.digest]
            for one in members
        ]
        archive.writestr(zipfile.ZipInfo(TABLE, _DATE), table([_HEADING, *rows]))
        yield pieces.take()
    yield pieces.take()
