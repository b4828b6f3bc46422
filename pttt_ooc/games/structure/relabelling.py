"""Relabelled orders of many views: their images under symmetries, in tables that views share.

The effect of a symmetry on the orders of a view depends only on the kinds of the view's squares and on the
order of their images, so that few tables serve all views.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.errors import GameError
from pttt_ooc.games.structure.orders import OrderCounts, relabelled_ranks
from pttt_ooc.games.structure.views import Ints, first_seen, images_of, number_below

_BITS = 6  # bits of a code for each square of a view: 4 for its position, 2 for its kind


def relabellings(
    counts: OrderCounts,
    group: Sequence[tuple[int, ...]],
    placed: Ints,
    failed: Ints,
    symmetry: Ints,
    dtype: DTypeLike = np.uint16,
) -> tuple[Ints, NDArray[np.unsignedinteger[Any]]]:
    """Tables that map the rank of each order of a view to the rank of its image.

    Parameters
    ----------
    counts
        Numbers of the player's orders.
    group
        Permutations of squares.
    placed, failed
        int64, shape (n,): the views, as bit masks.
    symmetry
        int64, shape (n,): number of the permutation applied to each view.
    dtype
        Type of the tables; see :func:`rank_dtype`.

    Returns
    -------
    start
        int64, shape (n,): start of each view's ranks in `tables`; -1 if they do not change.
    tables
        The tables one after the other, sorted by their first use.

    Raises
    ------
    GameError
        If a table is needed for a view with more orders than `dtype` can number.
    """
    # Views with the same code share a table; those whose ranks do not change need none.
    start = np.full(len(placed), -1)
    code, unchanged = _codes(counts, group, placed, failed, symmetry)
    which = np.flatnonzero(code != unchanged)
    first, number = first_seen(code[which])
    # One table for each code, made from the first view that has it; all of them follow each other.
    sizes, most = counts.of(placed[which[first]], failed[which[first]]), int(np.iinfo(dtype).max) + 1
    if len(sizes) and sizes.max() > most:
        raise GameError(
            f"A view has {int(sizes.max()):,} orders, but a table of mirror images can number {most:,} at most."
        )
    begin = np.concatenate([[0], np.cumsum(sizes)])
    tables = np.empty(int(begin[-1]), dtype)
    for k, i in enumerate(which[first].tolist()):
        ranks = relabelled_ranks(int(placed[i]), int(failed[i]), np.array(group[symmetry[i]]), *counts.tables)
        tables[begin[k] : begin[k + 1]] = ranks
    # Each view points to the table of its code.
    start[which] = begin[number]
    return start, tables


def rank_dtype(most: int) -> type[np.unsignedinteger[Any]]:
    """The narrowest type for ranks of `most` orders."""
    return np.uint16 if most <= 1 << 16 else np.uint32


def _codes(
    counts: OrderCounts, group: Sequence[tuple[int, ...]], placed: Ints, failed: Ints, symmetry: Ints
) -> tuple[Ints, Ints]:
    """For each view, a number that determines its table, and the number that means no change.

    Each square writes its rank in the view at the place of its image's rank, and its kind at the place of its own rank.
    """
    tried, permutations = placed | failed, np.array(group)
    images = images_of(group)[symmetry, tried]
    code, unchanged = np.zeros_like(placed), np.zeros_like(placed)
    for square in range(len(group[0])):
        own = tried >> square & 1
        place = number_below(tried, square)
        image = number_below(images, permutations[symmetry, square])
        kind = 1 + (placed >> square & 1) + 2 * ((failed & counts.hidden) >> square & 1)
        code += own * (place << _BITS * image) + own * (kind << _BITS * place + 4)
        unchanged += own * (place << _BITS * place) + own * (kind << _BITS * place + 4)
    return code, unchanged
