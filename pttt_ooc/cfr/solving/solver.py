"""The solver: iterations of an update rule, alternating or simultaneous.

An iteration is counterfactual regret minimisation as in the paper (see :mod:`.textbook`), on arrays: regrets of the
counterfactual values against the opponent's plan, the strategy that they define, and its part in the average.  The run,
:mod:`.solve_run`, decides when it is evaluated, saved and ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import partial
from typing import Any

import numpy as np

from pttt_ooc.cfr.solving.arrays import AverageStrategy, SolverArrays, state_arrays
from pttt_ooc.cfr.solving.regret import RULES, Coefficients, Rule
from pttt_ooc.cfr.solving.schedule import last_scheduled
from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.blocks import Block
from pttt_ooc.cfr.sweep.engine import Engine, uses_of_reach, uses_of_values
from pttt_ooc.cfr.sweep.tree import Discounts, Floats, Reach, Regrets, Slice
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.block_mover import Step, Use
from pttt_ooc.disk.memory import with_leaves
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.symmetry import Symmetriser


class Solver:
    """The iterations.

    Parameters
    ----------
    engine
        An engine of the configured precision.
    config
        The algorithm.
    state
        The arrays of :func:`.state_arrays` by name; changed in place.
    arrays
        Arrays as described by :func:`.solver_arrays`.
    rule
        An update rule that replaces the configured one; its parameters are used where the configuration has none.
    iteration
        The iteration of the state.
    on_pass
        Called after each pass over a slice, with the player, the slice, and whether its sums of strategies changed.
    """

    def __init__(
        self,
        engine: Engine,
        config: SolveConfig,
        state: Mapping[str, Any],
        arrays: SolverArrays,
        rule: Rule | None = None,
        iteration: int = 0,
        on_pass: Callable[[int, int, bool], None] = lambda player, n, sums: None,
    ) -> None:
        self.engine, self.config, self.iteration, self.on_pass = engine, config, iteration, on_pass
        self.state = with_leaves(state_arrays(engine.index, config, rule), lambda path, array: state[path])
        mine = arrays.iteration(engine.index, config.precision)
        self.values, self.reaches, self._probabilities = mine.values, mine.reaches, arrays.probabilities
        self.averages = (
            AverageStrategy(engine.index, 0, partial(self._average_of, 0), partial(self._uses_of_average, 0)),
            AverageStrategy(engine.index, 1, partial(self._average_of, 1), partial(self._uses_of_average, 1)),
        )
        self.symmetrisers = tuple(Symmetriser(engine.index, player) for player in (0, 1))
        self.rule = rule or RULES[config.algorithm]
        self.parameters = self.rule.parameters(config)
        self.has_reaches = False  # whether `reaches` are those of the current strategies; others may use the buffer

    # ---------------------------------------------------------------------------------------------
    # Counterfactual regret minimisation

    def iterate(self) -> None:
        """Do one iteration: both players' regrets, next strategies and averages."""
        if not self.has_reaches:
            self.begin()
        self.iteration += 1
        self.engine.perform(self._iteration())

    def begin(self) -> None:
        """Compute both players' reach under the strategies that the regrets define, before the first iteration."""
        self.engine.perform(step for player in (0, 1) for step in self._next_strategy(player, average=False))
        self.has_reaches = True

    def _iteration(self) -> Iterator[Step]:
        for players in ((0, 1),) if self.config.updates == "simultaneous" else ((0,), (1,)):
            for player in players:
                yield from self._update(player)
            for player in players:
                yield from self._next_strategy(player, average=True)

    def _update(self, player: int) -> Iterator[Step]:
        """Update the regrets of `player`, upward, against the opponent's current strategy."""
        engine, i = self.engine, self.engine.index.players[player]
        before, (c, _) = self._coefficients(self.iteration - 1)[0], self._coefficients(self.iteration)
        look_ahead = self._scalar(before.look_ahead)
        discounts = Discounts(self._scalar(c.discount_positive), self._scalar(c.discount_negative), c.floor)
        for n in reversed(range(i.slices)):
            s, regrets = self.values.of(i, n), self._regrets(player, n, look_ahead)
            yield from engine.gradient_steps(player, n, self.reaches[1 - player], s)
            for block in engine.blocks(player, n):
                work = partial(engine.run_block, player, block, tree.update_regrets, s, regrets, discounts)
                yield Step(_uses_of_update(block, s, regrets), work)
            yield Step((), partial(self.on_pass, player, n, False))

    def _regrets(self, player: int, n: int, look_ahead: Any) -> Regrets:
        predictions = self.state.predictions[player][n] if self.state.predictions else np.empty(0, self.engine.dtype)
        return Regrets(self.state.regrets[player][n], predictions, look_ahead)

    def _next_strategy(self, player: int, average: bool) -> Iterator[Step]:
        """Compute the reach of `player` under the strategy that the regrets define; perhaps add it to the average."""
        c, discount = self._coefficients(self.iteration)
        look_ahead, reach, i = self._scalar(c.look_ahead), self.reaches[player], self.engine.index.players[player]
        for n in range(i.slices):
            first, regrets = i.sequences_of(n).start, self._regrets(player, n, look_ahead)
            # Without a choice of actions the average needs no sums.
            sums = self.state.strategy_sums[player][n][: None if average and self._chooses(player, n) else 0]
            rest = (tree.reach_of_regrets, reach, first, regrets, self._scalar(discount), sums)
            for block in self.engine.blocks(player, n):
                work = partial(self.engine.run_block, player, block, *rest)
                yield Step(_uses_of_strategy(block, first, reach, regrets, sums), work)
            yield Step((), partial(self.on_pass, player, n, average))

    @property
    def unchanged(self) -> frozenset[str]:
        """The names of arrays of the state that no iteration changes: those where there is no choice of actions."""
        return frozenset(
            f"{name}/{player}/{n}"
            for player, i in enumerate(self.engine.index.players)
            for n in range(i.slices)
            for name in ("regrets", "predictions", "strategy_sums")
            if not self._chooses(player, n)
        )

    def _chooses(self, player: int, n: int) -> bool:
        return any(block.chooses for block in self.engine.blocks(player, n))

    def _scalar(self, number: float) -> np.floating[Any]:
        # With a Python float, kernels would compute in double precision.
        scalar: np.floating[Any] = self.engine.dtype.type(number)
        return scalar

    def _coefficients(self, iteration: int) -> tuple[Coefficients, float]:
        """Coefficients of the rule at an iteration, and the discount of the sums of strategies before it."""
        t = max(iteration, 1)
        parameters = self.rule.parameters_at(t, self.parameters, self.config.horizon)
        restart = self.config.restart_average
        age = t - (last_scheduled(t, restart) if restart else 1)
        return self.rule.coefficients(t, parameters), (age / (age + 1)) ** parameters.gamma if age else 0.0

    def load_kernels(self) -> None:
        """Load compiled code by calling the kernels of an iteration on no views, so that it is not timed."""
        idle = copy(self)
        idle.engine, idle.on_pass = self.engine.idle(), lambda player, n, sums: None
        idle.iterate()

    # ---------------------------------------------------------------------------------------------
    # Strategies

    def current(self) -> tuple[Strategy, Strategy]:
        """The strategies that the regrets define, in new arrays."""
        c, _ = self._coefficients(self.iteration)
        found = []
        for player in (0, 1):
            i = self.engine.index.players[player]
            probabilities = np.empty(i.sequences, np.float32)
            for n in range(i.slices):
                part = i.sequences_of(n)
                total = self.state.regrets[player][n] * self.engine.dtype.type(c.look_ahead)
                if self.rule.predicts:
                    total += self.state.predictions[player][n]
                arrays = (part.start, np.maximum(total, 0), probabilities[part])
                self.engine.run(player, n, tree.average_strategy, *arrays)
            self.symmetrisers[player](probabilities)
            found.append(Strategy(self.engine.index, player, probabilities))
        return found[0], found[1]

    def average(self) -> tuple[Strategy, Strategy]:
        """The average strategies so far, in new arrays in memory."""
        index, (first, second) = self.engine.index, self.averages
        return Strategy(index, 0, first.probabilities), Strategy(index, 1, second.probabilities)

    def _average_of(self, player: int, views: range) -> Floats:
        sums, found = (use.part for use in self._uses_of_average(player, views))
        first = int(self.engine.index.players[player].sequence_start[views.start])
        self.engine.run_views(player, views, tree.average_strategy, first, sums, found)
        self.symmetrisers[player].of_views(views, found)
        return found

    def _uses_of_average(self, player: int, views: range) -> Iterator[Use]:
        i = self.engine.index.players[player]
        n, part = i.slice_of(views.start), i.sequences_at(views)
        first, size = i.sequences_of(n).start, part.stop - part.start
        yield Use(self.state.strategy_sums[player][n][part.start - first : part.stop - first])
        yield Use(self._probabilities[:size], True)


# ---------------------------------------------------------------------------------------------
# What the steps use


def _uses_of_update(block: Block, s: Slice, regrets: Regrets) -> Iterator[Use]:
    own = block.sequences_from(s.first_sequence)
    if block.chooses:
        yield Use(regrets.regrets[own], True)
        yield Use(regrets.predictions[own], True)
    yield from uses_of_values(block, s, True)


def _uses_of_strategy(block: Block, first: int, reach: Reach, regrets: Regrets, sums: Floats) -> Iterator[Use]:
    own = block.sequences_from(first)
    if block.chooses:
        yield Use(regrets.regrets[own])
        yield Use(regrets.predictions[own])
    yield Use(sums[own], True)
    yield from uses_of_reach(block, reach)
