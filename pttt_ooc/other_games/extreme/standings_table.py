"""Standings and marks as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pttt_ooc.other_games.extreme.league import PoolTable, standings
from pttt_ooc.other_games.extreme.tournament_record import Record, TournamentState


def standings_rows(tables: Sequence[PoolTable]) -> list[dict[str, Any]]:
    """The standings: a row for each team and stage."""
    return [{"stage": table.stage, "pool": table.pool + 1, **asdict(row)} for table in tables for row in table.rows]


def marks_rows(record: Record, tables: Sequence[PoolTable]) -> list[dict[str, Any]]:
    """The marks, best first: a row for each team, a column for each stage."""
    names = [stage.name for stage in record.stages]
    marks = sorted(record.marks(tables).items(), key=lambda item: (-item[1]["total"], item[0]))
    return [{"team": team, **{name: own.get(name, 0.0) for name in (*names, "total")}} for team, own in marks]


@dataclass(frozen=True)
class Overall:
    """A team in the overall order.

    Attributes
    ----------
    place
        From 1.
    team, name
        Its key, and its name.
    stage, pool, rank, of
        The furthest stage that it reached, its pool there (from 1), its rank in it, and the number of teams there.
    won, drawn, lost, marks
        Sums over all stages.
    """

    place: int
    team: str
    name: str
    stage: str
    pool: int
    rank: int
    of: int
    won: int
    drawn: int
    lost: int
    marks: float


def before_latest(record: Record, state: TournamentState, count: int) -> list[PoolTable]:
    """The tables as they were before the latest `count` matches of the present stage; none before its first match."""
    name = state.tables[-1].stage
    stage = next(one for one in record.stages if one.name == name)
    scores = [played.score for played in state.played if played.pairing.stage == name][:-count]
    if not scores:
        return []
    former = [one for one in state.tables if one.stage != name]
    for table in state.tables[len(former) :]:
        former.append(standings(stage, table.pool, [row.team for row in table.rows], scores, record.lots))
    return former


def overall(record: Record, tables: Sequence[PoolTable]) -> list[Overall]:
    """The overall order: by the furthest stage, the rank in the pool there, the score for each match there, the lot.

    Within a stage, this is the order in which teams go on (see :func:`pttt_ooc.other_games.extreme.league.next_pools`).
    """
    latest = {row.team: (table, row) for table in tables for row in table.rows}  # stages come in order
    stages = [stage.name for stage in record.stages]

    def key(team: str) -> tuple[int, int, float, int]:
        table, row = latest[team]
        matches = row.won + row.drawn + row.lost
        return -stages.index(table.stage), row.rank, -row.score / max(1, matches), record.lots[team]

    found, marks = [], record.marks(tables)
    for place, team in enumerate(sorted(latest, key=key), 1):
        table, last = latest[team]
        rows = [row for one in tables for row in one.rows if row.team == team]
        won, drawn, lost = (sum(getattr(row, name) for row in rows) for name in ("won", "drawn", "lost"))
        told = (table.stage, table.pool + 1, last.rank, len(table.rows))
        found.append(Overall(place, team, record.teams[team].name, *told, won, drawn, lost, marks[team]["total"]))
    return found
