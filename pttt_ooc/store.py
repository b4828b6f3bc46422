"""Zarr stores on disk: mapped chunks, whole-store replacement, content hashes, memory plans.

Nothing here knows of games or regrets: an array is a name such as ``"regret/0/5"`` within a Zarr
group, a shape and a dtype.  Two kinds of arrays are told apart:

* *mapped* ones (:func:`create_array`, :func:`map_array`): one uncompressed chunk, whose file is the
  array's little-endian bytes and nothing else, so that kernels work on the file in place while any
  Zarr reader opens it.  Only ever write them through the map: Zarr's own writing replaces the chunk
  file, and maps of the old file go stale without a word;
* *stored* ones (:func:`write_array`, :func:`read_array`): written once, through Zarr, and read as a whole.

Errors of the operating system (disk full, read-only directory) leave this module as
:class:`~pttt_ooc.errors.StoreError` with one sentence that names the path.
"""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import zarr
from numpy.typing import DTypeLike, NDArray
from zarr.codecs import BytesCodec, ZstdCodec

from pttt_ooc.errors import MemoryBudgetError, StoreError

Array = NDArray[Any]
Shape = tuple[int, ...]

MB = 1_000_000
"""Bytes of a megabyte, as the workflow engine counts them."""

_COMPRESSED_CHUNK = 64 * MB

_UNREADABLE = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
)  # what Zarr raises when it reads bad descriptions

_ADVICE = {
    errno.ENOSPC: "free some space on this disk and run again",
    errno.EDQUOT: "free some of your quota and run again",
    errno.EROFS: "choose a directory that can be written to",
    errno.EACCES: "choose a directory that you may use",
    errno.EPERM: "choose a directory that you may use",
}


@contextmanager
def explained(action: str) -> Iterator[None]:
    """Turn an OSError of the block into a StoreError ``"Cannot <action>: <reason>; <advice>."``."""
    try:
        yield
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0)
        reason = error.strerror or str(error)
        raise StoreError(f"Cannot {action}: {reason}{f'; {advice}' if advice else ''}.") from error


# ---------------------------------------------------------------------------------------------
# Arrays that kernels work on in place


def _chunk_shape(shape: Shape) -> Shape:
    return tuple(max(1, n) for n in shape)  # Zarr has no chunks of length 0


def chunk_file(root: Path, name: str, ndim: int) -> Path:
    """The file of the single chunk of a mapped array of `ndim` dimensions."""
    return root.joinpath(name, "c", *["0"] * ndim)


def _allocate(file: Path, size: int) -> None:
    # A mere truncate leaves holes, and storing into a hole through a map when the disk is full
    # kills the process (SIGBUS); reserved blocks make it an ordinary error here and now.
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "xb") as f:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(f.fileno(), 0, size)
        else:
            os.truncate(f.fileno(), size)


def _map_file(file: Path, shape: Shape, dtype: np.dtype[Any], writable: bool) -> Array:
    if 0 in shape:
        return np.zeros(shape, dtype)
    with open(file, "r+b" if writable else "rb") as f:
        mapped = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype).reshape(shape)


def create_array(root: Path, name: str, shape: Shape, dtype: DTypeLike) -> Array:
    """Create an uncompressed array of one chunk, full of zeros, and map it.

    Parameters
    ----------
    root
        Directory of a Zarr group (format 3); made if missing, as are the groups between it and `name`.
    name
        Path of the array within the group.
    shape, dtype
        Of the array, in C order and little-endian on disk.  Lengths of 0 are allowed.

    Returns
    -------
    array
        A writable map of the chunk file, shared with all other maps of it; a plain array if empty.
        The map lives until the last reference to it is dropped.

    Raises
    ------
    StoreError
        If the array exists already, or the disk is full or cannot be written to.
    """
    stored = np.dtype(dtype).newbyteorder("<")
    with explained(f"create the array {name} in {root}"):
        _create(root, name, shape, stored, _chunk_shape(shape), compressors=None, filters=None)
        if 0 in shape:
            return np.zeros(shape, stored)
        file = chunk_file(root, name, len(shape))
        _allocate(file, stored.itemsize * int(np.prod(shape, dtype=np.int64)))
        return _map_file(file, shape, stored, writable=True)


def _create(root: Path, name: str, shape: Shape, dtype: np.dtype[Any], chunks: Shape, **options: Any) -> Any:
    try:
        group = zarr.open_group(root, mode="a", zarr_format=3)
        return group.create_array(name, shape=shape, dtype=dtype, chunks=chunks, fill_value=0, **options)
    except zarr.errors.ContainsArrayError:
        raise StoreError(f"There is already an array {name} in {root}; delete {root / name} first.") from None


def _open_array(root: Path, name: str, advice: str) -> Any:
    try:
        return zarr.open_array(root, path=name, mode="r", zarr_format=3)
    except FileNotFoundError:
        raise StoreError(f"There is no array {name} in {root}; {advice}.") from None
    except _UNREADABLE as error:
        raise StoreError(
            f"The array {name} is damaged: its description {root / name / 'zarr.json'} cannot be read "
            f"({type(error).__name__}: {error}); {advice}."
        ) from error


