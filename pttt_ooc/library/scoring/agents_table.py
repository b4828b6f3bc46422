"""The table of agents of a game: exact scores, and what agents that can only be played lose in games.

Rows of the ladder are exact: the agent was asked at all infosets.  An agent that only plays has a mean loss per game
against an equilibrium, by AIVAT with an interval.  Its mean exploitability is at least that, so that both kinds of rows
stand in one order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pttt_ooc.library.scoring.aivat import FEW_LOSSES, LEAST_GAMES, Sample, estimate, loss_of
from pttt_ooc.library.scoring.ladder import (
    Record,
    agent_name,
    budget_text,
    mean_exploitability_of,
    rank_rows,
    settings_text,
)

Way = Literal["exact", "AIVAT", "average"]
"""How a number was found: by best responses, or from games, with or without luck taken out."""


@dataclass(frozen=True)
class TableRow:
    """An agent in the table.

    Attributes
    ----------
    agent, settings, budget
        Its name; settings that differ from the defaults; what it was allowed to learn with.
    way
        ``"exact"``: `score` is its mean exploitability.  Else it is the mean loss per game against an equilibrium,
        which is at most that.
    low, high
        Student's 95% interval, of the mean over seeds or over games; None if there is none.
    count
        Number of seeds, or of games.
    refused
        Illegal attempts per game; None where none is possible.
    """

    agent: str
    settings: str
    budget: str
    way: Way
    score: float
    low: float | None
    high: float | None
    count: int
    refused: float | None = None


def rows_of(game: str, records: Sequence[Record], played: Sequence[TableRow] = ()) -> list[TableRow]:
    """All rows of a game, the least loss first.

    Parameters
    ----------
    records
        Lines of the ladder's records.
    played
        Rows of agents that play.
    """
    exact = [_exact_row(group) for group in rank_rows(records, game)]
    return sorted([*exact, *played], key=lambda row: row.score)


def _exact_row(group: Sequence[Record]) -> TableRow:
    first, values = group[0], [float(row["mean_exploitability"]) for row in group]
    low, high = interval_of_seeds(values) if len(values) > 1 else (None, None)
    name, settings, budget = agent_name(first), settings_text(first), budget_text(first)
    return TableRow(name, settings, budget, "exact", mean_exploitability_of(group), low, high, len(values))


def interval_of_seeds(values: Sequence[float]) -> tuple[float, float]:
    """Student's interval of the mean of numbers that are not negative, cut off at 0."""
    found = estimate(values)
    return max(found.low, 0.0), found.high


def played_row(agent: str, way: Way, seats: tuple[Sample, Sample], refused: int, lossy: int) -> TableRow | None:
    """The row of an agent that has played games in both seats; None if these are too few.

    It has no interval if fewer than :data:`.aivat.FEW_LOSSES` games have a loss: rare losses may not have occurred.

    Parameters
    ----------
    seats
        Payoffs, or estimates of them, as player 0 and as player 1.
    refused
        Number of illegal attempts in all of these games.
    lossy
        Number of games with a loss.
    """
    count = sum(seat.count for seat in seats)
    if min(seat.count for seat in seats) < LEAST_GAMES // 2:
        return None
    found = loss_of(seats)
    low, high = (found.low, found.high) if lossy >= FEW_LOSSES else (None, None)
    return TableRow(agent, "", "", way, found.mean, low, high, count, refused / count)
