"""Exact evaluation of one strategy or two: value, best responses, NashConv, exploitability."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pttt_ooc.cfr.sweep import tree
from pttt_ooc.cfr.sweep.blocks import Block
from pttt_ooc.cfr.sweep.engine import Engine, SliceArrays, reach_arrays, reach_part, slice_arrays, uses_of_values
from pttt_ooc.cfr.sweep.tree import Floats, Reach, Slice
from pttt_ooc.disk.block_mover import Step, Use
from pttt_ooc.disk.memory import in_memory
from pttt_ooc.errors import StrategyError
from pttt_ooc.games.rules.catalogue import reference_value
from pttt_ooc.games.structure.index import Index, Layout
from pttt_ooc.games.structure.strategy import SlicedStrategy, Strategy, uniform_strategy
from pttt_ooc.types import Interval

ROUNDING = 1e-9
"""Bound on the rounding errors of values."""


@dataclass(frozen=True)
class Evaluation:
    """Value and best responses of two strategies, exact up to rounding.

    Attributes
    ----------
    value
        Expected payoff of player 0.
    best_response_0, best_response_1
        Value of the best response to the opponent's strategy, for player 0 and for player 1, each from
        the responding player's point of view.
    nashconv
        ``best_response_0 + best_response_1``, zero exactly at an equilibrium; rounding does not make it negative.
    exploitability_0, exploitability_1
        What each strategy loses against an opponent who knows it: the value of the game minus its worst case, at least
        0, which is perfect; None if the value of the game is unknown.
    game_value
        The known interval that contains the value of the game; exploitability is measured from its middle.
    seconds
        Wall time.
    """

    value: float
    best_response_0: float
    best_response_1: float
    nashconv: float
    exploitability_0: float | None
    exploitability_1: float | None
    game_value: Interval | None
    seconds: float

    def against(self, game_value: Interval | None) -> Evaluation:
        """The same evaluation with exploitabilities for another interval of the game's value."""
        middle = sum(game_value) / 2 if game_value else None
        return replace(
            self,
            exploitability_0=None if middle is None else max(middle + self.best_response_1, 0.0),
            exploitability_1=None if middle is None else max(self.best_response_0 - middle, 0.0),
            game_value=game_value,
        )


@dataclass(frozen=True)
class WorstCase:
    """What one strategy gets against an opponent who knows it, exact up to rounding.

    Attributes
    ----------
    player
        The strategy's player.
    worst_case
        Expected payoff against the best response, from the player's point of view.
    exploitability
        The value of the game minus the worst case, at least 0, which is perfect; None if that value is unknown.
    uniform_exploitability
        The same of uniform play, for comparison.
    game_value
        The known interval that contains the value of the game; exploitability is measured from its middle.
    seconds
        Wall time.
    """

    player: int
    worst_case: float
    exploitability: float | None
    uniform_exploitability: float | None
    game_value: Interval | None
    seconds: float


def intersect(proved: Interval, reference: Interval | None) -> Interval:
    """The intersection of two intervals that contain the value of a game.

    Without a `reference`, or if the two are disjoint, the result is the `proved` one.
    """
    if reference is None:
        return proved
    both = (max(proved[0], reference[0]), min(proved[1], reference[1]))
    return both if both[0] <= both[1] else proved


@dataclass(frozen=True)
class EvaluationArrays:
    """The working arrays of a :class:`ProfileEvaluator`, all in double precision.

    Attributes
    ----------
    best
        Values of best responses.
    expected
        Values of player 0's own strategy at the nodes of even and odd slices.
    reach
        The opponent's reach.
    """

    best: SliceArrays
    expected: tuple[Floats, Floats]
    reach: Reach


def evaluation_arrays(index: Layout) -> EvaluationArrays:
    """Virtual arrays for either player."""
    best = slice_arrays(index.players, np.float64)
    expected = slice_arrays([index.players[0]], np.float64).nodes
    return EvaluationArrays(best, expected, reach_arrays(index.players, np.float64))


