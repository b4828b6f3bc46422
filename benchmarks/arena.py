"""The speed of the arena's kernels, beside a plain Python version in the same run: ``python -m benchmarks.arena``."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numba
import numpy as np

from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import Game
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.kernels.perft import counting
from pttt_ooc.other_games.arena.kernels.rng import generator
from pttt_ooc.other_games.arena.kernels.ultimate_values import evaluate
from tests.other_games.arena import naive_search
from tests.other_games.arena import naive_ultimate as naive


def taken(work: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call, and what it returns."""
    begin = process_time()
    found = work()
    return process_time() - begin, found


@numba.njit
def evaluated(states: Any, heuristic: int, rounds: int) -> int:
    """Evaluate all positions several times; the sum keeps the compiler from skipping the work."""
    total = 0
    for turn in range(rounds):
        for number in range(len(states)):
            total += (turn + 1) * evaluate(states[number], heuristic)
    return total


def middles(ultimate: Game) -> tuple[Any, list[naive.Position]]:
    """All positions of 50 random games before their ends, by the kernels' rules and by plain ones."""
    states, positions = [], []
    for seed in range(50):
        _, moves = naive.random_game(seed)
        state, position = ultimate.start(), naive.Position()
        for move in moves:
            states.append(state)
            positions.append(position.copy())
            state = ultimate.play(state, move)
            position.make(*divmod(move, 9))
    return np.array(states), positions


def main() -> None:
    """Measure, and print one object."""
    ultimate = game("ultimate")
    kernels, start = counting(ultimate.rules), ultimate.start()
    kernels.perft(start, 2)
    kernels.random_games(start, 1, generator(0))
    found = {}
    seconds, leaves = taken(lambda: kernels.perft(start, 8))
    plain_seconds, plain_leaves = taken(lambda: naive.leaves(naive.Position(), 3))
    found["leaves/s"] = [leaves / seconds, plain_leaves / plain_seconds]
    seconds, _ = taken(lambda: kernels.random_games(start, 200_000, generator(0)))
    plain_seconds, _ = taken(lambda: [naive.random_game(seed) for seed in range(100)])
    found["random games/s"] = [200_000 / seconds, 100 / plain_seconds]
    middle = [0, 3, 27, 4, 36, 5, 46, 13, 37, 12]
    for name in ("minimax", "alphabeta", "tuned"):
        player = agent(f"{name}:nodes=2000000")
        player.seat(ultimate)
        seconds, _ = taken(partial(player.choose, start))
        found[f"nodes/s of {name}"] = [player.effort.nodes / seconds]
    position = naive.Position()
    for move in middle:
        position.make(*divmod(move, 9))
    plain_seconds, _ = taken(lambda: naive_search.best_moves(position, 1, 3))
    found["nodes/s of minimax"].append((1 + 9 + 9 * 9) / plain_seconds)
    player = agent("alphabeta:depth=2")
    player.seat(ultimate)
    seconds, _ = taken(lambda: [player.choose(start) for _ in range(100)])
    found["milliseconds of a first move at depth 2"] = [seconds * 10]
    states, positions = middles(ultimate)
    for heuristic in (2, 3):
        evaluated(states, heuristic, 1)
        seconds, _ = taken(partial(evaluated, states, heuristic, 100))
        found[f"microseconds of heur{heuristic}"] = [seconds * 1e4 / len(states)]
    seconds, _ = taken(lambda: [naive_search.value(position, 2, "x") for position in positions])
    found["microseconds of heur2"].append(seconds * 1e6 / len(positions))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
