"""The decorators of kernels, and the versions of compiled code.

Compiled code is kept on disk, by :mod:`pttt_ooc.compiled_code`.  The names of its files carry a digest of all that the
kernel is made of, see :mod:`pttt_ooc.ingredients`, and of what compiles it.  Code of another version is never found,
and after a return to an earlier version that version's code is still there.  All environments and clones of one version
share it.

Numba is imported by the first kernel that is to be compiled: a process that looks up a few infosets does without it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from pttt_ooc.compiled_code import cache_class
from pttt_ooc.errors import ConfigError
from pttt_ooc.imports import imports, module_digest
from pttt_ooc.ingredients import ingredients, mark

DECORATORS = ("kernel", "bare_kernel", "inner_kernel", "in_tree_kernel", "piece")

DIRECTORIES: set[Path] = set()
"""Where compiled code may be kept: a directory in each root for each room whose kernels have been imported."""

_interpreted = False


@contextmanager
def interpret_kernels() -> Iterator[None]:
    """Leave kernels as plain Python functions in all modules that the block is the first to import."""
    global _interpreted
    _interpreted = True
    try:
        yield
    finally:
        _interpreted = False


def compiler() -> Any:
    """Numba.

    Raises
    ------
    ConfigError
        If it does not load with the values of its environment variables.
    """
    try:
        import numba
        import numba.extending
    except ValueError as error:
        given = ", ".join(f"{name}={value}" for name, value in os.environ.items() if name.startswith("NUMBA_"))
        raise ConfigError(
            f"The compiler numba does not load with {given or 'its settings'}: {str(error).rstrip('.')}. Unset what is "
            "wrong there; the package's own options say how many threads it uses."
        ) from error
    return numba


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, to code that runs without the interpreter's lock.

    The function may be made by a factory, whose arguments are modules or numbers: the rules of a game, for example.
    """
    return _compile(function)


def bare_kernel(function: Callable[..., Any]) -> Any:
    """Compile as :func:`kernel` does, without counting references to arrays: for functions that make no arrays.

    With counts, each slice of an array that is handed to another function adds to and subtracts from a
    number that all threads share.  A function that does make an array is refused by the compiler.
    """
    return _compile(function, _nrt=False)


def inner_kernel(function: Callable[..., Any]) -> Any:
    """Compile as :func:`bare_kernel` does, for functions that only kernels call; they may call themselves.

    Their arguments are not translated from Python, which takes longer than the rest where they are many arrays.
    """
    dispatcher = _compile(function, _nrt=False, no_cpython_wrapper=True)
    if dispatcher is not function:
        dispatcher.__class__ = _inner_class()
    return dispatcher


@cache
def _inner_class() -> Any:
    from numba.core.registry import CPUDispatcher

    class Inner(CPUDispatcher):
        def __call__(self, *arguments: Any, **named: Any) -> Any:
            raise TypeError(f"{self.py_func.__name__} is called by kernels only: it takes nothing from Python.")

    return Inner


def in_tree_kernel(function: Callable[..., Any]) -> Any:
    """Compile as :func:`bare_kernel` does; the code is kept beside the sources, where other users can read it."""
    return _compile(function, in_tree=True, _nrt=False)


def piece(function: Callable[..., Any]) -> Any:
    """Mark a function as a piece of kernels, which is compiled with each of them and, like them, makes no arrays.

    Called from Python, it stays plain Python.  So the compiler does not translate its arguments from
    Python, which takes longer than the rest, and no code of its own is kept.
    """
    if _interpreted:
        return function
    options = {"no_cfunc_wrapper": True, "_nrt": False}
    mark(function, options)
    register: Any = compiler().extending.register_jitable(**options)
    return register(function)


def compiled_form(function: Callable[..., Any], **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Register what writes the compiled form of a plain function; `options` are the compiler's, for that form."""

    def register(written: Callable[..., Any]) -> Any:
        mark(function, options, written)
        return compiler().extending.overload(function, jit_options=options)(written)

    return register


def load_compiler() -> None:
    """Let the compiler load what it needs, so that processes forked afterwards have it."""
    import numpy as np

    compiler().njit(lambda numbers: numbers[0])(np.zeros(1))


def _compile(function: Callable[..., Any], in_tree: bool = False, **options: bool) -> Any:
    if _interpreted:
        return function
    settings: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **options}  # nobody calls kernels from C
    dispatcher: Any = compiler().njit(**settings)(function)
    if dispatcher is not function:  # it is, if numba is set to compile nothing
        dispatcher._cache = cache_class()(function, lambda: version_of(dispatcher), in_tree)  # as `cache=True` does
        DIRECTORIES.update(dispatcher._cache.places)
    return dispatcher


# ---------------------------------------------------------------------------------------------
# Versions


def has_kernels(module: str) -> bool:
    """Whether a module, such as ``sweep/tree``, imports a decorator of kernels."""
    return not imports(module).isdisjoint(f"jit/{name}" for name in DECORATORS)


def version(modules: Iterable[str]) -> str:
    """A digest of modules, such as ``sweep/tree``, all that they import, Python, libraries and the processor."""
    return _digest((*_environment(), *map(_digest_of, sorted(modules))))


def version_of(kernel: Any) -> str:
    """A kernel's version: the modules that factories gave it, and a digest of all that it is made of."""
    lines, modules = ingredients(kernel)
    names = sorted(name.rpartition(".")[2] for name in modules)
    return "-".join([*names, _digest((*_environment(), *lines))])


def _digest(parts: Iterable[str]) -> str:
    total = hashlib.blake2b(digest_size=8)
    for part in parts:
        total.update(f"{len(part)} {part}\n".encode())
    return total.hexdigest()


@cache
def _digest_of(module: str) -> str:
    return module_digest(module)


@cache
def _environment() -> tuple[str, ...]:
    import llvmlite.binding as llvm
    import numpy as np

    return (sys.version, compiler().__version__, np.__version__, str(llvm.llvm_version_info), llvm.get_host_cpu_name())
