"""What agents got in matches against each other.

Payoffs are averaged: no strategy is known here, against which AIVAT could take luck out of them.  The mean depends on
whom an agent has met, so that these rows are not in one order with those of losses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import case, distinct, func, select
from sqlalchemy.orm import aliased

from pttt_ooc.library.scoring.aivat import LEAST_GAMES, Sample, loss_of
from pttt_ooc.site.host.match_rows import AGENT, HostMatch
from pttt_ooc.site.host.matches import Matches


@dataclass(frozen=True)
class Meetings:
    """An agent's finished matches against other agents in one game.

    Attributes
    ----------
    met
        How many different agents it has met.
    mean
        Its mean payoff per match, averaged over both seats.
    low, high
        The 95% interval of that, for the same opponents.
    """

    agent: str
    met: int
    wins: int
    draws: int
    losses: int
    mean: float
    low: float
    high: float


def meetings_of(matches: Matches, game: str) -> list[Meetings]:
    """The agents that have met others in a game often enough, ten times in each seat; the largest mean first.

    Raises
    ------
    PlayError
        If the game is not played here.
    """
    matches.opponents_of(game)
    matches.close_expired()
    mine, theirs = HostMatch, aliased(HostMatch)
    sums: dict[str, Any] = {"met": func.count(distinct(theirs.owner))}
    for seat in (0, 1):
        for name, result in (("wins", 1), ("draws", 0), ("losses", -1)):
            sums[f"{name}_{seat}"] = func.sum(case(((mine.player == seat) & (mine.result == result), 1), else_=0))
    chosen = (
        select(mine.owner, *(value.label(name) for name, value in sums.items()))
        .join(theirs, theirs.id == mine.other)
        .where(mine.rules == game, mine.opponent == AGENT, mine.result.is_not(None))
        .group_by(mine.owner)
    )
    with matches.store.database.reading() as session:
        rows = [dict(row) for row in session.execute(chosen).mappings()]
    names = matches.tokens.names()
    found = [_meetings(names.get(row["owner"], row["owner"]), row) for row in rows]
    return sorted((one for one in found if one is not None), key=lambda one: (-one.mean, one.agent))


def _meetings(name: str, row: Mapping[str, Any]) -> Meetings | None:
    counts = [[row[f"{kind}_{seat}"] for kind in ("wins", "draws", "losses")] for seat in (0, 1)]
    if min(map(sum, counts)) < LEAST_GAMES // 2:
        return None
    loss = loss_of((_sample(*counts[0]), _sample(*counts[1])))
    wins, draws, losses = (sum(kind) for kind in zip(*counts, strict=True))
    low, high = max(-loss.high, -1.0), min(-loss.low, 1.0)  # payoffs are from -1 to 1
    return Meetings(name, row["met"], wins, draws, losses, -loss.mean, low, high)


def _sample(wins: int, draws: int, losses: int) -> Sample:
    count = wins + draws + losses
    mean = (wins - losses) / count
    return Sample(count, mean, (wins + losses - count * mean**2) / (count - 1))
