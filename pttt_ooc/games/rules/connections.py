"""Dark Hex: the winning sets of a game in which each player connects two sides of the board.

The board is a rhombus of hexagons.  In rows and columns, a square has up to six neighbours: left and right, above and
below, above to the right and below to the left.
"""

from __future__ import annotations

from pttt_ooc.games.rules.game import Game, Squares, check_board, mask_of
from pttt_ooc.types import TurnRule

_STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0), (-1, 1), (1, -1))


def chains(rows: int, columns: int, player: int) -> Squares:
    """All minimal sets of squares that connect the two sides of `player`, as bit masks, ascending.

    Player 0 connects the first row and the last, player 1 the first column and the last.  A minimal set is a path
    without short cuts: each of its squares touches only the one before and the one after.
    """

    def line(square: int) -> int:
        return divmod(square, columns)[player]

    last = (rows if player == 0 else columns) - 1
    found: set[int] = set()

    def extend(path: tuple[int, ...]) -> None:
        if line(path[-1]) == last:
            found.add(mask_of(path))
            return
        for square in _neighbours(rows, columns, path[-1]):
            touched = [s for s in path if s in _neighbours(rows, columns, square)]
            if square not in path and line(square) != 0 and touched == [path[-1]]:
                extend((*path, square))

    for square in range(rows * columns):
        if line(square) == 0:
            extend((square,))
    return tuple(sorted(found))


def _neighbours(rows: int, columns: int, square: int) -> list[int]:
    around = [(square // columns + down, square % columns + right) for down, right in _STEPS]
    return [row * columns + column for row, column in around if 0 <= row < rows and 0 <= column < columns]


def dark_hex(
    name: str, rows: int, columns: int, turn_rule: TurnRule, setup: tuple[Squares, Squares] = ((), ())
) -> Game:
    """Phantom Hex: player 0 connects top and bottom, player 1 left and right.  No game ends in a draw.

    Raises
    ------
    GameError
        See :class:`Game`.
    """
    check_board(name, rows, columns)
    return Game(name, rows, columns, (chains(rows, columns, 0), chains(rows, columns, 1)), turn_rule, setup)
