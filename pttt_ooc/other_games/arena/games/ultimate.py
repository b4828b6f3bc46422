"""Ultimate tic-tac-toe: the interface to its rules."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pttt_ooc.errors import did_you_mean
from pttt_ooc.other_games.arena.games.base import RESULT, UNFINISHED, ArenaError, Game, State
from pttt_ooc.other_games.arena.games.boards import Board, nested_board, owners
from pttt_ooc.other_games.arena.kernels import ultimate as rules

OPTIONS = {"open": rules.OPEN, "most": rules.MOST}
"""`open`: won small boards stay open until they are full.  `most`: without a line, the player with more won boards
wins."""


class Ultimate(Game):
    """Ultimate tic-tac-toe.

    Parameters
    ----------
    options
        Names from :data:`OPTIONS`; none: a won small board closes, and without a line the game is drawn.

    Raises
    ------
    ArenaError
        There is no such option.

    Examples
    --------
    >>> game = Ultimate()
    >>> print(game.show_move(game.legal(game.play(game.start(), 80))[0]))
    8.0
    """

    name = "ultimate"
    rules = rules

    def __init__(self, options: Iterable[str] = ()) -> None:
        self.chosen = sorted(set(options), reverse=True)
        for option in self.chosen:
            if option not in OPTIONS:
                known = " and ".join(OPTIONS)
                raise ArenaError(
                    f"Ultimate tic-tac-toe has no option '{option}'{did_you_mean(option, OPTIONS)}: its options are "
                    f"{known}, as in ultimate:open."
                )
        super().__init__([sum(OPTIONS[option] for option in self.chosen)])

    @property
    def text(self) -> str:
        """The name with the options, such as ``ultimate:open``."""
        return ":".join([self.name, "+".join(self.chosen)]) if self.chosen else self.name

    def show_move(self, move: int) -> str:
        """The small board and the cell, each a number from 0 to 8 in reading order: ``4.0``."""
        return f"{move // 9}.{move % 9}" if 0 <= move < rules.MOVES else str(move)

    def read_move(self, text: str) -> int:
        """A move from its number or as ``BOARD.CELL``."""
        match = re.fullmatch(r"\s*([0-8])\.([0-8])\s*", text)
        return 9 * int(match[1]) + int(match[2]) if match else super().read_move(text)

    def why_not(self, state: State, move: int) -> str:
        """Why a move is not legal, as the end of a sentence."""
        if not 0 <= move < rules.MOVES or state[RESULT] != UNFINISHED:
            return super().why_not(state, move)
        board, cell, target = move // 9, move % 9, int(state[rules.TARGET])
        if (state[rules.MARKS + board] | state[rules.MARKS + 9 + board]) >> cell & 1:
            return "the cell is taken"
        if state[rules.CLOSED] >> board & 1:
            return f"small board {board} is won"
        return f"the player is sent to small board {target}"

    def show(self, state: State) -> str:
        """Nine rows of nine cells: ``x`` and ``o``, capitals in a small board that is won, ``+`` for a legal move."""
        legal = set(self.legal(state))
        lines = []
        for row in range(9):
            if row in (3, 6):
                lines.append("------+-------+------")
            texts = []
            for column in range(9):
                board, cell = 3 * (row // 3) + column // 3, 3 * (row % 3) + column % 3
                texts.append(self._cell(state, board, cell, 9 * board + cell in legal))
            lines.append(" | ".join(" ".join(texts[start : start + 3]) for start in (0, 3, 6)))
        return "\n".join(lines)

    def draw(self, state: State, latest: int | None = None) -> list[Board]:
        """The nine small boards."""
        marks = [owners(state[rules.MARKS + board], state[rules.MARKS + 9 + board]) for board in range(9)]
        owned = owners(state[rules.WON], state[rules.WON + 1], state[rules.CLOSED])
        legal = set(self.legal(state))
        return [nested_board(marks, owned, lambda b, c: 9 * b + c, self.show_move, legal=legal, latest=latest)]

    @staticmethod
    def _cell(state: State, board: int, cell: int, legal: bool) -> str:
        for player, mark in enumerate("xo"):
            if state[rules.MARKS + 9 * player + board] >> cell & 1:
                return mark.upper() if state[rules.WON + player] >> board & 1 else mark
        return "+" if legal else "."
