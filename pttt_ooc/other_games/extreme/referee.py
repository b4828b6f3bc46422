"""The referee's own position of a match, by the rules of the course, and its moves."""

from __future__ import annotations

from dataclasses import dataclass

from pttt_ooc.other_games.extreme.runner import START, BigBoard

WHOLE = 86
"""The points for winning the game."""
FLAGS = ("x", "o")
PLAYERS = ("P1", "P2")
Cell = tuple[int, int, int]


@dataclass(frozen=True)
class TimedMove:
    """One move of a match.

    Attributes
    ----------
    player
        0 or 1.
    cell
        Big board, row, column.
    bonus
        Whether it was a bonus move.
    seconds, processor, waited
        See :class:`~pttt_ooc.other_games.extreme.bot_process.Spent`; 0 for a move of the opening.
    """

    player: int
    cell: Cell
    bonus: bool
    seconds: float
    processor: float = 0.0
    waited: float = 0.0


class Referee:
    """The position of a match, by the rules of the course.

    Attributes
    ----------
    board
        The referee's own.
    player
        0 or 1, whose turn it is.
    old_move
        The previous move, or (-1, -1, -1).
    bonus
        Whether the next move is a bonus move.
    """

    def __init__(self) -> None:
        self.board = BigBoard()
        self.player, self.old_move, self.bonus = 0, START, False

    def play(self, cell: Cell) -> bool:
        """Play a move; returns whether it was valid.  A bonus move that wins a small board gives no further one."""
        done, won = self.board.update(self.old_move, cell, FLAGS[self.player])
        if done != "SUCCESSFUL":
            return False
        self.old_move = cell
        self.bonus = bool(won) and not self.bonus
        if not self.bonus:
            self.player = 1 - self.player
        return True

    def valid_cells(self) -> list[Cell]:
        """The cells that the player may mark, in the order of big board, row and column."""
        found: list[Cell] = self.board.find_valid_move_cells(self.old_move)
        return found

    def result(self) -> tuple[str, str]:
        """See the course's ``find_terminal_state``."""
        winner, message = self.board.find_terminal_state()
        return winner, message

    def points(self) -> tuple[int, int]:
        """Both players' points for the small boards that they have won: corners 4, centres 3, others 6."""
        worth = ((4, 6, 4), (6, 3, 6), (4, 6, 4))
        totals = [0, 0]
        for small in self.board.small_boards_status:
            for i in range(3):
                for j in range(3):
                    if small[i][j] in FLAGS:
                        totals[FLAGS.index(small[i][j])] += worth[i][j]
        return totals[0], totals[1]
