"""Standings and marks as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pttt_ooc.extreme.league import PoolTable
from pttt_ooc.extreme.tournament_record import Record


def standings_rows(tables: Sequence[PoolTable]) -> list[dict[str, Any]]:
    """The standings: a row for each team and stage."""
    return [{"stage": table.stage, "pool": table.pool + 1, **asdict(row)} for table in tables for row in table.rows]


def marks_rows(record: Record, tables: Sequence[PoolTable]) -> list[dict[str, Any]]:
    """The marks, best first: a row for each team, a column for each stage."""
    names = [stage.name for stage in record.stages]
    marks = sorted(record.marks(tables).items(), key=lambda item: (-item[1]["total"], item[0]))
    return [{"team": team, **{name: own.get(name, 0.0) for name in (*names, "total")}} for team, own in marks]
