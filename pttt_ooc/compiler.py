"""The compiler of kernels, and where their compiled code is kept.

Numba keeps compiled code on disk.  It compiles a kernel anew when the text of the kernel's own module
has changed, but a kernel is also made of what it takes from other modules: kernels that it calls,
constants, the fields of named tuples.  So the names of the files in the cache carry a digest of all
modules that kernels are made of.  Code of another version is never found, and after a return to an
earlier version that version's code is still there.

It is kept in the user's cache, so that all environments and clones of one version share it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.extending import register_jitable

from pttt_ooc.jit import SOURCES

PACKAGE = Path(__file__).parent


def _digest() -> str:
    """Names what compiled code depends on: the sources, Python, numba, LLVM, and the processor."""
    total = hashlib.blake2b(digest_size=8)
    for part in (sys.version, numba.__version__, np.__version__, str(llvm.llvm_version_info), llvm.get_host_cpu_name()):
        total.update(part.encode() + b"\n")
    for name in SOURCES:
        total.update((Path(__file__).parent / f"{name}.py").read_bytes())
    return total.hexdigest()


DIGEST = _digest()
"""The version of the kernels, in the name of every file of the cache."""

DIRECTORIES: set[Path] = set()
"""Where the cache has its files: one directory for each room whose kernels have been imported."""


def user_cache() -> Path:
    """The directory of compiled code: ``NUMBA_CACHE_DIR``, or ``pttt-ooc`` in the user's cache (``XDG_CACHE_HOME``)."""
    settings: Any = numba.config
    if settings.CACHE_DIR:
        return Path(settings.CACHE_DIR)
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))  # the standard leaves out what is not absolute
    return (given if given.is_absolute() else Path(os.path.expanduser("~/.cache"))) / "pttt-ooc" / "kernels"


class _UserCache(UserProvidedCacheLocator):
    """A folder of the user's cache for each folder of the package."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        self._cache_path = str(user_cache() / Path(file).parent.relative_to(PACKAGE))

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> Any:
        """A place for the code of the function; None where it is none of ours, or nothing can be written there."""
        if not Path(file).is_relative_to(PACKAGE) or not user_cache().is_absolute():  # the user has no home
            return None
        return super(UserProvidedCacheLocator, cls).from_function(function, file)


class _Files(CompileResultCacheImpl):
    _locator_classes = [_UserCache, *CompileResultCacheImpl._locator_classes]  # where it cannot be: beside the sources

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        own = self.locator.get_source_stamp().hex()[:8]  # modules of wings are no part of the digest
        return f"{super().get_filename_base(fullname, abiflags)}-{own}-{DIGEST}"


class _Cache(FunctionCache):
    _impl_class = _Files

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what has been compiled; one process at a time, or one of two entries of a kernel might get lost."""
        place = Path(self.cache_path)
        place.mkdir(parents=True, exist_ok=True)
        with open(place / "saving.lock", "a", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            super().save_overload(sig, data)
        make_readable(place)


def make_readable(place: Path) -> None:
    """Let all users read the files of a cache, whatever files the process keeps private: compiled code is no secret.

    Bots of ours run as another user.  What belongs to somebody else stays as it is.
    """
    for path in (place, *place.glob("*.nb[ic]")):
        with suppress(FileNotFoundError, PermissionError):
            mode = stat.S_IMODE(path.stat().st_mode)
            wanted = mode | (0o055 if path == place else 0o044)
            if wanted != mode:
                path.chmod(wanted)


def compiled(function: Callable[..., Any], **more: bool) -> Any:
    """The function, compiled when it is first called; `more` are options of numba's."""
    options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, **more}  # nobody calls kernels from C
    dispatcher: Any = numba.njit(**options)(function)
    if dispatcher is not function:  # it is, if numba is told to compile nothing
        dispatcher._cache = _Cache(function)  # as numba's `cache=True` does, with other names of files
        DIRECTORIES.add(Path(dispatcher._cache.cache_path))
    return dispatcher


def as_piece(function: Callable[..., Any]) -> Any:
    """The function itself; kernels that call it, and other pieces, take it in."""
    register: Any = register_jitable(no_cfunc_wrapper=True, _nrt=False)
    return register(function)


def load_compiler() -> None:
    """Let the compiler load what it needs: a process that is forked afterwards has it."""
    numba.njit(lambda numbers: numbers[0])(np.zeros(1))
