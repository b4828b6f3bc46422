"""Zarr stores on disk: mapped arrays, arrays that are written once, attributes.

This module knows no games or regrets: an array is a name such as ``"regret/0/5"`` within a Zarr
group, a shape and a dtype.  There are two kinds of arrays:

* *mapped* arrays (:func:`create_array`, :func:`map_array`): one uncompressed chunk, whose file
  consists of the array's little-endian bytes, so that kernels work on the file in place and any
  Zarr reader can open it.  Only write them through the map: Zarr itself replaces the chunk file when
  it writes, and maps of the old file silently become stale;
* *stored* arrays (:func:`write_array`, :func:`read_array`): written once, through Zarr, and read as a whole.

Dimension *I* of the array ``"regret/0/5"`` is called ``5_axisI``, since xarray wants a name for each.

The description of an array or a group is a small JSON file.  Mapping arrays and reading attributes parse this file
directly: importing Zarr takes a fifth of a second, which a process that only maps existing arrays saves.

Errors are :class:`~pttt_ooc.errors.StoreError`, with one sentence that names the path.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.disk.files import explain_errors
from pttt_ooc.errors import StoreError

Array = NDArray[Any]
Shape = tuple[int, ...]

_DESCRIPTION = "zarr.json"
_COMPRESSED_CHUNK = 4_000_000  # bytes; one chunk at a time is in memory

_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""The errors that Zarr or this module raises on a bad description."""

# ---------------------------------------------------------------------------------------------
# Arrays that kernels work on in place


def _chunk_shape(shape: Shape) -> Shape:
    return tuple(max(1, n) for n in shape)  # Zarr has no chunks of length 0


def chunk_file(root: Path, name: str, ndim: int) -> Path:
    """The file of the single chunk of a mapped array of `ndim` dimensions."""
    return root.joinpath(name, "c", *["0"] * ndim)


def _reserve(f: IO[bytes], size: int) -> None:
    # Truncating would leave holes, and writing into a hole through a map when the disk is full
    # kills the process (SIGBUS).  Reserving blocks raises an ordinary error here instead.
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(f.fileno(), 0, size)
    else:
        os.truncate(f.fileno(), size)


class FileMap(mmap.mmap):
    """A writable map of a whole file, which stays open with it.

    Attributes
    ----------
    file
        The file.
    address
        The map's first byte in memory.
    direct
        Whether the file is read and written past the system's cache; None until somebody wants to.
    """

    file: IO[bytes]
    address: int
    direct: bool | None = None

    @classmethod
    def of(cls, file: IO[bytes]) -> Self:
        """Map a file that is open for reading and writing."""
        found = cls(file.fileno(), 0, access=mmap.ACCESS_WRITE)
        found.file, found.address = file, np.frombuffer(found, np.uint8).ctypes.data
        return found


def map_of(array: Array) -> FileMap | None:
    """The writable map in which an array lies; None if it is in memory, or may only be read."""
    base: Any = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return base if isinstance(base, FileMap) else None


def _map_file(file: Path, shape: Shape, dtype: np.dtype[Any], writable: bool) -> Array:
    if 0 in shape:
        return np.zeros(shape, dtype)
    if writable:
        return np.frombuffer(FileMap.of(open(file, "r+b")), dtype).reshape(shape)  # noqa: SIM115
    with open(file, "rb") as f:
        mapped = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
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
        Shape and dtype of the array, in C order and little-endian on disk.  Lengths of 0 are allowed.

    Returns
    -------
    array
        A writable map of the chunk file, shared with all other maps of it; a plain array if empty.
        The map lives until its last reference is dropped.

    Raises
    ------
    StoreError
        If the array exists already, or the disk is full or not writable.
    """
    stored = np.dtype(dtype).newbyteorder("<")
    found = describe_array(root, name, shape, stored)
    if 0 in shape:
        return found
    with explain_errors(f"create the array {name} in {root}"):
        file = chunk_file(root, name, len(shape))
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "xb") as f:
            _reserve(f, stored.itemsize * int(np.prod(shape, dtype=np.int64)))
        return _map_file(file, shape, stored, writable=True)


def describe_array(root: Path, name: str, shape: Shape, dtype: DTypeLike) -> Array:
    """As :func:`create_array`, without a chunk file: an array in memory, full of zeros."""
    stored = np.dtype(dtype).newbyteorder("<")
    with explain_errors(f"create the array {name} in {root}"):
        _create(root, name, shape, stored, _chunk_shape(shape), compressors=None, filters=None)
    return np.zeros(shape, stored)


def _create(root: Path, name: str, shape: Shape, dtype: np.dtype[Any], chunks: Shape, **options: Any) -> Any:
    import zarr

    # xarray opens no array without names of dimensions, and the names within a group must not contradict each other.
    dimensions = [f"{Path(name).name}_axis{axis}" for axis in range(len(shape))]
    options |= {"shape": shape, "dtype": dtype, "chunks": chunks, "fill_value": 0, "dimension_names": dimensions}
    try:
        group = zarr.open_group(root, mode="a", zarr_format=3)
        return group.create_array(name, **options)
    except zarr.errors.ContainsArrayError:
        raise StoreError(f"There is already an array {name} in {root}; delete {root / name} first.") from None


def _open_array(root: Path, name: str, advice: str) -> Any:
    import zarr

    with _require_description(root, name, advice):
        return zarr.open_array(root, path=name, mode="r", zarr_format=3)


@contextmanager
def _require_description(root: Path, name: str, advice: str) -> Iterator[None]:
    """Raise a StoreError if the block finds that an array is missing or its description unreadable."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"There is no array {name} in {root}; {advice}.") from None
    except _UNREADABLE as error:
        raise StoreError(
            f"The array {name} is damaged: its description {root / name / _DESCRIPTION} cannot be read "
            f"({type(error).__name__}: {error}); {advice}."
        ) from error


