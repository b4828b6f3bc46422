"""Relabelled orders of many views: where symmetries take them, in tables that views share.

What a symmetry does to the orders of a view depends only on the kinds of the view's squares and on how
their images are ordered, so that few tables serve all views.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import GameError
from pttt_ooc.structure.orders import OrderCounts, relabelled_ranks
from pttt_ooc.structure.views import Ints, first_seen, images_of, number_below

_BITS = 6  # bits of a code for each square of a view: 4 for its place, 2 for its kind


def relabellings(
    counts: OrderCounts, group: Sequence[tuple[int, ...]], placed: Ints, failed: Ints, symmetry: Ints
) -> tuple[Ints, NDArray[np.uint16]]:
    """Tables that map the rank of each order of a view, of which there are at most 65,536, to the rank of its image.

    Parameters
    ----------
    counts
        Of the player's orders.
    group
        Permutations of squares.
    placed, failed
        int64, shape (n,): the views, as bit masks.
    symmetry
        int64, shape (n,): number of the permutation that is applied to each view.

    Returns
    -------
    start
        int64, shape (n,): where in `tables` the ranks of each view begin; -1 where they do not change.
    tables
        uint16: one table after the other, in the order of the first view that uses each.

    Raises
    ------
    GameError
        If a view has more orders.  On boards of up to ten squares, no view has that needs a table.
    """
    start = np.full(len(placed), -1)
    code, unchanged = _codes(counts, group, placed, failed, symmetry)
    which = np.flatnonzero(code != unchanged)
    first, number = first_seen(code[which])
    tables = [np.zeros(0, np.uint16)]
    for i in which[first]:
        ranks = relabelled_ranks(int(placed[i]), int(failed[i]), np.array(group[symmetry[i]]), *counts.tables)
        if len(ranks) > 1 << 16:
            raise GameError(f"A view has {len(ranks)} orders; with symmetry, at most 65,536 are possible.")
        tables.append(ranks.astype(np.uint16))
    start[which] = np.cumsum([len(table) for table in tables])[number]
    return start, np.concatenate(tables)


def _codes(
    counts: OrderCounts, group: Sequence[tuple[int, ...]], placed: Ints, failed: Ints, symmetry: Ints
) -> tuple[Ints, Ints]:
    """For each view, a number that determines its table, and the number that stands for no change.

    Its digits are, for each square by the rank of its image, the square's rank in the view; and for each
    square by its own rank, its kind.
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
