"""Counting and random play, for the rules of any game: perft, single moves, and games of random moves.

:func:`counting` makes the kernels for one game's rules.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import bare_kernel, kernel
from pttt_ooc.other_games.arena.kernels.rng import below
from pttt_ooc.other_games.arena.kernels.state_words import PLY, RESULT, UNFINISHED


class Counting(NamedTuple):
    """Kernels of one game.

    Attributes
    ----------
    perft
        ``perft(state, depth) -> int``: the number of sequences of `depth` moves from a position.
    random_games
        ``random_games(state, games, rng) -> array``: play games in which every move is drawn uniformly; returns counts
        by the word RESULT, and then the sum of the moves made; int64, shape (5,).
    step
        ``step(state, move) -> bool``: make a move, if it is legal.
    random_move
        ``random_move(state, rng) -> int``: a legal move, each with the same chance.
    """

    perft: Any
    random_games: Any
    step: Any
    random_move: Any


@cache
def counting(rules: ModuleType) -> Counting:
    """The kernels for a game's rules."""

    @kernel
    def perft(state, depth):
        # An explicit stack: for each level a state, its moves, and how many of them are left.
        if depth == 0:
            return 1
        states = np.empty((depth, rules.WORDS), dtype=np.int64)
        moves = np.empty((depth, rules.WIDTH), dtype=np.int64)
        left = np.zeros(depth, dtype=np.int64)
        states[0] = state
        level, total = 0, 0
        if depth == 1:
            return rules.count(states[0])
        left[0] = rules.legal(states[0], moves[0])
        # The next move of the deepest level; a level without moves is done.
        while level >= 0:
            if left[level] == 0:
                level -= 1
                continue
            left[level] -= 1
            below_it = states[level + 1]
            for word in range(rules.WORDS):
                below_it[word] = states[level, word]
            rules.play(below_it, moves[level, left[level]])
            # One move before the end, the moves are only counted, not made.
            if level + 2 == depth:
                total += rules.count(below_it)
            else:
                level += 1
                left[level] = rules.legal(below_it, moves[level])
        return total

    @kernel
    def random_games(state, games, rng):
        found = np.zeros(5, dtype=np.int64)
        now = np.empty(rules.WORDS, dtype=np.int64)
        for _ in range(games):
            for word in range(rules.WORDS):
                now[word] = state[word]
            while now[RESULT] == UNFINISHED:
                rules.play(now, rules.pick(now, below(rng, rules.count(now))))
            found[now[RESULT]] += 1
            found[4] += now[PLY] - state[PLY]
        return found

    @bare_kernel
    def step(state, move):
        for index in range(rules.count(state)):
            if rules.pick(state, index) == move:
                rules.play(state, move)
                return True
        return False

    @bare_kernel
    def random_move(state, rng):
        return rules.pick(state, below(rng, rules.count(state)))

    return Counting(perft, random_games, step, random_move)
