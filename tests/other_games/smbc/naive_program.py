"""A round of tic-tac-toe with secret goals as a linear program in sequence form, from a plain recursion over histories.

It shares no code with the wing.  A sequence is a player, its goal, and the history up to its own last move.  Moves that
a symmetry of the marks takes into each other are one move, and a round ends when its outcome is forced.
"""

from functools import cache

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from tests.other_games.smbc.naive_rounds import GOALS, free, points, result


def turned(square):
    row, column = divmod(square, 3)
    return 3 * column + 2 - row


def mirrored(square):
    row, column = divmod(square, 3)
    return 3 * row + 2 - column


def symmetries():
    found = []
    for flips in range(2):
        for turns in range(4):
            images = list(range(9))
            for _ in range(flips):
                images = [mirrored(square) for square in images]
            for _ in range(turns):
                images = [turned(square) for square in images]
            found.append(tuple(images))
    return found


SYMMETRIES = symmetries()


def marks(history):
    return frozenset(history[::2]), frozenset(history[1::2])


@cache
def kept(position):
    """The symmetries that keep the marks."""
    return [g for g in SYMMETRIES if all({g[s] for s in part} == part for part in position)]


def moves(history):
    group = kept(marks(history))
    return sorted({min(g[square] for g in group) for square in free(history)})


@cache
def endings(position, count):
    """All outcomes of a round from a position after some moves."""
    first, second = position
    history = [None] * count
    history[::2], history[1::2] = sorted(first), sorted(second)
    ended = result(tuple(history))
    if ended:
        return frozenset([ended])
    after = lambda s: (first, second | {s}) if count % 2 else (first | {s}, second)  # noqa: E731
    return frozenset().union(*(endings(after(s), count + 1) for s in free(history)))


def sequence_form():
    """Infosets of both players, as (last own sequence, sequences), and the ends, as (both last sequences, outcome)."""
    infosets, ends = ([], []), []

    def walk(history, last):
        possible = endings(marks(history), len(history))
        if len(possible) == 1:
            ends.append((*last, next(iter(possible))))
            return
        player = len(history) % 2
        options = [(*history, square) for square in moves(history)]
        infosets[player].append((last[player], options))
        for option in options:
            walk(option, (option, last[1]) if player == 0 else (last[0], option))

    walk((), (None, None))
    return infosets, ends


def value(worth):
    """The first player's value of a round, with its payoffs by points."""
    infosets, ends = sequence_form()
    numbers = []
    for player in (0, 1):
        names = [None] + [option for _, options in infosets[player] for option in options]
        numbers.append({(name, goal): 3 * row + goal for row, name in enumerate(names) for goal in range(3)})
    rows, columns, amounts = [], [], []
    for first, second, ended in ends:
        for mine, my_goal in enumerate(GOALS):
            for other, other_goal in enumerate(GOALS):
                rows.append(numbers[1][second, other])
                columns.append(numbers[0][first, mine])
                amounts.append(worth[points(ended, (my_goal, other_goal))] / 9)
    payoff = sparse.csr_matrix((amounts, (rows, columns)), shape=(len(numbers[1]), len(numbers[0])))

    def constraints(player):
        """One row for each goal (the empty sequence has probability 1), and one for each infoset."""
        entries = [(goal, numbers[player][None, goal], 1) for goal in range(3)]
        row = 3
        for last, options in infosets[player]:
            for goal in range(3):
                entries.append((row, numbers[player][last, goal], -1))
                entries += [(row, numbers[player][option, goal], 1) for option in options]
                row += 1
        where = tuple(zip(*[entry[:2] for entry in entries], strict=True))
        shape = (row, len(numbers[player]))
        return sparse.csr_matrix(([entry[2] for entry in entries], where), shape=shape)

    own, theirs = constraints(0), constraints(1)
    right = np.zeros(own.shape[0])
    right[:3] = 1
    costs = np.zeros(own.shape[1] + theirs.shape[0])
    costs[own.shape[1] : own.shape[1] + 3] = -1
    done = linprog(
        costs,
        sparse.hstack([-payoff, theirs.T]),
        np.zeros(len(numbers[1])),
        sparse.hstack([own, sparse.csr_matrix((own.shape[0], theirs.shape[0]))]),
        right,
        [(0, None)] * own.shape[1] + [(None, None)] * theirs.shape[0],
        method="highs-ipm",
    )
    assert done.status == 0, done.message
    return -done.fun
