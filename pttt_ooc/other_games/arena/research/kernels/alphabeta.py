"""Alpha-beta as strong programs do it, for any rules with heuristics: :func:`search_kernel` makes the kernel.

Iterative deepening by single plies; a transposition table that prefers deep entries; moves ordered by table, killers
and history; principal variation search; late moves are first searched to a smaller depth; positions near the leaves
whose value is far beyond the window are pruned; at the leaves, moves that win something are followed (quiescence).  The
module of the evaluation says how late moves are reduced, and what is far.  Values are to the player to move; a win
counts less the later it comes.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import bare_kernel, piece
from pttt_ooc.other_games.arena.kernels.clock import CUT, NODES, REACHED, STOPPED, VALUE, stops
from pttt_ooc.other_games.arena.kernels.state_words import DRAW, FIRST, KEY, PLAYER, PLY, RESULT, UNFINISHED
from pttt_ooc.other_games.arena.kernels.transposition_table import AT_LEAST, AT_MOST, EXACT

WIN, INFINITY = np.int64(1 << 24), np.int64(1 << 30)
ONE, ROOT = np.int64(1), np.int64(0)  # not literals: a recursive kernel must have one signature
_QUIET_PLIES = np.int64(8)  # the most that quiescence follows


class Work(NamedTuple):
    """The memory of a search; it has few arrays, because each call passes all of them.

    Attributes
    ----------
    memory
        int64.  For each level a state with the notes of the evaluation, the moves with their worth, and two killers:
        moves that have refuted something at this level.  Then the history: how much the moves of each player have
        refuted.  Then the transposition table: for each slot a key, and the packed entry of the position.
    weights
        int16: the weights of a learnt evaluation; empty for others.
    """

    memory: Any
    weights: Any


class Layout(NamedTuple):
    """Offsets in the memory of a search.

    Attributes
    ----------
    moves, killers, row
        Within the row of a level: the moves, the killers, and the length of the row.
    levels
        The number of levels.
    best, draw
        Words of the last level, which has no use for killers: the best move at the root so far, and the value of a
        draw to player 0.
    history, table
        Where the history and the table begin.
    """

    moves: int
    killers: int
    row: int
    levels: int
    best: int
    draw: int
    history: int
    table: int


def layout(rules: ModuleType, values: ModuleType) -> Layout:
    """The layout for a game's rules and heuristics."""
    moves = rules.WORDS + values.NOTES
    killers = moves + rules.WIDTH
    row, levels = killers + 2, rules.LENGTH + int(_QUIET_PLIES) + 4
    best, history = (levels - 1) * row + killers, levels * row
    return Layout(moves, killers, row, levels, best, best + 1, history, history + 2 * rules.MOVES)


def work(rules: ModuleType, values: ModuleType, slots: int, weights: Any = ()) -> Work:
    """An empty memory; `slots` is a power of two."""
    at = layout(rules, values)
    return Work(np.zeros(at.table + 2 * slots, dtype=np.int64), np.asarray(weights, dtype=np.int16))


# ---------------------------------------------------------------------------------------------
# The transposition table


