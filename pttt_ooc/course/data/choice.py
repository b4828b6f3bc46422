"""Which of a team's submissions may count for an assignment: pure functions.

An assignment has slots: a strategy for each player, or one bot, or one report.  An *option* is a submission for each
slot (or none), with the number of late days that it costs.  Of the options the one with most points counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

BEST, LAST, PICK = "best", "last", "pick"


@dataclass(frozen=True)
class Candidate:
    """An accepted submission within the dates.

    Attributes
    ----------
    number
        Of the submission.
    slot
        Which part of the assignment it is.
    at
        When its upload began.
    days
        Late days that had begun then.
    figure
        How good it is, the lower the better; None where nothing is measured.
    """

    number: int
    slot: int
    at: float
    days: int
    figure: float | None = None


@dataclass(frozen=True)
class Option:
    """What may count: the chosen candidates by slot, and the late days of the latest of them."""

    chosen: Mapping[int, Candidate]
    days: int


def options(candidates: Sequence[Candidate], how: str, picks: Mapping[int, int]) -> list[Option]:
    """All options, with fewest late days first; none without candidates.

    Parameters
    ----------
    how
        :data:`BEST`: for every number of late days, the best of what was there by then.  :data:`LAST`: the last ones.
        :data:`PICK`: the team's own picks, and the last ones in slots without a valid pick.
    picks
        Numbers of submissions by slot.
    """
    if not candidates:
        return []
    if how == BEST:
        found = [
            _option([one for one in candidates if one.days <= days], _goodness)
            for days in sorted({one.days for one in candidates})
        ]
        return [one for position, one in enumerate(found) if one not in found[:position]]
    if how == PICK:
        return [_option(candidates, lambda one: (picks.get(one.slot) != one.number, *_recency(one)))]
    return [_option(candidates, _recency)]


def _goodness(one: Candidate) -> tuple[float, ...]:
    return (float("inf") if one.figure is None else one.figure, one.at, one.number)


def _recency(one: Candidate) -> tuple[float, ...]:
    return (-one.at, -one.number)


def _option(candidates: Sequence[Candidate], key: object) -> Option:
    chosen: dict[int, Candidate] = {}
    for one in sorted(candidates, key=key):  # type: ignore[call-overload]
        chosen.setdefault(one.slot, one)
    return Option(dict(sorted(chosen.items())), max(one.days for one in chosen.values()))
