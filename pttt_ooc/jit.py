"""The decorator of kernels, and the modules that have them.

Numba is imported by the first kernel that is to be compiled: a process that looks a few infosets up does without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

SOURCES = (
    "compiler",
    "jit",
    "products/infosets",
    "products/tensors",
    "questions/histories",
    "questions/places",
    "solving/best_response",
    "structure/cells",
    "structure/orders",
    "structure/symmetry",
    "structure/timing",
    "sweep/gradient",
    "sweep/sixteen",
    "sweep/tree",
    "sweep/vectors",
)
"""The modules that hold kernels, or constants and named tuples that kernels use.

A kernel may use nothing of any other module of the package.
"""

_interpreted = False


@contextmanager
def interpreted() -> Iterator[None]:
    """Leave the kernels of all modules that the block is the first to import as they are, plain Python functions."""
    global _interpreted
    _interpreted = True
    try:
        yield
    finally:
        _interpreted = False


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, to code that runs without the interpreter's lock."""
    return _compiled(function)


def bare_kernel(function: Callable[..., Any]) -> Any:
    """Compile as :func:`kernel` does, without counting references to arrays: for functions that make no arrays.

    With counts, each slice of an array that is handed to another function adds to and subtracts from a
    number that all threads share.  A function that does make an array is refused by the compiler.
    """
    return _compiled(function, _nrt=False)


def piece(function: Callable[..., Any]) -> Any:
    """Mark a function as a piece of kernels, which is compiled with each of them and, like them, makes no arrays.

    Called from Python, it stays plain Python.  So the compiler does not translate its arguments from
    Python, which takes longer than the rest, and no code of its own is kept.
    """
    if _interpreted:
        return function
    from pttt_ooc.compiler import as_piece

    return as_piece(function)


def _compiled(function: Callable[..., Any], **more: bool) -> Any:
    if _interpreted:
        return function
    from pttt_ooc.compiler import compiled

    return compiled(function, **more)
