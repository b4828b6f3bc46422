"""The Maker-Breaker form of k-in-a-row: *Maker* wants a line, *Breaker* only wants to prevent it.

Breaker's own lines do not count, so that more positions are the same than in the game itself.  If Maker, who begins,
cannot force a line, then the first player of the game cannot either; the converse does not hold.

A position is Maker's marks and the free squares, two words; a board has at most 64 squares.  A line without a mark of
Breaker is *open*.  Maker wins by taking all squares of an open line.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import kernel, piece
from pttt_ooc.other_games.arena.research.kernels.open_lines import (
    NONE,
    OPEN,
    OWNER,
    breaker_holds,
    lowest,
    set_bits,
    simplify,
    within,
)

NO, YES, STOPPED = 0, 1, 2
_UNKNOWN = -1
_SIDE = 2  # added to an answer in the table if Maker is to move

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_HALF = np.uint64(32)
_BYTE = np.uint64(255)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_BREAKER_BASE = 1.5
"""Breaker first takes the square with the largest sum of ``1.5 ** -free squares`` over its lines.  With a base of 2, as
in the bound, the search takes two to three times as many nodes on 7 x 6 and 8 x 6 squares."""

_MAKER_TRIALS, _BREAKER_TRIALS = 16, 8
"""Squares on which a mark of Breaker is tried before a position is searched, those with the largest sum first."""

_PAIRS_BELOW = 2.0
"""The danger up to which pairs are sought: beyond it, they are hardly ever enough."""


@piece
def _image(images, symmetry, word):
    """Where a symmetry takes squares."""
    found = _ZERO
    for n in range(images.shape[1]):
        found |= images[symmetry, n, np.int64((word >> np.uint64(8 * n)) & _BYTE)]
    return found


@piece
def _key(images, maker, free):
    """The least image of a position: the same for all positions that are symmetric."""
    first, second = maker, free
    for symmetry in range(1, len(images)):
        one = _image(images, symmetry, maker)
        if one <= first:
            other = _image(images, symmetry, free)
            if one < first or other < second:
                first, second = one, other
    return first, second


@piece
def _weigh(form, free, base, worth):
    """Write to `worth` the sum of ``base ** -free squares`` over the open lines of each square; return the largest."""
    worth[:] = 0.0
    for n in range(len(form.lines)):
        if form.state[n] == OPEN:
            rest = form.lines[n] & free
            weight = base ** -set_bits(rest)
            while rest != _ZERO:
                low = lowest(rest)
                rest ^= low
                worth[set_bits(low - _ONE)] += weight
    largest = 0.0
    for square in range(len(worth)):
        largest = max(largest, worth[square])
    return largest


@piece
def _lines_of(on, square):
    number = 0
    for word in range(on.shape[1]):
        number += set_bits(on[square, word])
    return number


@piece
def _free_move(form, free):
    """A square that Maker takes at no cost, or 0.

    Two squares are missing in a line, and one of them is on no other open line.  If Maker takes the other one, Breaker
    must take the first, which is of no use elsewhere.
    """
    for n in range(len(form.lines)):
        rest = form.lines[n] & free
        if form.state[n] == OPEN and set_bits(rest) == 2:
            one = lowest(rest)
            other = rest ^ one
            if _lines_of(form.on, set_bits(one - _ONE)) == 1:
                return other
            if _lines_of(form.on, set_bits(other - _ONE)) == 1:
                return one
    return _ZERO


@piece
def _drop_dominated(moves, on):
    """The moves without those whose open lines are all lines of another move, which is then at least as good."""
    rest = moves
    while rest != _ZERO:
        low = lowest(rest)
        rest ^= low
        others = moves & ~low
        while others != _ZERO:
            other = lowest(others)
            others ^= other
            if within(on, set_bits(low - _ONE), set_bits(other - _ONE)):
                moves &= ~low
                break
    return moves


@piece
def _best(moves, worth):
    """The first of the moves with the largest worth."""
    best, most = _ZERO, -1.0
    while moves != _ZERO:
        low = lowest(moves)
        moves ^= low
        if worth[set_bits(low - _ONE)] > most:
            best, most = low, worth[set_bits(low - _ONE)]
    return best


@kernel
def maker_wins(form, maker, free, maker_moves, budget):
    """Whether Maker can force a line, by alpha-beta with a table of positions.

    Parameters
    ----------
    form
        As :class:`~pttt_ooc.other_games.arena.research.kernels.open_lines.Form`.
    maker, free
        uint64: Maker's marks, and the free squares.
    budget
        int64, shape (2,): nodes visited, and nodes allowed.

    Returns
    -------
    NO, YES, or STOPPED if the budget did not suffice.

    Notes
    -----
    Breaker prevents all lines if the danger is less than 1 and Breaker is to move (P. Erdős and J. L. Selfridge, On a
    combinatorial game, 1973).  If Maker is to move, it must be less than 1 after any move, which doubles the terms of
    the lines of one square.  Beyond this bound, pairs of squares may prevent them
    (:mod:`pttt_ooc.other_games.arena.research.kernels.open_lines`).

    If Breaker, with one more mark, holds a position in which Maker is to move, then Maker must move on that mark's
    square or on one of those on which Breaker's strategy depends: after any other move, Breaker marks that square.

    A loop, not a recursion: the compiler cannot link a recursive kernel from its cache to another one.
    """
    stack, keys = form.stack, form.keys
    stack[0, 0], stack[0, 1] = maker, free
    depth, known = 0, _UNKNOWN
    while True:
        # Downward: count a node, and see what is known of the position without a search.
        if known == _UNKNOWN:  # a position that has been reached by a move
            budget[0] += 1
            if budget[0] > budget[1]:
                return STOPPED
            known = _enter(form, maker_moves, depth)
        else:  # the answer of a position after a move
            # Upward: one answer that the mover wants is enough; after another one the next move is tried, and when none
            # is left the answer stands.  It goes to the table.
            wanted = YES if maker_moves else NO
            if known != wanted and stack[depth, 2] != _ZERO:
                known = _UNKNOWN
            else:
                first, second = stack[depth, 3], stack[depth, 4]
                slot = slot_of(first, second, len(keys))
                keys[slot, 0], keys[slot, 1] = first, second
                form.answers[slot] = known | (_SIDE if maker_moves else 0)
        # With an answer, back to the position before; without one, on to the position after the best move that is left.
        # Either way the other player is to move.
        if known != _UNKNOWN:
            if depth == 0:
                return known
            depth -= 1
        else:
            best = _best(stack[depth, 2], form.worths[depth])
            stack[depth, 2] ^= best
            stack[depth + 1, 0] = stack[depth, 0] | (best if maker_moves else _ZERO)
            stack[depth + 1, 1] = stack[depth, 1] ^ best
            depth += 1
        maker_moves = not maker_moves


@piece
def slot_of(first, second, size):
    """The place of a key in a table."""
    mixed = (first * _MIX + second) * _MIX
    return np.int64((mixed ^ (mixed >> _HALF)) & np.uint64(size - 1))


@piece
def _holds_with(form, square, maker, free):
    """Whether pairs show that Breaker, with one more mark, holds a position in which Maker is to move; and the zone."""
    _, rest, single, _, open_lines, twins = simplify(form, maker, free ^ square)
    if open_lines == 0:
        return True, twins
    if single != _ZERO:
        return False, _ZERO
    holds, zone = breaker_holds(form, rest, True)
    return holds, zone | twins


@piece
def _enter(form, maker_moves, depth):
    """The answer of a position, if it is known at once; else write its moves, their worth and its key."""
    # Known at once: no open line; a line to complete, or two threats that cannot be parried; Erdős and Selfridge's
    # bound, if Breaker is to move.
    stack, keys, worths = form.stack, form.keys, form.worths
    maker, free, single, danger, open_lines, _ = simplify(form, stack[depth, 0], stack[depth, 1])
    if open_lines == 0:
        return NO
    if maker_moves:
        if single != _ZERO:
            return YES
    elif single & (single - _ONE) != _ZERO:
        return YES  # two threats cannot be parried
    elif danger < 1.0:
        return NO
    # If Maker is to move, a move adds to the danger what the lines of its square have.
    largest = _weigh(form, free, 2.0 if maker_moves else _BREAKER_BASE, worths[depth])
    if maker_moves and danger + largest < 1.0:
        return NO
    # The table knows the position up to symmetry, with the side to move.
    first, second = _key(form.images, maker, free)
    slot = slot_of(first, second, len(keys))
    side = _SIDE if maker_moves else 0
    if keys[slot, 0] == first and keys[slot, 1] == second and form.answers[slot] & _SIDE == side:
        return np.int64(form.answers[slot] & YES)
    # A forced move, or one at no cost, is the only one.  Else the candidates are squares that no other square
    # dominates.
    moves = _free_move(form, free) if maker_moves else single
    if moves == _ZERO:
        moves = _drop_dominated(free, form.on)
        rest = _ZERO
        # Where the danger is small, pairs may show that Breaker holds already.
        if danger < _PAIRS_BELOW:
            if breaker_holds(form, free, maker_moves)[0]:
                return NO
            rest = free if maker_moves else moves
        # Else a mark of Breaker is tried on some squares.  If Breaker holds with it, Breaker to move has the answer,
        # and Maker to move must choose from that square and the zone.
        for _ in range(_MAKER_TRIALS if maker_moves else _BREAKER_TRIALS):
            if rest == _ZERO:
                break
            square = _best(rest, worths[depth])
            rest ^= square
            holds, zone = _holds_with(form, square, maker, free)
            if holds:
                moves &= zone | square
                if moves == _ZERO or not maker_moves:
                    return NO
    # Open: leave the simplified position, its moves and its key for the search.
    stack[depth, 0], stack[depth, 1], stack[depth, 2] = maker, free, moves
    stack[depth, 3], stack[depth, 4] = first, second
    return _UNKNOWN


@kernel
def find_pairs(form, maker, free):
    """Whether pairs show that Breaker holds a position in which Maker is to move.

    The position has no two squares with the same open lines.  Afterwards, two squares with the same group in row OWNER
    of `numbers` are a pair.
    """
    maker, free, single, _, open_lines, _ = simplify(form, maker, free)
    form.numbers[OWNER] = NONE
    if open_lines == 0:
        return True
    return single == _ZERO and breaker_holds(form, free, True)[0]
