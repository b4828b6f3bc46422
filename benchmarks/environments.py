"""Steps per processor second of environments: random legal attempts, and new games where old ones have ended.

OpenSpiel's states, stepped from Python, alone and with the information state's tensor of the player to move; the
package's PettingZoo environment; its batched environment, whose steps always include the observation; and, where it
can be imported, jaxpot's environment of the same game, which is one of pgx.  A step includes the draw of an attempt.
``python -m benchmarks.environments --game pttt-abrupt``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from statistics import median
from typing import Any

from pttt_ooc.games.rules.catalogue import named_game

BATCHES = (1, 1024, 8192)
LENGTH = 64  # steps in one call of a batched environment


def _openspiel(name: str, tensor: bool) -> Callable[[], int]:
    from pttt_ooc.library.api.openspiel import load_game

    game, rng = load_game(named_game(name)), random.Random(1)

    def run() -> int:
        made = 0
        for _ in range(200):
            state = game.new_initial_state()
            while not state.is_terminal():
                if tensor:
                    state.information_state_tensor()
                state.apply_action(rng.choice(state.legal_actions()))
                made += 1
        return made

    return run


def _pettingzoo(name: str, observations: str) -> Callable[[], int]:
    from pttt_ooc.other_games.environments.catalogue import environment

    env, rng = environment(f"phantom:{name}", observations=observations), random.Random(1)

    def run() -> int:
        made = 0
        for _ in range(50):
            env.reset()
            while not any(env.terminations.values()):
                mask = env.observe(env.agent_selection)["action_mask"]
                env.step(rng.choice([square for square, legal in enumerate(mask) if legal]))
                made += 1
        return made

    return run


def _of_jax(env: Any, step: Callable[..., Any], size: int) -> Callable[[], int]:
    import jax

    def advance(states: Any, key: Any) -> tuple[Any, Any]:
        own, *keys = jax.random.split(key, 2)
        logits = jax.numpy.where(states.legal_action_mask, 0.0, -jax.numpy.inf)
        squares = jax.random.categorical(own, logits)
        states = jax.vmap(step)(states, squares, jax.random.split(keys[0], size))
        return states, states.observation.sum()  # so that all observations are made

    @jax.jit
    def play(states: Any, key: Any) -> tuple[Any, Any]:
        return jax.lax.scan(advance, states, jax.random.split(key, LENGTH))

    states = jax.vmap(env.init)(jax.random.split(jax.random.PRNGKey(0), size))
    calls = iter(range(1 << 30))

    def run() -> int:
        nonlocal states
        states, sums = play(states, jax.random.PRNGKey(next(calls)))
        jax.block_until_ready(sums)
        return size * LENGTH

    return run


def _runs(name: str) -> Iterator[tuple[str, Callable[[], int]]]:
    from pttt_ooc.other_games.environments.catalogue import batched_environment

    if find_spec("pyspiel"):
        yield "OpenSpiel, from Python", _openspiel(name, False)
        yield "OpenSpiel, from Python, with tensors", _openspiel(name, True)
    yield "PettingZoo, marks", _pettingzoo(name, "marks")
    yield "PettingZoo, information states", _pettingzoo(name, "information state")
    env = batched_environment(name)
    for size in BATCHES:
        yield f"batched, {size} games", _of_jax(env, env.step_and_reset, size)
    if find_spec("jaxpot") and name in ("pttt-abrupt", "pttt-classical"):
        from jaxpot.env.phantom_ttt import PhantomTTT
        from pgx.experimental import auto_reset

        theirs = PhantomTTT(abrupt=name == "pttt-abrupt")
        for size in BATCHES:
            yield f"jaxpot, {size} games", _of_jax(theirs, auto_reset(theirs.step, theirs.init), size)


def _speed(run: Callable[[], int], seconds: float, repeats: int) -> tuple[float, float]:
    """Steps per second of the processors and of the clock: the median of some goes."""
    run()
    found, elapsed = [], []
    for _ in range(repeats):
        made, begun, clock = 0, time.process_time(), time.perf_counter()
        while time.process_time() - begun < seconds:
            made += run()
        found.append(made / (time.process_time() - begun))
        elapsed.append(made / (time.perf_counter() - clock))
    return median(found), median(elapsed)


def main() -> None:
    """Print one line of JSON for each environment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="pttt-abrupt", help="as `pttt info` lists them")
    parser.add_argument("--seconds", type=float, default=2.0, help="of the processor, for each go")
    parser.add_argument("--repeats", type=int, default=3, help="goes, of which the median counts")
    options = parser.parse_args()
    for what, run in _runs(options.game):
        processor, clock = _speed(run, options.seconds, options.repeats)
        told = {"game": options.game, "environment": what, "steps/processor second": round(processor)}
        print(json.dumps(told | {"steps/s": round(clock), "load": round(os.getloadavg()[0], 1)}), flush=True)


if __name__ == "__main__":
    main()
