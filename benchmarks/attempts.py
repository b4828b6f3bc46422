"""Attempts a second of random games on one core: our state machine next to OpenSpiel's `phantom_ttt`, in one run.

Both take turns, and medians are printed, so that other work on the machine affects both alike.

python -m benchmarks.attempts
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

import numpy as np
import pyspiel

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.index import build_index
from pttt_ooc.learners.sampled.kernels import play_at_random
from pttt_ooc.learners.sampled.state_machine import random_state, rules_of

ROUNDS, SECONDS = 9, 0.5


def ours() -> Callable[[], int]:
    """Play some games on symmetric representatives, and number all infosets on the way."""
    rules, state = rules_of(build_index(named_game("pttt-abrupt"), "full")), random_state(0)

    def play() -> int:
        found = np.zeros(4, np.int64)
        play_at_random(rules, 10_000, state, found)
        return int(found[0])

    return play


def theirs() -> Callable[[], int]:
    """Play some games through OpenSpiel's Python interface, with legal actions and without infosets."""
    game, rng = pyspiel.load_game("phantom_ttt(gameversion=abrupt)"), random.Random(0)

    def play() -> int:
        attempts = 0
        for _ in range(100):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
                attempts += 1
        return attempts

    return play


def rate(play: Callable[[], int]) -> float:
    """Attempts in a second of the processor."""
    attempts, begun = 0, time.process_time()
    while time.process_time() - begun < SECONDS:
        attempts += play()
    return attempts / (time.process_time() - begun)


if __name__ == "__main__":
    machine, referee = ours(), theirs()
    machine()  # compiled
    rates = [(rate(machine), rate(referee)) for _ in range(ROUNDS)]
    first, second = (statistics.median(r) for r in zip(*rates, strict=True))
    times = sorted(round(a / b) for a, b in rates)
    print(f"state machine {first:.3g}, OpenSpiel {second:.3g} attempts a second: {first / second:.0f} times", end="")
    print(f" ({times[0]} to {times[-1]} in {ROUNDS} rounds)")
