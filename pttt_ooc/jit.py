"""The decorators of kernels, and where compiled code is kept.

Numba keeps compiled code on disk.  It compiles a kernel anew when the text of the kernel's own module has changed, but
a kernel is also made of what it takes from other modules: pieces, constants, named tuples, the rules that a factory
was given.  So the names of the files carry a digest of the kernel's module and of all modules that it imports, directly
or not.  Code of another version is never found, and after a return to an earlier version that version's code is still
there.

Compiled code is kept in the user's cache, so that all environments and clones of one version share it.

Numba is imported by the first kernel that is to be compiled: a process that looks a few infosets up does without.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pttt_ooc.imports import PACKAGE, imports, module_digest

DECORATORS = ("kernel", "bare_kernel", "in_tree_kernel", "piece")

DIRECTORIES: set[Path] = set()
"""Where compiled code is kept: one directory for each room whose kernels have been imported."""

_PREFIX = "pttt_ooc."
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
    """Compile a function when it is first called, to code that runs without the interpreter's lock.

    The function may be made by a factory, whose arguments are modules or numbers: the rules of a game, for example.
    """
    return _compiled(function)


def bare_kernel(function: Callable[..., Any]) -> Any:
    """Compile as :func:`kernel` does, without counting references to arrays: for functions that make no arrays.

    With counts, each slice of an array that is handed to another function adds to and subtracts from a
    number that all threads share.  A function that does make an array is refused by the compiler.
    """
    return _compiled(function, _nrt=False)


def in_tree_kernel(function: Callable[..., Any]) -> Any:
    """Compile as :func:`bare_kernel` does; the code is kept beside the sources, where other users can read it."""
    return _compiled(function, in_tree=True, _nrt=False)


def piece(function: Callable[..., Any]) -> Any:
    """Mark a function as a piece of kernels, which is compiled with each of them and, like them, makes no arrays.

    Called from Python, it stays plain Python.  So the compiler does not translate its arguments from
    Python, which takes longer than the rest, and no code of its own is kept.
    """
    if _interpreted:
        return function
    from numba.extending import register_jitable

    register: Any = register_jitable(no_cfunc_wrapper=True, _nrt=False)
    return register(function)


def load_compiler() -> None:
    """Let the compiler load what it needs: a process that is forked afterwards has it."""
    import numba
    import numpy as np

    numba.njit(lambda numbers: numbers[0])(np.zeros(1))


def _compiled(function: Callable[..., Any], in_tree: bool = False, **options: bool) -> Any:
    if _interpreted:
        return function
    import numba

    settings: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **options}  # nobody calls kernels from C
    dispatcher: Any = numba.njit(**settings)(function)
    if dispatcher is not function:  # it is, if numba is set to compile nothing
        if function.__closure__:
            # The compiler names code by this and a number that counts in one process.  So without a version, kernels of
            # one factory that two processes have compiled can have the same name, and one is taken for the other.
            function.__qualname__ += f"-{version_of(function)}"
        dispatcher._cache = _cache_class(in_tree)(function)  # as `cache=True` does, with our names of files
        DIRECTORIES.add(Path(dispatcher._cache.cache_path))
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
    """Names what a kernel is made of: modules that factories gave it, and a digest of all it is made of."""
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
    import numba
    import numpy as np

    return (sys.version, numba.__version__, np.__version__, str(llvm.llvm_version_info), llvm.get_host_cpu_name())


# ---------------------------------------------------------------------------------------------
# The cache


def user_cache() -> Path:
    """The directory of compiled code: ``NUMBA_CACHE_DIR``, or ``pttt-ooc`` in the user's cache (``XDG_CACHE_HOME``)."""
    import numba

    settings: Any = numba.config
    if settings.CACHE_DIR:
        return Path(settings.CACHE_DIR)
    directory = Path(os.environ.get("XDG_CACHE_HOME", ""))  # the standard leaves out what is not absolute
    return (directory if directory.is_absolute() else Path(os.path.expanduser("~/.cache"))) / "pttt-ooc" / "kernels"


def make_readable(place: Path) -> None:
    """Let all users read the files of a cache, whatever files the process keeps private: compiled code is no secret.

    Our own bots run as another user.  Files of other users stay as they are.
    """
    for path in (place, *place.glob("*.nb[ic]")):
        with suppress(FileNotFoundError, PermissionError):
            mode = stat.S_IMODE(path.stat().st_mode)
            wanted = mode | (0o055 if path == place else 0o044)
            if wanted != mode:
                path.chmod(wanted)


@cache
def _cache_class(in_tree: bool) -> Any:
    """Numba's cache of a function, with our places and names of files."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator

    class UserCache(UserProvidedCacheLocator):
        """A folder of the user's cache for each folder of the package."""

        def __init__(self, function: Callable[..., Any], file: str) -> None:
            self._py_file, self._lineno = file, function.__code__.co_firstlineno
            self._cache_path = str(user_cache() / Path(file).parent.relative_to(PACKAGE))

        @classmethod
        def from_function(cls, function: Callable[..., Any], file: str) -> Any:
            """A place for the code of the function; None if it is none of ours, or nothing can be written there."""
            if not Path(file).is_relative_to(PACKAGE) or not user_cache().is_absolute():  # the user has no home
                return None
            return super(UserProvidedCacheLocator, cls).from_function(function, file)

    class Files(CompileResultCacheImpl):
        _locator_classes = [  # without a user's cache: beside the sources
            *([] if in_tree else [UserCache]),
            *CompileResultCacheImpl._locator_classes,
        ]

        def __init__(self, function: Callable[..., Any]) -> None:
            self._version = version_of(function)
            super().__init__(function)

        def get_filename_base(self, fullname: str, abiflags: str) -> str:
            base = super().get_filename_base(fullname.removesuffix(f"-{self._version}"), abiflags)
            return f"{base}-{self._version}"

    class Cache(FunctionCache):
        _impl_class = Files

        def _index_key(self, signature: Any, codegen: Any) -> Any:
            return signature, codegen.magic_tuple()  # numba's own looks into what a factory gave, which has a version

        def load_overload(self, signature: Any, context: Any) -> Any:
            """Load what was compiled, if it was; versions in use stay young."""
            with suppress(OSError):
                os.utime(self._cache_file._index_path)
            return super().load_overload(signature, context)

        def save_overload(self, signature: Any, data: Any) -> None:
            """Keep what was compiled; one process at a time, or one of two entries of a kernel might get lost."""
            place = Path(self.cache_path)
            place.mkdir(parents=True, exist_ok=True)
            with open(place / "saving.lock", "a", encoding="ascii") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                super().save_overload(signature, data)
            make_readable(place)

    return Cache
