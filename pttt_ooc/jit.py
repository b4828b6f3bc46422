"""The decorators of kernels, and the versions of compiled code.

Compiled code is kept on disk, by :mod:`pttt_ooc.compiled_code`.  A kernel is made of the text of its own module and of
what it takes from other modules: pieces, constants, named tuples, the rules that a factory was given.  So the names of
the files carry a digest of the kernel's module and of all modules that it imports, directly or not.  Code of another
version is never found, and after a return to an earlier version that version's code is still there.  All environments
and clones of one version share it.

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
from types import ModuleType
from typing import Any

from pttt_ooc.compiled_code import cache_class
from pttt_ooc.errors import ConfigError
from pttt_ooc.imports import imports, module_digest

DECORATORS = ("kernel", "bare_kernel", "in_tree_kernel", "piece")

DIRECTORIES: set[Path] = set()
"""Where compiled code may be kept: a directory in each root for each room whose kernels have been imported."""

_PREFIX = "pttt_ooc."
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
    register: Any = compiler().extending.register_jitable(no_cfunc_wrapper=True, _nrt=False)
    return register(function)


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
        made_of = version_of(function)
        if function.__closure__:
            # The compiler names code by this and a number that counts in one process.  So without a version, kernels of
            # one factory that two processes have compiled can have the same name, and one is taken for the other.
            function.__qualname__ += f"-{made_of}"
        dispatcher._cache = cache_class()(function, made_of, in_tree)  # as `cache=True` does
        DIRECTORIES.update(dispatcher._cache.places)
    return dispatcher


# ---------------------------------------------------------------------------------------------
# Versions


def has_kernels(module: str) -> bool:
    """Whether a module, such as ``sweep/tree``, imports a decorator of kernels."""
    return not imports(module).isdisjoint(f"jit/{name}" for name in DECORATORS)


def version(modules: Iterable[str], values: Iterable[str] = ()) -> str:
    """A digest of what compiled code depends on: modules and all that they import, Python, libraries, the processor.

    Parameters
    ----------
    modules
        Names such as ``sweep/tree``.
    values
        What factories gave a kernel.
    """
    total = hashlib.blake2b(digest_size=8)
    for part in (*_environment(), *map(_digest_of, sorted(modules)), *sorted(values)):
        total.update(part.encode() + b"\n")
    return total.hexdigest()


def version_of(function: Callable[..., Any]) -> str:
    """A kernel's version: the modules that factories gave it, and a digest of all that it is made of."""
    values = {(name, getattr(value, "__name__", str(value))) for name, value in _factory_values(function, set())}
    modules = {value for _, value in values if value.startswith(_PREFIX)}
    inside = {name.removeprefix(_PREFIX).replace(".", "/") for name in modules | {function.__module__}}
    names = sorted(name.rpartition(".")[2] for name in modules)
    return "-".join([*names, version(inside, map(" = ".join, values))])


def _factory_values(function: Callable[..., Any], seen: set[object]) -> set[tuple[str, Any]]:
    """Names and values of what a factory gave to a function, and to the functions of factories that it calls."""
    seen.add(function)
    found: set[tuple[str, Any]] = set()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # its own name, before it has got one: it calls itself
            continue
        value = getattr(value, "py_func", value)
        numbers = value if isinstance(value, tuple) else (value,)
        if isinstance(value, ModuleType) or all(isinstance(number, int) for number in numbers):
            found.add((name, value))
        elif not hasattr(value, "__code__"):
            raise TypeError(f"{function.__qualname__}: a factory gives kernels modules, whole numbers and functions.")
        elif value not in seen:
            found |= _factory_values(value, seen)
    return found


@cache
def _digest_of(module: str) -> str:
    return module_digest(module)


@cache
def _environment() -> tuple[str, ...]:
    import llvmlite.binding as llvm
    import numpy as np

    return (sys.version, compiler().__version__, np.__version__, str(llvm.llvm_version_info), llvm.get_host_cpu_name())
