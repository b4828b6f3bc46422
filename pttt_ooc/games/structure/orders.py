"""Orders: the sequence in which the squares of a view were attempted, and their ranking.

An order of a view with ``n`` squares is a permutation of its squares.  Orders are ranked with the
*last* attempt as the major digit, so that the orders that end with a given square are one block,
ranked like the orders of the view without that square.  Whether an order is possible depends only on
the numbers of successful and failed attempts in every prefix
(:meth:`pttt_ooc.games.rules.game.Game.failure_allowed`), so block sizes depend only on those counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game
from pttt_ooc.jit import kernel, piece


@dataclass(frozen=True, eq=False)
class OrderCounts:
    """Numbers of orders of one player's views.

    They depend on a view's ``p`` placed squares, ``f`` failed squares that the opponent placed after
    the setup, and ``k`` failed squares of the opponent's setup.

    Attributes
    ----------
    hidden
        The opponent's setup, which the player does not see, as a bit mask.
    orders
        int64, shape (S + 1, S + 1, S + 1) for S squares: ``orders[p, f, k]`` orders of a view.
    ending_failed
        int64, same shape: number of these orders that end with one given failed square outside the
        setup.  (The number that end with any other square is that of the view without the square.)
    """

    hidden: int
    orders: NDArray[np.int64]
    ending_failed: NDArray[np.int64]

    @property
    def tables(self) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
        """The arguments of this module's kernels."""
        return self.hidden, self.orders, self.ending_failed

    def of(self, placed: NDArray[np.int64], failed: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of orders of views given as bit masks."""
        kinds = (placed, failed & ~self.hidden, failed & self.hidden)
        found: NDArray[np.int64] = self.orders[tuple(np.bitwise_count(mask) for mask in kinds)]
        return found

    def ending_with(self, placed: NDArray[np.int64], failed: NDArray[np.int64], last: int) -> NDArray[np.int64]:
        """Number of orders of views that end with the square `last`, which belongs to all of the views."""
        p, f, k = (
            np.bitwise_count(mask).astype(np.int64) for mask in (placed, failed & ~self.hidden, failed & self.hidden)
        )
        ending_failed = self.orders[p, f, k - 1] if self.hidden >> last & 1 else self.ending_failed[p, f, k]
        found: NDArray[np.int64] = np.where(placed >> last & 1, self.orders[p - 1, f, k], ending_failed)
        return found


@cache
def order_counts(game: Game, player: int) -> OrderCounts:
    """Count orders by recursion on the last attempt."""
    size = game.squares + 1
    orders = np.zeros((size, size, size), np.int64)
    ending_failed = np.zeros_like(orders)
    orders[0, 0, 0] = 1
    for p, f, k in sorted(product(range(size), repeat=3), key=sum)[1:]:
        if p + f + k >= size:
            break
        if f and game.failure_allowed(player, p, f, k):
            ending_failed[p, f, k] = orders[p, f - 1, k]
        ending_placed = orders[p - 1, f, k] if p else 0
        ending_known = orders[p, f, k - 1] if k else 0
        orders[p, f, k] = p * ending_placed + f * ending_failed[p, f, k] + k * ending_known
    return OrderCounts(game.setup_mask(1 - player), orders, ending_failed)


@piece
def popcount(mask):
    """Number of squares in a bit mask."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@piece
def unrank(rank, placed, failed, hidden, orders, ending_failed, out):
    """Write the squares of a view's order with this `rank` to `out`; return the number of squares."""
    p = popcount(placed)
    f = popcount(failed & ~hidden)
    k = popcount(failed & hidden)
    n = p + f + k
    for slot in range(n - 1, -1, -1):
        # Numbers of orders that end with one given square, by its kind.
        ending_placed = orders[p - 1, f, k] if p else 0
        ending_known = orders[p, f, k - 1] if k else 0
        ending_found = ending_failed[p, f, k]
        rest = placed | failed
        while True:
            bit = rest & -rest
            if placed & bit:
                size = ending_placed
            elif hidden & bit:
                size = ending_known
            else:
                size = ending_found
            if rank < size:
                break
            rank -= size
            rest ^= bit
        square = popcount(bit - 1)
        out[slot] = square
        if placed & bit:
            placed ^= bit
            p -= 1
        else:
            failed ^= bit
            if hidden & bit:
                k -= 1
            else:
                f -= 1
    return n


@piece
def rank_order(squares, n, placed, hidden, orders, ending_failed):
    """Rank of the order `squares[:n]`; the squares in the mask `placed` were placed.

    Returns -1 if the order is impossible.
    """
    mine = 0
    found = 0
    known = 0
    p = 0
    f = 0
    k = 0
    rank = 0
    for slot in range(n):
        bit = 1 << squares[slot]
        if placed & bit:
            mine |= bit
            p += 1
        elif hidden & bit:
            known |= bit
            k += 1
        else:
            found |= bit
            f += 1
            if ending_failed[p, f, k] == 0:
                return -1
        # The blocks of orders that end with smaller squares come before this order's block.
        below = bit - 1
        if p:
            rank += popcount(mine & below) * orders[p - 1, f, k]
        if f:
            rank += popcount(found & below) * ending_failed[p, f, k]
        if k:
            rank += popcount(known & below) * orders[p, f, k - 1]
    return rank


@kernel
def all_orders(placed, failed, hidden, orders, ending_failed):
    """Every order of a view: int8 array of shape (number of orders, n) of squares."""
    p, f, k = popcount(placed), popcount(failed & ~hidden), popcount(failed & hidden)
    n = p + f + k
    table = np.empty((orders[p, f, k], n), np.int8)
    # Slots are filled from the last to the first; here are the squares left for each slot and the slots before it.
    rest_placed, rest_failed = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    order = np.empty(n, np.int8)
    order[:] = -1
    rest_placed[n], rest_failed[n] = placed, failed
    rank, slot = 0, n - 1
    if n == 0:
        return table
    # Depth first: each slot takes its squares from small to large, so that the orders come by rising ranks.
    while slot < n:
        mine, theirs = rest_placed[slot + 1], rest_failed[slot + 1]
        p, f, k = popcount(mine), popcount(theirs & ~hidden), popcount(theirs & hidden)
        # The next square with which an order of the squares that are left can end.
        square = order[slot] + 1
        while (mine | theirs) >> square:
            bit = 1 << square
            if mine & bit:
                some = orders[p - 1, f, k] > 0
            elif theirs & hidden & bit:
                some = orders[p, f, k - 1] > 0
            else:
                some = theirs & bit and ending_failed[p, f, k] > 0
            if some:
                break
            square += 1
        if not (mine | theirs) >> square:  # no square is left
            order[slot] = -1
            slot += 1
            continue
        # Taken: at the first slot the order is complete, otherwise the slots before it get the squares that are left.
        order[slot] = square
        if slot == 0:
            for i in range(n):
                table[rank, i] = order[i]
            rank += 1
        else:
            rest_placed[slot], rest_failed[slot] = mine & ~bit, theirs & ~bit
            slot -= 1
    return table


@kernel
def relabelled_ranks(placed, failed, symmetry, hidden, orders, ending_failed):
    """The ranks of the images of a view's orders under a symmetry.

    Returns int64, shape (number of orders,): the rank, in the image of the view, of the image of
    each order.  A symmetry fixes the squares of the setup.
    """
    table = all_orders(placed, failed, hidden, orders, ending_failed)
    image_placed = np.int64(0)
    for square in range(len(symmetry)):
        if placed >> square & 1:
            image_placed |= 1 << symmetry[square]
    count, n = table.shape
    ranks = np.empty(count, np.int64)
    image = np.empty(n, np.int64)
    for rank in range(count):
        for slot in range(n):
            image[slot] = symmetry[table[rank, slot]]
        ranks[rank] = rank_order(image, n, image_placed, hidden, orders, ending_failed)
    return ranks
