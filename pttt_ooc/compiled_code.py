"""Compiled code on disk: where it is kept, and how it is read, whole or not at all.

Each kernel has a file for each list of types of its arguments.  The file begins with a digest of the rest, which
shows that a file is empty, cut or full of zeros, as after a power cut, before anything in it is run.  A file that
cannot be loaded is deleted, and the kernel is compiled.

There are three places for files: the user's cache, the folders of the sources, and a private directory for temporary
files.  All are searched, and files are kept in the first one that can be written to.  If none can, everything still
works, but each process compiles the kernels that it calls.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import stat
import sys
import tempfile
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pttt_ooc.errors import CaughtError
from pttt_ooc.imports import PACKAGE

ENDING = ".nbc"
_DIGEST = 32  # bytes
_PROBE = 1 << 16  # bytes: more than what a file system keeps in its tables, less than any limit of a file's size

used: set[Path] = set()
"""The files that this process has loaded or kept."""

_told: set[str] = set()
_tell: Callable[[str], None] | None = None


class NotKeptError(CaughtError):
    """No directory can keep compiled code."""


# ---------------------------------------------------------------------------------------------
# Places


def user_cache() -> Path:
    """The directory of compiled code: ``NUMBA_CACHE_DIR``, or ``pttt-ooc`` in the user's cache (``XDG_CACHE_HOME``).

    It is not an absolute path if the user has no home.
    """
    named = os.environ.get("NUMBA_CACHE_DIR")
    if named:
        return Path(named).absolute()
    directory = Path(os.environ.get("XDG_CACHE_HOME", ""))  # the standard ignores relative paths
    return (directory if directory.is_absolute() else Path(os.path.expanduser("~/.cache"))) / "pttt-ooc" / "kernels"


def roots(in_tree: bool = False) -> list[Path]:
    """Directories that may hold compiled code, the first choice first.

    Parameters
    ----------
    in_tree
        Whether the first choice is beside the sources, where other users can read it.
    """
    first = [PACKAGE, user_cache()] if in_tree else [user_cache(), PACKAGE]
    return [root for root in (*first, _temporary()) if root.is_absolute()]


def folder(root: Path, file: Path) -> Path:
    """The folder of a module's compiled code in one of the roots; beside the module if it is outside the package."""
    beside = root == PACKAGE or not file.is_relative_to(PACKAGE)
    return file.parent / "__pycache__" if beside else root / file.parent.relative_to(PACKAGE)


def writable_root(file: Path, in_tree: bool = False) -> Path | None:
    """The first root where compiled code of a module can be kept; None if there is none."""
    for root in roots(in_tree):
        with suppress(OSError):
            place = _make_folder(root, file)
            with tempfile.TemporaryFile(dir=place) as probe:
                probe.write(bytes(_PROBE))
            return root
    return None


def _temporary() -> Path:
    """A directory below the one for temporary files; only this user can write there, see :func:`_is_safe`."""
    directory = Path(os.environ.get("TMPDIR", ""))
    return (directory if directory.is_absolute() else Path("/tmp")) / f"pttt-ooc-{os.getuid()}"


def _is_safe(root: Path) -> bool:
    """Whether code from a root may be run: in a directory where all users make files, only if it is this user's own."""
    if root in (PACKAGE, user_cache()):
        return True
    try:
        found = root.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022


def _make_folder(root: Path, file: Path) -> Path:
    """Make the folder in a root and return it; OSError if that fails."""
    if not _is_safe(root):
        root.mkdir(mode=0o700)  # fails if it is somebody else's
    place = folder(root, file)
    place.mkdir(parents=True, exist_ok=True)
    return place


def make_readable(place: Path) -> None:
    """Let all users read the files of a cache, even if the process makes private files: compiled code is not a secret.

    Our own bots run as another user.  Files of other users stay as they are.
    """
    for path in (place, *place.glob(f"*{ENDING}")):
        with suppress(OSError):
            mode = stat.S_IMODE(path.stat().st_mode)
            wanted = mode | (0o055 if path == place else 0o044)
            if wanted != mode:
                path.chmod(wanted)


# ---------------------------------------------------------------------------------------------
# Messages


def tell(sentence: str) -> None:
    """Tell a sentence, once in a process."""
    if sentence not in _told:
        _told.add(sentence)
        (_tell or _print)(sentence)


def _print(sentence: str) -> None:
    if sys.stderr is not None:
        print(sentence, file=sys.stderr, flush=True)


def tell_place(root: Path) -> None:
    """Say where compiled code is kept, if the user's cache cannot keep it."""
    if root != user_cache():
        tell(f"{user_cache()} cannot be written to: compiled code is kept in {root}.")


def tell_none(reason: str) -> None:
    """Say that compiled code is not kept."""
    tell(
        f"Compiled code can be kept in none of {', '.join(map(str, roots()))} ({reason}): each process compiles what "
        "it calls, which takes seconds to minutes. NUMBA_CACHE_DIR names another directory."
    )


def keep_or_fail(tell_by: Callable[[str], None]) -> None:
    """From now on raise a :class:`NotKeptError` if no directory can keep compiled code.

    This is for a process that only compiles; `tell_by` passes its sentences to the process that tells them.
    """
    global _tell
    _tell = tell_by


