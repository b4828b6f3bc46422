"""A linear evaluation of k-in-a-row by patterns on lines, learnt by TD(lambda) from games against itself.

A window is a stretch of `LENGTH` squares on a row, column or diagonal.  Each pattern of marks in a window has a weight,
the same wherever it is and in both directions.  The value of a position, for the player whose move led to it, is the
logistic function of the sum of the weights of all windows that have a mark.

Source of the method: R. S. Sutton, Learning to predict by the methods of temporal differences, 1988; weights shared by
all places, as in the n-tuple networks of S. Lucas, 2008.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import kernel, piece
from pttt_ooc.other_games.arena.kernels.rng import below, uniform
from pttt_ooc.other_games.arena.kernels.rows import DIRECTIONS
from pttt_ooc.other_games.arena.kernels.state_words import FIRST, PLAYER, PLY, RESULT, SECOND, UNFINISHED

LENGTH = 6
PATTERNS = 4**LENGTH
"""Patterns are numbers with a digit for each square: 0 free, 1 own, 2 the opponent's, 3 outside of the board."""

CONSTANT = 0
"""The pattern of an empty window; its weight is a constant in the sum."""

NEAR = 2
"""Moves further than this from all marks are not considered, unless there are no others."""


def _least(pattern: int) -> int:
    digits = [pattern // 4**n % 4 for n in range(LENGTH)]
    mirror: int = sum(digit * 4 ** (LENGTH - 1 - n) for n, digit in enumerate(digits))
    return min(pattern, mirror)


SAME = np.array([_least(pattern) for pattern in range(PATTERNS)], dtype=np.int64)
"""For each pattern, the one that it shares its weight with: itself or its mirror image."""


@piece
def logistic(total):
    """The value of a sum of weights."""
    return 1.0 / (1.0 + np.exp(-total))


class PatternKernels(NamedTuple):
    """Kernels of one game.

    Attributes
    ----------
    best
        ``best(state, weights, moves, rng) -> move``: the move to the position of the greatest value; a move that wins
        at once, if there is one.  `moves` is scratch, int64, shape (WIDTH,).
    train
        ``train(start, games, rates, weights, results, rng)``: games of the evaluation against itself.  `rates`:
        float64, shape (3,): the chance of a random move, the step size, lambda.  `weights`: float64, shape (PATTERNS,),
        changed.  `results`: int64, shape (4,): counts by the word RESULT are added.
    windows
        ``windows(state, move, player, before, after)``: write the patterns of the windows through a free square, as a
        player sees them, before and after an own mark or an opponent's (the player to move makes it); int64, shape
        (4 * LENGTH,) each.
    """

    best: Any
    train: Any
    windows: Any


@cache
def patterns(rules: ModuleType) -> PatternKernels:
    """The kernels for the rules of k-in-a-row, which also have ``cell``, ``place`` and ``result_after``."""

    @kernel
    def windows(state, move, player, before, after):
        # Along each direction, `code` holds the latest LENGTH squares as digits.  From n = 0 on they include the move's
        # square, which is free: there a mark adds its digit n places from the last one.
        row, column = rules.place(state, move)
        own = player + 1
        mark = 1 if state[PLAYER] == player else 2
        for direction in range(4):
            down, right = DIRECTIONS[direction, 0], DIRECTIONS[direction, 1]
            code = 0
            for n in range(1 - LENGTH, LENGTH):
                content = rules.cell(state, row + n * down, column + n * right)
                digit = content if content == 0 or content == 3 else 1 if content == own else 2
                code = (code * 4 + digit) % PATTERNS
                if n >= 0:
                    place = direction * LENGTH + n
                    before[place] = SAME[code]
                    after[place] = SAME[code + mark * 4**n]

    @kernel
    def gain(state, move, player, weights, before, after):
        # Only the windows through the square change: their old weights go and their new ones come.
        windows(state, move, player, before, after)
        total = 0.0
        for n in range(4 * LENGTH):
            total += weights[after[n]]
            if before[n] != CONSTANT:
                total -= weights[before[n]]
        return total

    @kernel
    def is_near(state, move):
        row, column = rules.place(state, move)
        for r in range(row - NEAR, row + NEAR + 1):
            for c in range(column - NEAR, column + NEAR + 1):
                content = rules.cell(state, r, c)
                if content == 1 or content == 2:
                    return True
        return False

    @kernel
    def best(state, weights, moves, rng):
        before, after = np.empty(4 * LENGTH, np.int64), np.empty(4 * LENGTH, np.int64)
        chosen, most, same = -1, -np.inf, 0
        count = rules.legal(state, moves)
        for n in range(count):
            move = moves[n]
            # A win at once ends the search; moves far from all marks are left out.
            if rules.result_after(state, move) == FIRST + state[PLAYER]:
                return move
            if state[PLY] > 0 and not is_near(state, move):
                continue
            # All moves start from the same sum, so that gains can be compared; ties are drawn.
            value = gain(state, move, state[PLAYER], weights, before, after)
            if value > most:
                chosen, most, same = move, value, 1
            elif value == most:
                same += 1
                if below(rng, same) == 0:
                    chosen = move
        return chosen if chosen >= 0 else rules.pick(state, below(rng, count))

    @kernel
    def learn(start, made, sums, score, rates, weights):
        """Move the weights towards the lambda-returns of a game; `score` is what it was worth to player 0."""
        # Backward: the lambda-returns.  A player's next position is two moves later, so that each player learns from
        # values of its own, and at last from the result.
        before, after = np.empty(4 * LENGTH, np.int64), np.empty(4 * LENGTH, np.int64)
        targets = np.empty(len(made))
        for n in range(len(made) - 1, -1, -1):
            worth = score if n % 2 == 0 else 1.0 - score
            if n + 2 >= len(made):
                targets[n] = worth
            elif n + 2 == len(made) - 1:
                targets[n] = targets[n + 2]  # the end of the game has no value of its own
            else:
                targets[n] = (1 - rates[2]) * logistic(sums[n + 2]) + rates[2] * targets[n + 2]
        # Forward: the game is played again, and `counts` follows how often each pattern is on the board, as each player
        # sees it.  `seen` lists patterns that have occurred.
        counts = np.zeros((2, PATTERNS), np.int64)
        seen = np.empty((2, 8 * LENGTH * len(made)), np.int64)
        size = np.zeros(2, np.int64)
        state = start.copy()
        for n in range(len(made) - 1):
            for player in range(2):
                windows(state, made[n], player, before, after)
                for k in range(4 * LENGTH):
                    if before[k] != CONSTANT:
                        counts[player, before[k]] -= 1
                    if counts[player, after[k]] == 0:
                        seen[player, size[player]] = after[k]
                        size[player] += 1
                    counts[player, after[k]] += 1
            rules.play(state, made[n])
            # The list keeps patterns that are still there, each once: only their weights change.
            player = n % 2
            all_windows, kept = 1, 0
            for k in range(size[player]):
                pattern = seen[player, k]
                if counts[player, pattern] > 0:
                    repeated = False
                    for other in range(kept):
                        repeated = repeated or seen[player, other] == pattern
                    if not repeated:
                        seen[player, kept] = pattern
                        kept += 1
                        all_windows += counts[player, pattern]
            size[player] = kept
            # TD(lambda): the weights move by the difference of return and value, shared by all windows in the sum.
            step = rates[1] * (targets[n] - logistic(sums[n])) / all_windows
            weights[CONSTANT] += step
            for k in range(kept):
                weights[seen[player, k]] += step * counts[player, seen[player, k]]

    @kernel
    def train(start, games, rates, weights, results, rng):
        before, after = np.empty(4 * LENGTH, np.int64), np.empty(4 * LENGTH, np.int64)
        moves = np.zeros(rules.WIDTH, np.int64)
        made, sums = np.empty(rules.LENGTH, np.int64), np.empty(rules.LENGTH)
        totals = np.empty(2)
        state = start.copy()
        for _ in range(games):
            state[:] = start
            # Both players' sums follow the moves; the mover's sum is kept, for the position after the move.
            totals[:] = weights[CONSTANT]
            while state[RESULT] == UNFINISHED:
                move = rules.explore(state, rng) if uniform(rng) < rates[0] else best(state, weights, moves, rng)
                for player in range(2):
                    totals[player] += gain(state, move, player, weights, before, after)
                made[state[PLY]] = move
                sums[state[PLY]] = totals[state[PLAYER]]
                rules.play(state, move)
            # At the end, the weights learn from the whole game.
            results[state[RESULT]] += 1
            score = 1.0 if state[RESULT] == FIRST else 0.0 if state[RESULT] == SECOND else 0.5
            learn(start, made[: state[PLY]], sums, score, rates, weights)

    return PatternKernels(best, train, windows)
