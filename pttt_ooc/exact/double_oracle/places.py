"""Where the infosets of a plan are in an index: the bridge between sparse plans and strategies as arrays."""

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
    keys : int64 (all views,)
        ``placed << M | failed``, ascending.
    views : int64 (all views,)
        The position of each view in the index; -1 if the index has a mirror image of it instead.
    representatives, symmetries : int64 (all views,)
        The position of each view's representative, and the symmetry that takes the view to it.
    node_start, sequence_start : int64 (views + 1,)
        See :class:`pttt_ooc.games.structure.index.PlayerLayout`.
    hidden, orders, ending_failed
        See :class:`pttt_ooc.games.structure.orders.OrderCounts`.
    path, image : int64 (M,)
        Room for the squares of an infoset, in the order of the attempts, and for those of a mirror image.
    """

    keys: NDArray[np.int64]
    views: NDArray[np.int64]
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
    orbits, mine = index.orbits[player], index.players[player]
    views = np.where(orbits.symmetry == 0, orbits.view, -1)  # 0, the identity: the view represents itself
    room = np.zeros((2, index.game.squares), np.int64)
    tables = order_counts(index.game, player).tables
    return Places(
        *(orbits.keys, views, orbits.view, orbits.symmetry, mine.node_start, mine.sequence_start),
        *(*tables, room[0], room[1]),
    )


@piece
def write_path(plan: Any, infoset: int, setup: int, path: Any) -> Any:
    """Write the squares that lead to an infoset of a plan, in its canonical orientation; returns their number."""
    tried = np.int64(plan.marks[infoset] | plan.fails[infoset])
    length = popcount(tried & ~setup)
    for step in range(length - 1, -1, -1):
        infoset = plan.infosets[plan.before[infoset]]
        before = np.int64(plan.marks[infoset] | plan.fails[infoset])
        path[step] = popcount((tried & ~before) - 1)
        tried = before
    return length


@piece
def find_place(rules: Any, places: Any, setup: int, marks: int, length: int, h: int) -> Any:
    """Where the mirror image under `h` of the infoset in ``places.path`` is in the index.

    Parameters
    ----------
    setup, marks
        The player's marks before the game, and at the infoset; its other squares failed.

    Returns
    -------
    first, orders, tried
        The sequence of the first action, the distance between the sequences of two actions, and the mask of squares
        that cannot be attempted.  The sequence is -1 if the index has another mirror image instead.
    """
    placed, failed = np.int64(0), np.int64(0)
    for step in range(length):
        square = rules.images[h, places.path[step]]
        places.image[step] = square
        if marks >> places.path[step] & 1:
            placed |= 1 << square
        else:
            failed |= 1 << square
    key = placed << rules.squares | failed
    at = np.searchsorted(places.keys, key)
    if at == len(places.keys) or places.keys[at] != key or places.views[at] < 0:
        return np.int64(-1), np.int64(0), np.int64(0)
    view = places.views[at]
    if places.sequence_start[view] == places.sequence_start[view + 1]:
        return np.int64(-1), np.int64(0), np.int64(0)
    rank = rank_order(places.image, length, placed, places.hidden, places.orders, places.ending_failed)
    orders = places.node_start[view + 1] - places.node_start[view]
    return places.sequence_start[view] + rank, orders, placed | failed | setup


@piece
def sequence_at(rules: Any, first: int, orders: int, tried: int, h: int, square: int) -> Any:
    """The sequence of the mirror image under `h` of an action, at a place found by :func:`find_place`."""
    return first + orders * popcount(~tried & ((1 << rules.images[h, square]) - 1))
