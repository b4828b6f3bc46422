"""Patterns of views: everything that the timing operators need to know of a view.

A *pattern* says, for each square of a view, whether the mark was placed or the attempt failed, and which key
square it is, if any.  The squares' positions on the board do not matter, only their order.  A pattern is
one number, so that the patterns of many views are computed, compared and sorted as arrays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pttt_ooc.games.structure.views import Ints, images_of, number_below

FAILED, PLACED, FAILED_ON_SETUP = 0, 1, 2
"""Kinds of squares; the setup is the opponent's."""

# Each square has a few bits, the lowest square the lowest ones: its kind plus 1, and its number among the key squares
# plus 1, or 0 if it is no key square.  Ten squares fit 60 bits.
_KIND_BITS, _KEY_BITS = 2, 4
_SQUARE_BITS = _KIND_BITS + _KEY_BITS
_MOST_SQUARES = 10
_ALL_KINDS = sum((1 << _KIND_BITS) - 1 << _SQUARE_BITS * place for place in range(_MOST_SQUARES))


def codes_of(
    placed: Ints, failed: Ints, hidden: int, keys: tuple[Ints, Ints], group: Sequence[tuple[int, ...]], symmetry: Ints
) -> Ints:
    """The patterns of the images of views under symmetries.

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
        int64, shape (views,): number in `group` of the symmetry applied to each view.

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


def kinds_of(codes: Ints) -> Ints:
    """Patterns without their keys: equal where the kinds of all squares are equal."""
    return codes & _ALL_KINDS


def keys_of(codes: Ints) -> list[Ints]:
    """For each pattern, the positions among the view's squares of key 0, 1, ..."""
    keys, number = np.zeros((len(codes), _MOST_SQUARES), np.int64), np.zeros(len(codes), np.int64)
    for place in range(_MOST_SQUARES):
        key = codes >> _SQUARE_BITS * place + _KIND_BITS & (1 << _KEY_BITS) - 1
        which = np.flatnonzero(key)
        keys[which, key[which] - 1] = place
        number = np.maximum(number, key)
    return [own[:some] for own, some in zip(keys, number.tolist(), strict=True)]


def squares_of(code: int, kind: int) -> int:
    """The squares of one kind as a bit mask, where the squares of the view are numbered 0, 1, 2, ..."""
    kinds = (code >> _SQUARE_BITS * place & (1 << _KIND_BITS) - 1 for place in range(_MOST_SQUARES))
    return sum(1 << place for place, own in enumerate(kinds) if own == kind + 1)
