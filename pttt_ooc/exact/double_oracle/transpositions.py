"""Infosets from which a search goes on in the same way, because the opponent's positions are the same.

The order of the responder's attempts matters only as far as the opponent noticed it.  Where two orders lead to the same
positions of the opponent, with the same reach, and the responder has the same marks and failures, the same can be won.
So what was proven about one infoset bounds the other.

An entry has a stamp, the number of the subtree: what is known does not depend on who searched other subtrees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.double_oracle.clairvoyance import mix
from pttt_ooc.jit import piece

ENTRIES = 1 << 16
"""Number of infosets that are kept, a power of 2; of those that share an entry, the last one."""


BYTES = 32 * ENTRIES
"""The size of all arrays together."""


class Transpositions(NamedTuple):
    """What was proven about infosets.

    Attributes
    ----------
    keys : uint64 (entries, 2)
        The infosets.
    bounds : float64 (entries,)
        At least what a best response gets from there on.
    stamps : int64 (entries,)
        The subtree in which an entry was made; 0: none.
    now : int64 (1,)
        The subtree that is searched.
    """

    keys: NDArray[np.uint64]
    bounds: NDArray[np.float64]
    stamps: NDArray[np.int64]
    now: NDArray[np.int64]


def new_transpositions(entries: int = ENTRIES) -> Transpositions:
    """Arrays in which nothing is known."""
    return Transpositions(
        np.zeros((entries, 2), np.uint64), np.zeros(entries), np.zeros(entries, np.int64), np.ones(1, np.int64)
    )


@piece
def transposition_key(digests: Any, positions: Any, span: Any, own: int, tried: int, stabiliser: int) -> Any:
    """Two words of an infoset: what the responder knows, and the opponent's positions in any order.

    Parameters
    ----------
    digests
        Digests of what the opponent does from their infosets on.
    positions, span
        The opponent's positions, the first and the end.
    own, tried, stabiliser
        The responder's marks, failed squares and stabiliser.
    """
    one = mix(np.uint64(own) | (np.uint64(tried) << np.uint64(16)) | (np.uint64(stabiliser) << np.uint64(32)))
    two = mix(one)
    reach = positions.reach.view(np.uint64)
    for k in range(span[0], span[1]):
        infoset = positions.infosets[k]
        known = np.uint64(positions.marks[k]) | (np.uint64(positions.fails[k]) << np.uint64(16))
        known |= (np.uint64(positions.stabilisers[k]) << np.uint64(32)) | (
            np.uint64(positions.orientations[k]) << np.uint64(40)
        )
        word = mix(known) ^ reach[k]
        if infoset >= 0:
            word = mix(word) + digests[infoset, 0]
        one += mix(word)
        two += mix(mix(word) ^ (digests[infoset, 1] if infoset >= 0 else np.uint64(0)))
    return one, two


@piece
def proven(known: Any, one: Any, two: Any, unknown: float) -> float:
    """The bound of an infoset; `unknown` if there is none."""
    entry = np.int64(one & np.uint64(len(known.stamps) - 1))
    if known.stamps[entry] == known.now[0] and known.keys[entry, 0] == one and known.keys[entry, 1] == two:
        return float(known.bounds[entry])
    return unknown


@piece
def note(known: Any, one: Any, two: Any, bound: float) -> None:
    """Keep the bound of an infoset."""
    entry = np.int64(one & np.uint64(len(known.stamps) - 1))
    known.keys[entry, 0], known.keys[entry, 1], known.bounds[entry] = one, two, bound
    known.stamps[entry] = known.now[0]