def locate_array(root: Path, name: str, advice: str = "make it anew") -> tuple[Path, Shape, np.dtype[Any]]:
    """Chunk file, shape and dtype of a mapped array, checked to be one plain chunk of the right size.

    Errors about missing or damaged files end with `advice`.

    Raises
    ------
    StoreError
        If there is no such array, or it is compressed, of several chunks, big-endian, or its file is
        missing or not as long as the description says.
    """
    array = _open_array(root, name, advice)
    shape, dtype, codecs = tuple(array.shape), array.dtype, array.metadata.codecs
    file = chunk_file(root, name, len(shape))
    obstacle = None
    if len(codecs) != 1 or not isinstance(codecs[0], BytesCodec):
        obstacle = "is compressed"
    elif codecs[0].endian is not None and codecs[0].endian.value != "little":
        obstacle = "is big-endian"
    elif tuple(array.chunks) != _chunk_shape(shape) or file != root / name / array.metadata.encode_chunk_key(
        (0,) * len(shape)
    ):
        obstacle = "is not one plain chunk"
    if obstacle:
        raise StoreError(f"The array {name} in {root} {obstacle}, so it cannot be mapped; read it through Zarr.")
    size = 0 if 0 in shape else dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    with explained(f"read the array {name}, file {file}"):
        if size and not file.exists():
            raise StoreError(f"The array {name} is damaged: {file} is missing; {advice}.")
        found = file.stat().st_size if size else 0
    if found != size:
        raise StoreError(f"The array {name} is damaged: {file} has {found} bytes instead of {size}; {advice}.")
    return file, shape, dtype.newbyteorder("<")


def map_array(root: Path, name: str, mode: Literal["r", "r+"] = "r") -> Array:
    """Map an existing uncompressed array of one chunk in place.

    ``"r"`` gives a read-only array, ``"r+"`` one that writes through to the file.

    Raises
    ------
    StoreError
        As :func:`locate_array`.
    """
    file, shape, dtype = locate_array(root, name)
    with explained(f"map the array {name}, file {file}"):
        return _map_file(file, shape, dtype, writable=mode == "r+")


def array_names(root: Path) -> list[str]:
    """The sorted names of all arrays that Zarr finds in the group `root`; none if it is no group."""
    try:
        members = zarr.open_group(root, mode="r", zarr_format=3).members(max_depth=None)
        return sorted(name for name, member in members if isinstance(member, zarr.Array))
    except _UNREADABLE:
        return []


# ---------------------------------------------------------------------------------------------
# Arrays that are written once, and attributes


