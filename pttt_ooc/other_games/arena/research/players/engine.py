"""Engines of other people as agents of Ultimate tic-tac-toe: programs with a protocol of lines, a class for each.

Two protocols tell positions as ``CELLS TARGET MOVER``: 81 characters ``x``, ``o`` or ``.``, small board by small board;
the small board to which the player is sent, or ``-``; and ``x`` or ``o``, who is to move.
"""

from __future__ import annotations

import re
import shutil
import weakref
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from pttt_ooc.errors import did_you_mean
from pttt_ooc.other_games.arena.agents.base import Agent, Effort
from pttt_ooc.other_games.arena.games.base import PLAYER, ArenaError, Game, State
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.small_boards import ANYWHERE
from pttt_ooc.other_games.arena.research.players.line_process import LineProcess

CELLS = 9


def position_text(state: State) -> str:
    """A position as text."""
    cells = "".join(
        "x" if state[rules.MARKS + board] >> cell & 1 else "o" if state[rules.MARKS + 9 + board] >> cell & 1 else "."
        for board in range(9)
        for cell in range(9)
    )
    target = int(state[rules.TARGET])
    return f"{cells} {'-' if target == ANYWHERE else target} {'xo'[int(state[PLAYER])]}"


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
        process.tell(f"position {position_text(state)}")
        process.tell(f"go {seconds:g}")
        line = process.hear(patience)
        match = re.fullmatch(r"move ([0-8]) ([0-8])", line)
        if match is None:
            raise _no_move(process, line, "move BOARD CELL")
        return CELLS * int(match[1]) + int(match[2])


class Uci(Protocol):
    """Like the Universal Chess Interface: ``position fen CELLS TARGET MOVER``, and ``go movetime MILLISECONDS``.

    The program answers ``bestmove BOARD.CELL``; lines before it, such as ``info``, are ignored.
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
        process.tell(f"position fen {position_text(state)}")
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


@dataclass
class Engine(Agent):
    """A program that plays Ultimate tic-tac-toe.

    The processor time of the program and its children is measured and kept with its moves.  It runs without walls: use
    only programs that you trust.  A program that has ended, is silent or answers nonsense loses the game, and is
    started again for the next one.

    Attributes
    ----------
    program
        The file, or a name on the path.
    time
        Seconds of processor time for a move, as the program is told; a slower program is not stopped.
    protocol
        A name of :data:`pttt_ooc.other_games.arena.research.players.engine.PROTOCOLS`.
    patience
        Seconds of elapsed time for an answer, on top of a hundred times `time`, because the machine may be busy.
    """

    program: str = ""
    time: float = 0.1
    protocol: str = "lines"
    patience: float = 60.0

    name = "engine"

    def __post_init__(self) -> None:
        for key in ("time", "patience"):
            if not getattr(self, key) > 0:
                raise ArenaError(f"The option {key} of engine must be above zero.")
        if self.protocol not in PROTOCOLS:
            raise ArenaError(
                f"The agent engine has no protocol '{self.protocol}'{did_you_mean(self.protocol, PROTOCOLS)}: its "
                f"protocols are {', '.join(PROTOCOLS)}."
            )

    def seat(self, game: Game) -> None:
        """Start the program.

        Raises
        ------
        ArenaError
            The game is another one, there is no such program, or it does not answer.
        """
        super().seat(game)
        self._talk = PROTOCOLS[self.protocol]()
        if not self.program:
            raise ArenaError("The agent engine needs a program, as in engine:program=./build/their-engine,time=0.1.")
        if game.text != self._talk.game:
            raise ArenaError(f"With protocol={self.protocol} engine plays {self._talk.game} only, not {game.text}.")
        found = shutil.which(self.program)
        if found is None:
            raise ArenaError(f"There is no program {self.program}: build the engine first, and give its file.")
        self._file, self._effort = found, Effort()
        self._process: LineProcess | None = None
        self._fault = ""
        self._fresh = True
        self._start()

    def _start(self) -> None:
        self._end()
        process = LineProcess([self._file])
        self._process, self._finalizer = process, weakref.finalize(self, process.close)
        self._fresh = True
        self._talk.greet(process, self._wait)

    def _end(self) -> None:
        if self._process is not None:
            self._finalizer()
            self._process = None

    @property
    def _wait(self) -> float:
        return self.patience + 100 * self.time

    def begin(self, *seed: int) -> None:
        """Tell the program that a new game begins; start it again if it has failed, or plays one game only."""
        super().begin(*seed)
        self._fault = ""
        try:
            if self._process is None or (self._talk.remembers and not self._fresh):
                self._start()
            assert self._process is not None
            self._talk.begin(self._process, int(self.rng[0] % (1 << 62)), self._wait)
        except ArenaError as error:
            self._fault = str(error)  # it loses when it is asked
            self._end()

    def choose(self, state: State) -> int:
        """The program's move.

        Raises
        ------
        ArenaError
            It has ended, is silent, or answers something else than a move.
        """
        if self._process is None:
            raise ArenaError(self._fault)
        self._fresh = False
        try:
            before = self._process.processor_seconds()
            move = self._talk.ask(self._process, state, self.time, self._wait)
            self._effort = Effort(processor=self._process.processor_seconds() - before)
        except ArenaError as error:
            self._fault = str(error)
            self._end()
            raise
        return move

    @property
    def effort(self) -> Effort:
        """The processor time of the program."""
        return self._effort

    @property
    def limited_by_time(self) -> bool:
        """Always: a clock decides."""
        return True

    @property
    def needs_all_moves(self) -> bool:
        """Whether the program keeps the position itself."""
        return PROTOCOLS[self.protocol].remembers
