"""Pairs of free squares by which Breaker prevents lines: a sufficient condition, found by matching.

Whenever Maker takes a square of a pair, Breaker takes the other one, so that a line with both squares of a pair is
never completed.  Neighbouring lines in one direction are put in a group as long as they have two free squares in
common: one pair is enough for a group.  A matching gives each group two squares of its own, as far as possible.

The lines of the groups without a pair count with the squares that are in no pair, as if Maker had all others.  Breaker
prevents them too if their sum of ``2 ** -free squares`` is less than 1 (P. Erdős and J. L. Selfridge, On a
combinatorial game, 1973).  For pairs, see A. W. Hales and R. I. Jewett, Regularity and positional games (1963).
"""

from __future__ import annotations

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
def _group(lines, following, free, state, groups, weights, numbers):
    """Put the lines that count in groups, whose common free squares go to `groups`; return the number of groups."""
    count, alone = 0, True
    for n in range(len(lines)):
        if n == 0 or following[n - 1] != n:
            alone = True
        if state[n] != OPEN:
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
        numbers[GROUP, n] = count - 1
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
def breaker_holds(lines, following, free, state, maker_moves, groups, weights, numbers):
    """Whether pairs, and the sum over the lines without a pair, show that Breaker prevents all lines.

    Parameters
    ----------
    lines, following
        As in :func:`pttt_ooc.other_games.arena.kernels.open_lines.simplify`; a line comes next to the one that follows
        it.
    free, state
        uint64 and int8, shape (lines,): the free squares, and which lines count.
    maker_moves
        Whether Maker is to move.
    groups, weights, numbers
        Scratch: uint64 and float64, shape (lines,); int64, shape (ROWS, at least 64 and the number of lines).  Two
        squares with the same group in row OWNER of `numbers` are a pair afterwards.

    Returns
    -------
    Whether it is so, and the squares on which this strategy depends: it holds if Maker has all others.
    """
    count = _group(lines, following, free, state, groups, weights, numbers)
    used, possible = _match(count, groups, weights, numbers)
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
