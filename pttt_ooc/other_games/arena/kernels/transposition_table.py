"""A transposition table of limited size, with chains; a full table replaces its oldest entry, or keeps no new one.

Each entry is a position with the depth to which it was searched, a value, and whether that value is exact or a bound.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import piece

EXACT, AT_LEAST, AT_MOST = 0, 1, 2


class Memory(NamedTuple):
    """A table of at most ``len(keys)`` entries.

    Attributes
    ----------
    heads
        int32: for each slot of the hash table, the first entry of its chain, or -1; its length is a power of two.
    following
        int32, shape (entries,): the next entry of the same chain, or -1.
    keys, values
        int64, shape (entries,).
    bounds
        int8, shape (entries,): EXACT, AT_LEAST or AT_MOST.
    filled
        int64, shape (2,): the number of entries, and the entry that is overwritten next.
    """

    heads: Any
    following: Any
    keys: Any
    values: Any
    bounds: Any
    filled: Any


def memory(entries: int) -> Memory:
    """An empty table for this many entries; with room for none, it keeps nothing."""
    slots = 1 << max(1, entries - 1).bit_length()
    return Memory(
        np.full(slots, -1, dtype=np.int32),
        np.zeros(entries, dtype=np.int32),
        np.zeros(entries, dtype=np.int64),
        np.zeros(entries, dtype=np.int64),
        np.zeros(entries, dtype=np.int8),
        np.zeros(2, dtype=np.int64),
    )


@piece
def key_with_depth(key, depth):
    """The key of a position together with a depth."""
    key = (key ^ (key >> 31) ^ depth * 7046029254386353131) * -7723592293110705685
    return key ^ (key >> 29)


@piece
def find(memory, key):
    """The entry of a key, or -1."""
    entry = memory.heads[key & (len(memory.heads) - 1)]
    while entry >= 0 and memory.keys[entry] != key:
        entry = memory.following[entry]
    return entry


@piece
def keep(memory, key, value, bound, forgets):
    """Write an entry.  When the table is full, the entry replaces the oldest one if `forgets`; else it is lost."""
    heads, following, filled = memory.heads, memory.following, memory.filled
    entry = find(memory, key)
    if entry < 0:
        if filled[0] < len(memory.keys):
            entry = filled[0]
            filled[0] += 1
        elif forgets and filled[0] > 0:
            entry = filled[1]
            filled[1] = (entry + 1) % len(memory.keys)
            slot = memory.keys[entry] & (len(heads) - 1)
            if heads[slot] == entry:
                heads[slot] = following[entry]
            else:
                before = heads[slot]
                while following[before] != entry:
                    before = following[before]
                following[before] = following[entry]
        else:
            return
        slot = key & (len(heads) - 1)
        following[entry] = heads[slot]
        heads[slot] = entry
        memory.keys[entry] = key
    memory.values[entry] = value
    memory.bounds[entry] = bound
