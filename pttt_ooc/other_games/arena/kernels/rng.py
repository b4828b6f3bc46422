"""Random numbers in kernels: xorshift64*, whose state is one word, made from a seed.

G. Marsaglia, *Xorshift RNGs*, Journal of Statistical Software 8 (2003); the multiplier is by S. Vigna, *An experimental
exploration of Marsaglia's xorshift generators, scrambled* (2016).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.jit import piece

_MULTIPLIER = np.uint64(2685821657736338717)
_SHIFTS = (np.uint64(12), np.uint64(25), np.uint64(27), np.uint64(32))


def generator(*seed: int) -> NDArray[np.uint64]:
    """The state of a generator, uint64, shape (1,); the same seeds give the same numbers."""
    return np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)


@piece
def draw(rng):
    """32 random bits."""
    x = rng[0]
    x ^= x >> _SHIFTS[0]
    x ^= x << _SHIFTS[1]
    x ^= x >> _SHIFTS[2]
    rng[0] = x
    return np.int64((x * _MULTIPLIER) >> _SHIFTS[3])


@piece
def below(rng, bound):
    """A number from 0 to ``bound - 1``; for a bound below a thousand, uniform to one part in four million."""
    return (draw(rng) * bound) >> 32


@piece
def uniform(rng):
    """A number in [0, 1), a multiple of 2**-32."""
    return draw(rng) * (1.0 / 4294967296.0)
