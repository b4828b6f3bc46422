"""What scores cost, by size of network and number of members: processor seconds and memory.

The networks are nashbench's: JAX, with random weights, two layers of 256 or three of 512, and 1, 4, 16 or 64 members.
Each measurement has a process of its own, which first compiles.  ``python -m benchmarks.networks --game GAME``.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

SIZES = {"2x256": (256, 256), "3x512": (512, 512, 512)}
MEMBERS = (1, 4, 16)


def network(width: int, squares: int, hidden: tuple[int, ...], seed: int) -> Any:
    """A policy in nashbench's form, with random weights."""
    import jax
    import numpy as np

    rng, layers = np.random.default_rng(seed), (2 + width, *hidden, squares)
    weights = [
        (rng.normal(size=(a, b)).astype(np.float32) * (2 / a) ** 0.5) for a, b in zip(layers, layers[1:], strict=False)
    ]

    def policy(observation: Any, legal_action_mask: Any) -> Any:
        x = observation
        for number, matrix in enumerate(weights, start=1):
            x = x @ matrix
            if number < len(weights):
                x = jax.nn.relu(x)
        return jax.nn.softmax(jax.numpy.where(legal_action_mask, x, -jax.numpy.inf))

    return policy


def _measure(game: str, size: str, members: int, data: str) -> dict[str, Any]:
    import pttt_ooc as pttt
    from pttt_ooc.library.eas.boards import board_of
    from pttt_ooc.library.scoring.scores import score

    pttt.configure(data=data)
    rules = pttt.game(game)
    agents = [(1, network(board_of(rules).infostate_size, rules.squares, SIZES[size], k)) for k in range(members)]
    small = pttt.game("mini-2x3k2-abrupt")
    score(small, network(board_of(small).infostate_size, small.squares, (4,), 0))
    score(rules, lambda infostates, legal: legal / legal.sum(axis=1, keepdims=True))  # reads the structure
    before, begun = time.process_time(), time.perf_counter()
    found = score(rules, agents if members > 1 else agents[0][1])
    return {
        **{
            "game": game,
            "network": size,
            "members": members,
            "mean_exploitability": round(found.mean_exploitability, 6),
        },
        **{"seconds": round(time.process_time() - before, 1), "elapsed": round(time.perf_counter() - begun, 1)},
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main() -> None:
    """Print a line of JSON for each network and number of members."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks", description=__doc__)
    parser.add_argument("--game", default="dark-hex-2x4-classical")
    parser.add_argument("--members", type=int, nargs="*", default=MEMBERS)
    parser.add_argument("--networks", nargs="*", default=[*SIZES], choices=[*SIZES])
    parser.add_argument("--data", default="data")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measure(options.game, options.networks[0], options.members[0], options.data)))
        return
    for size in options.networks:
        for members in options.members:
            words = ["--game", options.game, "--members", str(members), "--networks", size, "--data", options.data]
            command = [sys.executable, "-m", "benchmarks.networks", "--measure", *words]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            print(done.stdout.splitlines()[-1], flush=True)


if __name__ == "__main__":
    main()
