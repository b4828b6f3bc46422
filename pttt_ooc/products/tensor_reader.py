"""Untrusted files with tensors, read row by row: only a block of rows is in memory for any kind of file.

A tensor is an ``.npy`` file, zipped or not.  No content is unpickled or extracted, and sizes are checked before memory
is allocated.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import IO, Any, Protocol, cast

import numpy as np
from isal.igzip_lib import DECOMP_DEFLATE, IgzipDecompressor, IsalError
from numpy.typing import NDArray

from pttt_ooc.disk.store import scratch_array
from pttt_ooc.errors import StrategyError, StrategyFileError
from pttt_ooc.products import deflate
from pttt_ooc.products.file_headers import check_dtype, check_shape

HEADER_BYTES = 1 << 17
"""Longest header of an npy file, bytes: the limit of version 1.  A longer header is refused unread."""

BLOCK_BYTES = 1 << 18
"""Largest read request to a stream."""

_INFLATING = cast(type[Exception], IsalError)  # a class, which its stubs declare as an error

# Errors raised for damaged or hostile zips, besides OSError.
_BAD_ZIP = (zipfile.BadZipFile, _INFLATING, struct.error, EOFError, ValueError, RuntimeError, OverflowError)


class Stream(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; empty at the end."""


class TensorRows:
    """The tensor of an npy stream, whose rows are read in sequence.

    Parameters
    ----------
    head
        The bytes already read after the header.
    stream
        The source of the other bytes.
    shape, dtype
        Shape and dtype of the tensor.
    """

    def __init__(self, head: bytes, stream: Stream, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype
        self._head, self._stream, self._row = memoryview(head), stream, 0

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """The next rows; EOFError if the stream ends too early."""
        if rows.start != self._row:
            raise IndexError(f"rows come in sequence: the next is {self._row}, not {rows.start}")
        self._row = min(rows.stop, self.shape[0])
        block = np.empty((self._row - rows.start, self.shape[1]), self.dtype)
        self._fill(block.reshape(-1).view(np.uint8).data)
        return block

    def in_columns(self, scratch: Path) -> NDArray[Any]:
        """The whole tensor of a stream in Fortran order, mapped from a file without a name in `scratch`.

        Raises
        ------
        StoreError
            If the disk is full.
        """
        size = math.prod(self.shape) * self.dtype.itemsize
        data = scratch_array(scratch, "of a tensor in Fortran order", size, np.uint8)
        self._fill(data.data)
        return data.view(self.dtype).reshape(self.shape, order="F")

    def _fill(self, target: memoryview) -> None:
        at = min(len(self._head), len(target))
        target[:at] = self._head[:at]
        self._head = self._head[at:]
        while at < len(target):
            data = self._stream.read(min(len(target) - at, BLOCK_BYTES))
            if not data:
                raise EOFError(f"{len(target) - at} bytes of the announced content are missing")
            target[at : at + len(data)] = data
            at += len(data)

    def finish(self) -> None:
        """Read the rest: the checksum of a file in a zip is compared at its end."""
        while self._stream.read(BLOCK_BYTES):
            pass


@contextmanager
def open_tensor(path: Path, expected_shape: tuple[int, int], scratch: Path | None = None) -> Iterator[Any]:
    """A tensor in a file, for :func:`~pttt_ooc.products.tensors.strategy_from_tensor`.

    Parameters
    ----------
    path
        A ``.zip`` with a single ``.npy`` file, or an ``.npy`` file.
    scratch
        Directory for a file without a name that receives a zipped tensor in Fortran order, whose rows are scattered.
        Default: the directory of the file.

    Yields
    ------
    float16, float32 or float64 of shape `expected_shape`: returns an array for a slice of rows.  Read rows in
    ascending order.

    Raises
    ------
    StrategyFileError
        If the file is unreadable, damaged or of another format; perhaps only when rows are read.
    StrategyError
        If the tensor's shape or dtype is not the expected one.
    StoreError
        If the disk of `scratch` is full.
    """
    with _opened(path) as (stream, size):
        head = stream.read(HEADER_BYTES)
        _, dtype, fortran, start = _parse_header(path, head, size, expected_shape)
        rows = TensorRows(head[start:], stream, expected_shape, dtype)
        if fortran and path.suffix.lower() == ".npy":
            yield np.memmap(path, dtype, "r", start, expected_shape, order="F")
            return
        try:
            yield rows.in_columns(scratch or path.parent) if fortran else rows
        except StrategyError:
            rows.finish()  # for a damaged zip, this raises the better message
            raise
        rows.finish()


def tensor_header(path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of the tensor in a strategy's file; only the header is read.

    Raises
    ------
    StrategyFileError
        If the file is unreadable or of another format, or its size does not match its header.
    StrategyError
        If the dtype is not allowed for strategies.
    """
    with _opened(path) as (stream, size):
        shape, dtype, _, _ = _parse_header(path, stream.read(HEADER_BYTES), size, None)
        return shape, dtype


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Stream, int]]:
    """The npy file at `path`, or the one in the zip at `path`, and its size."""
    suffix = path.suffix.lower()
    if suffix not in (".zip", ".npy"):
        raise StrategyFileError(f"{path}: A strategy's file is a .zip or .npy, and its name must end so.")
    try:
        if suffix == ".npy":
            with open(path, "rb") as stream:
                yield stream, path.stat().st_size
            return
        with zipfile.ZipFile(path) as archive:
            member = _only_member(path, archive.infolist())
            with archive.open(_packed(member)) as packed:
                yield (Inflated(packed, member) if _is_packed(member) else packed), member.file_size
    except OSError as error:
        raise StrategyFileError(f"{path}: The file cannot be read: {error.strerror or error}.") from error
    except _BAD_ZIP as error:
        if suffix == ".npy" and isinstance(error, EOFError):  # it was truncated while it was read
            raise StrategyFileError(f"{path}: Exception parsing numpy tensor: {error}.") from error
        if suffix == ".npy":
            raise
        raise StrategyFileError(f"{path}: Not a valid zip file ({str(error).rstrip('.')}).") from error


class Inflated:
    """The content of a compressed file in a zip, inflated by ISA-L in half of zlib's time.

    Parameters
    ----------
    packed
        The compressed bytes.
    member
        The zip's entry of the file: it is read up to the announced size, and then its checksum is compared.
    """

    def __init__(self, packed: IO[bytes], member: zipfile.ZipInfo) -> None:
        self._packed, self._name, self._expected = packed, member.filename, member.CRC
        self._left, self._crc, self._ended = member.file_size, 0, False
        self._inflater = IgzipDecompressor(flag=DECOMP_DEFLATE)

    def read(self, size: int, /) -> bytes:
        """The next available bytes, at most `size`; empty at the end."""
        data = b""
        while not data and not self._ended:
            packed = self._packed.read(BLOCK_BYTES) if self._inflater.needs_input else b""
            cut_off = self._inflater.needs_input and not packed
            if self._left and not cut_off:
                data = self._inflater.decompress(packed, min(size, self._left))
            self._crc = deflate.crc32(data, self._crc)
            self._left -= len(data)
            self._ended = cut_off or not self._left or self._inflater.eof
        if self._ended and self._crc != self._expected:
            raise zipfile.BadZipFile(f"Bad CRC-32 for file {self._name!r}")
        return data


def _is_packed(member: zipfile.ZipInfo) -> bool:
    return member.compress_type == zipfile.ZIP_DEFLATED


def _packed(member: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """The member declared as uncompressed, so that `zipfile` returns the compressed bytes."""
    packed = copy(member)
    if _is_packed(member):
        packed.compress_type, packed.file_size = zipfile.ZIP_STORED, member.compress_size
        del packed.CRC  # it is the uncompressed content's; without it, `zipfile` checks nothing
    return packed


def _only_member(path: Path, members: list[zipfile.ZipInfo]) -> zipfile.ZipInfo:
    if not members:
        raise StrategyFileError(f"{path}: The zip is empty.")
    if len(members) > 1:
        raise StrategyFileError(f"{path}: The zip contains more than one file.")
    if not members[0].filename.endswith(".npy"):
        raise StrategyFileError(f"{path}: The zipped file does not end with .npy.")
    if members[0].flag_bits & 1:
        raise StrategyFileError(f"{path}: The zipped file is encrypted.")
    # With other methods, a small file could demand gigabytes for a dictionary.
    if members[0].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise StrategyFileError(f"{path}: The zipped file is compressed by another method than deflate.")
    return members[0]


def npy_header(head: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """The header of an npy file: shape, whether the order is Fortran's, dtype, and the start of the data.

    Raises
    ------
    StrategyFileError
        If it is no header of version 1 or 2, or no array can have this shape.
    """
    f = io.BytesIO(head)
    try:
        version = np.lib.format.read_magic(f)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(f)
        if not all(0 <= n < 1 << 63 for n in shape):
            raise ValueError("no array has this shape")
    except Exception as error:  # numpy evaluates a literal of the file, which can fail in many ways
        raise StrategyFileError("Exception parsing numpy tensor: the header is damaged.") from error
    return shape, fortran, dtype, f.tell()


def _parse_header(
    path: Path, head: bytes, size: int, expected: tuple[int, int] | None
) -> tuple[tuple[int, ...], np.dtype[Any], bool, int]:
    """The header of an npy file of `size` bytes: shape, dtype, whether the order is Fortran's, start of the data."""
    try:
        shape, fortran, dtype, start = npy_header(head)
    except StrategyFileError as error:
        raise StrategyFileError(f"{path}: {error}") from error
    if expected is not None:
        check_shape(shape, expected, str(path))
    check_dtype(dtype, str(path))
    found, wanted = size - start, math.prod(shape) * dtype.itemsize
    if found != wanted:
        what = "is truncated" if found < wanted else "goes on after the tensor"
        raise StrategyFileError(
            f"{path}: Exception parsing numpy tensor: the file {what}, found {found} bytes of data, expected {wanted}."
        )
    return shape, dtype, fortran, start
