"""Alpha-beta as strong programs do it, for any rules with heuristics: :func:`tuning` makes the kernel.

Iterative deepening by single plies; a transposition table that prefers deep entries; moves in the order table, killers,
history; principal variation search; late moves are searched less deep at first; at the leaves, moves that win something
are followed (quiescence).  Values are to the player to move; a win counts less the later it comes.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.arena.kernels.clock import nanoseconds
from pttt_ooc.arena.kernels.minimax import CLOCK, CUT, DEADLINE, NODE_LIMIT, NODES, REACHED, STOPPED, VALUE
from pttt_ooc.arena.kernels.transposition_table import AT_LEAST, AT_MOST, EXACT
from pttt_ooc.jit import bare_kernel, piece

WIN, INFINITY = np.int64(1 << 24), np.int64(1 << 30)
ONE, ROOT = np.int64(1), np.int64(0)  # not literals: see `search`
_CHECK_EVERY = 256
_QUIET_PLIES = np.int64(8)  # the most that quiescence follows
_LATE, _LATER, _LATE_DEPTH = 3, 8, 3  # moves at these places of the order are searched less deep at first


class Work(NamedTuple):
    """What the search remembers and works with: few arrays, because each call hands all of them on.

    Attributes
    ----------
    memory
        int64.  For each level a state with the notes of the evaluation, the moves with their worth, and two killers:
        moves that have refuted something at this level.  Then the history: how much the moves of each player have
        refuted.  Then the transposition table: for each slot a key, and packed what is known of the position.
    weights
        int16: of an evaluation that has been learnt; empty for others.
    """

    memory: Any
    weights: Any


class Layout(NamedTuple):
    """Where what is in the memory of a search."""

    moves: int
    killers: int
    row: int
    levels: int
    history: int
    table: int


def layout(rules: ModuleType, values: ModuleType) -> Layout:
    """The first three within the row of a level, the last two in the memory."""
    moves = rules.WORDS + values.NOTES
    row, levels = moves + rules.WIDTH + 2, rules.LENGTH + int(_QUIET_PLIES) + 4
    return Layout(moves, row - 2, row, levels, levels * row, levels * row + 2 * rules.MOVES)


def work(rules: ModuleType, values: ModuleType, slots: int, weights: Any = ()) -> Work:
    """Nothing searched yet; `slots` is a power of two."""
    place = layout(rules, values)
    return Work(np.zeros(place.table + 2 * slots, dtype=np.int64), np.array(weights, dtype=np.int16))


@piece
def _packed(value, move, depth, bound):
    return ((value + INFINITY) << 24) | (move + 1) << 10 | depth << 2 | bound


@cache
def tuning(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``choose`` for a game's rules and heuristics."""
    MOVES, KILLERS, ROW, LEVELS, HISTORY, TABLE = layout(rules, values)
    BEST = (LEVELS - 1) * ROW + KILLERS  # the last level has no use for killers
    DRAW = BEST + 1  # the value of a draw to player 0

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
                return work.memory[DRAW] if state[0] == 0 else -work.memory[DRAW]
            return WIN - state[2] if state[1] == 1 + state[0] else state[2] - WIN
        return np.int64(values.noted(state, heuristic, work.weights))

    @bare_kernel
    def descend(work, level, move):
        here = level * ROW
        for word in range(here, here + MOVES):
            work.memory[ROW + word] = work.memory[word]
        after = work.memory[here + ROW : here + ROW + MOVES]
        rules.play(after, move)
        values.follow(work.memory[here : here + MOVES], after, move, work.weights)

    @bare_kernel
    def quiet(work, level, left, alpha, beta, heuristic, control):
        """The value after the moves that win something, or without them, as the player likes."""
        here = level * ROW
        state = work.memory[here : here + MOVES]
        if stops(control):
            return ROOT
        best = static(work, state, heuristic)
        if state[1] != 0 or left == 0 or best >= beta:
            return best
        alpha = max(alpha, best)
        for index in range(values.sharp(state, work.memory[here + MOVES : here + KILLERS])):
            descend(work, level, work.memory[here + MOVES + index])
            if work.memory[here + ROW] == state[0]:
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
        """Put before each move of a level, in the higher bits, its place in the order."""
        here = level * ROW
        history = HISTORY + work.memory[here] * rules.MOVES
        one, other = work.memory[here + KILLERS], work.memory[here + KILLERS + 1]
        for place in range(here + MOVES, here + MOVES + number):
            move = work.memory[place]
            if move == first:
                worth = 1 << 40
            elif move == one:
                worth = 1 << 39
            elif move == other:
                worth = 1 << 38
            else:
                worth = min(work.memory[history + move], 1 << 37)
            work.memory[place] = worth << 14 | move

    @bare_kernel
    def take(work, level, index, number):
        """Bring the best of the moves that are left to a place, and return it."""
        first = level * ROW + MOVES
        best, most = index, work.memory[first + index]
        for other in range(index + 1, number):
            if work.memory[first + other] >> 14 > most >> 14:
                best, most = other, work.memory[first + other]
        work.memory[first + best] = work.memory[first + index]
        work.memory[first + index] = most
        return most & 0x3FFF

    @bare_kernel
    def refuted(work, level, move, depth):
        """Remember a move that was too good."""
        here = level * ROW
        work.memory[HISTORY + work.memory[here] * rules.MOVES + move] += depth * depth
        if work.memory[here + KILLERS] != move:
            work.memory[here + KILLERS + 1] = work.memory[here + KILLERS]
            work.memory[here + KILLERS] = move

    @bare_kernel
    def search(work, level, depth, alpha, beta, heuristic, control):
        here = level * ROW
        state = work.memory[here : here + MOVES]
        if state[1] != 0:
            control[NODES] += 1
            return static(work, state, heuristic)
        if depth <= 0:
            control[CUT] = 1
            return quiet(work, level, _QUIET_PLIES, alpha, beta, heuristic, control)
        if stops(control):
            return ROOT
        slot = TABLE + 2 * (state[3] & ((len(work.memory) - TABLE) // 2 - 1))
        first = np.int64(-1)
        if work.memory[slot] == state[3] and work.memory[slot + 1] != 0:
            entry = work.memory[slot + 1]
            first = (entry >> 10 & 0x3FFF) - 1
            if (entry >> 2 & 0xFF) >= depth and level > 0:
                value, bound = (entry >> 24) - INFINITY, entry & 3
                if bound == EXACT or (bound == AT_LEAST and value >= beta) or (bound == AT_MOST and value <= alpha):
                    control[CUT] = 1
                    return value
        number = rules.legal(state, work.memory[here + MOVES : here + KILLERS])
        order(work, level, number, first)
        best, chosen, floor = -INFINITY, np.int64(-1), alpha
        for index in range(number):
            move = take(work, level, index, number)
            descend(work, level, move)
            same = work.memory[here + ROW] == state[0]
            if same:
                value = search(work, level + ONE, depth - ONE, floor, beta, heuristic, control)
            elif index == 0:
                value = -search(work, level + ONE, depth - ONE, -beta, -floor, heuristic, control)
            else:
                less = ROOT
                if depth >= _LATE_DEPTH:
                    less = np.int64(index >= _LATE) + np.int64(index >= _LATER)
                value = -search(work, level + ONE, depth - ONE - less, -floor - ONE, -floor, heuristic, control)
                if less > 0 and value > floor:
                    value = -search(work, level + ONE, depth - ONE, -floor - ONE, -floor, heuristic, control)
                if floor < value < beta:
                    value = -search(work, level + ONE, depth - ONE, -beta, -floor, heuristic, control)
            if control[STOPPED] != 0:
                return best if level == 0 and index > 0 else ROOT
            if value > best:
                best, chosen = value, move
                if level == 0:
                    work.memory[BEST] = move  # the answer so far
            floor = max(floor, best)
            if floor >= beta:
                refuted(work, level, move, depth)
                break
        bound = AT_LEAST if best >= beta else (EXACT if best > alpha else AT_MOST)
        kept = work.memory[slot + 1]
        if kept == 0 or work.memory[slot] == state[3] or (kept >> 2 & 0xFF) <= depth or bound == EXACT:
            work.memory[slot] = state[3]
            work.memory[slot + 1] = _packed(best, chosen, depth, bound)
        return best

    @bare_kernel
    def choose(work, heuristic, deepest, draw, control):
        """The move in the position at the beginning of the memory, which must not be an end.

        A draw has the value `draw` for the player to move there.
        """
        state = work.memory[:MOVES]
        values.note(state, work.weights)
        rules.legal(state, work.memory[MOVES:KILLERS])
        answer = work.memory[MOVES]
        for level in range(LEVELS):
            work.memory[level * ROW + KILLERS] = work.memory[level * ROW + KILLERS + 1] = -1
        for place in range(HISTORY, TABLE):
            work.memory[place] >>= 3
        work.memory[DRAW] = draw if state[0] == 0 else -draw
        control[REACHED] = 0
        for depth in range(ONE, deepest + ONE):
            control[CUT] = 0
            work.memory[BEST] = -1
            value = search(work, ROOT, depth, -INFINITY, INFINITY, heuristic, control)
            if work.memory[BEST] >= 0:
                answer = work.memory[BEST]  # of an unfinished search too: the old answer was looked at first
            if control[STOPPED] != 0:
                break
            control[REACHED], control[VALUE] = depth, value
            if control[CUT] == 0 or abs(value) > WIN - 1000:
                break
        return answer

    return choose
