"""How the standings change: what the leaderboard shows beside each team."""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.models import UNFINISHED, Submission
from pttt_ooc.disk.numbers import NOISE, exploitability
from pttt_ooc.pipeline.show.miniatures import Miniature, curve
from pttt_ooc.site.shell.ranking import rank_changes

SINCE = 24 * 3600.0
"""Seconds over which changes of ranks are told."""


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


def changes(session: Session, rows: Sequence[standings.Standing], sort: str, until: float | None) -> dict[int, int]:
    """By how many ranks each team has risen within :data:`SINCE`; only teams that had a rank then, and have another."""
    column = "sum" if sort == "team" else sort
    then = min(until or float("inf"), time.time() - SINCE)
    before = {row.team.id: row.rank(column) for row in standings.leaderboard(session, column, then)}
    return rank_changes({row.team.id: row.rank(column) for row in rows}, before)


def in_judgement(session: Session, until: float | None) -> dict[int, str]:
    """The status of the latest submission of each team that is waiting or being judged, as everybody may see it."""
    query = select(Submission.team_id, Submission.status).where(Submission.status.in_(UNFINISHED))
    rows = session.execute(query.where(standings.is_shown(until, None)).order_by(Submission.id))
    return {team: status for team, status in rows}


def stamp(revision: str, judged: Mapping[int, str]) -> str:
    """A text that changes with the leaderboard: with the standings, with what is judged, and each hour."""
    told = zlib.crc32(repr(sorted(judged.items())).encode())
    return f"{revision}-{int(time.time() // 3600)}-{told:08x}"
