"""Agents of Ultimate tic-tac-toe that play against each other in tests."""

import functools

from pttt_ooc.arena.agents.catalogue import agent
from pttt_ooc.arena.games.base import PLAYER, mover_score
from pttt_ooc.arena.games.catalogue import game

ULTIMATE = game("ultimate")


@functools.cache
def seated(text, rules="ultimate"):
    """An agent that has taken its seat."""
    made = agent(text)
    made.seat(game(rules))
    return made


def points(player, other, games, after=lambda mover: None):
    """What a player scores in so many games, each side in turn; `after` is called after each move."""
    total = 0.0
    for number in range(games):
        player.begin(number)
        other.begin(number)
        state = player.game.start()
        while player.game.legal(state):
            mover = player if state[PLAYER] == number % 2 else other
            state = player.game.play(state, mover.choose(state))
            after(mover)
        total += mover_score(state, number % 2)
    return total
