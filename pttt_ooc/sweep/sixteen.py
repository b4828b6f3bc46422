"""Kernels that keep numbers in 16 bits: whole multiples of a *scale*, of which each block of a view has one.

A number is rounded up or down by lot, so that its mean is right.  Rounded to the nearest, what an iteration adds to a
large sum would be lost each time.  The lot follows from the number's place and from the iteration, not from threads or
interruptions.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import kernel, piece

BLOCK = 256  # numbers that share a scale, at most: fewer at the end of a view
LARGEST = 32766  # the largest whole number; rounded up, it still fits
LEAST = np.float32(1e-30)  # a block of numbers that are all smaller is kept as zeros

_MAGNITUDE = np.uint32(0x7FFFFFFF)  # the bits of a number in single precision, sign excepted: larger for larger ones
_MIXERS = (np.uint32(0x7FEB352D), np.uint32(0x846CA68B))
_SHIFTS = (np.uint32(16), np.uint32(15), np.uint32(8))
_UNIT = np.float32(2.0**-24)


@piece
def _lot(at, seed):
    """A number from 0 to 1, less than 1, that looks as if drawn: a hash of 32 bits (Wellons 2018, "lowbias32")."""
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
    """Whole numbers above or below `numbers` times a factor, by lots of the numbers from `at` on."""
    for k in range(len(numbers)):
        drawn = numbers[k] * factor + _lot(at + np.uint32(k), seed)
        code = np.int32(drawn)
        codes[k] = code - (code > drawn)  # rounded down: conversion rounds towards zero


@piece
def _multiply(codes, scale, numbers):
    for k in range(len(codes)):
        numbers[k] = np.float32(codes[k]) * scale


@kernel
def widen(first_view, last_view, sequence_start, codes, scales, numbers):
    """Numbers of the sequences of some views.

    Parameters
    ----------
    sequence_start
        int64 (views + 1,): of the player.
    codes, scales, numbers
        int16 and float (sequences of these views,), and float (blocks of these views,); `numbers` are written.
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
    """Keep numbers of the sequences of some views, as :func:`widen` reads them.

    Parameters
    ----------
    bits
        `numbers` as uint32, so that the largest of them is found without branches.
    seed
        uint32: lots differ from seed to seed.
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
