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
from pttt_ooc.jit import kernel
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
_NAN, _NO_LOGIT, _NEGATIVE, _BAD_SUM = 1, 2, 3, 4
_FAULTS = {
    _NAN: "has NaN",
    _NO_LOGIT: "has no finite logit on a legal square",
    _NEGATIVE: f"has negative numbers; {_LOGITS}",
    _BAD_SUM: f"has numbers that do not sum to 1; {_LOGITS}",
}


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
            self.at(nodes, start, out[start - part.start : start - part.start + len(nodes)])
            self._manner.report(f"Asking player {self._player}'s agent", (start + len(nodes)) / self.shape[0])
        return out

    def at(self, nodes: Ints, start: int = 0, into: Answers | None = None) -> Answers:
        """Probabilities at some infosets, float64 (nodes, squares), in `into` or a new array.

        Parameters
        ----------
        start
            The number of the first row, for errors.

        Raises
        ------
        StrategyError
            If the agent's answers are not a strategy.
        """
        infostates = self._infostates.of(nodes)
        legal = np.ascontiguousarray(infostates[:, self._empty])
        with errors_of(f"The agent failed at {len(nodes):,} infosets of player {self._player}"):
            answers = self._observe(infostates, legal, self._player)
        answers = checked_answers(answers, legal.shape)
        out = np.empty(legal.shape) if into is None else into
        fault, i = _normalise(answers, legal, self._manner.outputs == "logits", out)
        if fault:
            text = infoset_text(self._index, self._player, int(nodes[i]))
            raise StrategyError(f"The agent, row {start + i} (counted from 0), infoset {text!r}: it {_FAULTS[fault]}.")
        if self._manner.greedy:
            out[:] = greedy_choice(answers, legal)
        return out


@kernel
def _normalise(answers: Answers, legal: NDArray[np.bool_], logits: bool, out: Answers) -> tuple[int, int]:
    """Check an agent's numbers and write probabilities to `out`: (fault or 0, the first row that has it)."""
    for i in range(len(answers)):
        total, highest = 0.0, -np.inf
        for square in range(answers.shape[1]):
            number = answers[i, square]
            if np.isnan(number):
                return _NAN, i
            if not logits and number < 0:
                return _NEGATIVE, i
            if logits and legal[i, square] and number > highest:
                highest = number
        if logits and not np.isfinite(highest):
            return _NO_LOGIT, i
        for square in range(answers.shape[1]):
            number = answers[i, square]
            if logits:
                number = np.exp(number - highest) if legal[i, square] else 0.0
            out[i, square] = number
            total += number
        if not logits and not abs(total - 1) < _SUM:
            return _BAD_SUM, i
        for square in range(answers.shape[1]):
            out[i, square] /= total
    return 0, 0


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
