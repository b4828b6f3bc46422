"""The open lines of a k-in-a-row board, the simpler positions that follow from them, and pairs of squares.

A line without a mark of Breaker is *open*, and it *counts* if no neighbour makes it redundant.

Pairs of free squares prevent lines: whenever Maker takes a square of a pair, Breaker takes the other one, so that a
line with both squares of a pair is never completed.  Neighbouring lines in one direction are put in a group as long as
they have two free squares in common: one pair is enough for a group.  A matching gives each group two squares of its
own, as far as possible.  The lines of the groups without a pair count with the squares that are in no pair, as if Maker
had all others.  Breaker prevents them too if their sum of ``2 ** -free squares`` is less than 1 (P. Erdős and J. L.
Selfridge, On a combinatorial game, 1973).  For pairs, see A. W. Hales and R. I. Jewett, Regularity and positional games
(1963).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import piece

OPEN = 1
"""The state of a line that counts."""

OWNER, CAME, GIVER, QUEUE, GROUP = range(5)
"""Rows of `numbers`: the group of a square, the square through which the search came to a group, the group that asks
for a square, the groups to visit, and the group of a line."""
ROWS = 5
NONE = -1

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_NOT_REACHED = -2
_DEAD, _IDLE = 0, 2  # beside OPEN


class Form(NamedTuple):
    """The Maker-Breaker form of a board, a table of its positions, and scratch.

    Attributes
    ----------
    lines
        uint64, shape (lines,): the squares of each line; a line comes next to the one that follows it.
    following
        int64, shape (lines,): the number of the line that begins one square further in the same direction, or -1.
    images
        uint64, shape (symmetries, bytes, 256): where each symmetry takes the squares of each byte; the identity first.
    keys, answers
        The table: uint64, shape (size, 2), and int8, of a size that is a power of two; the latest position stays.
    stack
        Scratch: uint64, shape (depths, 5): Maker's marks, the free squares, the moves left, and the key.
    on
        Scratch: uint64, shape (squares, words): the open lines of each free square, as bits.
    state
        Scratch: int8, shape (lines,): which lines count.
    worths
        Scratch: float64, shape (depths, squares).
    groups, weights, numbers
        Scratch: uint64 and float64, shape (lines,); int64, shape (ROWS, at least 64 and the number of lines).
    """

    lines: Any
    following: Any
    images: Any
    keys: Any
    answers: Any
    stack: Any
    on: Any
    state: Any
    worths: Any
    groups: Any
    weights: Any
    numbers: Any


@piece
def set_bits(word):
    """The number of bits that are set in 64."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@piece
def lowest(word):
    """The lowest bit that is set."""
    return word & (~word + _ONE)


@piece
def _group(form, free):
    """Put the lines that count in groups, whose common free squares go to `groups`; return the number of groups."""
    lines, groups, weights = form.lines, form.groups, form.weights
    count, alone = 0, True
    for n in range(len(lines)):
        if n == 0 or form.following[n - 1] != n:
            alone = True
        if form.state[n] != OPEN:
            continue
        rest = lines[n] & free
        weight = 2.0 ** -set_bits(rest)
        common = _ZERO if alone else groups[count - 1] & rest
        if common & (common - _ONE) != _ZERO:  # two squares at least
            groups[count - 1] = common
            weights[count - 1] += weight
        else:
            groups[count], weights[count] = rest, weight
            count += 1
        alone = False
        form.numbers[GROUP, n] = count - 1
    return count


@piece
def _give(group, count, groups, used, numbers):
    """Give a group one more square, by a search of an alternating path; return the squares in use, or 0 if it has none.

    A square that another group has is given up if that group finds another one.
    """
    for other in range(count):
        numbers[CAME, other] = _NOT_REACHED
    numbers[CAME, group], numbers[QUEUE, 0] = NONE, group
    begin, end, asked = 0, 1, _ZERO
    while begin < end:
        one = numbers[QUEUE, begin]
        begin += 1
        unused = groups[one] & ~used
        if unused != _ZERO:
            bit = lowest(unused)
            square = set_bits(bit - _ONE)
            numbers[OWNER, square] = one
            while numbers[CAME, one] != NONE:
                square = numbers[CAME, one]
                one = numbers[GIVER, square]
                numbers[OWNER, square] = one
            return used | bit
        rest = groups[one] & ~asked
        asked |= rest
        while rest != _ZERO:
            bit = lowest(rest)
            rest ^= bit
            square = set_bits(bit - _ONE)
            owner = numbers[OWNER, square]
            if numbers[CAME, owner] == _NOT_REACHED:
                numbers[CAME, owner], numbers[GIVER, square], numbers[QUEUE, end] = square, one, owner
                end += 1
    return _ZERO


