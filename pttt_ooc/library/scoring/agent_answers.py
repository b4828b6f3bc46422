"""The answers of an agent that is a function of blocks: probabilities at infosets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import StrategyError
from pttt_ooc.games.rules.information_state import STATES
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.library.eas.boards import board_of
from pttt_ooc.library.eas.infostates import Infostates
from pttt_ooc.library.scoring.agents import checked_answers, errors_of
from pttt_ooc.library.scoring.checkpoints import Answers, Checkpoint, Observe, Outputs
from pttt_ooc.pipeline.files.infosets import BLOCK_ROWS, infoset_tables, infoset_text
from pttt_ooc.pipeline.files.tensors import tensor_rows

Report = Callable[[str, float], None]
"""Called with what is being done and the finished share, 0 to 1."""

_TOLD = 4096  # infosets that a policy answers one by one between two reports of progress
_SUM = 1e-3  # how far from 1 the sum of an agent's probabilities may be
_LOGITS = "logits need --outputs logits"


def _silent(what: str, share: float) -> None:
    pass


class Manner(NamedTuple):
    """How agents are asked; see :func:`pttt_ooc.library.scoring.scores.agent_strategy`."""

    outputs: Outputs = "probabilities"
    greedy: bool = False
    block: int = BLOCK_ROWS
    report: Report = _silent


class AgentTensor:
    """An agent as a tensor: reading rows asks the agent.

    Parameters
    ----------
    rows
        int64, shape (infosets,): node number of each row.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, index: Index, player: int, observe: Observe, manner: Manner, rows: Ints) -> None:
        board = board_of(index.game)
        self.shape = (len(rows), index.game.squares)
        self._index, self._player, self._rows, self._observe = index, player, rows, observe
        self._manner = manner
        if isinstance(observe, Checkpoint):
            self._manner = manner._replace(outputs=observe.meaning(manner.greedy))
        self._infostates = Infostates(board, index, player)
        states, squares = STATES[board.kind], index.game.squares
        # Where tensors tell that nothing is known of a square: then it may be attempted.
        step = 1 if board.kind == "pttt" else states.number
        self._empty = slice(states.empty, states.empty + squares * step, step)

    def __getitem__(self, part: slice) -> Answers:
        out = np.empty((part.stop - part.start, self.shape[1]))
        for start in range(part.start, part.stop, self._manner.block):
            nodes = self._rows[start : min(start + self._manner.block, part.stop)]
            out[start - part.start : start - part.start + len(nodes)] = self.at(nodes, start)
            self._manner.report(f"Asking player {self._player}'s agent", (start + len(nodes)) / self.shape[0])
        return out

    def at(self, nodes: Ints, start: int = 0) -> Answers:
        """Probabilities at some infosets, float64 (nodes, squares); errors count rows from `start`.

        Raises
        ------
        StrategyError
            If the agent's answers are not a strategy.
        """
        infostates = self._infostates.of(nodes)
        legal = np.ascontiguousarray(infostates[:, self._empty])
        with errors_of(f"The agent failed at {len(nodes):,} infosets of player {self._player}"):
            answers = self._observe(infostates, legal, self._player)
        answers = checked_answers(answers, (len(nodes), self.shape[1]))
        self._require(np.logical_not(np.isnan(answers).any(axis=1)), nodes, start, "has NaN")
        if self._manner.outputs == "logits":
            answers = np.where(legal, answers, -np.inf)
            highest = answers.max(axis=1, keepdims=True)
            self._require(np.isfinite(highest[:, 0]), nodes, start, "has no finite logit on a legal square")
            if self._manner.greedy:
                return greedy_choice(answers, legal)
            weights: Answers = np.exp(answers - highest)
            weights /= weights.sum(axis=1, keepdims=True)
            return weights
        self._require(answers.min(axis=1) >= 0, nodes, start, f"has negative numbers; {_LOGITS}")
        sums = answers.sum(axis=1)
        self._require(np.abs(sums - 1) < _SUM, nodes, start, f"has numbers that do not sum to 1; {_LOGITS}")
        return greedy_choice(answers, legal) if self._manner.greedy else answers / sums[:, None]

    def _require(self, good: NDArray[np.bool_], nodes: Ints, start: int, what: str) -> None:
        if not good.all():
            bad = int(np.argmin(good))
            text = infoset_text(self._index, self._player, int(nodes[bad]))
            raise StrategyError(f"The agent, row {start + bad} (counted from 0), infoset {text!r}: it {what}.")


class StrategyTensor:
    """A strategy as a tensor that is read part by part.

    Parameters
    ----------
    strategy
        On an index without symmetry.
    rows
        int64, shape (infosets,): node number of each row.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, strategy: Strategy, rows: Ints) -> None:
        self.shape = (len(rows), strategy.index.game.squares)
        self._tables = infoset_tables(strategy.index, strategy.player)
        self._probabilities, self._rows = strategy.probabilities, rows

    def __getitem__(self, part: slice) -> Answers:
        return tensor_rows(self._tables, self._probabilities, self._rows[part]).astype(np.float64)


class ToldTensor:
    """A policy of OpenSpiel as a tensor that reports its progress; the policy's errors become sentences."""

    dtype = np.dtype(np.float64)

    def __init__(self, tensor: Any, player: int, manner: Manner) -> None:
        self.shape, self._tensor, self._player, self._manner = tensor.shape, tensor, player, manner

    def __getitem__(self, part: slice) -> Answers:
        out = np.empty((part.stop - part.start, self.shape[1]))
        for start in range(part.start, part.stop, step := min(self._manner.block, _TOLD)):
            stop = min(start + step, part.stop)
            with errors_of(f"The policy failed at an infoset of player {self._player}"):
                out[start - part.start : stop - part.start] = self._tensor[start:stop]
            self._manner.report(f"Asking player {self._player}'s policy", stop / self.shape[0])
        return out


class GreedyTensor:
    """A tensor of checked probabilities, with 1 in place of the highest of each row, 0 elsewhere."""

    dtype = np.dtype(np.float64)

    def __init__(self, tensor: Any) -> None:
        self.shape, self._tensor = tensor.shape, tensor

    def __getitem__(self, part: slice) -> Answers:
        rows = self._tensor[part]
        return greedy_choice(rows, rows > 0)


def greedy_choice(numbers: Answers, legal: NDArray[np.bool_]) -> Answers:
    """1 at the highest number of each row's legal squares, the first of equal ones."""
    out = np.zeros_like(numbers)
    out[np.arange(len(out)), np.where(legal, numbers, -np.inf).argmax(axis=1)] = 1
    return out
