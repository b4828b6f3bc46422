"""The arrays of a solver: its state, buffers shared by iterations and evaluations, the average strategy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.cfr.solving.evaluation import EvaluationArrays, evaluation_arrays
from pttt_ooc.cfr.solving.regret import RULES, Rule
from pttt_ooc.cfr.sweep.engine import SliceArrays, reach_arrays, slice_arrays
from pttt_ooc.cfr.sweep.tree import Floats, Reach
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.block_mover import Use
from pttt_ooc.disk.memory import arrays_within, buffer_for, virtual_array
from pttt_ooc.games.structure.index import Index, Layout
from pttt_ooc.games.structure.strategy import Strategy


@dataclass(frozen=True)
class IterationArrays:
    """The working arrays of an iteration.

    Attributes
    ----------
    values
        Gradients and values of the player whose regrets are updated.
    reaches
        Both players' reach under their current strategies.
    """

    values: SliceArrays
    reaches: tuple[Reach, Reach]


@dataclass(frozen=True)
class SolverArrays:
    """The working arrays of a :class:`Solver` besides the state on disk.

    Iterations and evaluations take turns, so they share a buffer (see :func:`pttt_ooc.disk.memory.buffer_for`).

    Attributes
    ----------
    values
        Gradients and values of a slice, of an iteration.
    reaches
        Buffer for realization plans.
    slices
        Buffer for gradients and values of a slice, of an evaluation.
    probabilities
        float32, long enough for any slice of an average strategy.
    """

    values: SliceArrays
    reaches: NDArray[np.uint8]
    slices: NDArray[np.uint8]
    probabilities: Floats

    def iteration(self, index: Index, precision: DTypeLike) -> IterationArrays:
        """The arrays of an iteration."""
        return IterationArrays(self.values, arrays_within(self.reaches, iteration_arrays(index, precision).reaches))

    def evaluation(self, index: Index) -> EvaluationArrays:
        """The arrays of an evaluation."""
        wanted = evaluation_arrays(index)
        best, expected = arrays_within(self.slices, (wanted.best, wanted.expected))
        return EvaluationArrays(best, expected, arrays_within(self.reaches, wanted.reach))


@dataclass(frozen=True)
class StateArrays:
    """The state that iterations update: for each player and slice, float, shape (sequences of the slice,).

    Attributes
    ----------
    regrets, strategy_sums
        Sums of regrets and of realization plans, both discounted by the rule.
    predictions
        The last instantaneous regrets; empty if the rule does not predict.
    """

    regrets: tuple[tuple[Floats, ...], ...]
    strategy_sums: tuple[tuple[Floats, ...], ...]
    predictions: tuple[tuple[Floats, ...], ...]


def solver_arrays(index: Layout, config: SolveConfig) -> SolverArrays:
    """Virtual arrays for a solver."""
    one, other = iteration_arrays(index, config.precision), evaluation_arrays(index)
    longest = max(int(mine.sequences_by_slice().max(initial=0)) for mine in index.players)
    return SolverArrays(
        one.values,
        buffer_for(one.reaches, other.reach),
        buffer_for((other.best, other.expected)),
        virtual_array(longest, np.float32),
    )


def iteration_arrays(index: Layout, precision: DTypeLike) -> IterationArrays:
    """Virtual arrays for an iteration."""
    first, second = (reach_arrays([mine], precision) for mine in index.players)
    return IterationArrays(slice_arrays(index.players, precision), (first, second))


def state_arrays(index: Layout, config: SolveConfig, rule: Rule | None = None) -> StateArrays:
    """Virtual arrays for a state, named by their paths, such as ``regrets/0/3``; for `rule`, see :class:`Solver`."""
    kind = tuple(
        tuple(virtual_array(size, config.precision) for size in mine.sequences_by_slice().tolist())
        for mine in index.players
    )
    return StateArrays(kind, kind, kind if (rule or RULES[config.algorithm]).predicts else ())


@dataclass(frozen=True, eq=False)
class AverageStrategy:
    """The present average strategy of a solver, computed part by part from the sums of strategies.

    Attributes
    ----------
    of_views, uses
        See :class:`pttt_ooc.games.structure.strategy.SlicedStrategy`.
    """

    index: Index
    player: int
    of_views: Callable[[range], Floats]
    uses: Callable[[range], Iterator[Use]]

    def whole(self) -> Strategy:
        """A copy of the strategy, which later iterations do not change."""
        return Strategy(self.index, self.player, self.probabilities)

    @property
    def probabilities(self) -> Floats:
        """All probabilities, in a new array in memory: float32, shape (sequences,)."""
        mine = self.index.players[self.player]
        found = np.empty(mine.sequences, np.float32)
        for n in range(mine.slices):
            found[mine.sequences_of(n)] = self.of_views(mine.views_of(n))
        return found
