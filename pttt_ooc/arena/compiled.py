"""The decorators of this wing's kernels, which may be made of several modules of the wing.

Numba compiles a kernel anew when the text of its own module has changed.  A kernel of this wing also takes in the rules
of a game, from another module.  So the names of the files that keep its compiled code carry a digest of its module, of
all modules of the wing that this one imports, and of the rules that a factory gave it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from pttt_ooc import jit

_ROOT = Path(__file__).parent.parent
_IMPORT = re.compile(r"^\s*from (pttt_ooc\.arena[\w.]*) import (\([^)]*\)|[^\n]*)", re.M)

piece = jit.piece
"""Marks a function as a piece of kernels: compiled with each of them; called from Python, it stays plain Python."""


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, to code that runs without the interpreter's lock.

    The function may be made by a factory, whose arguments are modules: the rules of a game, for example.
    """
    return _kept(function, jit.kernel(function))


def bare_kernel(function: Callable[..., Any]) -> Any:
    """Compile as :func:`kernel` does, without counting references to arrays: for functions that make no arrays."""
    return _kept(function, jit.bare_kernel(function))


def sources(module: str) -> set[Path]:
    """The files of a module of this wing and of all modules of the wing that it imports, directly or through others."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = _ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py")
        if file in found or not file.is_file():
            continue
        found.add(file)
        for home, names in _IMPORT.findall(file.read_text(encoding="utf-8")):
            waiting += [home, *(f"{home}.{part}" for part in re.findall(r"\w+", names))]
    return found


def digest(function: Callable[..., Any]) -> str:
    """Names the texts that a kernel is made of, and which modules a factory gave it or the kernels that it calls."""
    files, total = sources(function.__module__), hashlib.blake2b(digest_size=8)
    for name, module in sorted(_given(function, set())):
        files |= sources(module)
        total.update(f"{name}={module} ".encode())
    for file in sorted(files):
        total.update(file.read_bytes())
    return total.hexdigest()


def _given(function: Callable[..., Any], seen: set[object]) -> set[tuple[str, str]]:
    """Names of modules and numbers that a factory gave to a function, and to the functions of the factory it calls."""
    seen.add(function)
    found = set()
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            given = cell.cell_contents
        except ValueError:  # its own name, before it has got one: it calls itself
            continue
        if isinstance(given, ModuleType):
            found.add((name, given.__name__))
        elif isinstance(given, int):
            found.add((name, str(given)))
        elif (called := getattr(given, "py_func", given)) not in seen:
            found |= _given(called, seen)
    return found


def _kept(function: Callable[..., Any], made: Any) -> Any:
    """The kernel, with its own names of the files where its compiled code is kept."""
    if made is function:  # where nothing is to be compiled
        return made
    from numba.core.caching import CacheImpl

    from pttt_ooc import compiler

    version = digest(function)

    class Files(compiler._Files):
        # Beside the sources, where bots behind walls can read it.
        _locator_classes = CacheImpl._locator_classes

        def get_filename_base(self, fullname: str, abiflags: str) -> str:
            return f"{super().get_filename_base(fullname, abiflags)}-{version}"

    class Cache(compiler._Cache):
        _impl_class = Files

        def _index_key(self, signature: Any, codegen: Any) -> Any:
            return signature, codegen.magic_tuple(), version  # numba's own would look into the factory's arguments

    untyped: Any = Cache
    made._cache = untyped(function)
    return made
