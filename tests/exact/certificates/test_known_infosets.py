"""Infosets that are recognised again: by their positions, one by one, and never by chance."""

import numpy as np

from pttt_ooc.exact.certificates.known_infosets import find_known, keep_known, new_known
from pttt_ooc.jit import bare_kernel


@bare_kernel
def keep_all(known, positions, heads, bounds):
    for k in range(len(heads)):
        keep_known(known, positions, (heads[k, 0], heads[k, 1], heads[k, 2], heads[k, 3]), bounds[k])


@bare_kernel
def find_all(known, positions, heads, entries):
    for k in range(len(heads)):
        _, entries[k] = find_known(known, positions, (heads[k, 0], heads[k, 1], heads[k, 2], heads[k, 3]))


def test_no_two_infosets_are_taken_for_one():
    """With 8 slots for 4 entries, many share a slot."""
    draw = np.random.default_rng(3)
    for _ in range(100):
        known, positions = new_known(4, 2), draw.integers(0, 3, 8).astype(np.int32)
        begins = draw.integers(0, 8, 12)
        ends = np.minimum(begins + draw.integers(1, 4, 12), 8)
        heads = np.stack([draw.integers(0, 2, 12), draw.integers(0, 2, 12), begins, ends], axis=1)
        bounds = np.stack([np.arange(12), -np.arange(12)], axis=1)
        contents = [(own, tried, *positions[begin:end]) for own, tried, begin, end in heads]
        first = list(dict.fromkeys(contents))[:4]
        entries = np.zeros(12, np.int64)
        keep_all(known, positions, heads, bounds)
        find_all(known, positions, heads, entries)
        assert [int(k) for k in entries] == [first.index(each) if each in first else -1 for each in contents]
        for number, each in enumerate(first):
            last = max(k for k in range(12) if contents[k] == each)
            assert known.bounds[number].tolist() == bounds[last].tolist()
