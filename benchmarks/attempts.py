"""Attempts a second of random games on one core: our state machine next to OpenSpiel's `phantom_ttt`, in one run.

python -m benchmarks.attempts
"""

from __future__ import annotations

import random
import time

import pyspiel

from pttt_ooc.learners.sampled.environment import random_state
from pttt_ooc.learners.sampled.kernels import play_at_random
from pttt_ooc.learners.sampled.rules import rules_of
from pttt_ooc.rules.catalogue import named_game
from pttt_ooc.structure.index import build_index

SECONDS = 5.0


def ours() -> float:
    """Attempts a second, on symmetric representatives, infosets numbered on the way."""
    rules, state = rules_of(build_index(named_game("pttt-abrupt"), "full")), random_state(0)
    play_at_random(rules, 1, state)  # compiled
    attempts, begun = 0, time.process_time()
    while time.process_time() - begun < SECONDS:
        attempts += int(play_at_random(rules, 10_000, state)[0])
    return attempts / (time.process_time() - begun)


def theirs() -> float:
    """Attempts a second through OpenSpiel's Python interface, with legal actions and without infosets."""
    game, rng = pyspiel.load_game("phantom_ttt(gameversion=abrupt)"), random.Random(0)
    attempts, begun = 0, time.process_time()
    while time.process_time() - begun < SECONDS:
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
            attempts += 1
    return attempts / (time.process_time() - begun)


if __name__ == "__main__":
    first, second = ours(), theirs()
    print(f"state machine {first:.3g}, OpenSpiel {second:.3g} attempts a second: {first / second:.0f} times")
