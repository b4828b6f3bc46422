"""All that teams have handed in, of all kinds, found by team, member, number or digest: for people with rights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, false, func, or_, select
from sqlalchemy.orm import Session

from pttt_ooc.course.bots.league import league_directory
from pttt_ooc.course.bots.submissions import Bot, open_bots
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import further_leagues
from pttt_ooc.course.data.game_directory import sessions_of_games
from pttt_ooc.course.data.models import ACCEPTED, REJECTED, UNFINISHED, Judged, Submission, Team
from pttt_ooc.course.data.rules import AGENTS, BOTS, REPORT, STRATEGIES
from pttt_ooc.course.data.term_tables import Assignment, Report
from pttt_ooc.course.people.people import members
from pttt_ooc.errors import CourseError

KINDS = (STRATEGIES, BOTS, AGENTS, REPORT)
STATES = ("accepted", "rejected", "waiting", "ruled")
SIZE = 50
"""Rows of a page."""


@dataclass(frozen=True)
class Found:
    """A submission of any kind.

    Attributes
    ----------
    of
        The further game or league; empty: the course's own.
    part
        The player of a strategy, or the name of the file.
    page, address
        The address of its page, empty if it has none, and of its file.
    at
        When its upload began.
    note
        Why it was rejected.
    figure
        The exploitability of a strategy, or the score of an agent.
    """

    kind: str
    number: int
    team: Team
    of: str
    part: str
    page: str
    address: str
    at: float
    size: int
    status: str
    note: str
    figure: float | None
    best: bool
    ruling: str
    digest: str

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return {**self.__dict__, "team": self.team.own_name, "alias": self.team.name if self.team.roster_name else None}


@dataclass(frozen=True)
class Listing:
    """A page of what was found, the latest first, and how many there are."""

    rows: Sequence[Found]
    total: int
    page: int
    pages: int


def find(
    session: Session, data: Path, search: str = "", kind: str = "", state: str = "", page: int = 1, size: int = SIZE
) -> Listing:
    """What teams have handed in, the latest first.

    Parameters
    ----------
    search
        A part of a team's name, or of a member's name, address or number; the number of a submission; the beginning of
        a digest.
    kind, state
        One of :data:`KINDS`, :data:`STATES`; empty: all.

    Raises
    ------
    CourseError
        If there is no such kind or state.
    """
    for given, known, what in ((kind, KINDS, "kind"), (state, STATES, "state")):
        if given and given not in known:
            raise CourseError(f"There is no {what} {given[:40]!r}; choose from {', '.join(known)}.")
    # The teams that the search names.  The page asked for lies within the latest `most` rows of all sources together,
    # so that no source has to give more.
    teams = {team.id: team for team in session.scalars(select(Team))}
    wanted = find_teams(session, teams, search)
    most = max(1, page) * size
    rows, total = list[Found](), 0
    names = {number: name for number, name in session.execute(select(Assignment.id, Assignment.name))}
    # The course's database has strategies, reports and agents; each further game has one for its strategies.
    tables: Sequence[tuple[str, type[Judged]]] = ((STRATEGIES, Submission), (REPORT, Report), (AGENTS, Agent))
    for name, table in tables:
        if kind not in ("", name):
            continue
        further = sessions_of_games(session, data) if name == STRATEGIES else ()
        for of, source in chain([("", session)], further):
            found, count = _rows(source, table, _conditions(table, wanted, search, state), most)
            rows += [_of(name, of, row, teams, names) for row in found if row.team_id in teams]
            total += count
    # Bots: each league has a database of its own.
    for league in (None, *further_leagues(session)) if kind in ("", BOTS) else ():
        with open_bots(league_directory(data, league)) as bots:
            if bots is not None:
                with bots.database.reading() as source:
                    found, count = _rows(source, Bot, _conditions(Bot, wanted, search, state), most)
                rows += [_of(BOTS, league or "", row, teams, names) for row in found if row.team_id in teams]
                total += count
    # All sources in one order; a page beyond the end is the last one.
    rows.sort(key=lambda one: (-one.at, one.kind, -one.number))
    pages = max(1, -(-total // size))
    page = min(max(1, page), pages)
    return Listing(rows[(page - 1) * size : page * size], total, page, pages)


def pages_of(session: Session, kind: str, numbers: Sequence[int]) -> dict[int, str]:
    """The address of the page of each of these strategies or agents that is there."""
    if kind == STRATEGIES:
        return {number: f"/submissions/{number}" for number in numbers}
    query = select(Agent.id, Assignment.name).join(Assignment, Assignment.id == Agent.assignment_id)
    return {number: f"/agents/{name}/{number}" for number, name in session.execute(query.where(Agent.id.in_(numbers)))}


def find_teams(session: Session, teams: Mapping[int, Team], search: str) -> set[int] | None:
    """The numbers of the teams whose name or members fit; None: all."""
    if not search.strip():
        return None
    words, people = " ".join(search.split()).casefold(), members(session)
    texts = {
        number: [
            team.name,
            team.own_name,
            *(text for one in people.get(number, []) for text in (one.name, one.email, one.number)),
        ]
        for number, team in teams.items()
    }
    return {number for number, found in texts.items() if any(words in text.casefold() for text in found)}


def _conditions(table: type[Judged], wanted: set[int] | None, search: str, state: str) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if wanted is not None:
        text = search.strip()
        number = table.id == int(text) if text.isdecimal() and len(text) < 10 else false()
        digest = table.digest.startswith(text.lower(), autoescape=True) if len(text) >= 6 else false()
        found.append(or_(table.team_id.in_(wanted), number, digest))
    if state:
        found.append(
            {
                "accepted": table.status == ACCEPTED,
                "rejected": table.status == REJECTED,
                "waiting": table.status.in_(UNFINISHED),
                "ruled": table.ruling != "",
            }[state]
        )
    return found


def _rows(
    session: Session, table: type[Judged], conditions: Sequence[ColumnElement[bool]], most: int
) -> tuple[list[Judged], int]:
    total = session.scalar(select(func.count()).select_from(table).where(*conditions)) or 0
    begun = func.coalesce(table.begun_at, table.received_at)
    return list(session.scalars(select(table).where(*conditions).order_by(begun.desc()).limit(most))), total


def _of(kind: str, of: str, row: Judged, teams: Mapping[int, Team], assignments: Mapping[int, str]) -> Found:
    part = f"player {row.player}" if isinstance(row, Submission) else getattr(row, "given", getattr(row, "file", ""))
    note = getattr(row, "note", getattr(row, "message", ""))
    page, file, figure = "", "", None
    if isinstance(row, Submission):
        page, figure = f"{'/games/' + of if of else ''}/submissions/{row.id}", row.exploitability
        file = f"{page}/file"
    elif isinstance(row, Agent):
        page, figure = f"/agents/{assignments[row.assignment_id]}/{row.id}", row.score
        file = f"{page}/file"
    else:
        of_league = f"?league={of}" if of else ""
        file = f"/course/reports/{row.id}" if kind == REPORT else f"/course/desk/bots/{row.id}{of_league}"
    return Found(
        kind=kind,
        number=row.id,
        team=teams[row.team_id],
        of=of,
        part=part,
        page=page,
        address=file,
        at=row.counts_from,
        size=row.size,
        status=row.status,
        note=note,
        figure=figure,
        best=isinstance(row, Submission) and row.best,
        ruling=row.ruling,
        digest=row.digest,
    )
