"""Extreme TicTacToe: the interface to its rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pttt_ooc.other_games.arena.games.base import KEY, PLAYER, PLY, RESULT, UNFINISHED, ArenaError, Game, State
from pttt_ooc.other_games.arena.games.boards import Board, nested_board, owners
from pttt_ooc.other_games.arena.kernels import extreme as rules
from pttt_ooc.other_games.arena.kernels.small_boards import ANYWHERE


class Extreme(Game):
    """Extreme TicTacToe, a game on two boards of Ultimate tic-tac-toe with bonus moves.

    Raises
    ------
    ArenaError
        If there are options: the game has none.

    Examples
    --------
    >>> game = Extreme()
    >>> print(game.show_move(game.legal(game.play(game.start(), 80))[0]))
    0.6.6
    """

    name = "extreme"
    rules = rules

    def __init__(self, options: Iterable[str] = ()) -> None:
        for option in options:
            raise ArenaError(f"Extreme TicTacToe has no options; leave '{option}' out.")
        super().__init__()

    @property
    def text(self) -> str:
        """The name."""
        return self.name

    def position(
        self,
        big_boards: Sequence[Sequence[Sequence[str]]],
        small_boards: Sequence[Sequence[Sequence[str]]],
        old_move: tuple[int, int, int],
        flag: str,
    ) -> State:
        """A position from the boards that the course's evaluator gives to bots.

        Parameters
        ----------
        big_boards, small_boards
            Cells (two boards of 9 rows of 9) and small boards (two of 3 rows of 3): ``x``, ``o``, ``d`` or ``-``.
        old_move
            The last move, big board, row and column; (-1, -1, -1) before the first.
        flag
            Who is to move, ``x`` or ``o``.
        """
        # The cells, with the key and the number of marks that belong to them.
        state = self.start()
        player = "xo".index(flag)
        for move in range(rules.MOVES):
            mark = big_boards[move // 81][move % 81 // 9][move % 9]
            if mark != "-":
                owner = "xo".index(mark)
                state[rules.MARKS + 18 * owner + rules.BOARD[move]] |= 1 << rules.CELL[move]
                state[KEY] ^= rules._ZOBRIST[owner, move]
                state[PLY] += 1
        # Who has won each small board: sets by player and big board.
        for board in range(18):
            owner_of = small_boards[board // 9][board % 9 // 3][board % 3]
            if owner_of != "-":
                field = rules.DRAWN if owner_of == "d" else rules.WON + 2 * "xo".index(owner_of)
                state[field + board // 9] |= 1 << board % 9
        # Where the last move sends: anywhere if both small boards at its place are closed.
        state[PLAYER] = player
        if state[PLY]:
            big, row, column = old_move
            place = 3 * (row % 3) + column % 3
            both = rules.closed_boards(state, 0) & rules.closed_boards(state, 1)
            state[rules.PLACE] = ANYWHERE if both >> place & 1 else place
            state[rules.BONUS] = big_boards[big][row][column] == flag  # the same player has moved last
        # The key also tells who is to move, whether it is a bonus move, and where.
        state[KEY] ^= rules._ZOBRIST_NEXT[0, 0, ANYWHERE]  # of the first position
        state[KEY] ^= rules._ZOBRIST_NEXT[player, state[rules.BONUS], state[rules.PLACE]]
        return state

    def show_move(self, move: int) -> str:
        """Big board (0 or 1), row and column (0 to 8): ``1.0.8``."""
        return f"{move // 81}.{move % 81 // 9}.{move % 9}" if 0 <= move < rules.MOVES else str(move)

    def tell_move(self, move: int) -> str:
        """As the course writes it, a tuple: ``(1, 0, 8)``."""
        return f"({move // 81}, {move % 81 // 9}, {move % 9})"

    def read_move(self, text: str) -> int:
        """A move from its number, as ``BIG.ROW.COLUMN`` or as ``(BIG, ROW, COLUMN)``."""
        found = re.fullmatch(r"\s*([01])\.([0-8])\.([0-8])\s*", text)
        found = found or re.fullmatch(r"\s*\(\s*([01])\s*,\s*([0-8])\s*,\s*([0-8])\s*\)\s*", text)
        if found:
            return 81 * int(found[1]) + 9 * int(found[2]) + int(found[3])
        return super().read_move(text)

    def why_not(self, state: State, move: int) -> str:
        """Why a move is not legal, as the end of a sentence."""
        if not 0 <= move < rules.MOVES or state[RESULT] != UNFINISHED:
            return super().why_not(state, move)
        board, cell = rules.BOARD[move], rules.CELL[move]
        if (state[rules.MARKS + board] | state[rules.MARKS + 18 + board]) >> cell & 1:
            return "the cell is taken"
        if rules.closed_boards(state, board // 9) >> (board % 9) & 1:
            return "its small board is won"
        row, column = divmod(int(state[rules.PLACE]), 3)
        return f"the player is sent to the small boards in row {row} and column {column}"

    def show(self, state: State) -> str:
        """Nine rows of both boards: ``x`` and ``o``, capitals in a small board that is won, ``+`` for a legal move."""
        legal = set(self.legal(state))
        lines = []
        for row in range(9):
            if row in (3, 6):
                lines.append("     ".join(["------+-------+------"] * 2))
            boards = []
            for big in range(2):
                cells = [self._cell(state, move, legal) for move in range(81 * big + 9 * row, 81 * big + 9 * row + 9)]
                boards.append(" | ".join(" ".join(cells[start : start + 3]) for start in (0, 3, 6)))
            lines.append("     ".join(boards))
        return "\n".join(lines)

    def draw(self, state: State, latest: int | None = None) -> list[Board]:
        """Both big boards."""
        legal = set(self.legal(state))
        return [self._big(state, big, legal, latest) for big in range(2)]

    def _big(self, state: State, big: int, legal: set[int], latest: int | None) -> Board:
        marks = [
            owners(state[rules.MARKS + board], state[rules.MARKS + 18 + board]) for board in range(9 * big, 9 * big + 9)
        ]
        owned = owners(state[rules.WON + big], state[rules.WON + 2 + big], state[rules.DRAWN + big])
        return nested_board(
            marks, owned, lambda b, c: int(rules.MOVE[9 * big + b, c]), self.tell_move, legal=legal, latest=latest
        )

    @staticmethod
    def _cell(state: State, move: int, legal: set[int]) -> str:
        board, cell = rules.BOARD[move], rules.CELL[move]
        for player, mark in enumerate("xo"):
            if state[rules.MARKS + 18 * player + board] >> cell & 1:
                won = state[rules.WON + 2 * player + board // 9] >> (board % 9) & 1
                return mark.upper() if won else mark
        return "+" if move in legal else "."
