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

    The function may be made by a factory, a function whose argument is the module of a game's rules.
    """
    made = jit.kernel(function)
    if made is not function:  # it is, where nothing is to be compiled
        made._cache = _cache(function)
    return made


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
    """Names the texts that a kernel is made of."""
    files = sources(function.__module__)
    for cell in function.__closure__ or ():
        if isinstance(cell.cell_contents, ModuleType):
            files |= sources(cell.cell_contents.__name__)
    total = hashlib.blake2b(digest_size=6)
    for file in sorted(files):
        total.update(file.read_bytes())
    return total.hexdigest()


def _cache(function: Callable[..., Any]) -> Any:
    """Where compiled code of the function is kept."""
    from pttt_ooc import compiler

    version = digest(function)

    class Files(compiler._Files):
        def get_filename_base(self, fullname: str, abiflags: str) -> str:
            return f"{super().get_filename_base(fullname, abiflags)}-{version}"

    class Cache(compiler._Cache):
        _impl_class = Files

    made: Any = Cache
    return made(function)
