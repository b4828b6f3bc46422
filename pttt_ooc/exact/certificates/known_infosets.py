"""The responder's infosets that an integer search has been to: another order of attempts may lead to the same.

They are recognised by the responder's marks and failures and by the opponent's infosets, and not by a digest: a proof
rests on them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.exact.certificates.limbs import Limbs, copy
from pttt_ooc.exact.double_oracle.clairvoyance import mix
from pttt_ooc.jit import piece

_POSITIONS = 8  # space for so many of the opponent's infosets to an entry


class Known(NamedTuple):
    """What was found there.

    Attributes
    ----------
    counts : int64 (2,)
        Number of entries, and of positions of all entries.
    slots : int32 (slots,)
        1 + an entry; 0: an empty slot.
    heads : int64 (entries + 1, 2)
        The responder's marks and failed squares, 16 bits each; and where the positions begin.
    positions : int32
        The opponent's infosets.
    bounds : int64 (entries, limbs)
        At least what the responder gets.
    """

    counts: NDArray[np.int64]
    slots: NDArray[np.int32]
    heads: NDArray[np.int64]
    positions: NDArray[np.int32]
    bounds: Limbs


def new_known(entries: int, limbs: int) -> Known:
    """Space for so many infosets; what does not fit is not kept."""
    return Known(
        counts=np.zeros(2, np.int64),
        slots=np.zeros(2 * entries, np.int32),
        heads=np.zeros((entries + 1, 2), np.int64),
        positions=np.zeros(_POSITIONS * entries, np.int32),
        bounds=np.zeros((entries, limbs), np.int64),
    )


@piece
def find_known(known: Any, positions: Any, at: Any) -> Any:
    """The slot of an infoset of the responder, or the empty one that it may take; and its entry, or -1."""
    own, tried, begin, end = at
    head = (own << 16) | tried
    word = mix(np.uint64(head) + np.uint64(1))
    for k in range(begin, end):
        word = mix(word + np.uint64(positions[k]))
    slot, last = np.int64(word & np.uint64(len(known.slots) - 1)), len(known.slots) - 1
    while known.slots[slot]:
        entry = np.int64(known.slots[slot]) - 1
        first = known.heads[entry, 1]
        same = known.heads[entry, 0] == head and known.heads[entry + 1, 1] - first == end - begin
        place = np.int64(0)
        while same and place < end - begin:
            same = known.positions[first + place] == positions[begin + place]
            place += 1
        if same:
            return slot, entry
        slot = (slot + 1) & last
    return slot, np.int64(-1)


@piece
def keep_known(known: Any, positions: Any, at: Any, bound: Any) -> None:
    """Keep what was found at an infoset of the responder, if there is space."""
    own, tried, begin, end = at
    slot, entry = find_known(known, positions, at)  # again, since others have been kept meanwhile
    if entry < 0:
        entry, first = known.counts[0], known.counts[1]
        if entry == len(known.bounds) or first + end - begin > len(known.positions):
            return
        known.counts[0] += 1
        known.counts[1] += end - begin
        known.slots[slot] = entry + 1
        known.heads[entry, 0], known.heads[entry + 1, 1] = (own << 16) | tried, known.counts[1]
        for k in range(end - begin):
            known.positions[first + k] = positions[begin + k]
    copy(bound, known.bounds[entry])
