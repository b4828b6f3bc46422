"""The rules of a phantom placement game, as data.

Squares are numbered row by row from the top left.  A set of squares is an ``int`` whose bit ``s``
stands for square ``s``.  In a game two players *attempt* squares in turn; :class:`Game`
holds everything that differs between games.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import product
from typing import get_args

from pttt_ooc.errors import GameError
from pttt_ooc.types import TurnRule

Squares = tuple[int, ...]

MOST_SQUARES = 16
"""Squares of the largest board: an infoset's text has one hexadecimal digit for each."""
MOST_ENUMERATED_SQUARES = 10
"""Squares of the largest board whose infosets can be enumerated."""


def mask_of(squares: Squares) -> int:
    """The bit mask of a collection of squares."""
    mask = 0
    for square in squares:
        mask |= 1 << square
    return mask


def check_board(name: str, rows: int, columns: int) -> None:
    """Raise a GameError with the game's name if no game has a board of this size."""
    if min(rows, columns) < 1 or rows * columns > MOST_SQUARES:
        raise GameError(f"Game {name}: a board of {rows} x {columns} squares; a game has 1 to {MOST_SQUARES}.")


@dataclass(frozen=True, repr=False)
class Game:
    """The rules of one game.

    Parameters
    ----------
    name
        The game's name in configuration, stores and reports.
    rows, columns
        Size of the board.
    winning_sets
        For each player, the minimal winning sets as bit masks.  A player wins as soon as the
        squares that it has placed contain one of them.  Rows of ``k`` for tic-tac-toe; minimal
        connecting chains for Hex.
    turn_rule
        ``"abrupt"``: a failed attempt passes the turn.  ``"classical"``: it keeps the turn.
    setup
        For each player, squares placed before the game starts, in order.  They are part of every
        infoset's text; the opponent has not seen them.  Player 0 has as many as player 1 (then
        player 0 moves first) or one more (then player 1 does).

    Raises
    ------
    GameError
        If the rules contradict each other, or the board has more than :data:`MOST_SQUARES` squares.

    Examples
    --------
    >>> game = Game("two-squares", 1, 2, ((0b01,), (0b10,)))
    >>> game
    Game two-squares: 1 x 2 squares, abrupt, 1 winning set for player 0, 1 winning set for player 1
    >>> game.symmetries
    ((0, 1),)
    """

    name: str
    rows: int
    columns: int
    winning_sets: tuple[Squares, Squares]
    turn_rule: TurnRule = "abrupt"
    setup: tuple[Squares, Squares] = ((), ())

    def __post_init__(self) -> None:
        counts = [len(o) for o in self.setup]
        taken = [s for o in self.setup for s in o]
        check_board(self.name, self.rows, self.columns)
        if self.turn_rule not in get_args(TurnRule):
            problem = f"no turn rule is called {self.turn_rule!r}; choose from {', '.join(get_args(TurnRule))}"
        elif not all(0 <= s < self.squares for s in taken):
            problem = "the setup has a square that is not on the board"
        elif any(w < 0 or w >> self.squares for sets in self.winning_sets for w in sets):
            problem = "a winning set has a square that is not on the board"
        elif counts[0] - counts[1] not in (0, 1) or len(set(taken)) != len(taken):
            problem = "the setup is not made of alternating placements"
        elif any(self.wins(p, self.setup_mask(p)) for p in (0, 1)):
            problem = "the setup already contains a winning set"
        else:
            return
        raise GameError(f"Game {self.name}: {problem}.")

    def __repr__(self) -> str:
        counts = [f"{len(sets)} winning set{'s' * (len(sets) != 1)}" for sets in self.winning_sets]
        alike = self.winning_sets[0] == self.winning_sets[1]
        wins = counts[0] if alike else f"{counts[0]} for player 0, {counts[1]} for player 1"
        placed = [f"player {p} on {', '.join(map(str, squares))}" for p, squares in enumerate(self.setup) if squares]
        after = f", begins with marks of {' and of '.join(placed)}" if placed else ""
        return f"Game {self.name}: {self.rows} x {self.columns} squares, {self.turn_rule}, {wins}{after}"

    @property
    def rules(self) -> str:
        """Everything that the game is made of, as text; digests and names of saved states depend on it."""
        return f"Game({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in fields(self))})"

    @property
    def squares(self) -> int:
        """Number of squares of the board."""
        return self.rows * self.columns

    @property
    def first_player(self) -> int:
        """The player who makes the first attempt after the setup."""
        return len(self.setup[0]) - len(self.setup[1])

    def setup_mask(self, player: int) -> int:
        """The squares that `player` holds from the setup, as a bit mask."""
        return mask_of(self.setup[player])

    def wins(self, player: int, placed: int) -> bool:
        """Whether the squares `placed` (a bit mask) contain a winning set of `player`."""
        return any(w & placed == w for w in self.winning_sets[player])

    def failure_allowed(self, player: int, placed: int, found: int, known: int) -> bool:
        """Whether an own attempt can fail on a mark that the opponent placed after the setup.

        By then, the opponent must have had enough turns to place all marks that were found.

        Parameters
        ----------
        player
            The player who made the attempt.
        placed, found, known
            Numbers of own attempts after the setup, up to and including this one: successful; failed
            on marks placed after the setup; failed on marks of the opponent's setup.
        """
        second = int(player != self.first_player)
        turns = placed + found + known - 1 if self.turn_rule == "abrupt" else placed
        return found <= turns + second

    @cached_property
    def symmetries(self) -> tuple[Squares, ...]:
        """The board's symmetries that keep both players' winning sets and setup.

        Each is a permutation ``g`` of squares, ``g[s]`` the image of ``s``; the identity comes
        first.  A symmetry may move the squares of the setup among themselves only if it fixes
        each of them, because their order is part of every infoset.
        """
        found = []
        for transpose, flip_rows, flip_columns in product((False, True), repeat=3):
            if transpose and self.rows != self.columns:
                continue
            g = []
            for r, c in product(range(self.rows), range(self.columns)):
                r2 = self.rows - 1 - r if flip_rows else r
                c2 = self.columns - 1 - c if flip_columns else c
                g.append(c2 * self.columns + r2 if transpose else r2 * self.columns + c2)
            if tuple(g) not in found and self._is_symmetry(tuple(g)):
                found.append(tuple(g))
        return tuple(found)

    def _is_symmetry(self, g: Squares) -> bool:
        def image(mask: int) -> int:
            return mask_of(tuple(g[s] for s in range(self.squares) if mask >> s & 1))

        keeps_wins = all({image(w) for w in sets} == set(sets) for sets in self.winning_sets)
        return keeps_wins and all(g[s] == s for o in self.setup for s in o)


