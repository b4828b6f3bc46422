"""The losses of networks: on values of attempted squares, on policies, or on numbers for all squares."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from pttt_ooc.learners.deep import network as nets
from pttt_ooc.learners.deep.game_batches import Floats, Plays
from pttt_ooc.learners.deep.observation import Sight


def _value_loss(network: nets.Parameters, codes: Any, players: Any, squares: Any, targets: Any) -> Any:
    """Half of the mean squared error of the outputs for the attempted squares."""
    values = nets.outputs_of(network, codes, players)[jnp.arange(len(squares)), squares]
    return jnp.mean(jnp.square(values - targets)) / 2


def _policy_loss(network: nets.Parameters, codes: Any, players: Any, policies: Any) -> Any:
    """Mean cross entropy of the network's policy, against policies or attempted squares (0 and 1)."""
    logs = nets.log_policy(nets.outputs_of(network, codes, players), codes)
    return -jnp.mean(jnp.sum(jnp.where(policies > 0, policies * logs, 0), axis=1))


def _numbers_loss(network: nets.Parameters, codes: Any, players: Any, numbers: Any, weights: Any) -> Any:
    """Half of the weighted mean squared error of the outputs for all legal squares."""
    wrong = jnp.where(codes == 0, nets.outputs_of(network, codes, players) - numbers, 0)
    return jnp.mean(weights * jnp.sum(jnp.square(wrong), axis=1)) / 2


fit_values, fit_policy, fit_numbers = (nets.trainer(loss) for loss in (_value_loss, _policy_loss, _numbers_loss))
"""Steps of the optimiser for these losses; see :func:`pttt_ooc.learners.deep.network.trainer`."""


def steps_of(plays: Plays) -> dict[str, NDArray[Any]]:
    """Decisions as columns of a memory: infoset, square, next own infoset (-1: the game ends), payoff there."""
    goes_on = plays.after >= 0
    after = np.where(goes_on, plays.infosets[plays.after], -1)
    payoffs = np.where(goes_on, 0, plays.payoffs)
    return {"infosets": plays.infosets, "squares": plays.squares, "after": after, "payoffs": payoffs}


def greedy(sight: Sight, network: nets.Parameters, infosets: NDArray[np.int64], explored: float = 0.0) -> Floats:
    """Probabilities of the legal square with the highest output, mixed with uniform ones."""
    legal = sight.codes[infosets] == 0
    best = np.where(legal, sight.look(network, infosets)[:, : sight.squares], -np.inf).argmax(axis=1)
    probabilities: Floats = legal * (explored / legal.sum(axis=1, keepdims=True))
    probabilities[np.arange(len(best)), best] += 1 - explored
    return probabilities


def learn_values(
    sight: Sight, network: nets.Parameters, moments: nets.Parameters, slow: nets.Parameters, rows: Any, rate: float
) -> tuple[nets.Parameters, nets.Parameters]:
    """A step of Q-learning (Mnih et al. 2015): a decision's value is the payoff, or the best value after it.

    Parameters
    ----------
    network, moments
        The network of values, and its optimiser's memory.
    slow
        An older copy of the network, which values the next decision.
    rows
        Rows with the columns of :func:`steps_of`.
    """
    goes_on, after = rows["after"] >= 0, np.maximum(rows["after"], 0)
    legal = sight.codes[after] == 0
    best = np.where(legal, sight.look(slow, after), -np.inf).max(axis=1)
    targets = np.where(goes_on, best, rows["payoffs"]).astype(np.float32)
    inputs = sight.inputs(rows["infosets"])
    result: tuple[nets.Parameters, nets.Parameters] = fit_values(
        network, moments, np.float32(rate), *inputs, rows["squares"], targets
    )
    return result
