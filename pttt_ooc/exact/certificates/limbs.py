"""Large integers for kernels: rows of *limbs*, of which only sums, differences and comparisons are needed.

A number is the sum of ``limbs[i] * 2^(32 i)``, int64.  In *proper* form all limbs but the last are 0 to 2^32 - 1; the
last one has the sign.  Sums of up to 2^30 proper numbers may be made limb by limb before they are made proper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.jit import piece

_BITS = 32
_MASK = (1 << _BITS) - 1

Limbs = NDArray[np.int64]


def limbs_needed(largest: int) -> int:
    """The number of limbs for numbers up to `largest`, and for sums that do not exceed it."""
    return largest.bit_length() // _BITS + 2


def to_limbs(numbers: list[int], size: int) -> Limbs:
    """Numbers from 0 on in proper form, int64 (numbers, size)."""
    digits = b"".join(number.to_bytes(4 * size, "little") for number in numbers)
    return np.frombuffer(digits, "<u4").reshape(len(numbers), size).astype(np.int64)


def from_limbs(limbs: Limbs) -> int:
    """The number of a row of limbs."""
    return sum(int(limb) << (_BITS * i) for i, limb in enumerate(limbs))


@piece
def copy(number: Any, into: Any) -> None:
    """Copy a number."""
    for i in range(len(number)):
        into[i] = number[i]


@piece
def add(total: Any, number: Any) -> None:
    """Add a number, limb by limb."""
    for i in range(len(total)):
        total[i] += number[i]


@piece
def subtract(total: Any, number: Any) -> None:
    """Subtract a number, limb by limb."""
    for i in range(len(total)):
        total[i] -= number[i]


@piece
def make_proper(number: Any) -> None:
    """Carry what is too large for a limb."""
    for i in range(len(number) - 1):
        number[i + 1] += number[i] >> _BITS
        number[i] &= _MASK


@piece
def less(one: Any, other: Any) -> bool:
    """Whether a number in proper form is less than another one."""
    for i in range(len(one) - 1, -1, -1):
        if one[i] != other[i]:
            return bool(one[i] < other[i])
    return False
