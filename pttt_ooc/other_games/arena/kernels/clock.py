"""Clocks that compiled code can read without the interpreter's lock."""

from __future__ import annotations

import time
from typing import Any

from llvmlite import ir

from pttt_ooc.jit import compiler

types, cgutils = compiler().types, compiler().core.cgutils
intrinsic, overload = compiler().extending.intrinsic, compiler().extending.overload

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


@overload(nanoseconds)
def _nanoseconds(clock):
    return lambda clock: _read(clock)