# ---------------------------------------------------------------------------------------------
# Files


def delete(file: Path) -> bool:
    """Delete a file of compiled code, or what is in its place; returns whether it is gone."""
    try:
        if file.is_dir() and not file.is_symlink():
            shutil.rmtree(file)
        else:
            file.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def _content(data: bytes) -> bytes | None:
    digest, content = data[:_DIGEST], data[_DIGEST:]
    return content if hashlib.blake2b(content, digest_size=_DIGEST).digest() == digest else None


def _write(file: Path, content: bytes) -> None:
    """Write a file of compiled code, whole or not at all."""
    aside = file.with_name(f"{file.name}.{uuid.uuid4().hex[:16]}.tmp")
    try:
        aside.write_bytes(hashlib.blake2b(content, digest_size=_DIGEST).digest() + content)
        if file.is_dir():
            delete(file)
        aside.replace(file)
    except BaseException:
        delete(aside)
        raise


def _fields(kind: Any) -> Any:
    """The fields of a type that is a named tuple, and those of the types in it."""
    return getattr(kind, "fields", None), tuple(map(_fields, getattr(kind, "types", ())))


@cache
def cache_class() -> Any:
    """The class of a function's cache for numba, with our own places, names and files."""
    from numba.core.caching import NullCache
    from numba.core.compiler import CompileResult
    from numba.core.runtime.nrt import rtsys
    from numba.core.serialize import dumps

    class Kept(NullCache):
        """The compiled code of one function.

        Parameters
        ----------
        function
            The function.
        version
            Names all that it is made of, and what compiles it; asked for when the function is first called.
        in_tree
            Whether it is kept beside the sources where possible.
        """

        def __init__(self, function: Callable[..., Any], version: Callable[[], str], in_tree: bool) -> None:
            self._function, self._version, self._in_tree = function, version, in_tree
            self._source = Path(function.__code__.co_filename)

        @cached_property
        def _name(self) -> str:
            """The beginning of the names of its files."""
            function, version = self._function, self._version()
            inside = function.__qualname__.replace("<", "").replace(">", "")
            if function.__closure__:
                # The compiler names code by this and a number that counts in one process.  So without a version,
                # kernels of one factory that two processes have compiled can have the same name, and one is taken for
                # the other.
                function.__qualname__ += f"-{version}"
            python = f"py{sys.version_info[0]}{sys.version_info[1]}{sys.abiflags}"
            return f"{self._source.stem}.{inside}.{python}-{version}"

        @property
        def places(self) -> Sequence[Path]:
            """Folders where the code may be, the first choice first."""
            return [folder(root, self._source) for root in roots(self._in_tree)]

        @property
        def cache_path(self) -> str:
            """The first folder that is there; for numba's statistics."""
            return str(next(filter(Path.is_dir, self.places), self.places[0]))

        def load_overload(self, signature: Any, context: Any) -> Any:
            """The code compiled for these types; None if there is none."""
            # What compiled code may call.  The rest of `context.refresh` loads all that numba can compile, which takes
            # longer than most commands need for their kernels; the compiler does it when it compiles.
            rtsys.initialize(context)
            key = self._key(signature, context.codegen())
            for root in filter(_is_safe, roots(self._in_tree)):
                file = folder(root, self._source) / self._file(key)
                with suppress(FileNotFoundError, NotADirectoryError):
                    try:
                        found, reduced = pickle.loads(_content(file.read_bytes()) or b"")
                        if found != key:
                            raise ValueError(f"{file} has the code of another kernel")
                        result = CompileResult._rebuild(context, *reduced)  # type: ignore[no-untyped-call]
                    except (FileNotFoundError, NotADirectoryError, MemoryError):
                        raise
                    except Exception as error:
                        if delete(file) or not isinstance(error, PermissionError):  # else it is not meant for us
                            tell(f"Compiled code in {root} was damaged, as after a power cut: that is compiled again.")
                        continue
                    with suppress(OSError):
                        os.utime(file)  # versions in use stay young
                    used.add(file)
                    return result
            return None

        def save_overload(self, signature: Any, result: Any) -> None:
            """Keep the compiled code, if a directory can keep it."""
            if result.library.has_dynamic_globals:
                raise TypeError(f"{self._name} has addresses of this process in it: its code cannot be kept.")
            key, failure = self._key(signature, result.codegen), ""
            content = dumps((key, result._reduce()))  # type: ignore[no-untyped-call]
            for root in roots(self._in_tree):
                try:
                    file = _make_folder(root, self._source) / self._file(key)
                    _write(file, content)
                except OSError as error:
                    failure = failure or str(error.strerror or error)
                    continue
                used.add(file)
                make_readable(file.parent)
                if failure and not self._in_tree:
                    tell_place(root)
                return
            if _tell:
                raise NotKeptError(failure)
            tell_none(failure)

        def _key(self, signature: Any, codegen: Any) -> Any:
            # A named tuple is known by its name only, so its fields are told.
            return self._name, signature, codegen.magic_tuple(), tuple(map(_fields, signature))

        def _file(self, key: Any) -> str:
            return f"{self._name}.{hashlib.blake2b(str(key).encode(), digest_size=6).hexdigest()}{ENDING}"

    return Kept