@piece
def _match(count, groups, weights, numbers):
    """Give two squares each to groups, those with the largest weight first; return the squares in use.

    The weight of a group becomes 0, or negative if it has no pair.
    """
    used, lost = _ZERO, 0.0
    numbers[OWNER] = NONE
    for _ in range(count):
        group = 0
        for other in range(1, count):
            if weights[other] > weights[group]:
                group = other
        one = _give(group, count, groups, used, numbers)
        both = _ZERO if one == _ZERO else _give(group, count, groups, one, numbers)
        if both != _ZERO:
            used, weights[group] = both, 0.0
            continue
        lost += weights[group]
        if lost >= 1.0:
            break
        weights[group] = -1.0
        if one != _ZERO:
            used = one
            for square in range(numbers.shape[1]):
                if numbers[OWNER, square] == group:
                    numbers[OWNER, square] = NONE
                    used ^= _ONE << np.uint64(square)
    return used, lost < 1.0


@piece
def breaker_holds(form, free, maker_moves):
    """Whether pairs, and the sum over the lines without a pair, show that Breaker prevents all lines.

    Two squares with the same group in row OWNER of `numbers` are a pair afterwards.

    Parameters
    ----------
    form
        With the lines that count in `state`.
    free
        uint64: the free squares.
    maker_moves
        Whether Maker is to move.

    Returns
    -------
    Whether they do, and the squares on which this strategy depends: it holds if Maker has all others.
    """
    lines, state, weights, numbers = form.lines, form.state, form.weights, form.numbers
    count = _group(form, free)
    used, possible = _match(count, form.groups, weights, numbers)
    if not possible:
        return False, _ZERO
    zone, alone, danger, largest = used, free & ~used, 0.0, 0.0
    for n in range(len(lines)):
        if state[n] == OPEN and weights[numbers[GROUP, n]] < 0.0:
            danger += 2.0 ** -set_bits(lines[n] & alone)
            zone |= lines[n] & alone
    if maker_moves and danger > 0.0:
        rest = zone & alone
        while rest != _ZERO:
            bit = lowest(rest)
            rest ^= bit
            worth = 0.0
            for n in range(len(lines)):
                if state[n] == OPEN and weights[numbers[GROUP, n]] < 0.0 and lines[n] & bit != _ZERO:
                    worth += 2.0 ** -set_bits(lines[n] & alone)
            largest = max(largest, worth)
    return danger + largest < 1.0, zone


@piece
def within(on, one, other):
    """Whether all open lines of a square are lines of another one, too."""
    outside = _ZERO
    for word in range(on.shape[1]):
        outside |= on[one, word] & ~on[other, word]
    return outside == _ZERO


@piece
def _open_lines(form, maker, free):
    """Mark the lines that count in `state`, and return the squares that are on them.

    If the free squares of a line are all on another line, that other line does not count: Breaker needs a square of the
    first one anyway.  Only neighbours in one direction are compared.
    """
    lines, state = form.lines, form.state
    for n in range(len(lines)):
        state[n] = OPEN if lines[n] & ~(maker | free) == _ZERO else _DEAD
    for n in range(len(lines)):
        other = form.following[n]
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
def _incidence(form, free):
    """Write the open lines of each square to `on`; return the squares that complete a line, and the danger."""
    lines, on = form.lines, form.on
    on[:] = _ZERO
    single, danger, number = _ZERO, 0.0, 0
    for n in range(len(lines)):
        if form.state[n] != OPEN:
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
def simplify(form, maker, free):
    """A position with the same answer, in which only squares of open lines are left.

    Two free squares with the same open lines go to Breaker: whenever Maker takes one of them, Breaker takes the other
    one, so that none of these lines is ever completed, and neither square has another use.

    Parameters
    ----------
    form
        Its `on` and `state` are written.
    maker, free
        uint64: Maker's marks, and the free squares.

    Returns
    -------
    maker, free
        The position.
    single
        The squares that complete a line.
    danger
        The sum over open lines of ``2 ** -free squares``.
    open_lines
        The number of open lines.
    twins
        The squares that have gone to Breaker in this way.
    """
    twins = _ZERO
    while True:
        # Marks and squares off the lines that count have no use.
        live = _open_lines(form, maker, free)
        maker &= live
        free &= live
        single, danger, open_lines = _incidence(form, free)
        # Twins go to Breaker and close their lines; then further squares may be without use, or twins.
        gone = _twins(free, form.on)
        if gone == _ZERO:
            return maker, free, single, danger, open_lines, twins
        free &= ~gone
        twins |= gone
