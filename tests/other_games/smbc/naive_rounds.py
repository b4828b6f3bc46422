"""Tic-tac-toe with secret goals as a plain recursion over histories: no symmetry, no tree, no arrays."""

from functools import cache

ROWS = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
GOALS = ("win", "tie", "lose")


def result(history, fill=False):
    """Who has three in a row at the end of a round: "first", "second", "both", "nobody"; None if it is not over."""
    has = [any(set(row) <= set(history[player::2]) for row in ROWS) for player in (0, 1)]
    if len(history) < 9 and (fill or not any(has)):
        return None
    return {(True, False): "first", (False, True): "second", (True, True): "both", (False, False): "nobody"}[tuple(has)]


def points(ended, goals):
    """The points of both players."""
    own = ({"first": "win", "both": "win", "nobody": "tie", "second": "lose"}[ended] == goals[0]) + 0
    other = ({"second": "win", "both": "win", "nobody": "tie", "first": "lose"}[ended] == goals[1]) + 0
    return own, other


def free(history):
    return [square for square in range(9) if square not in history]


def value(history, strategies, worth, fill=False):
    """The first player's expected payoff from a history, where both reach it with certainty for each goal.

    `strategies(history)` gives, for each goal of the mover, a probability for each square.  `worth` maps points to the
    first player's payoff.  The result has a row for each goal of the first player and a column for the second's.
    """
    ended = result(history, fill)
    if ended:
        return [[worth[points(ended, (mine, other))] for other in GOALS] for mine in GOALS]
    total = [[0.0] * 3 for _ in range(3)]
    chances = strategies(history)
    for square in free(history):
        inner = value((*history, square), strategies, worth, fill)
        for first in range(3):
            for second in range(3):
                goal = second if len(history) % 2 else first
                total[first][second] += chances[goal][square] * inner[first][second]
    return total


def best(history, player, strategies, worth, reach, fill=False):
    """For each goal of `player`: the best response's value, times the opponent's reach."""
    ended = result(history, fill)
    if ended:
        found = []
        for goal in GOALS:
            pairs = [(goal, other) if player == 0 else (other, goal) for other in GOALS]
            signed = [worth[points(ended, pair)] * (1 if player == 0 else -1) for pair in pairs]
            found.append(sum(r * v for r, v in zip(reach, signed, strict=True)))
        return found
    if len(history) % 2 == player:
        inner = [best((*history, s), player, strategies, worth, reach, fill) for s in free(history)]
        return [max(values[goal] for values in inner) for goal in range(3)]
    total = [0.0] * 3
    chances = strategies(history)
    for square in free(history):
        onward = [r * chances[goal][square] for goal, r in enumerate(reach)]
        if any(onward):
            inner = best((*history, square), player, strategies, worth, onward, fill)
            total = [a + b for a, b in zip(total, inner, strict=True)]
    return total


@cache
def counts(history=(), fill=False):
    """Numbers of histories from a history on: all, ended, and those where the first and the second player moves."""
    if result(history, fill):
        return 1, 1, 0, 0
    inner = [counts((*history, square), fill) for square in free(history)]
    sums = [sum(column) for column in zip(*inner, strict=True)]
    turn = len(history) % 2
    return sums[0] + 1, sums[1], sums[2] + (turn == 0), sums[3] + (turn == 1)
