"""Clocks that compiled code can read without the interpreter's lock, and the limits and results of a search."""

from __future__ import annotations

import time
from typing import Any

from llvmlite import ir

from pttt_ooc.jit import compiled_form, compiler, piece

types, cgutils = compiler().types, compiler().core.cgutils
intrinsic = compiler().extending.intrinsic

WALL, PROCESSOR = time.CLOCK_MONOTONIC, time.CLOCK_THREAD_CPUTIME_ID
"""Clocks: elapsed time, and processor time of the calling thread."""


def nanoseconds(clock: int) -> int:
    """The time of a clock; only differences have a meaning."""
    return time.clock_gettime_ns(clock)


@intrinsic
def _read(typing_context: Any, clock: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        long, integer = ir.IntType(64), ir.IntType(32)
        pair = ir.LiteralStructType([long, long])
        place = cgutils.alloca_once(builder, pair)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(integer, [integer, pair.as_pointer()]), "clock_gettime"
        )
        builder.call(function, [builder.trunc(arguments[0], integer), place])
        seconds = builder.extract_value(builder.load(place), 0)
        return builder.add(
            builder.mul(seconds, ir.Constant(long, 1_000_000_000)), builder.extract_value(builder.load(place), 1)
        )

    return types.int64(types.int64), generate


@compiled_form(nanoseconds)
def _nanoseconds(clock):
    return lambda clock: _read(clock)


NODES, NODE_LIMIT, STOPPED, CLOCK, DEADLINE, CUT, REACHED, VALUE = range(8)
"""Words of `control`: nodes visited; their limit; whether a limit has ended the search; the clock and the time in
nanoseconds at which to stop (0: never); whether the depth cut a line short; the depth of the last complete search, and
its value."""

_CHECK_EVERY = 128  # nodes between two looks at the clock


@piece
def stops(control):
    """Count a node, and say whether the search is to end."""
    if control[NODES] >= control[NODE_LIMIT]:
        control[STOPPED] = 1
    elif control[DEADLINE] > 0 and control[NODES] % _CHECK_EVERY == 0:
        control[STOPPED] |= nanoseconds(control[CLOCK]) > control[DEADLINE]
    if control[STOPPED] == 0:
        control[NODES] += 1
    return control[STOPPED] != 0