def locate_array(root: Path, name: str, advice: str = "make it again") -> tuple[Path, Shape, np.dtype[Any]]:
    """Chunk file, shape and dtype of a mapped array, which is checked to be one plain chunk of the right size.

    Errors about missing or damaged files end with `advice`.

    Raises
    ------
    StoreError
        If there is no such array; if it is compressed, big-endian or has several chunks; or if its file is
        missing or has another length than described.
    """
    shape, dtype, obstacle = _array_description(root, name, advice)
    if obstacle:
        raise StoreError(f"The array {name} in {root} {obstacle}, so it cannot be mapped; read it through Zarr.")
    file = chunk_file(root, name, len(shape))
    size = 0 if 0 in shape else dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    with explain_errors(f"read the array {name}, file {file}"):
        if size and not file.exists():
            raise StoreError(f"The array {name} is damaged: {file} is missing; {advice}.")
        stored = file.stat().st_size if size else 0
    if stored != size:
        raise StoreError(f"The array {name} is damaged: {file} has {stored} bytes instead of {size}; {advice}.")
    return file, shape, dtype


def _array_description(root: Path, name: str, advice: str) -> tuple[Shape, np.dtype[Any], str]:
    """Shape and dtype of an array, and the reason why it cannot be mapped, if any."""
    with _require_description(root, name, advice):
        description = _description(root / name, "array")
        shape = tuple(int(n) for n in description["shape"])
        dtype = np.dtype(description["data_type"]).newbyteorder("<")
        return shape, dtype, _obstacle(description, shape)


def _obstacle(description: dict[str, Any], shape: Shape) -> str:
    first, *others = [(codec["name"], codec.get("configuration", {})) for codec in description["codecs"]]
    if others or first[0] != "bytes":
        return "is compressed"
    if first[1].get("endian", "little") != "little":
        return "is big-endian"
    grid, key = description["chunk_grid"], description["chunk_key_encoding"]
    chunks = tuple(grid["configuration"]["chunk_shape"]) if grid["name"] == "regular" else None
    separator = key.get("configuration", {}).get("separator", "/")
    if chunks != _chunk_shape(shape) or (key["name"], separator) != ("default", "/"):
        return "is not one plain chunk"
    return ""


def _description(place: Path, node: str) -> dict[str, Any]:
    """The description of an array or a group in its directory; a ValueError if it describes another node."""
    description = json.loads((place / _DESCRIPTION).read_text(encoding="utf-8"))
    if not isinstance(description, dict) or (description.get("zarr_format"), description.get("node_type")) != (3, node):
        raise ValueError(f"it is of no {node} in Zarr's format 3")
    return description


def map_array(root: Path, name: str, mode: Literal["r", "r+"] = "r") -> Array:
    """Map an existing uncompressed array of one chunk in place.

    ``"r"`` gives a read-only array, ``"r+"`` one that writes through to the file.

    Raises
    ------
    StoreError
        See :func:`locate_array`.
    """
    file, shape, dtype = locate_array(root, name)
    with explain_errors(f"map the array {name}, file {file}"):
        return _map_file(file, shape, dtype, writable=mode == "r+")


