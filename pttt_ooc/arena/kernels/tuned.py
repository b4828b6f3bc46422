"""Alpha-beta as strong programs do it, for any rules with heuristics: :func:`tuning` makes the kernel.

Iterative deepening by single plies; a transposition table that prefers deep entries; moves in the order table, killers,
history; principal variation search; at the leaves, moves that win something are followed (quiescence).  Values are to
the player to move; a win counts less the later it comes.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.arena.compiled import bare_kernel, piece
from pttt_ooc.arena.kernels.clock import nanoseconds
from pttt_ooc.arena.kernels.memory import AT_LEAST, AT_MOST, EXACT
from pttt_ooc.arena.kernels.search import CLOCK, CUT, DEADLINE, NODE_LIMIT, NODES, REACHED, STOPPED, VALUE

WIN, INFINITY = np.int64(1 << 24), np.int64(1 << 30)
ONE, ROOT = np.int64(1), np.int64(0)  # not literals: see `search`
_CHECK_EVERY = 256
_QUIET_PLIES = np.int64(8)  # the most that quiescence follows


class Work(NamedTuple):
    """What the search remembers and works with.

    Attributes
    ----------
    keys, entries
        int64, shape (slots,), a power of two: positions, and packed what is known of them.
    killers
        int64, shape (levels, 2): moves that have refuted something at a level.
    history
        int64, shape (2, MOVES): how much the moves of each player have refuted.
    states, moves, worth
        int64, shape (levels, WORDS), (levels, WIDTH), (levels, WIDTH).
    weights
        float64: of an evaluation that has been learnt; empty for others.
    """

    keys: Any
    entries: Any
    killers: Any
    history: Any
    states: Any
    moves: Any
    worth: Any
    weights: Any


def work(rules: ModuleType, slots: int, weights: Any = ()) -> Work:
    """Nothing searched yet."""
    levels = rules.LENGTH + int(_QUIET_PLIES) + 4
    return Work(
        np.zeros(slots, dtype=np.int64),
        np.zeros(slots, dtype=np.int64),
        np.full((levels, 2), -1, dtype=np.int64),
        np.zeros((2, rules.MOVES), dtype=np.int64),
        np.zeros((levels, rules.WORDS), dtype=np.int64),
        np.zeros((levels, rules.WIDTH), dtype=np.int64),
        np.zeros((levels, rules.WIDTH), dtype=np.int64),
        np.array(weights, dtype=np.float64),
    )


@piece
def _packed(value, move, depth, bound):
    return ((value + INFINITY) << 24) | (move + 1) << 10 | depth << 2 | bound


@cache
def tuning(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``choose`` for a game's rules and heuristics."""

    @bare_kernel
    def stops(control):
        if control[NODES] >= control[NODE_LIMIT]:
            control[STOPPED] = 1
        elif control[DEADLINE] > 0 and control[NODES] % _CHECK_EVERY == 0:
            control[STOPPED] |= nanoseconds(control[CLOCK]) > control[DEADLINE]
        if control[STOPPED] == 0:
            control[NODES] += 1
        return control[STOPPED] != 0

    @bare_kernel
    def static(work, state, heuristic):
        """The value of a position to the player to move."""
        if state[1] != 0:
            if state[1] == 3:
                return np.int64(0)
            return WIN - state[2] if state[1] == 1 + state[0] else state[2] - WIN
        value = np.int64(values.static(state, heuristic, work.weights))
        return value if state[0] == 0 else -value

    @bare_kernel
    def descend(work, level, move):
        for word in range(rules.WORDS):
            work.states[level + 1, word] = work.states[level, word]
        rules.play(work.states[level + 1], move)

    @bare_kernel
    def quiet(work, level, left, alpha, beta, heuristic, control):
        """The value after the moves that win something, or without them, as the player likes."""
        state = work.states[level]
        if stops(control):
            return ROOT
        best = static(work, state, heuristic)
        if state[1] != 0 or left == 0 or best >= beta:
            return best
        alpha = max(alpha, best)
        for index in range(values.sharp(state, work.moves[level])):
            descend(work, level, work.moves[level, index])
            if work.states[level + 1, 0] == state[0]:
                value = quiet(work, level + ONE, left - ONE, alpha, beta, heuristic, control)
            else:
                value = -quiet(work, level + ONE, left - ONE, -beta, -alpha, heuristic, control)
            best = max(best, value)
            alpha = max(alpha, best)
            if alpha >= beta:
                break
        return best

    @bare_kernel
    def order(work, level, number, first):
        """Give each move of a level its place in the order."""
        player = work.states[level, 0]
        for index in range(number):
            move = work.moves[level, index]
            if move == first:
                work.worth[level, index] = 1 << 60
            elif move == work.killers[level, 0]:
                work.worth[level, index] = 1 << 59
            elif move == work.killers[level, 1]:
                work.worth[level, index] = 1 << 58
            else:
                work.worth[level, index] = work.history[player, move]

    @bare_kernel
    def take(work, level, index, number):
        """Bring the best of the moves that are left to a place, and return it."""
        best = index
        for other in range(index + 1, number):
            if work.worth[level, other] > work.worth[level, best]:
                best = other
        move, worth = work.moves[level, best], work.worth[level, best]
        work.moves[level, best], work.worth[level, best] = work.moves[level, index], work.worth[level, index]
        work.moves[level, index], work.worth[level, index] = move, worth
        return move

    @bare_kernel
    def refuted(work, level, move, depth):
        """Remember a move that was too good."""
        player = work.states[level, 0]
        work.history[player, move] += depth * depth
        if work.killers[level, 0] != move:
            work.killers[level, 1] = work.killers[level, 0]
            work.killers[level, 0] = move

    @bare_kernel
    def search(work, level, depth, alpha, beta, heuristic, control):
        state = work.states[level]
        if state[1] != 0:
            control[NODES] += 1
            return static(work, state, heuristic)
        if depth == 0:
            control[CUT] = 1
            return quiet(work, level, _QUIET_PLIES, alpha, beta, heuristic, control)
        if stops(control):
            return ROOT
        slot = state[3] & (len(work.keys) - 1)
        first = np.int64(-1)
        if work.keys[slot] == state[3] and work.entries[slot] != 0:
            entry = work.entries[slot]
            first = (entry >> 10 & 0x3FFF) - 1
            if (entry >> 2 & 0xFF) >= depth and level > 0:
                value, bound = (entry >> 24) - INFINITY, entry & 3
                if bound == EXACT or (bound == AT_LEAST and value >= beta) or (bound == AT_MOST and value <= alpha):
                    control[CUT] = 1
                    return value
        number = rules.legal(state, work.moves[level])
        order(work, level, number, first)
        best, chosen, floor = -INFINITY, np.int64(-1), alpha
        for index in range(number):
            move = take(work, level, index, number)
            descend(work, level, move)
            same = work.states[level + 1, 0] == state[0]
            if same:
                value = search(work, level + ONE, depth - ONE, floor, beta, heuristic, control)
            elif index == 0:
                value = -search(work, level + ONE, depth - ONE, -beta, -floor, heuristic, control)
            else:
                value = -search(work, level + ONE, depth - ONE, -floor - ONE, -floor, heuristic, control)
                if floor < value < beta:
                    value = -search(work, level + ONE, depth - ONE, -beta, -floor, heuristic, control)
            if control[STOPPED] != 0:
                return best if level == 0 and index > 0 else ROOT
            if value > best:
                best, chosen = value, move
                if level == 0:
                    work.killers[len(work.killers) - 1, 0] = move  # the answer so far
            floor = max(floor, best)
            if floor >= beta:
                refuted(work, level, move, depth)
                break
        bound = AT_LEAST if best >= beta else (EXACT if best > alpha else AT_MOST)
        kept = work.entries[slot]
        if kept == 0 or work.keys[slot] == state[3] or (kept >> 2 & 0xFF) <= depth or bound == EXACT:
            work.keys[slot] = state[3]
            work.entries[slot] = _packed(best, chosen, depth, bound)
        return best

    @bare_kernel
    def choose(work, heuristic, deepest, control):
        """The move in ``work.states[0]``, which must not be an end."""
        rules.legal(work.states[0], work.moves[0])
        answer, last = work.moves[0, 0], len(work.killers) - 1
        work.killers[:] = -1
        for player in range(2):
            for move in range(rules.MOVES):
                work.history[player, move] >>= 3
        control[REACHED] = 0
        for depth in range(ONE, deepest + ONE):
            control[CUT] = 0
            work.killers[last, 0] = -1
            value = search(work, ROOT, depth, -INFINITY, INFINITY, heuristic, control)
            if work.killers[last, 0] >= 0:
                answer = work.killers[last, 0]  # of an unfinished search too: the old answer was looked at first
            if control[STOPPED] != 0:
                break
            control[REACHED], control[VALUE] = depth, value
            if control[CUT] == 0 or abs(value) > WIN - 1000:
                break
        return answer

    return choose
