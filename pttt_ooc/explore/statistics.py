"""A person's results, and the exact expectations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pttt_ooc.explore.games import Games
from pttt_ooc.explore.opponents import Expectation, Opponent, PreparingError
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


def standing_against(games: Games, owner: str, opponent: Opponent) -> Standing | None:
    """A person's results against one opponent, who may be asked now; None if there are none, or no answer."""
    tally = next((tally for tally in games.tallies(owner) if tally.opponent == opponent), None)
    if tally is None or opponent not in games.opponents.listed():
        return None
    return Standing(tally, _expected(games, tally))


def _expected(games: Games, tally: Tally) -> Sequence[Expectation]:
    try:
        return games.opponents.expectations(tally.opponent)
    except PreparingError:
        return ()
