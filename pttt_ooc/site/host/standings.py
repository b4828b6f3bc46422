"""The table of agents of a game: the ladder's rows, and what is played here against the solution."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, case, func, select

from pttt_ooc.errors import PtttError
from pttt_ooc.library.scoring.agents_table import TableRow, Way, played_row, rows_of
from pttt_ooc.library.scoring.aivat import Sample
from pttt_ooc.library.scoring.ladder import read_records
from pttt_ooc.site.explore.opponents import JudgingOpponents, Opponent
from pttt_ooc.site.explore.sources import SOLUTION
from pttt_ooc.site.host.match_rows import HostMatch
from pttt_ooc.site.host.matches import Matches

_NO_LOSS = 1e-6  # smaller losses are rounding
_FILLED_AT_ONCE = 100  # estimates that are made up for when the table is asked for
_FILLING_SECONDS = 2.0  # and the longest time for them


def table_of(matches: Matches, game: str) -> list[TableRow]:
    """The table of a game, the least loss first.

    Matches against the solution count when they are over, in both seats, whatever ended them.  Where every match of an
    agent has an estimate, its row is AIVAT's; else its payoffs are averaged.
    """
    opponents = matches.opponents_of(game)
    solution = {one.player: one for one in opponents.list_opponents() if one.key == SOLUTION}
    played: list[TableRow] = []
    if len(solution) == 2:
        matches.close_expired()
        _fill_estimates(matches, solution)
        names = matches.tokens.names()
        found = _moments(matches, opponents, solution)
        played = [row for owner, seats in found.items() if (row := _row(names.get(owner, owner), seats)) is not None]
    return rows_of(game, read_records(), played)


def _fill_estimates(matches: Matches, solution: Mapping[int, Opponent]) -> None:
    """Estimate matches that ended while the opponent could not be asked."""
    rows, until = HostMatch, time.monotonic() + _FILLING_SECONDS
    for player, opponent in solution.items():
        missing = (rows.player == 1 - player, rows.result.is_not(None), rows.estimate.is_(None))
        for row in matches.find_finished(opponent, *missing, most=_FILLED_AT_ONCE):
            if not matches.keep_estimate(row) or time.monotonic() > until:
                break  # it cannot be asked now, or not at all


def _moments(
    matches: Matches, opponents: JudgingOpponents, solution: Mapping[int, Opponent]
) -> dict[str, dict[int, Mapping[str, Any]]]:
    """For each owner and seat: sums over finished matches against the solution."""
    rows, found = HostMatch, dict[str, dict[int, Mapping[str, Any]]]()
    for player, opponent in solution.items():
        lossless = _first_value(opponents, opponent) - _NO_LOSS
        sums: dict[str, ColumnElement[Any]] = {
            "count": func.count(),
            "estimated": func.count(rows.estimate),
            "estimates": func.sum(rows.estimate),
            "squares": func.sum(rows.estimate * rows.estimate),
            "payoffs": func.sum(rows.result),
            "decided": func.sum(rows.result * rows.result),
            "refused": func.sum(rows.refused),
            "lossy": func.sum(case((rows.estimate < lossless, 1), else_=0)),
        }
        chosen = select(rows.owner, *(value.label(name) for name, value in sums.items()))
        for one in matches.sum_finished(opponent, chosen):
            found.setdefault(one["owner"], {})[1 - player] = one
    return found


def _first_value(opponents: JudgingOpponents, opponent: Opponent) -> float:
    """What losses are measured from; infinite where it cannot be told now, as no match is then without a loss."""
    try:
        return opponents.first_value(opponent)
    except PtttError:
        return float("inf")


def _row(name: str, seats: Mapping[int, Mapping[str, Any]]) -> TableRow | None:
    if len(seats) < 2:
        return None
    first, second = seats[0], seats[1]
    whole = all(seat["estimated"] == seat["count"] for seat in (first, second))
    way: Way = "AIVAT" if whole else "average"
    sums = ("estimates", "squares") if whole else ("payoffs", "decided")
    samples = (_sample(first, *sums), _sample(second, *sums))
    count = first["count"] + second["count"]
    lossy = first["lossy"] + second["lossy"] if whole else count
    return played_row(name, way, samples, first["refused"] + second["refused"], lossy)


def _sample(seat: Mapping[str, Any], total: str, squares: str) -> Sample:
    count = seat["count"]
    mean = seat[total] / count
    return Sample(count, mean, max(0.0, seat[squares] - count * mean**2) / max(1, count - 1))
