"""K-in-a-row on an infinite board: the interface to its rules."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pttt_ooc.errors import did_you_mean
from pttt_ooc.other_games.arena.games.base import PLY, RESULT, UNFINISHED, ArenaError, Game, State
from pttt_ooc.other_games.arena.games.boards import Board, flat
from pttt_ooc.other_games.arena.kernels import infinite as rules
from pttt_ooc.other_games.arena.kernels.rows import FREE

FORMS = {"fixed": rules.FIXED, "growing": rules.GROWING, "near": rules.NEAR}
"""How the board is limited: a bound; a bound that grows when all squares are taken; only squares near marks."""


class Infinite(Game):
    """K-in-a-row on an infinite board.

    Parameters
    ----------
    options
        A name from :data:`FORMS` (default ``near``), ``needLENGTH`` (default 5) and ``limiterDISTANCE`` (default 2).

    Raises
    ------
    ArenaError
        An option is not understood, or a number is out of range.

    Examples
    --------
    >>> game = Infinite(["near", "need3"])
    >>> print(game.text, game.show_move(game.legal(game.start())[0]))
    infinite:near+need3+limiter2 -1:-1
    """

    name = "infinite"
    rules = rules

    def __init__(self, options: Iterable[str] = ()) -> None:
        self.form, self.need, self.limiter = "near", 5, 2
        for option in options:
            if need := re.fullmatch(r"need(\d{1,4})", option):
                self.need = int(need[1])
            elif limiter := re.fullmatch(r"limiter(\d{1,4})", option):
                self.limiter = int(limiter[1])
            elif option in FORMS:
                self.form = option
            else:
                raise ArenaError(
                    f"The infinite board has no option '{option}'{did_you_mean(option, FORMS)}: its options are "
                    f"{', '.join(FORMS)}, and two numbers, as in infinite:near+need5+limiter2."
                )
        if not 1 <= self.limiter <= rules.MIDDLE:
            raise ArenaError(f"A limiter of {self.limiter} is not possible: it must be from 1 to {rules.MIDDLE}.")
        longest = 2 * self.limiter + 1 if self.form == "fixed" else 11
        if not 1 <= self.need <= longest:
            raise ArenaError(f"{self.need} in a row is not possible here: the length must be from 1 to {longest}.")
        super().__init__([self.need, FORMS[self.form], self.limiter])

    @property
    def text(self) -> str:
        """The name with the options, such as ``infinite:near+need5+limiter2``."""
        return f"{self.name}:{self.form}+need{self.need}+limiter{self.limiter}"

    def show_move(self, move: int) -> str:
        """The coordinates x, to the right, and y, downwards, counted from the middle: ``-1:2``."""
        if not 0 <= move < rules.MOVES:
            return str(move)
        row, column = rules.place(None, move)
        return f"{column - rules.MIDDLE}:{row - rules.MIDDLE}"

    def tell_move(self, move: int) -> str:
        """The same with signs of minus."""
        return self.show_move(move).replace("-", "−")

    def read_move(self, text: str) -> int:
        """A move from its number, or from the coordinates x and y: ``-1:2`` or ``-1 2``."""
        match = re.fullmatch(r"\s*(-?\d{1,4})(?:\s*:\s*|\s+)(-?\d{1,4})\s*", text)
        if not match:
            return super().read_move(text)
        column, row = int(match[1]) + rules.MIDDLE, int(match[2]) + rules.MIDDLE
        if not (0 <= row < rules.SIDE and 0 <= column < rules.SIDE):
            raise ArenaError(
                f"'{text.strip()}' is not on the plane: coordinates are from {-rules.MIDDLE} to {rules.MIDDLE}."
            )
        return row * rules.SIDE + column

    def why_not(self, state: State, move: int) -> str:
        """Why a move is not legal, as the end of a sentence."""
        if not 0 <= move < rules.MOVES or state[RESULT] != UNFINISHED:
            return super().why_not(state, move)
        if rules.cell(state, *rules.place(state, move)) != FREE:
            return "the square is taken"
        if self.form != "near":
            bound = int(state[rules.BOUND])
            return f"coordinates are from {-bound} to {bound}"
        if state[PLY] == 0:
            return "the first mark goes to one of the nine squares in the middle"
        return f"no mark is within {self.limiter} rows and columns of the square"

    def show(self, state: State) -> str:
        """The part of the plane with marks or legal squares: ``x``, ``o``, ``.`` for a legal square, with both axes."""
        down, across = self._used(state)
        lines = ["    " + "".join(f"{column - rules.MIDDLE:3}" for column in across)]
        for row in down:
            text = (self._square(state, row, column) for column in across)
            lines.append(f"{row - rules.MIDDLE:3} " + "".join(f"  {square}" for square in text))
        return "\n".join(line.rstrip() for line in lines)

    def draw(self, state: State, latest: int | None = None) -> list[Board]:
        """The part of the plane with marks or legal squares."""
        down, across = self._used(state)
        marks = ["".join("-xo"[rules.cell(state, row, column)] for column in across) for row in down]
        return [
            flat(
                marks,
                lambda row, column: down[row] * rules.SIDE + across[column],
                self.tell_move,
                legal=set(self.legal(state)),
                latest=latest,
                need=self.need,
            )
        ]

    @staticmethod
    def _used(state: State) -> tuple[range, range]:
        """The rows and columns with marks or legal squares."""
        used = [
            (row, column)
            for row in range(rules.SIDE)
            for column in range(rules.SIDE)
            if rules.cell(state, row, column) or state[rules.OPEN + row] >> column & 1
        ]
        rows, columns = zip(*used, strict=True)
        return range(min(rows), max(rows) + 1), range(min(columns), max(columns) + 1)

    @staticmethod
    def _square(state: State, row: int, column: int) -> str:
        mark = rules.cell(state, row, column)
        return "xo"[mark - 1] if mark else "." if state[rules.OPEN + row] >> column & 1 else " "
