"""The size of a game: numbers of histories, pairs of views and infosets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from pttt_ooc.errors import PtttError
from pttt_ooc.games.rules.catalogue import COUNTED, KNOWN_COUNTS, check_listable, named_game
from pttt_ooc.games.rules.game import Game

if TYPE_CHECKING:  # kernels are imported only when a game must be counted
    from pttt_ooc.games.structure.views import Pairs


def counts_of(game: Game, pairs: Pairs) -> dict[str, Any]:
    """Numbers of histories, pairs of views, and each player's infosets by number of own attempts."""
    from pttt_ooc.games.structure.index import infoset_counts

    infosets = [[int(n) for n in infoset_counts(game, pairs, player)] for player in (0, 1)]
    return {
        "pairs": len(pairs.mover),
        "histories": pairs.decision_histories + pairs.terminal_histories,
        "terminal_histories": pairs.terminal_histories,
        "infosets_0": infosets[0],
        "infosets_1": infosets[1],
        "total_infosets": [sum(infosets[0]), sum(infosets[1])],
    }


@cache
def total_infosets(name: str) -> tuple[int, int]:
    """Numbers of both players' infosets in a named game: known, or counted, which takes milliseconds.

    Raises
    ------
    GameError
        If they are too many to be counted.
    """
    check_listable(name)
    known = KNOWN_COUNTS.get(name, {})
    if {"infosets_0", "infosets_1"} <= known.keys():
        return sum(known["infosets_0"]), sum(known["infosets_1"])
    total = known.get("total_infosets") or COUNTED.get(name) or count_infosets(named_game(name))
    return total[0], total[1]


def count_infosets(game: Game) -> list[int]:
    """Numbers of both players' infosets, by a search over pairs of views."""
    from pttt_ooc.games.structure.views import find_pairs

    found: list[int] = counts_of(game, find_pairs(game))["total_infosets"]
    return found


def check_counts(game: str, counts: Mapping[str, Any]) -> None:
    """Raise a PtttError if a count of the game differs from a known one; most games have no known counts."""
    for name, known in KNOWN_COUNTS.get(game, {}).items():
        if counts[name] != known:
            raise PtttError(
                f"The enumeration of {game} is wrong: {name} is {counts[name]} instead of {known}; please report this."
            )
