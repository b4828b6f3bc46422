"""A team's agent in games of the arena: for each game a new process behind walls, like a bot's."""

from __future__ import annotations

import threading
from contextlib import suppress

import numpy as np

from pttt_ooc.other_games.arena.games.base import Game, State
from pttt_ooc.other_games.arena.matches import agent_processes
from pttt_ooc.other_games.arena.matches.agent_processes import Answer
from pttt_ooc.other_games.extreme.bot_process import BotForfeitError, BotProcess, Conditions, shown_move
from pttt_ooc.other_games.extreme.bot_programs import BotProgram
from pttt_ooc.other_games.extreme.walls import FUNCTION_RUNNER, RUNNER

FUNCTION, FORM = "choose", "choose(legal, state)"


class WalledAgent:
    """An agent that the arena's referee asks for moves; compare
    :class:`pttt_ooc.other_games.arena.matches.agent_processes.LocalAgent`.

    Parameters
    ----------
    program
        The agent's file.
    conditions
        How it is run.
    stopping
        Once it is set, the methods raise a :class:`~pttt_ooc.other_games.extreme.clock.StoppedError`.

    Attributes
    ----------
    load_seconds, slowest
        Seconds for running the file, and for the slowest move, of all games.
    forfeit
        The message and the detail of the latest fault.
    printed
        The beginning of what it printed in the latest game.
    """

    def __init__(
        self, game: Game, program: BotProgram, conditions: Conditions, stopping: threading.Event | None = None
    ) -> None:
        self._game, self._program, self._conditions, self._stopping = game, program, conditions, stopping
        self._process: BotProcess | None = None
        self.load_seconds = self.slowest = 0.0
        self.forfeit: tuple[str, str] | None = None
        self.printed = ""

    def begin(self, seed: tuple[int, ...]) -> None:
        """Start a game: run the file in a new process.  If that fails, the next :meth:`choose` raises the error."""
        self.close()
        self.forfeit = None
        drawn = int(np.random.SeedSequence(seed).generate_state(1)[0])
        self._process = BotProcess(
            self._program,
            self._program.interpreters()[0],
            self._conditions,
            self._stopping,
            runner=(FUNCTION_RUNNER, RUNNER),
            more={"function": FUNCTION, "form": FORM, "seed": drawn},
            moves=int(self._game.rules.LENGTH),
        )
        try:
            self.load_seconds = max(self.load_seconds, self._process.load())
        except BotForfeitError as error:
            self.forfeit = error.message, error.detail

    def choose(self, state: State) -> Answer:
        """Ask for a move.

        Raises
        ------
        ForfeitError
            If the agent has failed, is too slow, or does not answer with the number of a move.
        """
        assert self._process is not None
        if self.forfeit is not None:
            raise self._forfeit_error()
        try:
            answer, spent = self._process.ask({"arguments": [self._game.legal(state), state.tolist()]})
        except BotForfeitError as error:
            self.forfeit = error.message, error.detail
            raise self._forfeit_error() from None
        self.slowest = max(self.slowest, spent.seconds)
        move = answer.get("move")
        if type(move) is not int or not 0 <= move < self._game.rules.MOVES:
            why = self._game.why_not(state, -1)
            self.forfeit = "INVALID MOVE", f"It answered {shown_move(answer)}, which is no move: {why}."
            raise self._forfeit_error()
        return Answer(move, spent.seconds, spent.processor, 0, 0)

    def _forfeit_error(self) -> agent_processes.ForfeitError:
        assert self.forfeit is not None
        message, detail = self.forfeit
        return agent_processes.ForfeitError(f"{message}: {(detail.strip().splitlines() or [''])[-1]}")

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            process, self._process = self._process, None
            with suppress(OSError):
                self.printed = process.end()
