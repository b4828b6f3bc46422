"""How engines of other people are asked for moves of Ultimate tic-tac-toe: one class for each protocol of lines."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import ClassVar

from pttt_ooc.other_games.arena.external.line_process import LineProcess
from pttt_ooc.other_games.arena.external.positions import text_of
from pttt_ooc.other_games.arena.games.base import PLAYER, ArenaError, State
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.kernels import ultimate as rules

CELLS = 9


class Protocol(ABC):
    """A protocol of lines.

    Attributes
    ----------
    game
        The game that is played.
    remembers
        Whether the program keeps the position itself, hears only of the opponent's moves, and plays one game.
    """

    game: ClassVar[str] = "ultimate"
    remembers: ClassVar[bool] = False

    @abstractmethod
    def greet(self, process: LineProcess, patience: float) -> None:
        """Talk to a program that has just started; `patience` is in seconds for each answer."""

    @abstractmethod
    def begin(self, process: LineProcess, seed: int, patience: float) -> None:
        """Begin a game."""

    @abstractmethod
    def ask(self, process: LineProcess, state: State, seconds: float, patience: float) -> int:
        """The program's move.

        Raises
        ------
        ArenaError
            It has ended, is silent, or answers something else than a move.
        """


def _no_move(process: LineProcess, line: str, form: str) -> ArenaError:
    return ArenaError(f"{process.name} answers '{line[:40]}', which is not {form}.")


class Lines(Protocol):
    """``seed NUMBER``; ``position CELLS TARGET MOVER`` and ``go SECONDS``, which is answered by ``move BOARD CELL``."""

    def greet(self, process: LineProcess, patience: float) -> None:
        """Say nothing."""

    def begin(self, process: LineProcess, seed: int, patience: float) -> None:
        """Tell the seed."""
        process.tell(f"seed {seed}")

    def ask(self, process: LineProcess, state: State, seconds: float, patience: float) -> int:
        """Tell the position, and how long the program may think."""
        process.tell(f"position {text_of(state)}")
        process.tell(f"go {seconds:g}")
        line = process.hear(patience)
        match = re.fullmatch(r"move ([0-8]) ([0-8])", line)
        if match is None:
            raise _no_move(process, line, "move BOARD CELL")
        return CELLS * int(match[1]) + int(match[2])


class Uci(Protocol):
    """As the Universal Chess Interface: ``position fen CELLS TARGET MOVER``, and ``go movetime MILLISECONDS``.

    The program answers ``bestmove BOARD.CELL``; lines before it, such as ``info``, are left out.
    """

    def greet(self, process: LineProcess, patience: float) -> None:
        """Wait until the program has given its name."""
        process.tell("uci")
        process.hear_word("uciok", patience)

    def begin(self, process: LineProcess, seed: int, patience: float) -> None:
        """Begin a game; the protocol has no seed."""
        process.tell("ucinewgame")
        process.tell("isready")
        process.hear_word("readyok", patience)

    def ask(self, process: LineProcess, state: State, seconds: float, patience: float) -> int:
        """Tell the position, and wait for the best move."""
        process.tell(f"position fen {text_of(state)}")
        process.tell(f"go movetime {max(1, round(1000 * seconds))}")
        line = process.hear_word("bestmove", patience)
        match = re.fullmatch(r"bestmove ([0-8])\.([0-8])( .*)?", line)
        if match is None:
            raise _no_move(process, line, "bestmove BOARD.CELL")
        return CELLS * int(match[1]) + int(match[2])


class CodinGame(Protocol):
    """The text of CodinGame's Ultimate tic-tac-toe, for bots as they are submitted there.

    Each turn the bot reads the row and the column of the opponent's move (-1 -1 if there is none), the number of legal
    moves, and each of them as row and column.  It answers a row and a column, and keeps its own time; the referee there
    shows what follows them on the line.
    """

    game = "ultimate:most"
    remembers = True

    def greet(self, process: LineProcess, patience: float) -> None:
        """Say nothing."""

    def begin(self, process: LineProcess, seed: int, patience: float) -> None:
        """Forget the position; the protocol has no seed."""
        self._rules, self._marks, self._answers = Ultimate(["most"]), 0, 0

    def ask(self, process: LineProcess, state: State, seconds: float, patience: float) -> int:
        """Tell the opponent's move and the legal ones."""
        marks = [
            sum(int(state[rules.MARKS + CELLS * player + board]) << CELLS * board for board in range(CELLS))
            for player in (0, 1)
        ]
        mine, theirs = marks[int(state[PLAYER])], marks[1 - int(state[PLAYER])]
        new = theirs & ~self._marks
        if new & (new - 1) or mine.bit_count() != self._answers:
            raise ArenaError(f"{process.name} must make all its moves itself: it keeps the position.")
        self._marks, self._answers = theirs, self._answers + 1
        process.tell(_square(new.bit_length() - 1) if new else "-1 -1")
        moves = [int(one) for one in self._rules.legal(state)]
        process.tell("\n".join([str(len(moves)), *map(_square, moves)]))
        line = process.hear(patience)
        match = re.fullmatch(r"([0-8])\s+([0-8])(\s.*)?", line)
        if match is None:
            raise _no_move(process, line, "ROW COLUMN")
        row, column = int(match[1]), int(match[2])
        return CELLS * (3 * (row // 3) + column // 3) + 3 * (row % 3) + column % 3


def _square(move: int) -> str:
    """The row and the column of a move on the large board."""
    board, cell = divmod(move, CELLS)
    return f"{3 * (board // 3) + cell // 3} {3 * (board % 3) + cell % 3}"


PROTOCOLS: dict[str, type[Protocol]] = {"lines": Lines, "uci": Uci, "codingame": CodinGame}
