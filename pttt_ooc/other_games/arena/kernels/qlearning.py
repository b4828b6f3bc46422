"""Q-learning as in the report of Lifshitz and Tsurel: by pairs of state and action, and by features.

A player learns after each of their decisions, when the position of their next one is known: with s and s' for the two,
the value of (s, a) moves by the rate towards ``score(s') - score(s) + discount * max Q(s', .)``.  The score of a
position is 500, 0 or -500 at the end; before the end it is the small boards won minus those lost.  Both players learn
from games against themselves, or one learns from games against random moves.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import bare_kernel, kernel
from pttt_ooc.other_games.arena.kernels.rng import below, uniform
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, KEY, PLAYER, RESULT, UNFINISHED
from pttt_ooc.other_games.arena.kernels.transposition_table import key_with_depth

WON = 500.0


class LearntValues(NamedTuple):
    """Learnt values or weights.

    Attributes
    ----------
    keys, values
        int64 and float64, shape (slots,), a power of two: the values of pairs of state and action.  Empty, if features
        are learnt.
    weights
        float64, shape (FEATURES,): of the features of the position after the action.  Empty, if pairs are learnt.
    """

    keys: Any
    values: Any
    weights: Any


class QLearning(NamedTuple):
    """Kernels of one game.

    Attributes
    ----------
    train
        ``train(state, games, explore, rate, discount, alone, learnt, rng)``: play games, in the first half of which a
        move is random with the probability `explore`.  With `alone`, player g % 2 learns in game g, and the other
        draws its moves.
    choose
        ``choose(state, learnt, rng) -> move``: the move with the highest value, drawn if there are several.
    """

    train: Any
    choose: Any


@cache
def qlearning(rules: ModuleType, values: ModuleType) -> QLearning:
    """The kernels for a game's rules and features."""

    @bare_kernel
    def score(state, player):
        if state[RESULT] == DRAW:
            return 0.0
        if state[RESULT] != UNFINISHED:
            return WON if state[RESULT] == FIRST + player else -WON
        boards = float(values.standing(state))
        return boards if player == 0 else -boards

    @bare_kernel
    def slot(learnt, key):
        """The slot of a key, or the free slot for it; -1 if there is none nearby."""
        mask = len(learnt.keys) - 1
        for step in range(64):
            place = (key + step) & mask
            if learnt.keys[place] == key or learnt.keys[place] == 0:
                return place
        return -1

    @bare_kernel
    def pair_value(learnt, state, move):
        place = slot(learnt, key_with_depth(state[KEY], move))
        return learnt.values[place] if place >= 0 else 0.0

    @bare_kernel
    def after_features(state, move, player, scratch, features):
        """The features of the position after a move, to a player."""
        for word in range(rules.WORDS):
            scratch[word] = state[word]
        rules.play(scratch, move)
        values.features(scratch, features)
        if player == 1:
            for index in range(values.FEATURES):
                features[index] = -features[index]

    @bare_kernel
    def action_value(learnt, state, move, player, scratch, features):
        if len(learnt.weights) == 0:
            return pair_value(learnt, state, move)
        after_features(state, move, player, scratch, features)
        total = 0.0
        for index in range(values.FEATURES):
            total += learnt.weights[index] * features[index]
        return total

    @bare_kernel
    def best(learnt, state, player, rng, moves, scratch, features):
        """The best action, drawn among equally good ones, and its value."""
        # The n-th of equal values is taken with the chance 1/n, so that each is as likely as the others.
        chosen, top, ties = moves[0], 0.0, 0
        for index in range(rules.legal(state, moves)):
            value = action_value(learnt, state, moves[index], player, scratch, features)
            if ties == 0 or value > top:
                chosen, top, ties = moves[index], value, 1
            elif value == top:
                ties += 1
                if below(rng, ties) == 0:
                    chosen = moves[index]
        return chosen, top

    @bare_kernel
    def learn(learnt, before, move, player, target, rate, scratch, features):
        """Move the value of an action towards a target."""
        # Features: the gradient step of a linear function, whose features `action_value` has just written.  Pairs: the
        # value of the one pair moves; without a free slot nearby nothing is learnt.
        error = target - action_value(learnt, before, move, player, scratch, features)
        if len(learnt.weights) > 0:
            for index in range(values.FEATURES):
                learnt.weights[index] += rate * error * features[index]
            return
        key = key_with_depth(before[KEY], move)
        place = slot(learnt, key)
        if place >= 0:
            learnt.keys[place] = key
            learnt.values[place] += rate * error

    @kernel
    def train(start, games, explore, rate, discount, alone, learnt, rng):
        state, scratch = np.empty(rules.WORDS, dtype=np.int64), np.empty(rules.WORDS, dtype=np.int64)
        moves, features = np.empty(rules.WIDTH, dtype=np.int64), np.empty(values.FEATURES)
        before = np.empty((2, rules.WORDS), dtype=np.int64)  # each player's last decision
        made = np.empty(2, dtype=np.int64)
        # Only the first half of the games has random moves.
        for game in range(games):
            state[:] = start
            made[:] = -1
            chance = explore if 2 * game < games else 0.0
            while state[RESULT] == UNFINISHED:
                player = state[PLAYER]
                # A learner that learns alone meets random moves.
                if alone and player != game % 2:
                    rules.play(state, rules.pick(state, below(rng, rules.count(state))))
                    continue
                # The player's next decision is known now: their last one learns from the gain in score, and from the
                # best value that can be reached from here.
                move, value = best(learnt, state, player, rng, moves, scratch, features)
                if made[player] >= 0:
                    gain = score(state, player) - score(before[player], player)
                    learn(
                        learnt, before[player], made[player], player, gain + discount * value, rate, scratch, features
                    )
                # Explore, and remember the decision until the player's next one.
                if uniform(rng) < chance:
                    move = rules.pick(state, below(rng, rules.count(state)))
                before[player] = state
                made[player] = move
                rules.play(state, move)
            # At the end both last decisions learn from the result; no value follows.
            for player in range(2):
                if made[player] >= 0:
                    gain = score(state, player) - score(before[player], player)
                    learn(learnt, before[player], made[player], player, gain, rate, scratch, features)

    @kernel
    def choose(state, learnt, rng):
        moves, features = np.empty(rules.WIDTH, dtype=np.int64), np.empty(values.FEATURES)
        scratch = np.empty(rules.WORDS, dtype=np.int64)
        return best(learnt, state, state[PLAYER], rng, moves, scratch, features)[0]

    return QLearning(train, choose)
