"""A game of a person against an agent, on the terminal."""

from __future__ import annotations

import sys

from pttt_ooc.other_games.arena.agents.base import Agent
from pttt_ooc.other_games.arena.games.base import DRAW, FIRST, PLAYER, RESULT, UNFINISHED, ArenaError, Game


def play_game(game: Game, opponent: Agent, person: int) -> None:
    """Let a person play a game; they may leave it by closing the input.

    Parameters
    ----------
    opponent
        An agent that is seated at the game.
    person
        The number of the person's player, 0 or 1.
    """
    state = game.start()
    while state[RESULT] == UNFINISHED:
        if int(state[PLAYER]) != person:
            move = opponent.choose(state)
            print(f"The agent plays {game.show_move(move)}.")
            state = game.play(state, move)
            continue
        print(game.show(state))
        print("Your move: ", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            print("\nThe game is left.")
            return
        try:
            state = game.play(state, game.read_move(line.strip()))
        except ArenaError as error:
            print(error)
    print(game.show(state))
    result = int(state[RESULT])
    print("It is a draw." if result == DRAW else "You have won." if result == FIRST + person else "The agent has won.")
