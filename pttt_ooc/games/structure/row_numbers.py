"""The row of an infoset in the default order, by arithmetic: no list of infosets is made, and nothing is compiled.

The default order sorts infosets by their number of attempts, then attempt by attempt: by square, failed before placed.
So the row of an infoset with ``n`` attempts is the number of infosets with fewer, plus, for each attempt, the number of
infosets with ``n`` attempts that agree with it before this attempt and have a smaller one here.  How many infosets with
``n`` attempts begin with some attempts depends only on the *view* that these make, which squares were placed and which
failed, because the rules ask for no more (:mod:`pttt_ooc.games.structure.orders`).  Views are few: three states of each
square.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.views import find_pairs

_MOST_ROWS = 2**31


class RowTables(NamedTuple):
    """Numbers of one player's infosets, for S squares.

    A view's code is the sum of ``3 ** s`` for each square ``s`` that failed, and twice that for each that was placed,
    those of the setup left out.

    Attributes
    ----------
    first
        int64, shape (S + 1,): the row of the first infoset with n attempts after the setup; last, the number of rows.
    smaller
        int32, shape (3 ** S, 2 S, S): infosets with n attempts that begin with an order of a view and go on with
        something smaller than a given attempt; by view, attempt and n.  An attempt has twice the number of its square,
        plus 1 if the mark was placed.
    """

    first: NDArray[np.int64]
    smaller: NDArray[np.int32]


@lru_cache(maxsize=8)
def row_tables(game: Game) -> tuple[RowTables, RowTables]:
    """Both players' tables: 26 MB for nine squares, made in a second.

    Raises
    ------
    GameError
        If the infosets are too many to be listed; see :func:`.game.check_enumerable`.
    """
    pairs = find_pairs(game)
    found = []
    for player in (0, 1):
        decides = np.zeros(3**game.squares, np.bool_)
        moves = pairs.mover == player
        decides[_codes(pairs.placed[player, moves], pairs.failed[player, moves], game.squares)] = True
        found.append(_tables(game, player, decides))
    return found[0], found[1]


def _codes(placed: NDArray[np.int64], failed: NDArray[np.int64], squares: int) -> NDArray[np.int64]:
    codes = np.zeros_like(placed)
    for square in range(squares):
        codes += ((failed >> square & 1) + 2 * (placed >> square & 1)) * 3**square
    return codes


def _tables(game: Game, player: int, decides: NDArray[np.bool_]) -> RowTables:
    size, codes = game.squares, np.arange(3**game.squares)
    states = codes[:, None] // 3 ** np.arange(size) % 3
    hidden = np.array([game.setup_mask(1 - player) >> square & 1 for square in range(size)], np.bool_)
    own = np.array([game.setup_mask(player) >> square & 1 for square in range(size)], np.bool_)
    failed = states == 1
    placed, found, known = (states == 2).sum(1), (failed & ~hidden).sum(1), (failed & hidden).sum(1)
    made = placed + found + known
    allowed = np.zeros((size + 1,) * 3, np.bool_)  # whether a failure may make these numbers of attempts
    for kinds in np.ndindex(*allowed.shape):
        allowed[kinds] = game.failure_allowed(player, *kinds)
    beginning = np.zeros((3**size, size), np.int64)  # infosets with n attempts that begin with one order of a view
    smaller = np.zeros((3**size, 2 * size, size), np.int32)
    for n in range(size - 1, -1, -1):  # views with n attempts: all that they can become are known
        views = np.flatnonzero(made == n)
        total = np.zeros((len(views), size), np.int64)
        for square in range(size):
            free = np.flatnonzero((states[views, square] == 0) & ~own[square])
            at, step = views[free], 3**square
            fails = hidden[square] | allowed[placed[at], np.minimum(found[at] + 1, size), known[at]]
            smaller[at, 2 * square] = total[free]
            total[free] += np.where(fails[:, None], beginning[at + step], 0)
            smaller[at, 2 * square + 1] = total[free]
            total[free] += beginning[at + 2 * step]
        beginning[views] = total
        beginning[views, n] = decides[views]
    first = np.concatenate([[0], np.cumsum(beginning[0])])
    assert first[-1] < _MOST_ROWS, "rows are 32-bit integers"
    return RowTables(first, smaller)


def row_of(tables: RowTables, attempts: Iterable[tuple[int, bool]]) -> int:
    """The row of an infoset in the default order.

    Parameters
    ----------
    attempts
        The player's attempts after the setup, in order: squares, and whether the mark was placed.  They must be those
        of an infoset.

    Examples
    --------
    >>> from pttt_ooc.games.rules.catalogue import named_game
    >>> row_of(row_tables(named_game("pttt-abrupt"))[1], [(0, True), (4, False)])
    41
    """
    made = list(attempts)
    n, code = len(made), 0
    row = int(tables.first[n])
    for square, placed in made:
        row += int(tables.smaller[code, 2 * square + placed, n])
        code += (1 + placed) * 3**square
    return row