def scratch_array(directory: Path, name: str, length: int, dtype: DTypeLike) -> Array:
    """A writable array, mapped from a file without a name, which the system deletes together with the array.

    Parameters
    ----------
    directory
        Directory for the file; made if missing.
    name
        Name of the array in messages.

    Raises
    ------
    StoreError
        If the disk is full or not writable.
    """
    kind = np.dtype(dtype)
    if not length:
        return np.empty(0, kind)
    with explain_errors(f"make room for the array {name} in {directory}"):
        directory.mkdir(parents=True, exist_ok=True)
        file = TemporaryFile(dir=directory)  # noqa: SIM115
        _reserve(file, length * kind.itemsize)
        return np.frombuffer(FileMap.of(file), kind)


def array_names(root: Path) -> list[str]:
    """The sorted names of all arrays that Zarr finds in the group `root`; empty if it is not a group."""
    import zarr

    try:
        members = zarr.open_group(root, mode="r", zarr_format=3).members(max_depth=None)
        return sorted(name for name, member in members if isinstance(member, zarr.Array))
    except _UNREADABLE:
        return []


# ---------------------------------------------------------------------------------------------
# Arrays that are written once, and attributes


def write_array(root: Path, name: str, data: Array, compress: bool, attrs: Mapping[str, Any] | None = None) -> None:
    """Store `data` (any shape and dtype that Zarr knows) as a new array.

    Compressed, it is zstd with a checksum, in runs of rows of at most 4 MB.  Uncompressed, it
    is one chunk that :func:`map_array` can map.

    Raises
    ------
    StoreError
        See :func:`create_array`.
    """
    from zarr.codecs import ZstdCodec

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
        # Chunks of zeros too: a missing chunk then always means damage.
        "config": {"write_empty_chunks": True},
    }
    with explain_errors(f"write the array {name} in {root}"):
        array = _create(root, name, stored.shape, little, chunks, **options)
        for part in _runs(array):
            array[part] = stored[part]


def _runs(array: Any) -> list[Any]:
    """Parts of a Zarr array to handle one by one, each a row of its chunks."""
    if not array.shape:
        return [()]
    return [slice(start, start + array.chunks[0]) for start in range(0, array.shape[0], array.chunks[0])]


def read_array(root: Path, name: str, into: Array | None = None) -> Array:
    """Read a whole array, with any chunks and compression, into memory.

    Parameters
    ----------
    into
        An array of the same shape that receives the content; default: a new one.

    Raises
    ------
    StoreError
        If the array or a chunk is missing, or its compressed bytes do not decode.
    """
    with _whole(root, name) as array:
        if into is None:
            return np.asarray(array[...])
        if into.shape != array.shape:
            raise StoreError(f"The array {name} in {root} has the wrong shape {array.shape}; make it again.")
        for part in _runs(array):
            into[part] = array[part]
        return into


def array_runs(root: Path, name: str) -> Iterator[Array]:
    """Consecutive runs of rows of an array, with any chunks and compression; for errors see :func:`read_array`."""
    if not _array_description(root, name, "make it again")[2]:
        yield map_array(root, name)
        return
    with _whole(root, name) as array:
        yield from (np.asarray(array[part]) for part in _runs(array))


@contextmanager
def _whole(root: Path, name: str) -> Iterator[Any]:
    """Open a Zarr array that has all its chunks; raise a StoreError if the block finds one that does not decode."""
    array = _open_array(root, name, "make it again")
    if array.nchunks_initialized != array.nchunks:
        raise StoreError(f"The array {name} in {root} is damaged: chunks are missing; make it again.")
    try:
        yield array
    except (OSError, ValueError, RuntimeError) as error:
        raise StoreError(f"The array {name} in {root} is damaged ({error}); make it again.") from error


def write_attrs(root: Path, attrs: Mapping[str, Any], group: str = "") -> None:
    """Set attributes (JSON values) of the Zarr group `group` within `root`; other attributes stay."""
    import zarr

    with explain_errors(f"write attributes of {root / group}"):
        zarr.open_group(root, path=group, mode="a", zarr_format=3).attrs.update(dict(attrs))


def read_attrs(root: Path, group: str = "") -> dict[str, Any]:
    """The attributes of the Zarr group `group` within `root`."""
    try:
        return dict(_description(root / group, "group").get("attributes", {}))
    except _UNREADABLE as error:
        raise StoreError(f"There is no readable Zarr group in {root / group}; make it again.") from error
