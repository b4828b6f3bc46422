"""Minimax, alpha-beta and expectimax with a heuristic at the leaves, for any rules.

:func:`search_kernel` makes the kernel.  The search visits the tree with one state for each level.  Values are to the
player to move.  A budget of nodes or time may end it early: then its result is not valid, and ``control[STOPPED]`` is
set.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from pttt_ooc.jit import bare_kernel, piece
from pttt_ooc.other_games.arena.kernels.clock import CUT, REACHED, STOPPED, VALUE, stops
from pttt_ooc.other_games.arena.kernels.rng import below
from pttt_ooc.other_games.arena.kernels.state_words import KEY, PLAYER, RESULT, UNFINISHED
from pttt_ooc.other_games.arena.kernels.transposition_table import (
    AT_LEAST,
    AT_MOST,
    EXACT,
    find,
    keep,
    key_with_depth,
)

MINIMAX, ALPHA_BETA, EXPECTIMAX = 0, 1, 2
"""Methods."""

NOTHING, PLAIN, FIFO, SYMMETRY, ZOBRIST = range(5)
"""Which positions alpha-beta remembers: nothing; positions until the table is full; the latest positions; the
latest positions, found by all images of a position; the latest positions, by the key that moves update."""

INFINITY, BELOW_ROOT = np.int64(1 << 40), np.int64(1)  # not literals: a recursive kernel must have one signature,
# or its compiled code cannot be loaded again (numba's issue 6061)


@piece
def _bound_kind(best, alpha, beta):
    """Whether the value of a search between two bounds is exact or a bound."""
    return AT_LEAST if best >= beta else (EXACT if best > alpha else AT_MOST)


@cache
def _steps(rules: ModuleType, values: ModuleType) -> tuple[Any, Any]:
    """The kernels ``leaf`` (the value of a position without search) and ``descend`` (makes a move)."""

    @bare_kernel
    def leaf(state, heuristic):
        value = values.evaluate(state, heuristic)
        return value if state[PLAYER] == 0 else -value

    @bare_kernel
    def descend(states, level, move):
        """Make a move into the state of the next level."""
        for word in range(rules.WORDS):
            states[level + 1, word] = states[level, word]
        rules.play(states[level + 1], move)

    return leaf, descend


@cache
def _minimax(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``minimax``."""
    leaf, descend = _steps(rules, values)

    @bare_kernel
    def minimax(states, moves, level, depth, heuristic, control):
        state = states[level]
        if stops(control):
            return 0
        if state[RESULT] != UNFINISHED or depth == 0:
            control[CUT] |= state[RESULT] == UNFINISHED
            return leaf(state, heuristic)
        best = -INFINITY
        for index in range(rules.legal(state, moves[level])):
            descend(states, level, moves[level, index])
            value = minimax(states, moves, level + 1, depth - 1, heuristic, control)
            best = max(best, value if states[level + 1, PLAYER] == state[PLAYER] else -value)
        return best

    return minimax


