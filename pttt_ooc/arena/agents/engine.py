"""Engines of other people as agents: programs with a line protocol."""

from __future__ import annotations

import re
import shutil
import weakref
from dataclasses import dataclass

from pttt_ooc.arena.agents.base import Agent, Effort
from pttt_ooc.arena.external.line_process import LineProcess
from pttt_ooc.arena.external.positions import text_of
from pttt_ooc.arena.games.base import ArenaError, Game, State

PATIENCE = 60.0
"""Seconds for an answer, beside a hundred times the engine's own time: the machine may be busy."""


@dataclass
class Engine(Agent):
    """A program that plays Ultimate tic-tac-toe.

    The program reads ``seed NUMBER`` at the start of each game, ``position CELLS TARGET MOVER`` (see
    :mod:`pttt_ooc.arena.external.positions`) and ``go SECONDS``, and answers the latter by ``move BOARD CELL``.  The
    seconds are of its own processor time; what it really uses is measured and kept with its moves.  It runs without
    walls: use only programs that you trust.

    Attributes
    ----------
    program
        The file, or a name on the path.
    time
        Seconds of the processor for a move.
    """

    program: str = ""
    time: float = 0.1

    name = "engine"

    def __post_init__(self) -> None:
        if not self.time > 0:
            raise ArenaError("The option time of engine must be above zero.")

    def seat(self, game: Game) -> None:
        """Start the program.

        Raises
        ------
        ArenaError
            The game is another one, or there is no such program.
        """
        super().seat(game)
        if not self.program:
            raise ArenaError("The agent engine needs a program, as in engine:program=./build/their-engine,time=0.1.")
        if game.text != "ultimate":
            raise ArenaError(f"The agent engine plays the game ultimate only, not {game.text}.")
        found = shutil.which(self.program)
        if found is None:
            raise ArenaError(f"There is no program {self.program}: build the engine first, and give its file.")
        self._process = LineProcess([found])
        self._effort = Effort()
        weakref.finalize(self, self._process.close)

    def begin(self, *seed: int) -> None:
        """Tell the program that a new game begins."""
        super().begin(*seed)
        self._process.tell(f"seed {int(self.rng[0] % (1 << 62))}")

    def choose(self, state: State) -> int:
        """The program's move.

        Raises
        ------
        ArenaError
            It has ended, is silent, or answers something else than a move.
        """
        before = self._process.processor_seconds()
        self._process.tell(f"position {text_of(state)}")
        self._process.tell(f"go {self.time:g}")
        line = self._process.hear(PATIENCE + 100 * self.time)
        self._effort = Effort(processor=self._process.processor_seconds() - before)
        match = re.fullmatch(r"move ([0-8]) ([0-8])", line)
        if match is None:
            raise ArenaError(f"{self.program} answers '{line[:40]}', which is no move BOARD CELL.")
        return 9 * int(match[1]) + int(match[2])

    @property
    def effort(self) -> Effort:
        """The processor time of the program."""
        return self._effort

    @property
    def limited_by_time(self) -> bool:
        """Always: a clock decides."""
        return True
