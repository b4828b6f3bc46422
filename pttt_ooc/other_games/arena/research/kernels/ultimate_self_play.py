"""Games of a search of Ultimate tic-tac-toe against itself, and the examples that a network learns from them."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from pttt_ooc.jit import kernel
from pttt_ooc.other_games.arena.kernels import ultimate as rules
from pttt_ooc.other_games.arena.kernels.clock import NODE_LIMIT, VALUE
from pttt_ooc.other_games.arena.kernels.rng import below, uniform
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, PLAYER, RESULT, UNFINISHED
from pttt_ooc.other_games.arena.kernels.ultimate import TARGET
from pttt_ooc.other_games.arena.research.kernels.alphabeta import search_kernel
from pttt_ooc.other_games.arena.research.kernels.ultimate_learnt import ACTIVE, SCALE, active, entry_of
from pttt_ooc.other_games.arena.research.kernels.ultimate_network import tactic, winnable

NO_MOVE, NO_VALUE = 255, -(1 << 15)
"""They stand for a move after the end, and for the value of a position that was not searched."""

MOST = 3000
"""Larger values of a search, which are wins and losses, are clipped to this."""


@cache
def self_play(values: ModuleType) -> Any:
    """The kernel ``play`` for the search with an evaluation."""
    search = search_kernel(rules, values)

    @kernel
    def play(works, start, nodes, rates, moves, searched, drawn, results, control, rng):
        """Play games of a search against itself.

        Parameters
        ----------
        works
            Two memories of the search: by the player to move.
        nodes
            The nodes for a move.
        rates
            float64, shape (3,): the most random moves with which a game begins (from 1 on), the chance of a later
            random move, and the value of a draw to the player who searches, in points.
        moves, searched, drawn
            uint8, int16 and bool, shape (games, rules.LENGTH): the moves, or NO_MOVE; the values that were found, for
            the player to move, or NO_VALUE; and whether the move was drawn.  Written.
        results
            int8, shape (games,): the word RESULT at the end.  Written.
        """
        state, number = start.copy(), 0
        for game in range(len(results)):
            # A new game: nothing is remembered of the one before.
            works[0].memory[:] = 0
            works[1].memory[:] = 0
            state[:] = start
            opening, length = 1 + below(rng, np.int64(rates[0])), 0
            while state[RESULT] == UNFINISHED:
                value, lot = np.int64(NO_VALUE), length < opening
                # After the opening each position is searched and has a value, even if its move is drawn then.
                if not lot:
                    work = works[state[PLAYER]]
                    work.memory[: rules.WORDS] = state
                    control[:] = 0
                    control[NODE_LIMIT] = nodes
                    move = search(work, np.int64(0), np.int64(rules.LENGTH), np.int64(rates[2]), control)
                    value, number = min(max(control[VALUE], np.int64(-MOST)), np.int64(MOST)), number + 1
                    lot = uniform(rng) < rates[1]
                if lot:
                    move = rules.pick(state, below(rng, rules.count(state)))
                moves[game, length], searched[game, length], drawn[game, length] = move, value, lot
                rules.play(state, move)
                length += 1
            # The rest of the row tells where the game has ended.
            moves[game, length:] = NO_MOVE
            results[game] = state[RESULT]
        return number

    return play


@kernel
def examples(start, games, decay, draw, entries, targets, found, tactics, wanted):
    """Positions of games, with the values that they should have.

    The value of a position is the lambda-return of the values that the search found for the same player from it on, and
    of the result of the game; returns are cut off before a random move of either player.

    Parameters
    ----------
    games
        The arrays ``moves``, ``searched``, ``drawn`` and ``results`` of :func:`self_play`.
    decay
        Lambda.
    draw
        What a draw is worth to the player who searched, where a win is worth 1.
    entries, targets, found, tactics
        int16, shape (n, 9): the entries of the small boards, from the side of the player to move; int8, shape (n,):
        to which they are sent; int32, shape (n, ACTIVE): which weights the sum of ``ultimate_learnt`` has; int16, shape
        (n,): the tactic of ``ultimate_network``.  Written.
    wanted
        float32, shape (n, 2): what the result is worth to the player to move, a win being 1: in the first column the
        opponent is the eager one, and a draw is worth 1 - `draw`; in the second the player is, and it is worth `draw`.
        NaN where it is not known.  Written.

    Returns
    -------
    int
        The number of positions; -1 if the result of a game is another one by the rules of `start`.
    """
    moves, searched, drawn, results = games
    state, number, some = start.copy(), 0, np.zeros(ACTIVE, np.int64)
    for game in range(len(results)):
        state[:] = start
        first = number
        # Forward: the features of each position, from the side of the player to move.
        while state[RESULT] == UNFINISHED:
            active(state, some)
            found[number] = some
            for board in range(9):
                entries[number, board] = entry_of(state, board, state[PLAYER])
            targets[number] = state[TARGET]
            tactics[number] = tactic(state, winnable(state, state[PLAYER]), winnable(state, 1 - state[PLAYER]))
            rules.play(state, np.int64(moves[game, number - first]))
            number += 1
        if state[RESULT] != results[game]:
            return -1
        for player in range(2):
            # Backward, once for each player: `back` is the player's lambda-return, which begins with the result.
            back = np.float64(results[game] == FIRST + player)
            if results[game] == DRAW:
                back = np.float64(draw)
            for ply in range(number - first - 1, -1, -1):
                # Before a random move, nothing that comes later counts.
                if drawn[game, ply]:
                    back = np.float64(np.nan)
                # A position of the opponent's is worth the rest to them, by the values that this player's search has
                # found.
                if ply & 1 != player:
                    wanted[first + ply, 0] = 1.0 - back
                    continue
                # The return mixes the value found here with what comes later.
                if searched[game, ply] == NO_VALUE:
                    back = np.float64(np.nan)
                else:
                    value = 1.0 / (1.0 + np.exp(-searched[game, ply] / SCALE))
                    back = value if np.isnan(back) else (1.0 - decay) * value + decay * back
                wanted[first + ply, 1] = back
    return number
