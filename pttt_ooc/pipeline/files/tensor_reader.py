"""Untrusted files with tensors, read row by row: whatever the file, only a block of rows is in memory.

A tensor is an ``.npy`` file, zipped or not.  No content is unpickled or extracted, and sizes are checked before memory
is allocated.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.disk.store import scratch_array
from pttt_ooc.errors import StrategyError, StrategyFileError
from pttt_ooc.pipeline.files.file_headers import check_dtype, check_shape
from pttt_ooc.pipeline.files.zipped_array import (
    BLOCK_BYTES,
    HEADER_BYTES,
    UNREADABLE,
    FlawedFileError,
    Stream,
    open_zipped,
)


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
    source
        The file, as sentences name it.
    """

    def __init__(
        self,
        head: bytes,
        stream: Stream,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
        source: object = "The tensor",
    ) -> None:
        self.shape, self.dtype, self._source = shape, dtype, source
        self._head, self._stream, self._row = memoryview(head), stream, 0

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """The next rows; FlawedFileError if the stream ends too early."""
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
            if not data:  # the file was truncated while it was read
                missing = f"{len(target) - at} bytes of the announced content are missing."
                raise FlawedFileError(self._source, UNREADABLE, missing)
            target[at : at + len(data)] = data
            at += len(data)

    def finish(self) -> None:
        """Read the rest: the checksum of a file in a zip is compared at its end."""
        while self._stream.read(BLOCK_BYTES):
            pass


@contextmanager
def open_tensor(path: Path, expected_shape: tuple[int, int], scratch: Path | None = None) -> Iterator[Any]:
    """A tensor in a file, for :func:`~pttt_ooc.pipeline.files.tensors.strategy_from_tensor`.

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
    with _open_file(path) as (stream, size):
        head = stream.read(HEADER_BYTES)
        _, dtype, fortran, start = _parse_header(path, head, size, expected_shape)
        if fortran and path.suffix.lower() == ".npy":
            yield np.memmap(path, dtype, "r", start, expected_shape, order="F")
            return
        rows = TensorRows(head[start:], stream, expected_shape, dtype, path)
        with _whole(rows):
            yield rows.in_columns(scratch or path.parent) if fortran else rows


@contextmanager
def open_zipped_tensor(
    path: Path, expected_shape: tuple[int, int], scratch: Path, on_progress: Callable[[float], None]
) -> Iterator[Any]:
    """As :func:`open_tensor`, for a zip with any name.

    Parameters
    ----------
    on_progress
        Called with the share of the file that has been read; its exceptions stop the reading.

    Raises
    ------
    FlawedFileError, ShapeError, StrategyError
        If it is not a zip with a tensor of this shape, or is damaged.
    OSError, StoreError
        If the file cannot be read or `scratch` is full, which is not the file's fault.
    """
    with open_zipped(path) as (inner, size):
        stream = _Told(inner, size, on_progress)
        head = stream.read(HEADER_BYTES)
        _, dtype, fortran, start = _parse_header(path, head, size, expected_shape)
        rows = TensorRows(head[start:], stream, expected_shape, dtype, path)
        with _whole(rows):
            yield rows.in_columns(scratch) if fortran else rows


@contextmanager
def _whole(rows: TensorRows) -> Iterator[None]:
    """Read to the end after the block; the complaint about a damaged zip replaces one about its rows."""
    try:
        yield
    except StrategyError:
        rows.finish()
        raise
    rows.finish()


class _Told:
    """A stream that reports the share that has been read."""

    def __init__(self, stream: Stream, size: int, on_progress: Callable[[float], None]) -> None:
        self._stream, self._size, self._on_progress = stream, size, on_progress
        self._read = 0

    def read(self, size: int, /) -> bytes:
        self._on_progress(self._read / max(self._size, 1))
        data = self._stream.read(size)
        self._read += len(data)
        return data


def tensor_header(path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of the tensor in a strategy's file; only the header is read.

    Raises
    ------
    StrategyFileError
        If the file is unreadable or of another format, or its size does not match its header.
    StrategyError
        If the dtype is not allowed for strategies.
    """
    with _open_file(path) as (stream, size):
        shape, dtype, _, _ = _parse_header(path, stream.read(HEADER_BYTES), size, None)
        return shape, dtype


@contextmanager
def _open_file(path: Path) -> Iterator[tuple[Stream, int]]:
    """The npy file at `path`, or the one in the zip at `path`, and its size."""
    suffix = path.suffix.lower()
    if suffix not in (".zip", ".npy"):
        raise StrategyFileError(f"{path}: A strategy's file is a .zip or .npy, and its name must end so.")
    try:
        if suffix == ".npy":
            with open(path, "rb") as stream:
                yield stream, path.stat().st_size
        else:
            with open_zipped(path) as (stream, size):
                yield stream, size
    except OSError as error:
        raise StrategyFileError(f"{path}: The file cannot be read: {error.strerror or error}.") from error


_READ = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
    (3, 0): np.lib.format.read_array_header_2_0,  # differs only in names of fields, which no tensor has
}


def _npy_header(source: object, head: bytes) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """The header of an npy file: shape, whether the order is Fortran's, dtype, and the start of the data."""
    f = io.BytesIO(head)
    try:
        version = np.lib.format.read_magic(f)
        read = _READ[version]
        shape, fortran, dtype = read(f)
        if not all(0 <= n < 1 << 63 for n in shape):
            raise ValueError("no array has this shape")
    except Exception as error:  # numpy evaluates a literal of the file, which can fail in many ways
        what = "The header of the .npy file is damaged, or of an unknown version."
        raise FlawedFileError(source, UNREADABLE, what) from error
    return shape, fortran, dtype, f.tell()


def _parse_header(
    path: Path, head: bytes, size: int, expected: tuple[int, int] | None
) -> tuple[tuple[int, ...], np.dtype[Any], bool, int]:
    """The header of an npy file of `size` bytes: shape, dtype, whether the order is Fortran's, start of the data."""
    shape, fortran, dtype, start = _npy_header(path, head)
    if expected is not None:
        check_shape(shape, expected, str(path))
    check_dtype(dtype, str(path))
    found, wanted = size - start, math.prod(shape) * dtype.itemsize
    if found != wanted:
        what = "is truncated" if found < wanted else "goes on after the tensor"
        what = f"The .npy file {what}: it has {found} bytes of data, its header announces {wanted}."
        raise FlawedFileError(path, UNREADABLE, what)
    return shape, dtype, fortran, start
