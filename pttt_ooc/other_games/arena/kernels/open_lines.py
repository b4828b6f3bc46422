"""The lines of a k-in-a-row board that Breaker has not prevented, and what they make of a position.

A line is *open* without a mark of Breaker, and it *counts* if no neighbour makes it needless.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import piece
from pttt_ooc.other_games.arena.kernels.line_pairs import OPEN, lowest, set_bits

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_DEAD, _IDLE = 0, 2  # beside OPEN


@piece
def within(on, one, other):
    """Whether all open lines of a square are lines of another one, too."""
    outside = _ZERO
    for word in range(on.shape[1]):
        outside |= on[one, word] & ~on[other, word]
    return outside == _ZERO


@piece
def _open_lines(lines, following, maker, free, state):
    """Mark the lines that count in `state`, and return the squares that are on them.

    If the free squares of a line are all on another line, that other line does not count: Breaker needs a square of the
    first one anyway.  Only neighbours in one direction are compared.
    """
    for n in range(len(lines)):
        state[n] = OPEN if lines[n] & ~(maker | free) == _ZERO else _DEAD
    for n in range(len(lines)):
        other = following[n]
        if other >= 0 and state[n] != _DEAD and state[other] != _DEAD:
            one_free, other_free = lines[n] & free, lines[other] & free
            if one_free & ~other_free == _ZERO:
                state[other] = _IDLE
            elif other_free & ~one_free == _ZERO:
                state[n] = _IDLE
    live = _ZERO
    for n in range(len(lines)):
        if state[n] == OPEN:
            live |= lines[n]
    return live


@piece
def _incidence(lines, free, state, on):
    """Write the open lines of each square to `on`; return the squares that alone are missing, and the danger."""
    on[:] = _ZERO
    single, danger, number = _ZERO, 0.0, 0
    for n in range(len(lines)):
        if state[n] != OPEN:
            continue
        rest = lines[n] & free
        missing = set_bits(rest)
        danger += 2.0**-missing
        if missing == 1:
            single |= rest
        bit = _ONE << np.uint64(number & 63)
        while rest != _ZERO:
            low = lowest(rest)
            rest ^= low
            on[set_bits(low - _ONE), number >> 6] |= bit
        number += 1
    return single, danger, number


@piece
def _twins(free, on):
    """Pairs of free squares with the same open lines, no square in two of them."""
    found = _ZERO
    rest = free
    while rest != _ZERO:
        low = lowest(rest)
        rest ^= low
        others = rest
        while others != _ZERO:
            other = lowest(others)
            others ^= other
            one, two = set_bits(low - _ONE), set_bits(other - _ONE)
            if within(on, one, two) and within(on, two, one):
                found |= low | other
                rest &= ~other
                break
    return found


@piece
def simplify(lines, following, maker, free, on, state):
    """A position with the same answer, in which only squares of open lines are left.

    Two free squares with the same open lines go to Breaker: whenever Maker takes one of them, Breaker takes the other
    one, so that none of these lines is ever completed, and neither square has another use.

    Parameters
    ----------
    lines
        uint64, shape (lines,): the squares of each line.
    following
        int64, shape (lines,): the number of the line that begins one square further in the same direction, or -1.
    maker, free
        uint64: Maker's marks, and the free squares.
    on
        Scratch: uint64, shape (squares, words): the open lines of each free square, as bits.
    state
        Scratch: int8, shape (lines,): which lines count.

    Returns
    -------
    maker, free
        The position.
    single
        The squares that alone are missing in a line.
    danger
        The sum over open lines of ``2 ** -free squares``.
    open_lines
        Their number.
    twins
        The squares that have gone to Breaker in this way.
    """
    twins = _ZERO
    while True:
        # Marks and squares off the lines that count have no use.
        live = _open_lines(lines, following, maker, free, state)
        maker &= live
        free &= live
        single, danger, open_lines = _incidence(lines, free, state, on)
        # Twins go to Breaker and close their lines; then further squares may be without use, or twins.
        gone = _twins(free, on)
        if gone == _ZERO:
            return maker, free, single, danger, open_lines, twins
        free &= ~gone
        twins |= gone