def check_enumerable(game: Game, instead: str = "") -> None:
    """Raise a GameError if a game's infosets are too many to be listed; `instead` ends the sentence."""
    if game.squares > MOST_ENUMERATED_SQUARES:
        raise GameError(
            f"Game {game.name}: a board of {game.squares} squares has too many infosets to be listed; at most "
            f"{MOST_ENUMERATED_SQUARES} squares are possible here{instead}."
        )


def lines(rows: int, columns: int, k: int) -> Squares:
    """All rows of `k` adjacent squares (horizontal, vertical, both diagonals), as bit masks."""
    found = []
    for r, c in product(range(rows), range(columns)):
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            end_r, end_c = r + (k - 1) * dr, c + (k - 1) * dc
            if 0 <= end_r < rows and 0 <= end_c < columns:
                found.append(mask_of(tuple((r + i * dr) * columns + c + i * dc for i in range(k))))
    return tuple(sorted(set(found)))


def tic_tac_toe(
    name: str,
    rows: int,
    columns: int,
    k: int,
    turn_rule: TurnRule,
    setup: tuple[Squares, Squares] = ((), ()),
) -> Game:
    """Phantom tic-tac-toe: both players win with `k` in a row.

    Raises
    ------
    GameError
        See :class:`Game`; also if no line of the board has `k` squares.
    """
    check_board(name, rows, columns)
    if not 1 <= k <= max(rows, columns):
        raise GameError(f"Game {name}: on a board of {rows} x {columns} squares nobody can have {k} in a row.")
    winning = lines(rows, columns, k)
    return Game(name, rows, columns, (winning, winning), turn_rule, setup)
