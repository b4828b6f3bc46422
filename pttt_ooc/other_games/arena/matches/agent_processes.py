"""Agents in this process, or in a process of their own, which may crash or hang."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pttt_ooc.errors import CaughtError
from pttt_ooc.other_games.arena.agents.base import Agent
from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import ArenaError, Game, State

START_TIMEOUT = 300.0  # seconds for a new process to start; it may have to compile
ANSWER_TIMEOUT = 60.0  # seconds for an answer, if no limit is set
ANSWER_MARGIN = 2.0  # seconds on the referee's clock above the limit on the agent's own
LONGEST = 1000  # characters of a fault that are kept


class ForfeitError(CaughtError):
    """An agent has lost its game by a fault, which the text names."""


@dataclass
class Answer:
    """A move, and its cost.

    Attributes
    ----------
    wall, processor
        Seconds on the clocks of the agent's process.
    """

    move: int
    wall: float
    processor: float
    nodes: int
    depth: int


def answer(player: Agent, state: State) -> Answer:
    """Let an agent choose, on its own clocks."""
    wall, processor = time.perf_counter(), time.thread_time()
    move = player.choose(state)
    wall, processor = time.perf_counter() - wall, time.thread_time() - processor
    effort = player.effort
    return Answer(move, wall, processor + effort.processor, effort.nodes, effort.depth)


class LocalAgent:
    """An agent in this process."""

    def __init__(self, game: Game, text: str) -> None:
        self._agent = agent(text)
        self._agent.seat(game)

    def begin(self, seed: tuple[int, ...]) -> None:
        """Start a game."""
        self._agent.begin(*seed)

    def choose(self, state: State) -> Answer:
        """Ask for a move.

        Raises
        ------
        ForfeitError
            The agent fails.
        """
        try:
            return answer(self._agent, state)
        except ArenaError as error:
            raise ForfeitError(str(error)) from error
        except Exception as error:
            raise ForfeitError(f"it failed: {type(error).__name__}: {error}") from error

    def close(self) -> None:
        """Do nothing: there is no process to end."""


def _words(told: object) -> str:
    """What a process says, as text that can be stored."""
    return str(told)[:LONGEST].encode(errors="replace").decode() if isinstance(told, str) else "it answers nonsense."


def _move_of(reply: Mapping[str, Any]) -> Answer:
    """The answer of a process; a ForfeitError if it is no move."""
    counts = [reply.get(key) for key in ("move", "nodes", "depth")]
    seconds = [reply.get(key) for key in ("wall", "processor")]
    for one in counts:
        if type(one) is not int or not -(1 << 62) < one < 1 << 62:
            raise ForfeitError("its process answered something that is no move.")
    for one in seconds:
        if not isinstance(one, int | float) or not 0 <= one < math.inf:
            raise ForfeitError("its process answered something that is no move.")
    (move, nodes, depth), (wall, processor) = counts, seconds
    return Answer(move, float(wall), float(processor), nodes, depth)  # type: ignore[arg-type]


class AgentProcess:
    """An agent in a process of its own, which is started again after it has crashed or hung.

    Parameters
    ----------
    limit
        Seconds for a move on the agent's own `clock`, or None.
    """

    def __init__(self, game: Game, text: str, limit: float | None, clock: str) -> None:
        self._game, self._text, self._limit, self._clock = game, text, limit, clock
        self._process: subprocess.Popen[bytes] | None = None
        self._start()

    def begin(self, seed: tuple[int, ...]) -> None:
        """Start a game."""
        if self._process is None:
            self._start()
        with contextlib.suppress(ForfeitError):  # the next question finds the process dead
            self._ask({"begin": seed}, ANSWER_TIMEOUT)

    def choose(self, state: State) -> Answer:
        """Ask for a move.

        Raises
        ------
        ForfeitError
            The agent fails, crashes, hangs or takes too long.
        """
        reply = self._ask({"state": state.tolist()}, self._timeout())
        if "forfeit" in reply:
            raise ForfeitError(_words(reply["forfeit"]))
        chosen = _move_of(reply)
        if not 0 <= chosen.move < self._game.rules.MOVES:
            raise ForfeitError(f"its move {str(chosen.move)[:20]} is not legal: {self._game.why_not(state, -1)}.")
        taken = chosen.wall if self._clock == "wall" else chosen.processor
        if self._limit is not None and taken > self._limit:
            raise ForfeitError(f"it took {taken:.3f} s for a move; the limit is {self._limit:g} s.")
        return chosen

    def close(self) -> None:
        """End the process and its children."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._socket.close()
        self._process = None

    def _start(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "pttt_ooc.other_games.arena.matches.agent_program"]
            self._process = subprocess.Popen(
                [*command, str(theirs.fileno()), self._game.text, self._text],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=sys.stderr.fileno() if sys.stderr else subprocess.DEVNULL,
                start_new_session=True,
            )
        self._socket, self._rest = ours, b""
        try:
            reply = self._ask({"ready": True}, START_TIMEOUT)
        except ForfeitError as error:
            raise ArenaError(f"The process of the agent {self._text} does not start: {error}") from error
        if "refused" in reply:
            self.close()
            raise ArenaError(_words(reply["refused"]))

    def _timeout(self) -> float:
        if self._limit is None:
            return ANSWER_TIMEOUT
        return self._limit + ANSWER_MARGIN if self._clock == "wall" else ANSWER_TIMEOUT + 20 * self._limit

    def _ask(self, question: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Send a question, and wait for the line that answers it."""
        if self._process is None:
            raise ForfeitError("its process has ended.")
        until = time.monotonic() + timeout
        try:
            self._socket.sendall(json.dumps(question).encode() + b"\n")
            while b"\n" not in self._rest:
                self._socket.settimeout(max(until - time.monotonic(), 0.001))
                part = self._socket.recv(1 << 16)
                if not part or len(self._rest) > 1 << 20:
                    raise ConnectionError
                self._rest += part
            line, _, self._rest = self._rest.partition(b"\n")
            reply = json.loads(line)
            if self._rest:
                raise ValueError("it answers before it is asked")
        except TimeoutError:
            self.close()
            raise ForfeitError(f"it has not answered for {timeout:g} s.") from None
        except (OSError, ValueError, RecursionError):
            self.close()
            raise ForfeitError("its process has ended or answers nonsense.") from None
        if not isinstance(reply, dict):
            self.close()
            raise ForfeitError("its process answers nonsense.")
        return reply
