"""Agents of Ultimate tic-tac-toe that play against each other in tests, and commands that are run."""

import functools

import numpy as np
import pytest

from pttt_ooc.cli import commands
from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import PLAYER, mover_score
from pttt_ooc.other_games.arena.games.catalogue import game
from tests.other_games.arena import naive_ultimate as naive

ULTIMATE = game("ultimate")


def lab(capsys, *arguments, code=0):
    """What `pttt lab` prints, as :func:`command`."""
    return command(capsys, *arguments, code=code, group="lab")


def command(capsys, *arguments, code=0, group="arena"):
    """What `pttt arena` prints: its output, or its errors if it is to fail."""
    with pytest.raises(SystemExit) as ended:
        commands.main([group, *map(str, arguments)])
    told = capsys.readouterr()
    assert (ended.value.code or 0) == code, told.err
    return told.err if code else told.out


def seat(text, rules="ultimate"):
    """An agent that has taken its seat."""
    made = agent(text)
    made.seat(game(rules))
    return made


seated = functools.cache(seat)
"""The same for all tests: it has to begin anew."""


def random_positions(games, seed):
    """Positions and moves of games of chance, until their ends."""
    draw = np.random.default_rng(seed)
    for _ in range(games):
        state = ULTIMATE.start()
        while legal := ULTIMATE.legal(state):
            move = int(draw.choice(legal))
            yield state, move
            state = ULTIMATE.play(state, move)


def late(seed, left):
    """The moves of a game of chance without the last ones, and the position."""
    moves = naive.random_game(seed)[1][:-left]
    return moves, naive.after(moves)


def solved(position):
    """The result under perfect play by the plain rules: 1, 2 or 3, as in a state."""
    outcome = position.outcome()
    if outcome:
        return {"x": 1, "o": 2, "draw": 3}[outcome]
    found = {solved(position.after(move)) for move in position.moves()}
    own = 1 if position.to_move == "x" else 2
    return own if own in found else 3 if 3 in found else 3 - own


def winning_moves(position):
    """The moves with which the player to move wins at once."""
    moves = position.moves()
    return [9 * move[0] + move[1] for move in moves if position.after(move).outcome() == position.to_move]


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