def write_array(root: Path, name: str, data: Array, compress: bool, attrs: Mapping[str, Any] | None = None) -> None:
    """Store `data` (any shape and dtype that Zarr knows) as a new array.

    Compressed, it is zstd with a content check, in runs of rows of at most 64 MB.  Uncompressed, it
    is one chunk that :func:`map_array` can map.

    Raises
    ------
    StoreError
        As :func:`create_array`.
    """
    stored = np.asarray(data)
    little = stored.dtype.newbyteorder("<")
    chunks = _chunk_shape(stored.shape)
    if compress and stored.ndim:
        row_bytes = max(1, stored.nbytes // chunks[0])
        chunks = (min(chunks[0], max(1, _COMPRESSED_CHUNK // row_bytes)), *chunks[1:])
    options: dict[str, Any] = {
        "compressors": ZstdCodec(level=0, checksum=True) if compress else None,
        "filters": None,
        "attributes": dict(attrs or {}),
        # Chunks of zeros too: a chunk that is not there is then always damage.
        "config": {"write_empty_chunks": True},
    }
    with explained(f"write the array {name} in {root}"):
        array = _create(root, name, stored.shape, little, chunks, **options)
        if stored.size:
            array[...] = stored


def read_array(root: Path, name: str) -> Array:
    """Read a whole array, of whatever chunks and compression, into memory.

    Raises
    ------
    StoreError
        If it is not there, a chunk is missing, or its compressed bytes do not decode.
    """
    array = _open_array(root, name, "make it anew")
    try:
        if array.nchunks_initialized == array.nchunks:
            return np.asarray(array[...])
    except (OSError, ValueError, RuntimeError) as error:
        raise StoreError(f"The array {name} in {root} is damaged ({error}); make it anew.") from error
    raise StoreError(f"The array {name} in {root} is damaged: chunks are missing; make it anew.")


def write_attrs(root: Path, attrs: Mapping[str, Any], group: str = "") -> None:
    """Set attributes (JSON values) of the Zarr group `group` within `root`; others are kept."""
    with explained(f"write attributes of {root / group}"):
        zarr.open_group(root, path=group, mode="a", zarr_format=3).attrs.update(dict(attrs))


def read_attrs(root: Path, group: str = "") -> dict[str, Any]:
    """The attributes of the Zarr group `group` within `root`."""
    try:
        return dict(zarr.open_group(root, path=group, mode="r", zarr_format=3).attrs)
    except _UNREADABLE as error:
        raise StoreError(f"There is no readable Zarr group in {root / group}; make it anew.") from error


# ---------------------------------------------------------------------------------------------
# Files and directories that are whole or not there


def fsync_directory(directory: Path) -> None:
    """Wait until the directory's entries (not their contents) are on disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_tree(root: Path) -> None:
    """Wait until all files and directories below `root`, and `root` itself, are on disk."""
    for directory, _, files in os.walk(root, topdown=False):
        for name in files:
            fsync_directory(Path(directory, name))  # the same call serves for files
        fsync_directory(Path(directory))


def remove(path: Path) -> None:
    """Delete a file or a directory with all it holds, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def fresh_store(path: Path) -> Iterator[Path]:
    """Write a directory aside and put it in place, instead of what was there, when it is whole.

    Yields the directory ``<name>.wip`` beside `path`, empty.  When the block succeeds, all of it is
    synced and renamed to `path`; the old store is renamed to ``<name>.old`` just before and deleted
    afterwards.  When the block raises, the new directory is deleted and the old store is untouched.
    A kill between the two renames is repaired by the next ``fresh_store`` of the same path.

    Raises
    ------
    StoreError
        If the directory cannot be made, synced or renamed.
    """
    wip, old = path.with_name(path.name + ".wip"), path.with_name(path.name + ".old")
    with explained(f"make the store {wip}"):
        if old.exists() and not path.exists():
            os.rename(old, path)
        remove(old)
        remove(wip)
        wip.mkdir(parents=True)
    try:
        yield wip
        with explained(f"put the store {path} in place"):
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
    fsync_directory(path.parent)
    remove(old)


def atomic_write_bytes(path: Path, data: bytes) -> None:
    """Replace the file at `path` such that, after a kill or power cut, it is the old or the new one, whole.

    The bytes go through ``<name>.tmp`` beside it, so there may be only one writer at a time.

    Raises
    ------
    StoreError
        If the file cannot be written; the old one is then still there.
    """
    temporary = path.with_name(path.name + ".tmp")
    with explained(f"write {path}"):
        try:
            with open(temporary, "wb") as f:
                f.write(data)
                f.flush()
                os.fsync(f.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        fsync_directory(path.parent)


def atomic_write_text(path: Path, text: str) -> None:
    """As :func:`atomic_write_bytes`, in UTF-8."""
    atomic_write_bytes(path, text.encode())


# ---------------------------------------------------------------------------------------------
# Content hashes and manifests


def digest(path: Path) -> str:
    """Content hash (BLAKE2b, 32 bytes, in hex) of a file, or of a directory tree.

    A tree's hash covers the sorted relative names of its files and their contents; neither time
    stamps nor empty directories nor the name of the directory itself matter.

    Raises
    ------
    StoreError
        If there is nothing at `path` or it cannot be read.
    """
    with explained(f"read {path}"):
        if not path.is_dir():
            return _digest_file(path)
        files = {f.relative_to(path).as_posix(): f for f in path.rglob("*") if not f.is_dir()}
        return _digest_names((name, _digest_file(files[name])) for name in sorted(files))


def digest_files(paths: Iterable[Path]) -> str:
    """One content hash of several files or trees: of their last names and contents, in any order."""
    return _digest_names(sorted((path.name, digest(path)) for path in paths))


def _digest_file(path: Path) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, lambda: hashlib.blake2b(digest_size=32)).hexdigest()


def _digest_names(digests: Iterable[tuple[str, str]]) -> str:
    total = hashlib.blake2b(digest_size=32)
    for name, content in digests:
        total.update(json.dumps([name, content]).encode())  # quoted, so that no two lists look alike
    return total.hexdigest()


# ---------------------------------------------------------------------------------------------
# Memory


@dataclass
class MemoryPlan:
    """What a computation is going to hold in memory at its peak, by name, in bytes.

    Made before anything is allocated, so that a budget that is too small is refused at once.
    """

    items: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, shape: Shape, dtype: DTypeLike, count: int = 1) -> None:
        """Add `count` arrays of one shape and dtype under `name`."""
        size = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
        self.items[name] = self.items.get(name, 0) + count * size

    @property
    def total_mb(self) -> int:
        """The smallest budget that would do, in MB (10^6 bytes), rounded up."""
        return -(-sum(self.items.values()) // MB)

    def check(self, budget_mb: float) -> None:
        """Raise a MemoryBudgetError, which says what would do, if the plan exceeds `budget_mb` MB."""
        if self.total_mb <= budget_mb:
            return
        largest = sorted(self.items.items(), key=lambda item: -item[1])[:3]
        listed = ", ".join(f"{name} {size / MB:.1f} MB" for name, size in largest)
        raise MemoryBudgetError(
            f"A memory budget of {budget_mb:g} MB is too small: {self.total_mb} MB is the smallest that would do "
            f"(the largest parts: {listed})."
        )
