"""Atomic writing of files and directories, and content hashes.

New content is written beside its final place, synced, and then renamed.  Errors of the operating system (disk full,
read-only directory) are raised as :class:`~pttt_ooc.errors.StoreError` with one sentence that names the path.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from pttt_ooc.disk.resources import cores
from pttt_ooc.errors import StoreError

_ADVICE = {
    errno.ENOSPC: "free some space on this disk and run again",
    errno.EDQUOT: "free some of your quota and run again",
    errno.EROFS: "choose a directory that can be written to",
    errno.EACCES: "choose a directory that you may use",
    errno.EPERM: "choose a directory that you may use",
}


@contextmanager
def explain_errors(action: str) -> Iterator[None]:
    """Turn an OSError of the block into a StoreError ``"Cannot <action>: <reason>; <advice>."``."""
    try:
        yield
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0)
        reason = error.strerror or str(error)
        raise StoreError(f"Cannot {action}: {reason}{f'; {advice}' if advice else ''}.") from error


# ---------------------------------------------------------------------------------------------
# Syncing and deleting


def fsync_path(path: Path) -> None:
    """Wait until a file's content, or a directory's entries (not their contents), are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_directory(directory: Path) -> None:
    """Make a directory and its missing parents; the new ones are on disk afterwards."""
    new = [path for path in (directory, *directory.parents) if not path.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    for path in reversed(new):
        fsync_path(path.parent)


def fsync_tree(root: Path) -> None:
    """Wait until all files and directories below `root`, and `root` itself, are on disk."""
    for directory, _, files in os.walk(root, topdown=False):
        for name in files:
            fsync_path(Path(directory, name))
        fsync_path(Path(directory))


def remove(path: Path) -> None:
    """Delete a file or a directory with its contents, if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# ---------------------------------------------------------------------------------------------
# Replacing


def temporary_of(path: Path) -> Path:
    """The file beside `path` that first receives its new content."""
    return path.with_name(path.name + ".tmp")


@contextmanager
def fresh_store(path: Path) -> Iterator[Path]:
    """Write a directory beside `path` that replaces the one at `path` when it is complete.

    Yields the empty directory ``<name>.wip`` beside `path`.  If the block succeeds, the directory is
    synced and renamed to `path`; the old store is first renamed to ``<name>.old`` and then deleted.
    If the block raises, the new directory is deleted and the old store is untouched.
    After a kill between the two renames, the next call restores the old store.

    Raises
    ------
    StoreError
        If the directory cannot be made, synced or renamed.
    """
    wip, old = path.with_name(path.name + ".wip"), path.with_name(path.name + ".old")
    with explain_errors(f"make the store {wip}"):
        if old.exists() and not path.exists():
            os.rename(old, path)
        remove(old)
        remove(wip)
        make_directory(wip)
    try:
        yield wip
        with explain_errors(f"put the store {path} in place"):
            fsync_tree(wip)
            _swap_in(wip, path, old)
    except BaseException:
        shutil.rmtree(wip, ignore_errors=True)
        raise


def _swap_in(wip: Path, path: Path, old: Path) -> None:
    if path.exists():
        os.rename(path, old)
    try:
        os.rename(wip, path)
    except BaseException:
        if old.exists():
            os.rename(old, path)
        raise
    fsync_path(path.parent)
    remove(old)


def atomic_write_bytes(path: Path, data: bytes) -> None:
    """Replace the file at `path`: after a kill or power cut, it is the complete old or the complete new file.

    The bytes go through ``<name>.tmp`` beside it, so only one writer at a time is allowed.

    Raises
    ------
    StoreError
        If the file cannot be written; the old one then remains.
    """
    temporary = temporary_of(path)
    with explain_errors(f"write {path}"):
        try:
            with open(temporary, "wb") as f:
                f.write(data)
                f.flush()
                os.fsync(f.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        fsync_path(path.parent)


def atomic_write_text(path: Path, text: str) -> None:
    """Write text in UTF-8 as :func:`atomic_write_bytes` writes bytes."""
    atomic_write_bytes(path, text.encode())


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the name of a temporary file, which replaces `path` after the block, or is deleted if the block fails.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    temporary = temporary_of(path)
    with explain_errors(f"write {path}"):
        try:
            yield temporary
            fsync_path(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        fsync_path(path.parent)


# ---------------------------------------------------------------------------------------------
# Content hashes


def digest(path: Path) -> str:
    """Content hash (BLAKE2b, 32 bytes, in hex) of a file, or of a directory tree.

    A tree's hash covers the sorted relative names of its files and their contents, but no time
    stamps, no empty directories and not the directory's own name.

    Raises
    ------
    StoreError
        If `path` does not exist or cannot be read.
    """
    with explain_errors(f"read {path}"):
        if not path.is_dir():
            return _digest_file(path)
        files = {f.relative_to(path).as_posix(): f for f in path.rglob("*") if not f.is_dir()}
        names = sorted(files)
        with ThreadPoolExecutor(cores()) as pool:  # hashing releases the interpreter's lock
            return _digest_names(zip(names, pool.map(_digest_file, (files[name] for name in names)), strict=True))


def _digest_file(path: Path) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


def _digest_names(digests: Iterable[tuple[str, str]]) -> str:
    total = hashlib.blake2b(digest_size=32)
    for name, content in digests:
        total.update(json.dumps([name, content]).encode())  # quoted, so that different lists differ
    return total.hexdigest()