@piece
def _look_up(table, key, depth, alpha, beta):
    """The entry of a position: whether it suffices, its value, and its best move or -1."""
    slot = 2 * (key & (len(table) // 2 - 1))
    entry = table[slot + 1]
    if table[slot] != key or entry == 0:
        return False, ROOT, ROOT - 1
    value, bound = (entry >> 24) - INFINITY, entry & 3
    deep = (entry >> 2 & 0xFF) >= depth
    enough = bound == EXACT or (bound == AT_LEAST and value >= beta) or (bound == AT_MOST and value <= alpha)
    return deep and enough, value, (entry >> 10 & 0x3FFF) - 1


@piece
def _keep(table, key, depth, value, move, bound):
    """Write an entry, unless the slot has a deeper one of another position."""
    slot = 2 * (key & (len(table) // 2 - 1))
    entry = table[slot + 1]
    if entry == 0 or table[slot] == key or (entry >> 2 & 0xFF) <= depth or bound == EXACT:
        table[slot] = key
        table[slot + 1] = ((value + INFINITY) << 24) | (move + 1) << 10 | depth << 2 | bound


# ---------------------------------------------------------------------------------------------
# Kernels


@cache
def _steps(rules: ModuleType, values: ModuleType) -> tuple[Any, Any]:
    """The kernels ``static`` (the value of a position) and ``descend`` (makes a move)."""
    at = layout(rules, values)

    @bare_kernel
    def static(work, state, heuristic):
        """The value of a position to the player to move."""
        if state[RESULT] == UNFINISHED:
            return np.int64(values.noted_value(state, heuristic, work.weights))
        if state[RESULT] == DRAW:
            return work.memory[at.draw] if state[PLAYER] == 0 else -work.memory[at.draw]
        return WIN - state[PLY] if state[RESULT] == FIRST + state[PLAYER] else state[PLY] - WIN

    @bare_kernel
    def descend(work, level, move):
        """Make a move into the state of the next level."""
        row = level * at.row
        for word in range(row, row + rules.WORDS + values.COPIED):
            work.memory[at.row + word] = work.memory[word]
        after = work.memory[row + at.row : row + at.row + at.moves]
        rules.play(after, move)
        values.follow(work.memory[row : row + at.moves], after, move, work.weights)

    return static, descend


@cache
def _quiescence(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``quiet``."""
    at = layout(rules, values)
    static, descend = _steps(rules, values)

    @bare_kernel
    def quiet(work, level, left, alpha, beta, heuristic, control):
        """The value after the moves that win something, or without any of them, whichever is better for the player."""
        row = level * at.row
        state = work.memory[row : row + at.moves]
        if stops(control):
            return ROOT
        best = static(work, state, heuristic)
        if state[RESULT] != UNFINISHED or left == 0 or best >= beta:
            return best
        alpha = max(alpha, best)
        for index in range(values.sharp(state, work.memory[row + at.moves : row + at.killers])):
            descend(work, level, work.memory[row + at.moves + index])
            if work.memory[row + at.row + PLAYER] == state[PLAYER]:
                value = quiet(work, level + ONE, left - ONE, alpha, beta, heuristic, control)
            else:
                value = -quiet(work, level + ONE, left - ONE, -beta, -alpha, heuristic, control)
            best = max(best, value)
            alpha = max(alpha, best)
            if alpha >= beta:
                break
        return best

    return quiet


@cache
def _margins(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``beyond``."""
    at = layout(rules, values)
    static, _ = _steps(rules, values)
    quiet = _quiescence(rules, values)

    @bare_kernel
    def beyond(work, level, depth, alpha, beta, heuristic, control):
        """Whether a position near the leaves is so far beyond a narrow window that it is not searched, and its value.

        If it is above the window (reverse futility pruning), this is the value without a search; if it is below
        (razoring), the one after the moves that win something.
        """
        if level == 0 or depth > values.MARGIN_PLIES or beta - alpha != 1 or abs(beta) > WIN - 1000:
            return False, ROOT
        row = level * at.row
        value = static(work, work.memory[row : row + at.moves], heuristic)
        if value - values.MARGIN * depth >= beta:
            return True, value
        if value + values.MARGIN_BELOW * depth <= alpha:
            value = quiet(work, level, _QUIET_PLIES, alpha, beta, heuristic, control)
            return value <= alpha or control[STOPPED] != 0, value
        return False, ROOT

    return beyond


@cache
def _move_order(rules: ModuleType, values: ModuleType) -> tuple[Any, Any, Any]:
    """The kernels ``order``, ``take`` and ``record_cutoff``."""
    at = layout(rules, values)

    @bare_kernel
    def order(work, level, number, first):
        """Write the rank of each move of a level in the order of search into the higher bits of the move."""
        # The order: the table's move, the killers of this level, then the rest by history.
        row = level * at.row
        history = at.history + work.memory[row + PLAYER] * rules.MOVES
        one, other = work.memory[row + at.killers], work.memory[row + at.killers + 1]
        for place in range(row + at.moves, row + at.moves + number):
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
        # One step of a selection sort: a cut-off often comes early, so that the rest need not be sorted.
        first = level * at.row + at.moves
        best, most = index, work.memory[first + index]
        for other in range(index + 1, number):
            if work.memory[first + other] >> 14 > most >> 14:
                best, most = other, work.memory[first + other]
        work.memory[first + best] = work.memory[first + index]
        work.memory[first + index] = most
        return most & 0x3FFF

    @bare_kernel
    def record_cutoff(work, level, move, depth):
        """Record a move that caused a cut-off, in the killers and the history."""
        # Deep cut-offs save more nodes, and count for more in the history.  The newest killer comes first.
        row = level * at.row
        work.memory[at.history + work.memory[row + PLAYER] * rules.MOVES + move] += depth * depth
        if work.memory[row + at.killers] != move:
            work.memory[row + at.killers + 1] = work.memory[row + at.killers]
            work.memory[row + at.killers] = move

    return order, take, record_cutoff


@cache
def _principal_variation(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``search``."""
    at = layout(rules, values)
    static, descend = _steps(rules, values)
    order, take, record_cutoff = _move_order(rules, values)
    quiet = _quiescence(rules, values)
    beyond = _margins(rules, values)

    @bare_kernel
    def search(work, level, depth, alpha, beta, heuristic, control):
        """The value of the position of a level to the player to move."""
        row = level * at.row
        state, table = work.memory[row : row + at.moves], work.memory[at.table :]
        # Ends have their value; at the leaves, quiescence follows the moves that win something.
        if state[RESULT] != UNFINISHED:
            control[NODES] += 1
            return static(work, state, heuristic)
        if depth <= 0:
            control[CUT] = 1
            return quiet(work, level, _QUIET_PLIES, alpha, beta, heuristic, control)
        if stops(control):
            return ROOT
        # An entry of the table that is deep enough answers; else its best move is tried first.  The root needs a move,
        # and is always searched.
        enough, value, first = _look_up(table, state[KEY], depth, alpha, beta)
        if enough and level > 0:
            control[CUT] = 1
            return value
        # Near the leaves, a position far beyond the window is pruned.
        enough, value = beyond(work, level, depth, alpha, beta, heuristic, control)
        if enough:
            control[CUT] = 1
            return value
        number = rules.legal(state, work.memory[row + at.moves : row + at.killers])
        order(work, level, number, first)
        best, chosen, floor = -INFINITY, np.int64(-1), alpha
        for index in range(number):
            move = take(work, level, index, number)
            descend(work, level, move)
            # Principal variation search: the first move is expected to be the best, so a null window only asks whether
            # another one is better, late moves first to a smaller depth; where the answer is yes, the move is searched
            # again.  A second move of the same player has the full window.
            if work.memory[row + at.row + PLAYER] == state[PLAYER]:
                value = search(work, level + ONE, depth - ONE, floor, beta, heuristic, control)
            elif index == 0:
                value = -search(work, level + ONE, depth - ONE, -beta, -floor, heuristic, control)
            else:
                less = values.reduction(depth, index)
                value = -search(work, level + ONE, depth - ONE - less, -floor - ONE, -floor, heuristic, control)
                if less > 0 and value > floor:
                    value = -search(work, level + ONE, depth - ONE, -floor - ONE, -floor, heuristic, control)
                if floor < value < beta:
                    value = -search(work, level + ONE, depth - ONE, -beta, -floor, heuristic, control)
            # After a limit, only the moves at the root that were searched to their end count.
            if control[STOPPED] != 0:
                return best if level == 0 and index > 0 else ROOT
            # A value from beta up refutes the opponent's last move: the other moves need no search.
            if value > best:
                best, chosen = value, move
                if level == 0:
                    work.memory[at.best] = move
            floor = max(floor, best)
            if floor >= beta:
                record_cutoff(work, level, move, depth)
                break
        # Beyond the window, the value is only a bound.
        bound = AT_LEAST if best >= beta else (EXACT if best > alpha else AT_MOST)
        _keep(table, state[KEY], depth, best, chosen, bound)
        return best

    return search


@cache
def search_kernel(rules: ModuleType, values: ModuleType) -> Any:
    """The kernel ``choose`` for a game's rules and heuristics."""
    at = layout(rules, values)
    search = _principal_variation(rules, values)

    @bare_kernel
    def prepare(work, draw):
        """Write the notes of the root, clear the killers, and reduce the numbers of the history."""
        state = work.memory[: at.moves]
        values.note(state, work.weights)
        rules.legal(state, work.memory[at.moves : at.killers])
        for level in range(at.levels):
            work.memory[level * at.row + at.killers] = work.memory[level * at.row + at.killers + 1] = -1
        for place in range(at.history, at.table):
            work.memory[place] >>= 3
        work.memory[at.draw] = draw if state[PLAYER] == 0 else -draw

    @bare_kernel
    def choose(work, heuristic, deepest, draw, control):
        """The move in the position at the beginning of the memory, which must not be an end.

        A draw has the value `draw` for the player to move there.
        """
        prepare(work, draw)
        answer = work.memory[at.moves]
        control[REACHED] = 0
        for depth in range(ONE, deepest + ONE):
            control[CUT] = 0
            work.memory[at.best] = -1
            value = search(work, ROOT, depth, -INFINITY, INFINITY, heuristic, control)
            if work.memory[at.best] >= 0:
                answer = work.memory[at.best]  # also from an unfinished search: it began with the old answer
            if control[STOPPED] != 0:
                break
            control[REACHED], control[VALUE] = depth, value
            if control[CUT] == 0 or abs(value) > WIN - 1000:
                break
        return answer

    return choose
