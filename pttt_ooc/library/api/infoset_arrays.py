"""Parts for your own algorithms: mixtures of strategies, and arrays with a row for each infoset.

Rows have the order of :meth:`pttt_ooc.library.api.strategies.Strategy.infosets`, which is the course's.  Strategies
kept up to symmetry stay so during the computation; only the result has rows for mirror images.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.cfr.solving.assessment import gradient_against
from pttt_ooc.errors import ConfigError, StrategyError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure import strategy as core
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.structures import checked_player, index_of
from pttt_ooc.library.api.values import in_one_layout
from pttt_ooc.pipeline.files.infosets import DefaultRows


def mix(strategies: Sequence[core.Strategy], weights: Sequence[float] | None = None) -> Strategy:
    """The strategy of a player who draws one of these strategies before the game, and then follows it.

    Its realization plan is the weighted mean of their plans, so against every opponent it gets the weighted mean of
    their payoffs.  At an infoset, a strategy counts by its weight times its reach: one that seldom gets there has
    little influence.  Where none of them gets, the probabilities themselves are averaged; payoffs do not depend on it.

    Parameters
    ----------
    strategies
        Of one player in one game.
    weights
        One for each, not negative; they are scaled to sum to 1.  Default: equal weights.

    Raises
    ------
    StrategyError
        If there is no strategy, or they are not of one player in one game.
    ConfigError
        If there are more or fewer weights, one is negative or not a number, or all are 0.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> game = pttt.game("mini-2x3k2-abrupt")
    >>> def attempt_first(*squares):
    ...     return pttt.Strategy.from_function(game, 0, lambda text: {[s for s in squares if str(s) not in text][0]: 1})
    >>> both = pttt.mix([attempt_first(0, 1, 2, 3, 4, 5), attempt_first(1, 0, 2, 3, 4, 5)], [3, 1])
    >>> both["|"].tolist()
    [0.75, 0.25, 0.0, 0.0, 0.0, 0.0]
    >>> both["|1*"].tolist()  # only the second strategy gets here
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    strategies = list(strategies)
    if not strategies:
        raise StrategyError("There is no strategy to mix.")
    shares = _shares(len(strategies), weights)
    wrapped, engine = in_one_layout(*strategies)
    player = wrapped[0].player
    for one in wrapped:
        if one.player != player:
            raise StrategyError(f"One strategy is player {player}'s, but another one is player {one.player}'s.")
    # The weighted mean of realization plans and, for infosets where all plans are 0, of probabilities.
    i = engine.index.players[player]
    plan, probabilities = np.zeros(i.sequences), np.zeros(i.sequences)
    for one, share in zip(wrapped, shares, strict=True):
        plan += share * engine.reach(player, one.probabilities).sequences
        probabilities += share * one.probabilities
    # A plan divided by its sum over the actions of an infoset is a strategy again.
    for v in np.flatnonzero(i.decides):
        part = slice(int(i.sequence_start[v]), int(i.sequence_start[v + 1]))
        by_action = plan[part].reshape(-1, int(i.node_start[v + 1] - i.node_start[v]))
        total = by_action.sum(axis=0)
        np.divide(by_action, total, out=probabilities[part].reshape(by_action.shape), where=total > 0)
    return Strategy(engine.index, player, probabilities)


def _shares(count: int, weights: Sequence[float] | None) -> list[float]:
    """The weights, scaled to sum to 1."""
    given = [1.0] * count if weights is None else [float(weight) for weight in weights]
    if len(given) != count:
        raise ConfigError(f"There are {count} strategies, but {len(given)} weights.")
    if not all(math.isfinite(weight) and weight >= 0 for weight in given) or not sum(given):
        raise ConfigError(f"The weights are {given}, but weights are 0 or more, and not all of them 0.")
    return [weight / sum(given) for weight in given]


