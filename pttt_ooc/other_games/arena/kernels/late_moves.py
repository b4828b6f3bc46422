"""By how many plies the first search of a late move is reduced; an evaluation takes one of these as ``reduction``.

A move that stands late in the order of the search seldom is the best.  It is searched to a smaller depth first, and to
the full depth only if it then seems better than the best move so far (late move reductions).
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import piece

_LEAST_DEPTH, _LATE, _LATER = 3, 3, 8
_MOST = 81

_LOGARITHMS = np.zeros((_MOST + 1, _MOST + 1), dtype=np.int8)
"""By the depth and the place of a move."""
for _depth in range(_LEAST_DEPTH, _MOST + 1):
    for _place in range(2, _MOST + 1):
        _LOGARITHMS[_depth, _place] = min(_depth - 1, int(0.5 + np.log(_depth) * np.log(_place + 1) / 2))


@piece
def by_steps(depth, place):
    """A ply from the fourth move on, and two from the ninth one on.

    Parameters
    ----------
    depth
        Of the position before the move, in plies, at most 81.
    place
        Of the move in the order, from 0 on.
    """
    if depth < _LEAST_DEPTH:
        return np.int64(0)
    return np.int64(place >= _LATE) + np.int64(place >= _LATER)


@piece
def by_logarithms(depth, place):
    """From the third move on, half a ply and half the product of both logarithms, rounded down.

    The arguments are those of :func:`by_steps`.
    """
    return np.int64(_LOGARITHMS[depth, place])