class ProfileEvaluator:
    """Evaluates profiles (pairs of strategies), one after the other in the same arrays.

    Parameters
    ----------
    engine
        An engine of any precision: evaluation uses its threads and computes in double precision.
    arrays
        Arrays as described by :func:`evaluation_arrays`; default: new ones in memory.
    """

    def __init__(self, engine: Engine, arrays: EvaluationArrays | None = None) -> None:
        self.engine = engine.in_precision(np.float64)
        self.arrays = arrays or in_memory(evaluation_arrays(engine.index))

    def __call__(
        self,
        strategy0: SlicedStrategy,
        strategy1: SlicedStrategy,
        game_value: Interval | None = None,
        on_share: Callable[[float], None] = lambda share: None,
    ) -> Evaluation:
        """As :func:`evaluate`; `on_share` is called after each slice with the finished share, 0 to 1."""
        begun = time.perf_counter()
        self._done, self._on_share = 0, on_share
        on_share(0.0)
        strategies = (strategy0, strategy1)
        for player, strategy in enumerate(strategies):
            check_layout(strategy, self.engine.index, player)
        value, best_0 = self._responses(0, strategies, with_value=True)
        _, best_1 = self._responses(1, strategies, with_value=False)
        seconds = time.perf_counter() - begun
        assert not value > best_0 + ROUNDING and not -value > best_1 + ROUNDING, "no strategy beats a best response"
        found = Evaluation(value, best_0, best_1, max(best_0 + best_1, 0.0), None, None, None, seconds)
        return found.against(game_value or reference_value(self.engine.index.game))

    def worst_case(self, strategy: Strategy, game_value: Interval | None) -> WorstCase:
        """Evaluate one strategy and then uniform play, which overwrites the strategy's array."""
        begun, player = time.perf_counter(), strategy.player
        middle = sum(game_value) / 2 * (1 if player == 0 else -1) if game_value else None
        worst = -self._response(strategy)
        uniform = -self._response(uniform_strategy(strategy.index, player, into=strategy.probabilities))
        mine, theirs = (None if middle is None else max(middle - each, 0.0) for each in (worst, uniform))
        return WorstCase(player, worst, mine, theirs, game_value, time.perf_counter() - begun)

    def _response(self, strategy: SlicedStrategy) -> float:
        """The value of the other player's best response to a strategy, from the other player's point of view."""
        self._done, self._on_share = 0, lambda share: None
        check_layout(strategy, self.engine.index, strategy.player)
        return self._responses(1 - strategy.player, (strategy, strategy), with_value=False)[1]

    def _responses(
        self, player: int, strategies: tuple[SlicedStrategy, SlicedStrategy], with_value: bool
    ) -> tuple[float, float]:
        """Value of the player's own strategy (if `with_value`) and of the player's best response."""
        self.engine.perform(self._steps(player, strategies, with_value))
        best, expected = self.arrays.best.nodes[0], self.arrays.expected[0]  # of the root, which is an even slice
        return (float(expected[0]) if with_value else float("nan")), float(best[0])

    def _steps(
        self, player: int, strategies: tuple[SlicedStrategy, SlicedStrategy], with_value: bool
    ) -> Iterator[Step]:
        """The opponent's reach, downward; then this player's values against it, upward."""
        engine, i = self.engine, self.engine.index.players[player]
        opponent = reach_part(self.arrays.reach, engine.index.players[1 - player])
        yield from engine.reach_steps(strategies[1 - player], opponent)
        expected = self.arrays.expected[0][:0]
        for n in reversed(range(i.slices)):
            s, own, strategy = self.arrays.best.of(i, n), None, strategies[player]
            yield from engine.gradient_steps(player, n, opponent, s)
            if with_value:
                children, expected = expected, self.arrays.expected[n % 2][: len(s.nodes)]
                own = s._replace(nodes=expected, child_values=children)
            for block in engine.blocks(player, n):
                work = partial(self._value_block, player, block, s, own, strategy)
                yield Step(_uses_of_block(block, s, own, strategy), work)
            yield Step((), partial(self._finish_part, len(s.sequences)))

    def _value_block(self, player: int, block: Block, s: Slice, own: Slice | None, strategy: SlicedStrategy) -> None:
        """Turn gradients into values of best actions; and, in `own`, into those of a strategy."""
        if own:
            nodes = block.nodes_from(s.first_node)
            own.nodes[nodes] = s.nodes[nodes]
            self.engine.run_block(player, block, tree.values_of_strategy, *_of_block(own, block, strategy))
        self.engine.run_block(player, block, tree.best_values, s, tree.NO_CHOICES)

    def _finish_part(self, sequences: int) -> None:
        self._done += sequences
        self._on_share(self._done / sum(each.sequences for each in self.engine.index.players))


def _uses_of_block(block: Block, s: Slice, own: Slice | None, strategy: SlicedStrategy) -> Iterator[Use]:
    yield from uses_of_values(block, s, False)
    if own:
        yield from uses_of_values(block, own, False)
        yield from strategy.uses(block.views)


def _of_block(s: Slice, block: Block, strategy: SlicedStrategy) -> tuple[Slice, Floats]:
    """A slice whose sequences are those of a block, and the strategy's weights of the same sequences."""
    sequences = s.sequences[block.sequences_from(s.first_sequence)]
    return s._replace(sequences=sequences, first_sequence=block.sequences.start), strategy.of_views(block.views)


def evaluate(
    strategy0: SlicedStrategy, strategy1: SlicedStrategy, engine: Engine, game_value: Interval | None = None
) -> Evaluation:
    """Evaluate two strategies against each other and against their best responses.

    Parameters
    ----------
    strategy0, strategy1
        Strategies of player 0 and 1 on the engine's index.  Probabilities are scaled to sum to 1 at
        every infoset, in double precision.
    engine
        An engine of any precision: evaluation uses its threads and computes in double precision.
    game_value
        Interval that contains the value of the game; default: :func:`pttt_ooc.games.rules.catalogue.reference_value`.

    Raises
    ------
    StrategyError
        If a strategy is the other player's, or laid out for another game or symmetry.
    """
    return ProfileEvaluator(engine)(strategy0, strategy1, game_value)


def check_layout(strategy: SlicedStrategy, index: Index, player: int) -> None:
    """Raise a StrategyError unless the strategy belongs to `player` and has the layout of `index`."""
    if strategy.player != player:
        raise StrategyError(f"A strategy of player {player} is wanted, but this one is player {strategy.player}'s.")
    mine = strategy.index
    for what, own, needed in (
        ("game", mine.game.name, index.game.name),
        ("symmetry", mine.symmetry, index.symmetry),
    ):
        if own != needed:
            raise StrategyError(
                f"Player {player}'s strategy is laid out for {what} {own}, but is to be evaluated with {what} {needed}."
            )
    if mine.game != index.game:
        raise StrategyError(f"Player {player}'s strategy is for another game that is called {index.game.name} too.")
    shape = (index.players[player].sequences,)
    if isinstance(strategy, Strategy) and strategy.probabilities.shape != shape:
        raise StrategyError(
            f"Player {player}'s strategy has probabilities of shape {strategy.probabilities.shape}, "
            f"but in game {index.game.name} with symmetry {index.symmetry} the shape is {shape}."
        )
