"""AIVAT for matches against a pair of strategies: :mod:`pttt_ooc.library.scoring.aivat`, for the answerer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pttt_ooc.errors import StrategyError
from pttt_ooc.library.scoring.aivat import estimate_match
from pttt_ooc.library.scoring.matches import MatchRecord
from pttt_ooc.library.scoring.opponents import ListedOpponents, Opponents, PlanOpponents
from pttt_ooc.site.explore.listed_pair import ListedPair

if TYPE_CHECKING:
    from pttt_ooc.library.questions.plan_pair import PlanPair

MOST_SEARCHED = 10
"""With more squares left, a best response to a plan is not searched: others wait for answers, too."""


def opponents_of(pair: ListedPair | PlanPair) -> Opponents:
    """A pair as known opponents.

    Raises
    ------
    StrategyError
        If it is a best response to a plan: what a best response to that would get is not known.
    """
    if isinstance(pair, ListedPair):
        return ListedOpponents.of_profile(pair.profile)
    if "nashconv" not in pair.facts:
        raise StrategyError("Matches against a best response to a plan have no estimate.")
    return PlanOpponents.of_facts(pair.game, pair.plans, pair.facts, MOST_SEARCHED)


def estimate_of(opponents: Opponents, seat: int, squares: Sequence[int], given_up: bool) -> float:
    """The expected payoff of the player `seat`, estimated from one match; for errors see :func:`estimate_match`.

    Parameters
    ----------
    squares
        The attempts of both players, in order.
    given_up
        Whether the player gave up where they end: by resigning, or because the time was over.
    """
    return estimate_match(opponents, MatchRecord(seat, tuple(squares), given_up)).estimate
