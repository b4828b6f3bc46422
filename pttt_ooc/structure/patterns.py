"""Patterns of views: all that the timing operators ask of a view.

A *pattern* tells, for each square of a view, whether the mark was placed or the attempt failed, and which key
square it is, if any.  Which squares of the board these are does not matter, except for their order.  A pattern is
kept as one number, so that the patterns of many views are made, compared and sorted as arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pttt_ooc.structure.views import Ints, images_of, number_below

Kinds = tuple[int, ...]
"""For each square of a view, ascending: 0 failed, 1 placed, 2 failed on a mark of the opponent's setup."""

Pattern = tuple[tuple[int, int], ...]
"""For each square of a view, ascending: its kind, and its number among the key squares or :data:`NO_KEY`."""

NO_KEY = -1

# Of the number of a pattern, each square has a few bits: ten squares fit 60 bits.
_KIND_BITS, _KEY_BITS = 2, 4
_SQUARE_BITS = _KIND_BITS + _KEY_BITS
_ALL_KINDS = sum((1 << _KIND_BITS) - 1 << _SQUARE_BITS * place for place in range(10))


def codes_of(
    placed: Ints, failed: Ints, hidden: int, keys: tuple[Ints, Ints], group: Sequence[tuple[int, ...]], symmetry: Ints
) -> Ints:
    """The patterns of the images of views under symmetries, as numbers: see :func:`decoded`.

    Parameters
    ----------
    placed, failed
        int64, shape (views,): masks of a player's squares.
    hidden
        Mask of the opponent's setup.
    keys
        Masks of key squares; the squares of the first are numbered before those of the second.
    group
        Symmetries of the board, each as the images of its squares.
    symmetry
        int64, shape (views,): number in `group` of the symmetry that is applied to each view.

    Returns
    -------
    int64, shape (views,).
    """
    tried, permutations = placed | failed, np.array(group)
    image, code = images_of(group)[symmetry, tried], np.zeros_like(placed)
    for square in range(permutations.shape[1]):
        kind = (placed >> square & 1) + 2 * ((failed & hidden) >> square & 1)
        first, second = (1 + number_below(k, square) for k in keys)
        key = np.where(keys[0] >> square & 1, first, 0)
        key += np.where(keys[1] >> square & 1, np.bitwise_count(keys[0]) + second, 0)
        place = number_below(image, permutations[symmetry, square])
        code += (tried >> square & 1) * ((1 + kind | key << _KIND_BITS) << _SQUARE_BITS * place)
    return code


def decoded(code: int) -> Pattern:
    """The pattern that a number stands for: for each square it has the kind plus 1 and the key number plus 1."""
    squares = [int(code) >> shift for shift in range(0, int(code).bit_length(), _SQUARE_BITS)]
    return tuple((c % (1 << _KIND_BITS) - 1, (c >> _KIND_BITS) % (1 << _KEY_BITS) - 1) for c in squares)


def kinds_of(codes: Ints) -> Ints:
    """Numbers of patterns without their keys: equal where the kinds of all squares are equal."""
    return codes & _ALL_KINDS


def keys_of(pattern: Pattern) -> Ints:
    """Position, among a view's squares, of key 0, 1, ..."""
    return np.array([i for _, i in sorted((key, i) for i, (_, key) in enumerate(pattern) if key != NO_KEY)], np.int64)


def count_of(pattern: Pattern, kind: int) -> int:
    """Number of a view's squares of one kind."""
    return sum(k == kind for k, _ in pattern)