@cache
def _expectimax(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``expectimax``."""
    _, descend = _steps(rules, values)

    @bare_kernel
    def expectimax(states, moves, level, depth, heuristic, player, control):
        """The value to `player`, whose opponent draws moves uniformly."""
        state = states[level]
        if stops(control):
            return 0.0
        if state[RESULT] != UNFINISHED or depth == 0:
            control[CUT] |= state[RESULT] == UNFINISHED
            value = values.evaluate(state, heuristic)
            return float(value if player == 0 else -value)
        best, total = -float(INFINITY), 0.0
        number = rules.legal(state, moves[level])
        for index in range(number):
            descend(states, level, moves[level, index])
            value = expectimax(states, moves, level + 1, depth - 1, heuristic, player, control)
            best = max(best, value)
            total += value
        return best if state[PLAYER] == player else total / number

    return expectimax


@cache
def _alpha_beta(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``alpha_beta``."""
    leaf, descend = _steps(rules, values)

    @bare_kernel
    def look_up(state, depth, kind, memory):
        """The entry of a position or of one of its images, or -1, and the key of a new entry."""
        # The depth is part of the key, so that an entry is always deep enough.
        if kind == ZOBRIST:
            key = key_with_depth(state[KEY], depth)
            return find(memory, key), key
        key = key_with_depth(rules.image_key(state, 0), depth)
        entry = find(memory, key)
        if kind == SYMMETRY:
            for symmetry in range(1, rules.SYMMETRIES):
                if entry < 0:
                    entry = find(memory, key_with_depth(rules.image_key(state, symmetry), depth))
        return entry, key

    @bare_kernel
    def alpha_beta(states, moves, level, depth, alpha, beta, heuristic, control, kind, memory):
        # Ends and leaves; a line that the depth cuts short is noted, as a deeper search may tell more.
        state = states[level]
        if stops(control):
            return 0
        if state[RESULT] != UNFINISHED or depth == 0:
            control[CUT] |= state[RESULT] == UNFINISHED
            return leaf(state, heuristic)
        # A value in the table answers if it is exact, or if its bound lies outside of the window.
        key = 0
        if kind != NOTHING:
            entry, key = look_up(state, depth, kind, memory)
            if entry >= 0:
                value, bound = memory.values[entry], memory.bounds[entry]
                if bound == EXACT or (bound == AT_LEAST and value >= beta) or (bound == AT_MOST and value <= alpha):
                    control[CUT] = 1  # perhaps: entries do not record it
                    return value
        # Negamax: the window is turned round where the opponent moves next.  From beta up, the rest is cut off.
        best, floor = -INFINITY, alpha
        for index in range(rules.legal(state, moves[level])):
            descend(states, level, moves[level, index])
            if states[level + 1, PLAYER] == state[PLAYER]:
                value = alpha_beta(states, moves, level + 1, depth - 1, floor, beta, heuristic, control, kind, memory)
            else:
                value = -alpha_beta(
                    states, moves, level + 1, depth - 1, -beta, -floor, heuristic, control, kind, memory
                )
            best = max(best, value)
            floor = max(floor, value)
            if floor >= beta:
                break
        # The value of an unfinished search is not kept.
        if kind != NOTHING and control[STOPPED] == 0:
            keep(memory, key, best, _bound_kind(best, alpha, beta), kind != PLAIN)
        return best

    return alpha_beta


@cache
def _root(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``root``."""
    _, descend = _steps(rules, values)
    minimax, expectimax = _minimax(rules, values), _expectimax(rules, values)
    alpha_beta = _alpha_beta(rules, values)

    @bare_kernel
    def root(states, moves, number, plies, method, heuristic, control, kind, memory):
        """The first of the best moves in the order of ``moves[0]``, and its value to the player to move."""
        best, chosen = -float(INFINITY), -1
        for index in range(number):
            descend(states, 0, moves[0, index])
            same = states[1, PLAYER] == states[0, PLAYER]
            if method == MINIMAX:
                value = float(minimax(states, moves, BELOW_ROOT, plies - 1, heuristic, control))
                value = value if same else -value
            elif method == EXPECTIMAX:
                value = expectimax(states, moves, BELOW_ROOT, plies - 1, heuristic, states[0, PLAYER], control)
            else:
                floor = np.int64(best) if chosen >= 0 else -INFINITY
                if same:
                    alpha, beta = floor, INFINITY
                else:
                    alpha, beta = -INFINITY, -floor
                reached = alpha_beta(
                    states, moves, BELOW_ROOT, plies - 1, alpha, beta, heuristic, control, kind, memory
                )
                value = float(reached if same else -reached)
            if control[STOPPED] != 0:
                return -1, 0.0
            if value > best:
                best, chosen = value, moves[0, index]
        return chosen, best

    return root


@cache
def search_kernel(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``choose`` for a game's rules and heuristics."""
    root = _root(rules, values)

    @bare_kernel
    def choose(states, moves, rng, first, last, method, heuristic, control, kind, memory):
        """The move of an agent in ``states[0]``, which must not be an end.

        Parameters
        ----------
        states, moves
            int64, shape (levels, WORDS) and (levels, WIDTH), where levels is at least ``2 * last + 1``.
        rng
            Equally good moves have the same chance: the order of the moves at the root is drawn.
        first, last
            Depths, of two plies each; the search is repeated with growing depth until a limit in `control` ends it or
            no line is cut short; the last complete pass counts.
        """
        number = rules.legal(states[0], moves[0])
        for index in range(number - 1, 0, -1):
            other = below(rng, index + 1)
            moves[0, index], moves[0, other] = moves[0, other], moves[0, index]
        answer = moves[0, 0]
        control[REACHED] = 0
        for depth in range(first, last + 1):
            control[CUT] = 0
            chosen, value = root(states, moves, number, 2 * depth, method, heuristic, control, kind, memory)
            if control[STOPPED] != 0:
                break
            answer = chosen
            control[REACHED], control[VALUE] = depth, int(value)
            if control[CUT] == 0:
                break
        return answer

    return choose
