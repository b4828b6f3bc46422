"""Where the infosets of a plan are in an index: the bridge between sparse plans and strategies as arrays.

An infoset of a plan is in its canonical orientation.  In an index it is where the representative of its view is, under
the symmetry that takes the view there: without symmetry, the view itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.orders import order_counts, popcount, rank_order
from pttt_ooc.jit import piece


class Places(NamedTuple):
    """One player's part of an index, for kernels that find infosets in it; M squares.

    Attributes
    ----------
    setup
        The player's squares of the setup, as a mask.
    keys : int64 (all views,)
        ``placed << M | failed``, ascending.
    representatives, symmetries : int64 (all views,)
        The position of each view's representative, and the symmetry that takes the view to it.
    node_start, sequence_start : int64 (views + 1,)
        See :class:`pttt_ooc.games.structure.index.PlayerLayout`.
    hidden, orders, ending_failed
        See :class:`pttt_ooc.games.structure.orders.OrderCounts`.
    path, image : int64 (M,)
        Space for the squares of an infoset, in the order of the attempts, and for those of a mirror image.
    """

    setup: int
    keys: NDArray[np.int64]
    representatives: NDArray[np.int64]
    symmetries: NDArray[np.int64]
    node_start: NDArray[np.int64]
    sequence_start: NDArray[np.int64]
    hidden: int
    orders: NDArray[np.int64]
    ending_failed: NDArray[np.int64]
    path: NDArray[np.int64]
    image: NDArray[np.int64]


def places_of(index: Index, player: int) -> Places:
    """The places of a player's infosets in an index, with symmetry or without."""
    orbits, mine, setup = index.orbits[player], index.players[player], index.game.setup_mask(player)
    path, image = np.zeros((2, index.game.squares), np.int64)
    return Places(
        *(setup, orbits.keys, orbits.view, orbits.symmetry, mine.node_start, mine.sequence_start),
        *(*order_counts(index.game, player).tables, path, image),
    )


@piece
def write_path(plan: Any, infoset: int, places: Any) -> Any:
    """Write the squares that lead to an infoset of a plan to ``places.path``; returns their number."""
    tried = np.int64(plan.marks[infoset] | plan.fails[infoset])
    length = popcount(tried & ~places.setup)
    for step in range(length - 1, -1, -1):
        infoset = plan.infosets[plan.before[infoset]]
        before = np.int64(plan.marks[infoset] | plan.fails[infoset])
        places.path[step] = popcount((tried & ~before) - 1)
        tried = before
    return length


@piece
def key_at(rules: Any, places: Any, g: int, marks: int, fails: int) -> Any:
    """The key of a view's image under a symmetry."""
    return (np.int64(rules.masks[g, marks & ~places.setup]) << rules.squares) | np.int64(rules.masks[g, fails])


@piece
def rank_at(rules: Any, places: Any, g: int, length: int, marks: int) -> Any:
    """The rank of the image under a symmetry of the order in ``places.path``; negative if the order is impossible."""
    for step in range(length):
        places.image[step] = rules.images[g, places.path[step]]
    placed = np.int64(rules.masks[g, marks & ~places.setup])
    return np.int64(rank_order(places.image, length, placed, places.hidden, places.orders, places.ending_failed))


@piece
def find_place(rules: Any, places: Any, length: int, marks: int, fails: int) -> Any:
    """The place of the infoset with the squares in ``places.path``.

    Returns
    -------
    view, g, rank
        The representative's view, the symmetry to it, and the rank; a view of -1 if the player does not move there.
    """
    key = key_at(rules, places, 0, marks, fails)
    found = np.searchsorted(places.keys, key)
    nowhere = (np.int64(-1), np.int64(0), np.int64(0))
    if found == len(places.keys) or places.keys[found] != key:
        return nowhere
    view, g = np.int64(places.representatives[found]), np.int64(places.symmetries[found])
    if places.sequence_start[view] == places.sequence_start[view + 1]:
        return nowhere
    rank = rank_at(rules, places, g, length, marks)
    return (view, g, rank) if rank >= 0 else nowhere


@piece
def sequence_at(rules: Any, places: Any, place: Any, taken: int, square: int) -> Any:
    """The sequence of an attempt at a place, after the marks and failed squares `taken`."""
    view, g, rank = place
    action = popcount(~np.int64(rules.masks[g, taken]) & ((1 << rules.images[g, square]) - 1))
    orders = places.node_start[view + 1] - places.node_start[view]
    return places.sequence_start[view] + action * orders + rank
