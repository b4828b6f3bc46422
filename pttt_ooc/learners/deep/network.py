"""The network of all deep learners, and its optimiser.

A network is a dictionary of arrays, ``weights/K`` and ``biases/K`` for layer K.  Its input is, for each square of the
board, the number and outcome of the player's attempt, and the player.  All layers but the last are followed by a
rectifier.  The optimiser is Adam (Kingma and Ba 2015) with gradients clipped by their common norm.

JAX uses one thread of the processor, so that sums do not depend on the number of processors.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

_ONE_THREAD = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "NPROC": "1"}
"""XLA reads these when it starts."""

Parameters = dict[str, Any]
"""A network, by name."""
LONGEST = 0.5  # the greatest norm of a gradient
FAR = -1e9  # the logit of illegal squares


@cache
def processor() -> Any:
    """The processor, JAX's device for all learners: results of computations with arrays there stay there.

    XLA splits sums among as many threads as there are processors: without a fixed number, a run would end with
    different strategies on a machine with more or fewer.  So JAX begins here with one thread, unless the environment
    sets another number or the process already uses JAX.
    """
    before = dict(os.environ)
    try:
        os.environ.update({name: value for name, value in _ONE_THREAD.items() if name not in before})
        device = jax.devices("cpu")[0]
        jax.device_put(0, device).block_until_ready()
    finally:
        for name in _ONE_THREAD.keys() - before.keys():
            del os.environ[name]
    return device


def on_processor(array: Any) -> Any:
    """An array of JAX with these numbers, in single precision, on :func:`processor`."""
    return jax.device_put(np.array(array, np.float32), processor())


def make_network(squares: int, hidden: Sequence[int], outputs: int, seed: Sequence[int]) -> Parameters:
    """A new network: weights are normal with the variance 2 / inputs, those of the last layer a hundredth of that size.

    Parameters
    ----------
    squares
        Of the board.
    hidden
        Sizes of the hidden layers.
    outputs
        The number of outputs.
    seed
        Of the weights.
    """
    rng, found = np.random.default_rng(seed), {}
    sizes = [squares * (2 * squares + 1) + 2, *hidden, outputs]
    for k, (before, after) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        scale = np.sqrt(2 / before) * (0.01 if k == len(hidden) else 1)
        found[f"weights/{k}"] = on_processor(rng.normal(scale=scale, size=(before, after)))
        found[f"biases/{k}"] = on_processor(np.zeros(after))
    return found


def outputs_of(network: Parameters, codes: Any, players: Any) -> Any:
    """The outputs: float32, shape (infosets, outputs).

    Parameters
    ----------
    codes
        int8, shape (infosets, squares); see :class:`pttt_ooc.learners.deep.observation.Sight`.
    players
        Shape (infosets,).
    """
    squares = codes.shape[1]
    inputs = jax.nn.one_hot(codes, 2 * squares + 1, dtype=jnp.float32).reshape(len(codes), -1)
    numbers = jnp.concatenate([inputs, jax.nn.one_hot(players, 2, dtype=jnp.float32)], axis=1)
    last = len(network) // 2 - 1
    for k in range(last + 1):
        numbers = numbers @ network[f"weights/{k}"] + network[f"biases/{k}"]
        if k < last:
            numbers = jax.nn.relu(numbers)
    return numbers


def log_policy(logits: Any, codes: Any) -> Any:
    """Logarithms of probabilities from logits, shape (infosets, squares); about -1e9 for illegal squares."""
    return jax.nn.log_softmax(jnp.where(codes == 0, logits, FAR))


def divergence(logs: Any, others: Any, codes: Any) -> Any:
    """KL(policy, other policy) at each infoset, shape (infosets,), from what :func:`log_policy` gives."""
    return jnp.sum(jnp.where(codes == 0, jnp.exp(logs) * (logs - others), 0), axis=1)


@jax.jit
def evaluate(network: Parameters, codes: Any, players: Any) -> Any:
    """:func:`outputs_of`, compiled."""
    return outputs_of(network, codes, players)


def outputs(network: Parameters, codes: NDArray[Any], players: NDArray[Any]) -> NDArray[np.float32]:
    """The same for any length; arrays are padded to a power of two, because each length is compiled once."""
    size = len(codes)
    more = max(64, 1 << max(size - 1, 1).bit_length()) - size
    padded = np.pad(codes, ((0, more), (0, 0))), np.pad(players.astype(np.int8), (0, more))
    return np.asarray(evaluate(network, *padded))[:size]


def policy_of(logits: NDArray[Any], codes: NDArray[Any]) -> NDArray[np.float64]:
    """Probabilities from logits; exactly zero for illegal squares."""
    legal = codes == 0
    most = np.where(legal, logits, -np.inf).max(axis=1, keepdims=True)
    weights: NDArray[np.float64] = np.where(legal, np.exp(np.minimum(logits.astype(np.float64) - most, 0)), 0)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def moving_average(slow: Parameters, network: Parameters, rate: float) -> Parameters:
    """A slow copy of a network after a step towards it: an exponential moving average of its parameters."""
    follow = np.float32(rate)
    return {name: part + follow * (network[name] - part) for name, part in slow.items()}


def make_moments(network: Parameters) -> Parameters:
    """The optimiser's memory of a new network: both moments of each array, and the number of steps."""
    zeros = {name: on_processor(np.zeros(array.shape)) for name, array in network.items()}
    first, second = ({f"{kind}/{name}": zero for name, zero in zeros.items()} for kind in ("first", "second"))
    return {**first, **second, "steps": on_processor(np.zeros(1))}


def descend(network: Parameters, moments: Parameters, slope: Parameters, rate: Any) -> tuple[Parameters, Parameters]:
    """A step of Adam against a gradient; returns the new network and moments."""
    length = jnp.sqrt(sum(jnp.sum(jnp.square(part)) for part in slope.values()))
    shrink = jnp.minimum(1.0, LONGEST / (length + 1e-12))
    steps = moments["steps"] + 1
    changed, state = {}, {"steps": steps}
    for name, part in slope.items():
        part = part * shrink
        first = 0.9 * moments[f"first/{name}"] + 0.1 * part
        second = 0.999 * moments[f"second/{name}"] + 0.001 * jnp.square(part)
        size = rate / (1 - 0.9**steps)
        changed[name] = network[name] - size * first / (jnp.sqrt(second / (1 - 0.999**steps)) + 1e-5)
        state |= {f"first/{name}": first, f"second/{name}": second}
    return changed, state


def trainer(loss: Any) -> Any:
    """A compiled step of a loss: ``step(network, moments, rate, *arguments)`` returns network and moments.

    Parameters
    ----------
    loss
        Called as ``loss(network, *arguments)``; returns a number.
    """

    @jax.jit
    def step(network: Parameters, moments: Parameters, rate: Any, *arguments: Any) -> Any:
        return descend(network, moments, jax.grad(loss)(network, *arguments), rate)

    return step
