"""Kernels for numbers in 16 bits: integer multiples of a *scale*, one for each block of a view.

Numbers are rounded up or down at random, so that their mean is right.  With rounding to the nearest, small additions to
a large sum would always be lost.  The random draw depends on the number's position and on the iteration, not on threads
or interruptions.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import kernel, piece

BLOCK = 256  # most numbers that share a scale: fewer at the end of a view
LARGEST = 32766  # the largest integer; rounded up, it still fits
LEAST = np.float32(1e-30)  # a block of smaller numbers is stored as zeros

_MAGNITUDE = np.uint32(0x7FFFFFFF)  # the bits of a single-precision number without the sign: they sort as magnitudes do
_MIXERS = (np.uint32(0x7FEB352D), np.uint32(0x846CA68B))
_SHIFTS = (np.uint32(16), np.uint32(15), np.uint32(8))
_UNIT = np.float32(2.0**-24)


@piece
def _draw(at, seed):
    """A pseudorandom number from 0 (included) to 1 (excluded): a hash of 32 bits (Wellons 2018, "lowbias32")."""
    x = np.uint32(at) ^ seed
    x = np.uint32((x ^ (x >> _SHIFTS[0])) * _MIXERS[0])
    x = np.uint32((x ^ (x >> _SHIFTS[1])) * _MIXERS[1])
    return np.float32((x ^ (x >> _SHIFTS[0])) >> _SHIFTS[2]) * _UNIT


@piece
def _largest(bits):
    found = np.uint32(0)
    for k in range(len(bits)):
        found = max(found, np.uint32(bits[k] & _MAGNITUDE))
    return found


@piece
def _round(numbers, factor, at, seed, codes):
    """Round `numbers` times a factor up or down at random; `at` is the position of the first one."""
    for k in range(len(numbers)):
        drawn = numbers[k] * factor + _draw(at + np.uint32(k), seed)
        code = np.int32(drawn)
        codes[k] = code - (code > drawn)  # rounded down: conversion rounds towards zero


@piece
def _multiply(codes, scale, numbers):
    for k in range(len(codes)):
        numbers[k] = np.float32(codes[k]) * scale


@kernel
def widen(first_view, last_view, sequence_start, codes, scales, numbers):
    """Write the numbers of the sequences of some views.

    Parameters
    ----------
    sequence_start
        int64 (views + 1,): first sequence of each of the player's views.
    codes, numbers
        int16 and float (sequences of these views,); `numbers` are written.
    scales
        float (blocks of these views,).
    """
    block = 0
    for view in range(first_view, last_view):
        begin = sequence_start[view] - sequence_start[first_view]
        end = sequence_start[view + 1] - sequence_start[first_view]
        for first in range(begin, end, BLOCK):
            scale = scales[block]
            last = min(first + BLOCK, end)
            _multiply(codes[first:last], scale, numbers[first:last])
            block += 1


@kernel
def narrow(first_view, last_view, sequence_start, numbers, bits, seed, codes, scales):
    """Write codes and scales for the numbers of the sequences of some views; the inverse of :func:`widen`.

    Parameters
    ----------
    bits
        `numbers` as uint32, so that the largest one is found without branches.
    seed
        uint32: the seed of the random rounding.
    """
    block, most = 0, np.float32(LARGEST)
    magnitude = np.empty(1, np.uint32)
    size = magnitude.view(np.float32)  # the same bits as a number
    for view in range(first_view, last_view):
        begin = sequence_start[view] - sequence_start[first_view]
        end = sequence_start[view + 1] - sequence_start[first_view]
        for first in range(begin, end, BLOCK):
            last = min(first + BLOCK, end)
            magnitude[0] = _largest(bits[first:last])
            factor = most / size[0] if size[0] > LEAST else np.float32(0)
            scales[block] = size[0] / most
            _round(numbers[first:last], factor, np.uint32(sequence_start[first_view] + first), seed, codes[first:last])
            block += 1
