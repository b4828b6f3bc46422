"""The learner of a table of values: two players play each other, and each learns the values of its positions.

A table has a value for each position that its player has reached by their own move.  It is an open hash table: keys are
the Zobrist keys of positions, with zero for a free place.  Positions that are not in the table have the initial value:
1 for a win, 0 for a draw, else 0.5.

Source: Machine Learning Workshop, Tic-Tac-Toe Project, 2020, section 2.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import kernel, piece
from pttt_ooc.other_games.arena.kernels import state_words
from pttt_ooc.other_games.arena.kernels.rng import below, uniform
from pttt_ooc.other_games.arena.kernels.state_words import FIRST, KEY, PLAYER, RESULT, SECOND, UNFINISHED

EXPLORE, STEP, WIN, LOSS, DRAW, SHUFFLE, CHAIN = 0, 1, 2, 3, 4, 5, 6
"""Places in `rates`: the chance of a random move; how far a value moves towards its target; the rewards of a win, a
loss and a draw; and two choices, above zero for yes: of moves with the same value, any is chosen, else the first; each
value is the target of the one before it, else the reward is the target of all."""


@piece
def find(keys, key):
    """The slot of a key in a table, or the free slot where it belongs."""
    if key == 0:
        key = 1
    mask = len(keys) - 1
    slot = (key ^ (key >> 32)) & mask
    while keys[slot] != key and keys[slot] != 0:
        slot = (slot + 1) & mask
    return slot


@piece
def _initial(result):
    """The initial value of a position."""
    if result == UNFINISHED:
        return 0.5
    return 0.0 if result == state_words.DRAW else 1.0


@piece
def look_up(keys, values, key, result):
    """The value of a position, for the player whose move led to it."""
    slot = find(keys, key)
    if keys[slot] != 0:
        return np.float64(values[slot])
    return _initial(result)


@kernel
def enlarge(keys, values, new_keys, new_values):
    """Copy a table to another, which is empty and large enough."""
    for n in range(len(keys)):
        if keys[n] != 0:
            slot = find(new_keys, keys[n])
            new_keys[slot] = keys[n]
            new_values[slot] = values[n]


@piece
def feed(keys, values, path, starts, length, reward, step, chain):
    """Move the values along a player's path towards the reward, the last first; returns the number of new keys."""
    target = reward
    new = 0
    for n in range(length - 1, -1, -1):
        slot = find(keys, path[n])
        value = starts[n]
        if keys[slot] == 0:
            keys[slot] = path[n] if path[n] != 0 else 1
            new += 1
        else:
            value = np.float64(values[slot])
        value += step * (target - value)
        values[slot] = value
        if chain:
            target = value
    return new


class Learning(NamedTuple):
    """Kernels for one game.

    Attributes
    ----------
    best
        ``best(state, moves, keys, values, shuffle, rng) -> move``: the move with the greatest value; `moves` is
        scratch, int64, shape (WIDTH,).
    train
        ``train(start, games, rates, keys0, values0, keys1, values1, used, results, rng) -> games played``: games of
        two tables, each with its path fed back when a game ends.  `rates`: float64, shape (7,).  `used`: int64, shape
        (2,): keys in each table.  `results`: int64, shape (4,): counts by the word RESULT are added.  It returns
        early if a table is 70 % full.
    """

    best: Any
    train: Any


@cache
def learning(rules: ModuleType) -> Learning:
    """The kernels for a game's rules, which also have ``result_after``, ``key_after`` and ``explore``."""

    @kernel
    def best(state, moves, keys, values, shuffle, rng):
        chosen, most, same = -1, -1.0, 0
        for n in range(rules.legal(state, moves)):
            move = moves[n]
            value = look_up(keys, values, rules.key_after(state, move), rules.result_after(state, move))
            # With shuffle, the n-th of equal values is taken with the chance 1/n.
            if value > most:
                chosen, most, same = move, value, 1
            elif shuffle and value == most:
                same += 1
                if below(rng, same) == 0:
                    chosen = move
        return chosen

    @kernel
    def train(start, games, rates, keys0, values0, keys1, values1, used, results, rng):
        state = start.copy()
        moves = np.zeros(rules.WIDTH, dtype=np.int64)
        paths = np.zeros((2, rules.LENGTH), dtype=np.int64)
        starts = np.zeros((2, rules.LENGTH))
        lengths = np.zeros(2, dtype=np.int64)
        for game in range(games):
            # A game adds at most LENGTH keys to a table: without room for them the caller enlarges it first.
            if used[0] * 10 + rules.LENGTH * 10 > len(keys0) * 7 or used[1] * 10 + rules.LENGTH * 10 > len(keys1) * 7:
                return game
            state[:] = start
            lengths[:] = 0
            # A game: each player's path has the positions after its own moves.
            while state[RESULT] == UNFINISHED:
                player = state[PLAYER]
                if uniform(rng) < rates[EXPLORE]:
                    move = rules.explore(state, rng)
                elif player == 0:
                    move = best(state, moves, keys0, values0, rates[SHUFFLE] > 0, rng)
                else:
                    move = best(state, moves, keys1, values1, rates[SHUFFLE] > 0, rng)
                rules.play(state, move)
                paths[player, lengths[player]] = state[KEY]
                starts[player, lengths[player]] = _initial(state[RESULT])
                lengths[player] += 1
            # At the end, each path is fed with the player's reward.
            result, chain = state[RESULT], rates[CHAIN] > 0
            results[result] += 1
            first = rates[DRAW] if result == state_words.DRAW else rates[WIN] if result == FIRST else rates[LOSS]
            second = rates[DRAW] if result == state_words.DRAW else rates[WIN] if result == SECOND else rates[LOSS]
            used[0] += feed(keys0, values0, paths[0], starts[0], lengths[0], first, rates[STEP], chain)
            used[1] += feed(keys1, values1, paths[1], starts[1], lengths[1], second, rates[STEP], chain)
        return games

    return Learning(best, train)
