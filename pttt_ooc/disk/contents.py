"""Digests of contents: they depend neither on the compression nor on the chunks of a file.

A digest covers the arrays of a Zarr store or an HDF5 file, and the members of a zip: names, attributes, shapes, dtypes
and numbers, but neither compressed bytes nor chunks.  Of other files it covers every byte.  So equal contents have
equal digests even if another machine or compressor writes other bytes; ``docs/files.md`` says what that promises.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pttt_ooc.disk.files import explain_errors
from pttt_ooc.disk.resources import cores
from pttt_ooc.errors import StoreError

if TYPE_CHECKING:  # the Snakefile imports this module; h5py, numpy and Zarr would slow it down
    import h5py
    from numpy.typing import NDArray

_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, TypeError, RuntimeError, LookupError)
"""What zipfile, numpy and h5py raise for damaged files; h5py raises OSErrors as well."""


class UndecodableError(StoreError):
    """A compressed file or array does not decode: it is damaged."""


class ArrayDigest:
    """The digest of an array's numbers, in C order and little-endian, while they are written or read."""

    def __init__(self) -> None:
        self._total = hashlib.sha256()

    def add(self, rows: NDArray[Any]) -> None:
        """Add the next rows."""
        import numpy as np

        little = np.ascontiguousarray(rows, rows.dtype.newbyteorder("<"))
        self._total.update(little.reshape(-1).view(np.uint8).data)

    def result(self) -> str:
        """SHA-256 in hex."""
        return self._total.hexdigest()


def content_digest(path: Path, known: Mapping[str, str] | None = None) -> str:
    """The digest (SHA-256, in hex) of the contents of a file, or of a directory tree.

    A tree's digest covers the sorted relative names of its files and arrays and their contents, but no time stamps, no
    empty directories and not the directory's own name.

    Parameters
    ----------
    known
        Digests of arrays that are not read again, made by :class:`ArrayDigest`, by the names of a zip's members or an
        HDF5 file's datasets.

    Raises
    ------
    UndecodableError
        If something compressed does not decode.
    StoreError
        If `path` does not exist or cannot be read.
    """
    with explain_errors(f"read {path}"):
        if not path.is_dir():
            return _of_file(path, known or {})
        parts = dict(_parts(path, path))
        with ThreadPoolExecutor(cores()) as pool:  # hashing releases the interpreter's lock
            found = pool.map(lambda digest: digest(), parts.values())
            return _of_facts(sorted(zip(parts, found, strict=True)))


def _of_facts(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _of_stream(stream: IO[bytes]) -> str:
    return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]  # it only reads


def is_packed(path: Path) -> bool:
    """Whether a file's bytes are not its content."""
    return path.suffix in (".zip", ".h5")


def _of_file(path: Path, known: Mapping[str, str]) -> str:
    with open(path, "rb") as file:
        if path.suffix == ".zip":
            with _decoding(path, _DAMAGE):
                return _of_zip(file, known)
        if path.suffix == ".h5":
            with _decoding(path, (OSError, *_DAMAGE)):
                return _of_hdf5(path, known)
        return _of_stream(file)


@contextmanager
def _decoding(path: Path, damage: tuple[type[Exception], ...]) -> Iterator[None]:
    try:
        yield
    except damage as error:
        raise UndecodableError(f"{path} is damaged: it does not decode ({error}); make it again.") from error


# ---------------------------------------------------------------------------------------------
# Zarr


def _parts(root: Path, directory: Path) -> Iterator[tuple[str, Any]]:
    """The name of each file or array below a directory, and the function that makes its digest."""
    for path in directory.iterdir():
        name = path.relative_to(root).as_posix()
        if not path.is_dir():
            yield name, partial(_of_group if path.name == "zarr.json" else _of_plain, path)
        elif (path / "zarr.json").exists() and _node(path / "zarr.json").get("node_type") == "array":
            yield name, partial(_of_array, path)
        else:
            yield from _parts(root, path)


def _of_plain(path: Path) -> str:
    return _of_file(path, {})


def _node(description: Path) -> dict[str, Any]:
    try:
        found = json.loads(description.read_bytes())
    except ValueError as error:
        raise UndecodableError(f"{description} is damaged: it is no JSON ({error}); make it again.") from error
    return found if isinstance(found, dict) else {}


def _of_group(description: Path) -> str:
    found = _node(description)
    return _of_facts([found.get(key) for key in ("zarr_format", "node_type", "attributes")])


def _of_array(place: Path) -> str:
    from pttt_ooc.disk.store import array_runs

    found, numbers = _node(place / "zarr.json"), ArrayDigest()
    try:
        for rows in array_runs(place.parent, place.name):
            numbers.add(rows)
    except StoreError as error:
        raise UndecodableError(str(error)) from error
    told = [found.get(key) for key in ("shape", "data_type", "dimension_names", "attributes")]
    return _of_facts([*told, numbers.result()])


# ---------------------------------------------------------------------------------------------
# Zip and HDF5


def _of_zip(file: IO[bytes], known: Mapping[str, str]) -> str:
    with zipfile.ZipFile(file) as archive:
        return _of_facts([_of_member(archive, member, known) for member in archive.infolist()])


def _of_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, known: Mapping[str, str]) -> list[Any]:
    """Name and content of a member; an npy file has a header and numbers."""
    import numpy as np

    with archive.open(member) as stream:
        if not member.filename.endswith(".npy"):
            return [member.filename, _of_stream(stream)]
        np.lib.format.read_magic(stream)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        return [member.filename, shape, fortran, dtype.str, known.get(member.filename) or _of_stream(stream)]


def _of_hdf5(path: Path, known: Mapping[str, str]) -> str:
    import h5py

    with h5py.File(path, "r") as tree:
        names: list[str] = []
        tree.visit(names.append)
        return _of_facts([[name, *_of_object(name, tree[name], known)] for name in ("/", *sorted(names))])


def _of_object(name: str, found: h5py.Group | h5py.Dataset, known: Mapping[str, str]) -> Iterable[Any]:
    """An object's attributes, and a dataset's shape, dtype and numbers."""
    import h5py
    import numpy as np

    attrs = {key: np.asarray(value).tolist() for key, value in sorted(found.attrs.items())}
    if not isinstance(found, h5py.Dataset):
        return [attrs]
    return [attrs, found.shape, found.dtype.str, known.get(name) or _of_dataset(found)]


def _of_dataset(dataset: h5py.Dataset) -> str:
    numbers, rows = ArrayDigest(), dataset.chunks[0] if dataset.chunks else len(dataset)
    for start in range(0, len(dataset), max(rows, 1)):
        numbers.add(dataset[start : start + rows])
    return numbers.result()
