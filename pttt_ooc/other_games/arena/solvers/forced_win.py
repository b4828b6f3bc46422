"""The forced win of Ultimate tic-tac-toe with open boards (``ultimate:open``), and its certificate.

The first player begins at the centre of the centre board, and answers each move there with the centre of the small
board to which it leads, until the centre board has one free cell.  What the second player has marked by then does not
depend on the order, so that eight positions are left, one for each last cell.  A search solves each of them.

G. Bertholon, R. Géraud-Stewart, A. Kugelmann, T. Lenoir and D. Naccache, *At most 43 moves, at least 29* (2020),
arXiv 2006.02353, found that win.  Here a certificate lists it, and ``proof/verify_ultimate.py`` checks it alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.other_games.arena.games.base import PLY, RESULT, UNFINISHED, ArenaError, State
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.kernels import forced_win as kernels
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.state_words import FIRST
from pttt_ooc.other_games.arena.solvers.claims import Claim, strategy

PLIES = 43
"""Of the longest game."""

OPENING = 16
"""Plies of the opening."""

CENTRE = 4


class _Search:
    """A search of one position and of all that follows it.

    Parameters
    ----------
    cells
        A set, as in :func:`~pttt_ooc.other_games.arena.kernels.forced_win.wins_within`.
    """

    def __init__(self, cells: int, table_bits: int, budget: NDArray[np.int64]) -> None:
        size, levels = 1 << table_bits, rules.LENGTH + 2
        self._states = np.zeros((levels, rules.WORDS), dtype=np.int64)
        self._moves = np.zeros((levels, rules.WIDTH), dtype=np.int64)
        self._table = np.zeros((size, 3), dtype=np.int64), np.zeros(size, dtype=np.int64)
        self._cells, self._budget = cells, budget

    def wins(self, state: State, plies: int) -> bool:
        """Whether the first player can force a win that ends after so many plies of the whole game."""
        self._states[0] = state
        left = plies - int(state[PLY])
        answer = kernels.wins_within(self._states, self._moves, 0, left, self._cells, *self._table, self._budget)
        if self._budget[kernels.VISITED] > self._budget[kernels.ALLOWED]:
            allowed = int(self._budget[kernels.ALLOWED])
            raise ArenaError(f"The answer is still unknown after {allowed} positions; allow more with --most-nodes.")
        return bool(answer)

    def may_mark(self, move: int) -> bool:
        """Whether the first player's moves include this one."""
        return bool(self._cells >> move % 9 & 1)


def find(plies: int = PLIES, *, table_bits: int = 22, most_positions: int = 10**9) -> tuple[Claim | None, int]:
    """Search for a forced win within so many plies, after the opening that this module describes.

    Parameters
    ----------
    table_bits
        A table has ``2 ** table_bits`` entries of 32 bytes.
    most_positions
        Visited in all.

    Returns
    -------
    The win, or None if there is none after this opening; the number of positions visited.

    Raises
    ------
    ArenaError
        The search needs more positions.
    """
    # For each last cell of the centre board, at first the first player marks only cells that send to its small board or
    # to the opposite one; if that is not enough, all cells.
    game, budget = Ultimate(["open"]), np.array([0, most_positions])
    searches: dict[int, _Search] = {}
    for last in sorted(set(range(9)) - {CENTRE}):
        state = _after_the_opening(game, last)
        for cells in (1 << last | 1 << 8 - last, rules.FULL):
            searches[last] = _Search(cells, table_bits if cells == rules.FULL else min(table_bits, 18), budget)
            if searches[last].wins(state, plies):
                break
        else:
            return None, int(budget[kernels.VISITED])

    # The opening and the eight searches together are one strategy, whose moves the certificate lists.
    search: _Search | None = None

    def choose(state: State) -> int:
        nonlocal search
        if state[PLY] < OPENING:
            return _opening_move(state)
        if state[PLY] == OPENING:  # the walk comes to the next such position when all after this one is done
            search = searches[int(state[rules.TARGET])]
        assert search is not None
        return _winning_move(game, state, search, plies)

    moves = strategy(game, game.start(), 0, choose, draws=False)
    return Claim((), 0, plies, moves), int(budget[kernels.VISITED])


def _opening_move(state: State) -> int:
    """The centre of the small board to which the first player is sent; at first, the centre of the centre board."""
    return 9 * (int(state[rules.TARGET]) if state[PLY] else CENTRE) + CENTRE


def _after_the_opening(game: Ultimate, last: int) -> State:
    """The position in which the cell `last` was the last one of the centre board."""
    state = game.play(game.start(), _opening_move(game.start()))
    for cell in [*sorted(set(range(9)) - {CENTRE, last}), last]:
        state = game.play(state, 9 * CENTRE + cell)
        if cell != last:
            state = game.play(state, _opening_move(state))
    return state


def _winning_move(game: Ultimate, state: State, search: _Search, plies: int) -> int:
    """The first move that keeps a position won within the plies."""
    for move in game.legal(state):
        after = game.play(state, move)
        if after[RESULT] == FIRST or (
            after[RESULT] == UNFINISHED and search.may_mark(move) and search.wins(after, plies)
        ):
            return move
    raise AssertionError("no move keeps a win that the search has found")
