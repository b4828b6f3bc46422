"""Agents of Ultimate tic-tac-toe that play against each other in tests."""

import functools

import numpy as np

from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import PLAYER, mover_score
from pttt_ooc.other_games.arena.games.catalogue import game

ULTIMATE = game("ultimate")


@functools.cache
def seated(text, rules="ultimate"):
    """An agent that has taken its seat."""
    made = agent(text)
    made.seat(game(rules))
    return made


def points(player, other, games, after=lambda mover: None, opening=0):
    """What a player scores in so many games, each side in turn; `after` is called after each move.

    Two games begin with the same moves by lot, as many as `opening`.
    """
    total = 0.0
    for number in range(games):
        player.begin(number)
        other.begin(number)
        state, lots = player.game.start(), np.random.default_rng(number // 2)
        for _ in range(opening):
            state = player.game.play(state, int(lots.choice(player.game.legal(state))))
        while player.game.legal(state):
            mover = player if state[PLAYER] == number % 2 else other
            state = player.game.play(state, mover.choose(state))
            after(mover)
        total += mover_score(state, number % 2)
    return total
