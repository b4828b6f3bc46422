"""What it costs to ask a network at all infosets, beside its bare forward passes: seconds of the clock and processors.

Bare: the same number of rows, in blocks of the same size, from one block of inputs that is ready on the device.
Asked: the whole way from the index to a checked strategy in double precision, both players.  Networks are random, in
JAX (in nashbench's form) and in torch, where they are installed.
``python -m benchmarks.asking --game dark-hex-3x3-classical``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

import pttt_ooc as pttt
from benchmarks.networks import SIZES, network
from pttt_ooc.games.structure.counts import total_infosets
from pttt_ooc.library.eas.boards import board_of
from pttt_ooc.library.scoring.agents import observer
from pttt_ooc.library.scoring.scores import agent_strategy
from pttt_ooc.pipeline.files.infosets import BLOCK_ROWS

SMALL = "mini-2x3k2-abrupt"  # compiles what is compiled


def _of_jax(width: int, squares: int, hidden: tuple[int, ...]) -> tuple[Any, Callable[[int], None], str]:
    import jax

    policy = network(width, squares, hidden, 0)
    forward = jax.jit(jax.vmap(policy))
    rng = np.random.default_rng(0)
    seen = jax.device_put((rng.random((BLOCK_ROWS, 2 + width)) < 0.2).astype(np.float32))
    legal = jax.device_put(np.ones((BLOCK_ROWS, squares), np.bool_))

    def bare(rows: int) -> None:
        for start in range(0, rows, BLOCK_ROWS):
            size = min(BLOCK_ROWS, rows - start)
            jax.block_until_ready(forward(seen[:size], legal[:size]))

    return policy, bare, "probabilities"


def _of_torch(width: int, squares: int, hidden: tuple[int, ...]) -> tuple[Any, Callable[[int], None], str]:
    import torch

    sizes, layers = (width, *hidden, squares), []
    for a, b in zip(sizes, sizes[1:], strict=False):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    module = torch.nn.Sequential(*layers[:-1])
    seen = (torch.rand(BLOCK_ROWS, width) < 0.2).float()

    def bare(rows: int) -> None:
        with torch.no_grad():
            for start in range(0, rows, BLOCK_ROWS):
                module(seen[: rows - start])

    return module, bare, "logits"


def _kinds(names: Iterable[str]) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in names:
        if find_spec(name.lower()):
            yield name, {"JAX": _of_jax, "torch": _of_torch}[name]


def _time(call: Callable[[], Any]) -> tuple[float, float]:
    clock, processors = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - clock, time.process_time() - processors


def _ask(game: Any, agent: Any, outputs: Any) -> None:
    for player in (0, 1):
        agent_strategy(game, player, agent, outputs)


def _measure(name: str, hidden: tuple[int, ...], make: Callable[..., Any], goes: int) -> dict[str, float]:
    """The go in which the agent was asked fastest."""
    game, small = pttt.game(name), pttt.game(SMALL)
    agent, _, outputs = make(board_of(small).infostate_size, small.squares, hidden)
    _ask(small, agent, outputs)
    agent, bare, outputs = make(board_of(game).infostate_size, game.squares, hidden)
    bare(2 * BLOCK_ROWS)
    agent, found = observer(agent), []  # compiled once for both players, as a score does
    for _ in range(goes):
        alone, alone_cpu = _time(lambda: [bare(rows) for rows in total_infosets(name)])
        asked, asked_cpu = _time(lambda: _ask(game, agent, outputs))
        found.append((asked, asked_cpu, alone, alone_cpu))
    asked, asked_cpu, alone, alone_cpu = min(found)
    return {
        **{"bare s": round(alone, 1), "asked s": round(asked, 1), "ratio": round(asked / alone, 3)},
        **{"bare cpu s": round(alone_cpu, 1), "asked cpu s": round(asked_cpu, 1)},
    }


def main() -> None:
    """Print one line of JSON for each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="dark-hex-3x3-classical", help="as `pttt info` lists them")
    parser.add_argument("--networks", nargs="+", default=["2x64", "2x256"], help="layers and width, as 3x512")
    parser.add_argument("--libraries", nargs="+", default=["JAX", "torch"], choices=["JAX", "torch"])
    parser.add_argument("--goes", type=int, default=2)
    options = parser.parse_args()
    # What is compiled and read once is not of the network.
    _ask(pttt.game(options.game), lambda infostates, legal: legal / legal.sum(axis=1, keepdims=True), "probabilities")
    for name in options.networks:
        layers, _, width = name.partition("x")
        for library, make in _kinds(options.libraries):
            found = _measure(options.game, SIZES.get(name, (int(width),) * int(layers)), make, options.goes)
            told = {"game": options.game, "network": name, "library": library}
            print(json.dumps(told | found | {"load": round(os.getloadavg()[0], 1)}), flush=True)


if __name__ == "__main__":
    main()
