"""What a student would write first, for `pttt lab score examples/heuristics.py:centre_first`."""

import numpy as np

import pttt_ooc as pttt

CENTRE_FIRST = np.array([3, 2, 3, 2, 4, 2, 3, 2, 3.0])  # the centre, then corners, then edges


def winning_sets(game):
    """Of each player: the sets of squares that win, as lists of squares."""
    both = pttt.game(game).winning_sets
    return [[[square for square in range(9) if mask >> square & 1] for mask in masks] for masks in both]


LINES = winning_sets("pttt-classical")[0]
PATHS = winning_sets("dark-hex-3x3-classical")


def centre_first(infostates, legal):
    """Always one of the squares that lie best, any of them."""
    liking = np.where(legal, CENTRE_FIRST, 0)
    best = liking == liking.max(axis=1, keepdims=True)
    return best / best.sum(axis=1, keepdims=True)


def centre_mostly(infostates, legal):
    """All squares, the centre more often than corners, corners more often than edges."""
    liking = np.where(legal, CENTRE_FIRST, 0)
    return liking / liking.sum(axis=1, keepdims=True)


def lines_first(observations, legal):
    """For Phantom Tic-Tac-Toe: complete a line of three; else block one; else the square that lies best.

    What the package's PettingZoo environment shows is enough: the player's own marks, and the squares that were taken.
    """
    own, taken = observations[:, :, 0], observations[:, :, 1]
    liking = np.where(legal, CENTRE_FIRST, 0.0)
    for line in LINES:
        for marks, gain in ((own, 200.0), (taken, 20.0)):
            ready = marks[:, line].sum(axis=1) == 2
            for square in line:
                liking[:, square] += gain * (ready & legal[:, square])
    best = liking == liking.max(axis=1, keepdims=True)
    return best / best.sum(axis=1, keepdims=True)


def shortest_path(observations, legal, player):
    """For Dark Hex: any square of the paths that need the fewest further marks, as far as the player knows."""
    own, taken = observations[:, :, 0] > 0, observations[:, :, 1] > 0
    missing = np.stack([np.where(taken[:, path].any(axis=1), 9, (~own[:, path]).sum(axis=1)) for path in PATHS[player]])
    shortest = missing == missing.min(axis=0)
    liking = np.zeros(legal.shape)
    for path, is_shortest in zip(PATHS[player], shortest, strict=True):
        liking[:, path] += is_shortest[:, None]
    liking *= legal
    liking[liking.sum(axis=1) == 0] = 1  # the player has lost, or every square of the path is the player's own
    liking *= legal
    return liking / liking.sum(axis=1, keepdims=True)
