"""A person's results, and the exact expectations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pttt_ooc.explore.games import Games
from pttt_ooc.explore.opponents import Expectation, PreparingError
from pttt_ooc.explore.results import Tally


@dataclass(frozen=True)
class Standing:
    """Results against one opponent, and expected payoffs against it.

    Attributes
    ----------
    expectations
        Exact expected payoffs; empty if the opponent cannot be asked now.
    """

    tally: Tally
    expectations: Sequence[Expectation]


def standings(games: Games, owner: str) -> list[Standing]:
    """A person's results against each opponent."""
    there = set(games.opponents.listed())
    return [
        Standing(tally, _expected(games, tally) if tally.opponent in there else ()) for tally in games.tallies(owner)
    ]


def _expected(games: Games, tally: Tally) -> Sequence[Expectation]:
    try:
        return games.opponents.expectations(tally.opponent)
    except PreparingError:
        return ()
