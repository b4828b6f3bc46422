"""Engines of other people as agents: programs with a line protocol."""

from __future__ import annotations

import shutil
import weakref
from dataclasses import dataclass

from pttt_ooc.errors import did_you_mean
from pttt_ooc.other_games.arena.agents.base import Agent, Effort
from pttt_ooc.other_games.arena.external.line_process import LineProcess
from pttt_ooc.other_games.arena.external.protocols import PROTOCOLS
from pttt_ooc.other_games.arena.games.base import ArenaError, Game, State


@dataclass
class Engine(Agent):
    """A program that plays Ultimate tic-tac-toe.

    What the program and its children use of the processor is measured and kept with its moves.  It runs without walls:
    use only programs that you trust.  A program that has ended, is silent or answers nonsense loses the game, and is
    started again for the next one.

    Attributes
    ----------
    program
        The file, or a name on the path.
    time
        Seconds of the processor for a move, as the program is told; it is not stopped.
    protocol
        A name of :data:`pttt_ooc.other_games.arena.external.protocols.PROTOCOLS`.
    patience
        Seconds on the wall for an answer, beside a hundred times the engine's own time, because the machine may be
        busy.
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
