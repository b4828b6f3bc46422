"""Orders: in which order the squares of a view were attempted, and their ranking.

An order of a view with ``n`` squares is a sequence of its squares.  Orders are ranked with the
*last* attempt as the major digit, so that the orders that end with a given square are one block,
in the same sequence as the orders of the view without that square.  Which orders are possible
depends only on how many attempts succeeded and failed in every prefix
(:meth:`pttt_ooc.game.Game.failure_allowed`), so block sizes depend only on those counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from numpy.typing import NDArray

from pttt_ooc.game import Game


@dataclass(frozen=True)
class OrderCounts:
    """How many orders the views of one player have.

    Attributes
    ----------
    orders
        int64, shape (S + 1, S + 1) for S squares: ``orders[p, f]`` orders of a view with ``p``
        placed and ``f`` failed squares.
    ending_failed
        int64, same shape: of those, how many end with one given failed square.  (The number that
        end with one given placed square is ``orders[p - 1, f]``.)
    """

    orders: NDArray[np.int64]
    ending_failed: NDArray[np.int64]


def order_counts(game: Game, player: int) -> OrderCounts:
    """Count orders by recursion on the last attempt."""
    size = game.squares + 1
    orders = np.zeros((size, size), np.int64)
    ending_failed = np.zeros((size, size), np.int64)
    orders[0, 0] = 1
    for attempts in range(1, size):
        for failed in range(attempts + 1):
            placed = attempts - failed
            if failed and game.failure_allowed(player, placed, failed):
                ending_failed[placed, failed] = orders[placed, failed - 1]
            ending_placed = orders[placed - 1, failed] if placed else 0
            orders[placed, failed] = placed * ending_placed + failed * ending_failed[placed, failed]
    return OrderCounts(orders, ending_failed)


@numba.njit(cache=True, nogil=True)
def popcount(mask):
    """Number of squares in a bit mask."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@numba.njit(cache=True, nogil=True)
def unrank(rank, placed, failed, orders, ending_failed, out):
    """Write the squares of the order number `rank` of view (placed, failed) into `out`; return n."""
    p = popcount(placed)
    f = popcount(failed)
    n = p + f
    for slot in range(n - 1, -1, -1):
        square = 0
        rest = placed | failed
        while True:
            bit = 1 << square
            if rest & bit:
                if placed & bit:
                    size = orders[p - 1, f]
                else:
                    size = ending_failed[p, f]
                if rank < size:
                    break
                rank -= size
            square += 1
        out[slot] = square
        if placed & bit:
            placed ^= bit
            p -= 1
        else:
            failed ^= bit
            f -= 1
    return n


@numba.njit(cache=True, nogil=True)
def rank_order(squares, n, placed, orders, ending_failed):
    """Rank of the order `squares[:n]`, of which those in the mask `placed` were placed.

    Returns -1 if the order is impossible.
    """
    mine = 0
    failed = 0
    p = 0
    f = 0
    rank = 0
    for slot in range(n):
        last = squares[slot]
        bit = 1 << last
        if placed & bit:
            mine |= bit
            p += 1
        else:
            failed |= bit
            f += 1
            if ending_failed[p, f] == 0:
                return -1
        # Squares below the last one head the blocks that come before this order's block.
        below = bit - 1
        if p:
            rank += popcount(mine & below) * orders[p - 1, f]
        if f:
            rank += popcount(failed & below) * ending_failed[p, f]
    return rank


@numba.njit(cache=True, nogil=True)
def all_orders(placed, failed, orders, ending_failed):
    """Every order of a view: int8 array of shape (number of orders, n) of squares."""
    p = popcount(placed)
    f = popcount(failed)
    table = np.empty((orders[p, f], p + f), np.int8)
    for rank in range(len(table)):
        unrank(rank, placed, failed, orders, ending_failed, table[rank])
    return table


@numba.njit(cache=True, nogil=True)
def relabelled_ranks(placed, failed, symmetry, orders, ending_failed):
    """Where a symmetry takes the orders of a view.

    Returns int64, shape (number of orders,): the rank, in the image of the view, of the image of
    each order.
    """
    table = all_orders(placed, failed, orders, ending_failed)
    image_placed = 0
    for square in range(len(symmetry)):
        if placed >> square & 1:
            image_placed |= 1 << symmetry[square]
    count, n = table.shape
    ranks = np.empty(count, np.int64)
    image = np.empty(n, np.int8)
    for rank in range(count):
        for slot in range(n):
            image[slot] = symmetry[table[rank, slot]]
        ranks[rank] = rank_order(image, n, image_placed, orders, ending_failed)
    return ranks