def reach(strategy: core.Strategy) -> NDArray[np.float64]:
    """The reach of each infoset: the product of the player's own probabilities on the way there.

    Returns
    -------
    float64, shape (infosets,).  Multiplied by the strategy's :meth:`~Strategy.tensor`, it gives the realization plan.

    Raises
    ------
    StrategyError
        If it is not a strategy.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> uniform = pttt.Strategy.uniform(pttt.game("mini-2x3k2-abrupt"), 0)
    >>> dict(zip(uniform, pttt.reach(uniform).round(4).tolist()))["|0*1."]
    0.0333
    """
    (one,), engine = in_one_layout(strategy)
    plan = engine.reach(one.player, one.probabilities).sequences
    return np.concatenate([block.sum(axis=1) for block in Strategy(one.index, one.player, plan).blocks(np.float64)])


def gradient(strategy: core.Strategy, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """What each attempt of the other player is worth against a strategy: the gradient of the expected payoff.

    The entry of an infoset and a square is the other player's payoff, times the probabilities of the given strategy,
    summed over all games that end with that attempt or with the next one of the given strategy's player.  The value of
    later attempts is in their own rows.  So the expected payoff of any strategy of the other player is
    ``(reach(other)[:, None] * other.tensor() * gradient(strategy)).sum()``, and the gradient is its derivative by the
    realization plan.  The counterfactual value of an attempt is its entry plus the entries of all attempts that may
    follow, each times the other player's probabilities on the way there.

    Games that end before the other player's first attempt are counted at each square of that attempt.

    Parameters
    ----------
    dtype
        float16, float32 or float64.

    Returns
    -------
    An array of `dtype`, shape (infosets of the other player, squares), 0 at squares that cannot be attempted.

    Raises
    ------
    StrategyError
        If it is not a strategy, or the dtype is wrong.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> game = pttt.game("mini-2x3k2-abrupt")
    >>> mine, theirs = pttt.Strategy.uniform(game, 0), pttt.Strategy.uniform(game, 1)
    >>> plan = pttt.reach(theirs)[:, None] * theirs.tensor()
    >>> round(float((plan * pttt.gradient(mine)).sum()), 6), round(pttt.evaluate(mine, theirs).value, 6)
    (-0.550123, 0.550123)
    """
    (one,), engine = in_one_layout(strategy)
    found, other = gradient_against(one, engine), 1 - one.player
    found.sequences[engine.index.players[other].sequences_of(0)] += found.constant
    return Strategy(engine.index, other, found.sequences).tensor(dtype)


def marks(game: Game, player: int) -> NDArray[np.int8]:
    """What a player knows of the board at each infoset.

    Returns
    -------
    int8, shape (infosets, squares): 1 where the player has a mark, -1 where an attempt failed because the opponent has
    one, and 0 at squares that have not been attempted.

    Raises
    ------
    PtttError
        If game or player is invalid.

    Examples
    --------
    The strategy that attempts a square in the upper row, if one is left:

    >>> import pttt_ooc as pttt
    >>> game = pttt.game("mini-2x3k2-abrupt")
    >>> free = pttt.marks(game, 0) == 0
    >>> rows = free * [1.0, 1, 1, 0, 0, 0] + free * 1e-9
    >>> mine = pttt.Strategy.from_tensor(game, 0, rows / rows.sum(axis=1, keepdims=True))
    >>> mine["|0*1."].round(3).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    """
    index = index_of(game)
    i, own = index.players[checked_player(player)], game.setup_mask(player)
    squares = np.arange(game.squares)
    placed, failed = (masks[:, None] >> squares & 1 for masks in (i.placed | own, i.failed))
    of_view = (placed - failed).astype(np.int8)
    view_of_node = np.repeat(np.arange(len(i.placed), dtype=np.int32), np.diff(i.node_start))
    rows = DefaultRows(index, player)
    found = np.empty((len(rows), game.squares), np.int8)
    for start, nodes in rows.blocks():
        found[start : start + len(nodes)] = of_view[view_of_node[nodes]]
    return found
