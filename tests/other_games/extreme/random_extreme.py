"""Games of Extreme TicTacToe in which all legal moves are equally likely, with all that is known of them."""

import numba
import numpy as np

from pttt_ooc.other_games.arena.kernels import extreme as rules
from pttt_ooc.other_games.arena.kernels import rng


@numba.njit
def _play(generator, options, moves, plies, bonuses, results, scores):
    state = np.zeros(rules.WORDS, np.int64)
    for game in range(len(moves)):
        rules.setup(state, options)
        while state[rules.RESULT] == 0:
            move = rules.pick(state, rng.below(generator, rules.count(state)))
            moves[game, plies[game]] = move
            plies[game] += 1
            bonuses[game] += state[rules.BONUS]
            rules.play(state, move)
        results[game] = state[rules.RESULT]
        scores[game, 0], scores[game, 1] = rules.points(state, 0), rules.points(state, 1)


def random_games(games, seed):
    """Moves, with -1 after the end; plies, bonus moves, results, points of both players."""
    found = (np.full((games, rules.MOVES), -1, np.int16), *(np.zeros(games, np.int16) for _ in range(3)))
    scores = np.zeros((games, 2), np.int16)
    _play(rng.generator(seed), np.zeros(0, np.int64), *found, scores)
    return (*found, scores)
