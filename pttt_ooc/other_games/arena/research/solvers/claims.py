"""Claims about positions of Ultimate tic-tac-toe, each with its proof: what a player can force, and by which moves.

``proof/verify_ultimate.py`` checks them with nothing but Python, and says what the format is.  Here they are written,
and found for endings and for the game with open boards (``ultimate:open``), which the first player wins: they begin at
the centre of the centre board, and answer each move there with the centre of the small board to which it leads, until
the centre board has one free cell.  What the second player has marked by then does not depend on the order, so that
eight positions are left, one for each last cell.  A search solves each of them.

G. Bertholon, R. Géraud-Stewart, A. Kugelmann, T. Lenoir and D. Naccache, *At most 43 moves, at least 29* (2020),
arXiv 2006.02353, found that win.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, PLAYER, PLY, RESULT, UNFINISHED, ArenaError, State
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.small_boards import FULL
from pttt_ooc.other_games.arena.research.kernels import ultimate_endings as kernels
from pttt_ooc.other_games.arena.research.kernels.ultimate_endings import can_win
from pttt_ooc.other_games.arena.research.solvers.endings import Ending, EndingSolver

HEADER = "ultimate claims 1"


@dataclass(frozen=True)
class Claim:
    """What a player can force after some moves.

    Attributes
    ----------
    begin
        The moves that come first.
    player
        0 or 1.
    plies
        The player wins within so many plies of the whole game; None: the player does not lose.
    moves
        The player's moves, in the order of a walk over all games: see :func:`strategy`.
    """

    begin: tuple[int, ...]
    player: int
    plies: int | None
    moves: tuple[int, ...]

    def line(self) -> str:
        """The claim as text."""
        goal = "draws" if self.plies is None else f"wins {self.plies}"
        return f"{_digits(self.begin) or '-'} {self.player} {goal} {_digits(self.moves)}\n"


def encode_claims(claims: Iterable[Claim], *, open_boards: bool) -> bytes:
    """A file of claims, compressed."""
    boards = "open boards" if open_boards else "closed boards"
    text = f"{HEADER}\n{boards}\n" + "".join(claim.line() for claim in claims)
    return gzip.compress(text.encode("ascii"), mtime=0)


def strategy(
    game: Ultimate, state: State, player: int, choose: Callable[[State], int], *, draws: bool
) -> tuple[int, ...]:
    """A player's moves in all games from a position on.

    Parameters
    ----------
    choose
        The player's move in a position.
    draws
        Whether the player only must not lose: then no moves are needed once the other one cannot win any more.

    Returns
    -------
    One move for each position of the player, in the order of a walk that tries all replies, the lowest first.
    """
    moves: list[int] = []
    seen: set[bytes] = set()

    def walk(state: State) -> None:
        if state[RESULT] != UNFINISHED or state.tobytes() in seen or (draws and not can_win(state, 1 - player)):
            return
        seen.add(state.tobytes())
        if state[PLAYER] == player:
            moves.append(choose(state))
            walk(game.play(state, moves[-1]))
        else:
            for reply in game.legal(state):
                walk(game.play(state, reply))

    walk(state)
    return tuple(moves)


def of_ending(ending: Ending, solver: EndingSolver) -> Iterator[Claim]:
    """The value of each move of an ending: a win of one of the players, or that neither of them loses."""
    game = Ultimate()
    before = game.after(ending.moves)
    mover = int(before[PLAYER])
    for move, value in ending.values.items():
        state = game.play(before, move)
        for player in (mover, 1 - mover) if value == 0 else [mover if value > 0 else 1 - mover]:
            least = abs(value)

            def choose(state: State, player: int = player, least: int = least) -> int:
                return _short(game, state, player, least, solver)

            moves = strategy(game, state, player, choose, draws=least == 0)
            yield Claim((*ending.moves, move), player, None if least == 0 else rules.LENGTH, moves)


def _short(game: Ultimate, state: State, player: int, least: int, solver: EndingSolver) -> int:
    """A move that keeps a value, after which the other player has few replies: so the proof is short."""

    def replies(move: int) -> tuple[int, int]:
        return len(game.legal(game.play(state, move))), move

    for move in sorted(game.legal(state), key=replies):
        after = game.play(state, move)
        if after[RESULT] != UNFINISHED:
            kept = after[RESULT] == FIRST + player or (least == 0 and after[RESULT] == DRAW)
        else:
            kept = solver.at_most(after, -least)
        if kept:
            return move
    raise AssertionError("no move keeps the value of an ending")


def _digits(moves: Sequence[int]) -> str:
    """Small board and cell of each move."""
    return "".join(f"{move // 9}{move % 9}" for move in moves)


PLIES = 43
"""Plies of the longest game."""

OPENING = 16
"""Plies of the opening."""

CENTRE = 4


class _Search:
    """A search of one position and of all that follows it.

    Parameters
    ----------
    cells
        A set, as in :func:`~pttt_ooc.other_games.arena.research.kernels.ultimate_endings.wins_within`.
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


def find_forced_win(
    plies: int = PLIES, *, table_bits: int = 22, most_positions: int = 10**9
) -> tuple[Claim | None, int]:
    """Search for a forced win within so many plies, of ultimate:open, after the opening that this module describes.

    Parameters
    ----------
    table_bits
        A table has ``2 ** table_bits`` entries of 32 bytes.
    most_positions
        Maximum positions visited in all.

    Returns
    -------
    The win, or None if there is none after this opening; the number of positions visited.

    Raises
    ------
    ArenaError
        The search needs more positions.
    """
    # For each last cell of the centre board, the search first lets the first player mark only cells that send to its
    # small board or to the opposite one; if that is not enough, all cells.
    game, budget = Ultimate(["open"]), np.array([0, most_positions])
    searches: dict[int, _Search] = {}
    for last in sorted(set(range(9)) - {CENTRE}):
        state = _after_the_opening(game, last)
        for cells in (1 << last | 1 << 8 - last, FULL):
            searches[last] = _Search(cells, table_bits if cells == FULL else min(table_bits, 18), budget)
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
