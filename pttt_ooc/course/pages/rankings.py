"""The leaderboard and the matrix of a game as parts of pages: the course's own game's, and those of further games.

Beside each team the leaderboard shows how the standings change.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.assignments import veil
from pttt_ooc.course.data.models import UNFINISHED, Submission, Team
from pttt_ooc.course.data.names import name_key
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.strategies import figures
from pttt_ooc.disk.numbers import NOISE, exploitability
from pttt_ooc.pipeline.show.miniatures import Miniature, curve
from pttt_ooc.site.shell.ranking import (
    TURNED,
    Column,
    Ranking,
    RankingQuery,
    rank_changes,
    ranking,
    shade,
    sort_after_click,
)
from pttt_ooc.site.shell.rendering import is_seen, render_part

SINCE = 24 * 3600.0
"""Seconds over which changes of ranks are shown."""


def curves(improved: Iterable[Submission]) -> dict[int, Miniature]:
    """A curve of each team's best, by the team's number: NashConv of both, or of the one that there is, logarithmic.

    Parameters
    ----------
    improved
        All improvements, in any order.
    """
    best: dict[int, dict[int, float]] = {}
    found: dict[int, list[tuple[int, float]]] = {}
    for one in sorted(improved, key=lambda s: (s.finished_at or 0.0, s.id)):
        if one.exploitability is not None:
            own = best.setdefault(one.team_id, {})
            own[one.player] = max(one.exploitability, NOISE)
            found.setdefault(one.team_id, []).append((len(own), sum(own.values())))
    drawn = {}
    for team, steps in found.items():
        most = max(count for count, _ in steps)  # a sum of two is not compared with a single figure
        values = [value for count, value in steps if count == most]
        label = f"The best over {len(values)} steps: from {exploitability(values[0])} to {exploitability(values[-1])}"
        if (picture := curve(values, label, logarithmic=True)) is not None:
            drawn[team] = picture
    return drawn


def changed_ranks(
    session: Session, rows: Sequence[standings.Standing], sort: str, until: float | None
) -> dict[int, int]:
    """By how many ranks each team has risen within :data:`SINCE`; only teams that had another rank then."""
    column = "sum" if sort == "team" else sort
    then = min(until or float("inf"), time.time() - SINCE)
    before = {row.team.id: row.rank(column) for row in standings.leaderboard(session, column, then)}
    return rank_changes({row.team.id: row.rank(column) for row in rows}, before)


def in_judgement(session: Session, until: float | None) -> dict[int, str]:
    """The status of the latest submission of each team that is waiting or being judged, as everybody may see it."""
    query = select(Submission.team_id, Submission.status).where(Submission.status.in_(UNFINISHED))
    rows = session.execute(query.where(standings.is_shown(until, None)).order_by(Submission.id))
    return {team: status for team, status in rows}


def stamp_of(revision: str, judged: Mapping[int, str]) -> str:
    """A text that changes with the leaderboard: with the standings, with the judgements under way, and each hour."""
    told = zlib.crc32(repr(sorted(judged.items())).encode())
    return f"{revision}-{int(time.time() // 3600)}-{told:08x}"


Shown = dict[str, Any]
_RECENT = 12
_COLUMNS: dict[str, Column[standings.Standing]] = {
    "sum": Column("Sum", lambda row: row.rank("sum")),
    "team": Column("Team", lambda row: row.team.key, text=True),
    "0": Column("Player 0", lambda row: row.rank("0")),
    "1": Column("Player 1", lambda row: row.rank("1")),
}


@dataclass(frozen=True)
class RankedGame:
    """The game whose leaderboard and matrix are shown, and who looks.

    Attributes
    ----------
    team
        Who is signed in.
    base
        The address of a further game; empty: the course's own.
    until
        Returns since when the standings are frozen; `key` differs where the answer does.
    """

    course: Course
    team: Team | None
    base: str = ""
    until: Callable[[Session], float | None] = veil
    key: Hashable = None


@dataclass(frozen=True)
class RenderedPart:
    """A rendered part of a page, and the revision of the standings that it shows."""

    revision: str
    html: Markup

    def answer(self, request: Request) -> Response:
        """The part for an open page, if the page shows an older one."""
        return Response(status_code=204) if is_seen(request, self.revision) else HTMLResponse(self.html)


def leaderboard_ranking(board: RankedGame, query: RankingQuery, **fields: Any) -> Ranking[standings.Standing]:
    """The leaderboard without its rows, for its heads and its search; `fields`: what else the address says."""
    return ranking([], _COLUMNS, lambda row: row.team.name, board.base or "/", query, **fields)


async def leaderboard(request: Request, board: RankedGame, asked: Ranking[standings.Standing]) -> RenderedPart:
    """The table of the teams whose names contain the text that is looked for."""
    key = (asked.sort, *sorted(asked.fields.items()))

    def make() -> Shown:
        return {**_standings(board, asked), "ranking": replace(asked, find=""), "base": board.base}

    def render_found() -> RenderedPart:
        known = board.course.cache.get((_LEADERBOARD, board.key, *key), lambda: _live_revision(board), make)
        wanted = name_key(asked.find)
        rows = [row for row in known["rows"] if wanted in name_key(row.team.name)]
        shown = {**known, "rows": rows, "ranking": asked}
        return RenderedPart(known["revision"], Markup(render_part(request, _LEADERBOARD, team=board.team, **shown)))

    if asked.find:
        return await run_in_threadpool(render_found)
    return await _part(request, board, _LEADERBOARD, make, _live_revision, *key)


async def matrix(request: Request, board: RankedGame, rows: str, columns: str, **fields: Any) -> RenderedPart:
    """The head-to-head matrix; `fields`: what else the address says."""

    def make() -> Shown:
        return {**_matrix(board, rows, columns), "base": board.base, "at": board.base or "/matrix", "fields": fields}

    key = (rows, columns, *sorted(fields.items()))
    return await _part(request, replace(board, team=None), _MATRIX, make, _revision, *key)  # it is the same for all


_LEADERBOARD, _MATRIX = "course/parts/leaderboard.html", "course/parts/matrix.html"


async def _part(
    request: Request,
    board: RankedGame,
    template: str,
    make: Callable[[], Shown],
    revision: Callable[[RankedGame], str],
    *key: Hashable,
) -> RenderedPart:
    """A part that depends on the standings and on who is signed in."""
    cache, place = board.course.cache, (template, board.key, *key)
    reader = board.team.id if board.team else None

    def render_cached(cached: Shown | None) -> RenderedPart:
        if cached is None:
            cached = cache.get(place, lambda: revision(board), make)
        made: dict[int | None, str] = cached.setdefault("made", {})
        if reader not in made:
            made[reader] = render_part(request, template, team=board.team, **cached)
        return RenderedPart(cached["revision"], Markup(made[reader]))

    fresh = cache.peek(place)
    if fresh is not None and reader in fresh.get("made", {}):
        return render_cached(fresh)
    return await run_in_threadpool(render_cached, fresh)


def _freeze_suffix(until: float | None) -> str:
    return "" if until is None else f"-{until:.0f}"


def _revision(board: RankedGame) -> str:
    with board.course.database.reading() as session:
        return standings.revision(session) + _freeze_suffix(board.until(session))


def _live_revision(board: RankedGame) -> str:
    with board.course.database.reading() as session:
        until = board.until(session)
        return stamp_of(standings.revision(session), in_judgement(session, until)) + _freeze_suffix(until)


def _standings(board: RankedGame, asked: Ranking[standings.Standing]) -> Shown:
    with board.course.database.reading() as session:
        until = board.until(session)
        judged = in_judgement(session, until)
        revision = stamp_of(standings.revision(session), judged) + _freeze_suffix(until)
        usual = standings.leaderboard(session, asked.column, until)
        rows = ranking(usual, _COLUMNS, lambda row: row.team.name, asked.path, RankingQuery(asked.sort)).rows
        latest = standings.improvements(session, shown_if=standings.is_shown(until, None))
        recent = [s for s in latest[: _RECENT + 2] if s.team.of_students]
        changes = changed_ranks(session, rows, asked.column, until)
    value, texts = board.course.game_value(), {}
    for column, bounds in (("0", value), ("1", value), ("sum", None)):  # the sum does not depend on the value
        found = {r.team.id: f for r in rows if (f := r.figure(column)) is not None}
        ranks = {r.team.id: rank for r in rows if (rank := r.rank(column)) is not None}
        texts[column] = figures.column_of(found, ranks, bounds.interval if bounds else None)
    context: Shown = {"rows": rows, "texts": texts, "value": value, "judged": judged, "changes": changes}
    context |= {"curves": curves(latest), "recent": recent[:_RECENT], "until": until}
    return {**context, "revision": revision}


def _matrix(board: RankedGame, by_rows: str, by_columns: str) -> Shown:
    """The matrix, sorted: by ``team``, ``mean``, ``exploitability``, or the number of a team of the other side.

    With :data:`TURNED` before a number, the order is reversed.
    """
    with board.course.database.reading() as session:
        until = board.until(session)
        revision = standings.revision(session) + _freeze_suffix(until)
        found = standings.matrix(session, until)
    rows = _sort_submissions(found, found.rows, found.columns, by_rows)
    columns = _sort_submissions(found, found.columns, found.rows, by_columns)
    known = board.course.game_value()
    middle = sum(known.interval) / 2 if known else 0.0
    extent = max((abs(v - middle) for v in found.values.values()), default=0.0)
    return {
        "matrix": found,
        "rows": rows,
        "columns": columns,
        "by_rows": by_rows,
        "by_columns": by_columns,
        "shades": {pair: shade(v, middle, extent) for pair, v in found.values.items()},
        "middle": middle if known else None,
        "sort_after_click": sort_after_click,
        "TURNED": TURNED,
        "revision": revision,
        "until": until,
    }


def _sort_submissions(m: standings.Matrix, mine: Any, others: Any, by: str) -> list[Submission]:
    """Best for its own player first."""
    sign = 1 if mine and mine[0].player == 1 else -1

    def last_if_none(value: float | None, sign: int) -> tuple[bool, float]:
        return value is None, 0.0 if value is None else sign * value

    if by == "mean":
        return sorted(mine, key=lambda s: last_if_none(m.mean(s), sign))
    if by == "exploitability":
        return sorted(mine, key=lambda s: last_if_none(s.exploitability, 1))
    sign = -sign if by.startswith(TURNED) else sign
    for other in others:
        if by.removeprefix(TURNED) == str(other.team_id):
            return sorted(
                mine, key=lambda s: last_if_none(m.value(s, other) if s.player == 0 else m.value(other, s), sign)
            )
    return list(mine)
