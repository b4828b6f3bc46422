"""Agents with a memory: infosets in depth-first order, so that a state is carried from each to the next.

The default order of infosets is by number of attempts, then by the text.  So the infosets after a run of neighbours
are a run of neighbours, too.  The agent answers a block of infosets; then the infosets after it, block by block, each
with all that follows; then the block's neighbours.  So at most one block for each number of attempts is in memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import ConfigError, StrategyError
from pttt_ooc.games.rules.infoset_text import DIGITS
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.library.scoring.agent_answers import AgentTensor, Manner
from pttt_ooc.library.scoring.agents import errors_of
from pttt_ooc.library.scoring.checkpoints import Answers
from pttt_ooc.pipeline.files.infosets import infoset_texts
from pttt_ooc.pipeline.files.tensors import RowWriter

_CHARACTERS = 2  # of an attempt: its square and its outcome
_FAILED = ord("!")


def is_recurrent(agent: Any) -> bool:
    """Whether an agent has a memory: ``initial_state(batch)`` and ``step(inputs, state, legal, player)``."""
    return hasattr(agent, "initial_state") and hasattr(agent, "step")


def write_recurrent(index: Index, player: int, agent: Any, manner: Manner, rows: Ints, into: Answers) -> None:
    """Write what an agent with a memory does at all infosets.

    Parameters
    ----------
    index
        Without symmetry.
    agent
        ``initial_state(batch)`` returns the state before the first decision, an array or a tensor whose first axis is
        the batch, or a tuple, list or dictionary of them.  ``step(inputs, state, legal, player)`` returns numbers,
        shape (batch, squares), and the next state.  `inputs` is bool, shape (batch, 2 * squares): which square the
        player attempted last and placed, then which one the player attempted last and failed; all false at first.
    rows
        int64, shape (infosets,): node number of each row, in the default order.
    into
        float64, shape (sequences,).

    Raises
    ------
    ConfigError
        If the game begins with marks on the board.
    StrategyError
        If the agent's numbers are not a strategy.
    """
    if index.game.setup != ((), ()):
        raise ConfigError(
            f"{index.game.name} begins with marks on the board; an agent with a memory has not seen them."
        )
    walk = _Walk(index, player, agent, manner, rows, into)
    with errors_of("The agent has no initial state"):
        state = agent.initial_state(1)
    walk.visit(0, 0, walk.texts(0, 0, 1), state)


class _Asker(AgentTensor):
    """Takes numbers that are already there, to check and convert them as those of any agent."""

    def __init__(self, index: Index, player: int, manner: Manner) -> None:
        self.numbers: Any = None
        super().__init__(index, player, lambda infostates, legal, player: self.numbers, manner, np.empty(0, np.int64))


class _Walk:
    def __init__(self, index: Index, player: int, agent: Any, manner: Manner, rows: Ints, into: Answers) -> None:
        self._index, self._player, self._agent, self._manner = index, player, agent, manner
        self._rows, self._write = rows, RowWriter(index, player, into, source="The agent")
        sizes = index.players[player].infosets_by_slice()
        self._starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)  # by number of attempts
        self._next = self._starts.copy()  # the first row of each number of attempts that has not been visited
        self._asker = _Asker(index, player, manner)
        self._done = 0

    def texts(self, depth: int, start: int, count: int) -> NDArray[np.bytes_]:
        """The texts of some infosets with `depth` attempts, in ascending order; fewer at the end.

        The character of a failed attempt sorts before that of a placed one, as in the default order.
        """
        stop = min(start + count, int(self._starts[depth + 1]))
        found = infoset_texts(self._index, self._player, self._rows[start:stop])
        letters = found.astype(f"S{1 + _CHARACTERS * depth}").view(np.uint8)
        letters[letters == ord(".")] = _FAILED
        return letters.view(f"S{1 + _CHARACTERS * depth}")

    def visit(self, depth: int, start: int, texts: NDArray[np.bytes_], state: Any) -> None:
        """Ask for a block of infosets with `depth` attempts, then for all that follow them."""
        nodes = self._rows[start : start + len(texts)]
        inputs, legal = self._encode(texts, depth)
        self._asker.numbers, after = self._step_agent(inputs, state, legal)
        self._write(start, nodes, self._asker.at(nodes, start))
        self._done += len(texts)
        self._manner.report(f"Asking player {self._player}'s agent", self._done / len(self._rows))
        if depth + 2 >= len(self._starts):
            return
        while True:
            first = int(self._next[depth + 1])
            below = self.texts(depth + 1, first, self._manner.block)
            before = below.astype(texts.dtype)  # cut off the last attempt
            below = below[: np.searchsorted(before, texts[-1], side="right")]
            if not len(below):
                return
            parents = np.searchsorted(texts, before[: len(below)])
            self._next[depth + 1] += len(below)
            self.visit(depth + 1, first, below, _take_rows(after, parents))

    def _encode(self, texts: NDArray[np.bytes_], depth: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        squares = self._index.game.squares
        inputs, legal = np.zeros((len(texts), 2 * squares), np.bool_), np.ones((len(texts), squares), np.bool_)
        letters = texts.view(np.uint8).reshape(len(texts), -1)
        for time in range(depth):
            square = _NUMBERS[letters[:, 1 + _CHARACTERS * time]]
            legal[np.arange(len(texts)), square] = False
        if depth:
            failed = letters[:, -1] == _FAILED
            inputs[np.arange(len(texts)), square + squares * failed] = True
        return inputs, legal

    def _step_agent(self, inputs: NDArray[np.bool_], state: Any, legal: NDArray[np.bool_]) -> tuple[Any, Any]:
        with errors_of(f"The agent failed at {len(legal):,} infosets of player {self._player}"):
            answer = self._agent.step(inputs, state, legal, self._player)
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise StrategyError("The agent's step must return a pair, numbers and the next state.")
        return answer


_NUMBERS = np.full(256, -1)
_NUMBERS[list(DIGITS.encode())] = range(len(DIGITS))


def _take_rows(state: Any, rows: Ints) -> Any:
    """The states of some members of a batch."""
    if isinstance(state, dict):
        return {name: _take_rows(one, rows) for name, one in state.items()}
    if isinstance(state, tuple | list):
        return type(state)(_take_rows(one, rows) for one in state)
    return state[rows]
