"""Validation of uploaded files, which may hold anything.

A file is read through buffers of fixed size.  The sizes in its headers are compared with those of a strategy of the
game before anything is decompressed.  Nothing is extracted, unpickled or held in memory as a whole.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from pttt_ooc.errors import StrategyError, StrategyFileError
from pttt_ooc.products.file_headers import SUM_TOLERANCE
from pttt_ooc.products.tensor_reader import TensorRows, npy_header
from pttt_ooc.products.tensors import strategy_from_tensor
from pttt_ooc.structure.index import Index
from pttt_ooc.structure.strategy import Strategy
from pttt_ooc.structure.views import Ints

NOT_A_ZIP = "Not a valid zip file"
SEVERAL_FILES = "The zip contains more than one file"
NOT_NPY = "The zipped file does not end with .npy"
UNREADABLE = "Exception parsing numpy tensor"

_READ = 1 << 18  # bytes; the directory of a zip with one file has at most 46 + 3 * 65,535
_HEADER = 1 << 17
_DEFLATE = 1032  # the best compression of deflate
_BAD = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OverflowError, LookupError)


class Refusal(Exception):
    """A file is not a strategy.

    Parameters
    ----------
    note
        The verdict, in the course's words if it has any.
    detail
        A hint for repairing the file.
    """

    def __init__(self, note: str, detail: str = "") -> None:
        super().__init__(note)
        self.note, self.detail = _printable(note), _printable(detail)


def _printable(text: str) -> str:
    """Text without control characters, which databases and pages do not accept."""
    return "".join(c if c.isprintable() else "?" for c in text)


class _Bounded(io.BufferedReader):
    """A file that returns at most the bytes that the zip of one file can need in one read."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            data = super().read(_READ + 1)
        elif size > _READ:
            raise Refusal(SEVERAL_FILES, "The zip's directory is longer than that of a single file can be.")
        else:
            return super().read(size)
        if len(data) > _READ:
            raise Refusal(NOT_A_ZIP, "The zip's directory cannot be found.")
        return data


class _ReportingStream:
    """A stream that reports the share that has been read."""

    def __init__(self, stream: IO[bytes], size: int, on_progress: Callable[[float], None]) -> None:
        self._stream, self._size, self._on_progress = stream, size, on_progress
        self._read = 0

    def read(self, size: int) -> bytes:
        self._on_progress(self._read / max(self._size, 1))
        data = self._stream.read(size)
        self._read += len(data)
        return data


def read_strategy(
    path: Path,
    index: Index,
    player: int,
    rows: Ints,
    scratch: Path,
    on_progress: Callable[[float], None] = lambda share: None,
) -> Strategy:
    """The strategy in an uploaded file.

    Parameters
    ----------
    index
        The index without symmetry.
    rows
        int64, shape (infosets,): node number of each row.
    scratch
        A directory for an unnamed file: a tensor in Fortran order is copied to it, as its rows are scattered.
    on_progress
        Called with the share of the file that has been read; its exceptions stop the reading.

    Returns
    -------
    Strategy in double precision, its rows scaled to sum to 1.

    Raises
    ------
    Refusal
        If the file is not a strategy, for the first mistake.
    OSError, StoreError
        If the file is missing or `scratch` is full, which is not the file's fault.
    """
    shape = (len(rows), index.game.squares)
    with open(path, "rb", buffering=0) as raw, _Bounded(raw) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                member = _only_member(archive)
                with archive.open(member) as stream:
                    return _read_member(stream, member, shape, index, player, rows, scratch, on_progress)
        except _BAD as error:
            detail = "" if "not a zip file" in str(error) else f"{str(error).rstrip('.')[:200]}."
            raise Refusal(NOT_A_ZIP, detail) from error


def _only_member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = archive.infolist()
    if not members:
        raise Refusal(NOT_A_ZIP, "The zip is empty.")
    if len(members) > 1:
        extra = " Finder adds such files; zip the .npy alone." if any("__MACOSX" in m.filename for m in members) else ""
        raise Refusal(SEVERAL_FILES, f"There are {len(members)} of them.{extra}")
    member = members[0]
    if not member.filename.endswith(".npy"):
        raise Refusal(NOT_NPY)
    if member.flag_bits & 1:
        raise Refusal(NOT_A_ZIP, "The zipped file is encrypted.")
    # With other methods a small file can demand gigabytes of memory.
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refusal(NOT_A_ZIP, "The zipped file is compressed by another method than deflate.")
    if member.header_offset < 0 or member.header_offset + 30 + member.compress_size > archive.start_dir:
        raise Refusal(NOT_A_ZIP, "The zipped file overlaps with the zip's directory.")
    if member.file_size > max(member.compress_size, 1) * _DEFLATE + _HEADER:
        raise Refusal(NOT_A_ZIP, f"It announces {member.file_size} bytes, more than deflate can have put into it.")
    return member


def _read_member(
    stream: IO[bytes],
    member: zipfile.ZipInfo,
    shape: tuple[int, int],
    index: Index,
    player: int,
    rows: Ints,
    scratch: Path,
    on_progress: Callable[[float], None],
) -> Strategy:
    source = _ReportingStream(stream, member.file_size, on_progress)
    head = source.read(_HEADER)
    try:
        shape_found, fortran, dtype, start = npy_header(head)
    except StrategyFileError:
        raise Refusal(UNREADABLE, "The header of the .npy file is damaged, or of an unknown version.") from None
    _check_header(shape_found, dtype, member.file_size - start, shape)
    tensor = TensorRows(head[start:], source, shape, dtype)
    read = tensor.in_columns(scratch) if fortran else tensor
    try:
        probabilities = strategy_from_tensor(index, player, read, rows, source="The tensor")
    except StrategyError as error:
        raise Refusal(str(error).removeprefix("The tensor, ").removeprefix("The tensor: ").rstrip(".")) from None
    if stream.read(1):  # to the end, where zipfile compares checksums
        raise Refusal(NOT_A_ZIP, "The zipped file is longer than the zip announces.")
    return Strategy(index, player, probabilities)


def _check_header(shape_found: tuple[int, ...], dtype: np.dtype[Any], size: int, shape: tuple[int, int]) -> None:
    expected = dtype.itemsize
    for n in shape_found:
        expected *= n
    if shape_found != shape:
        raise Refusal(f"Invalid tensor shape: found {shape_found}, expected {shape}")
    if dtype.newbyteorder("=").name not in SUM_TOLERANCE:
        raise Refusal(f"Invalid dtype: found {str(dtype)[:60]}, expected one of {', '.join(SUM_TOLERANCE)}")
    if size != expected:
        what = "is truncated" if size < expected else "goes on after the tensor"
        raise Refusal(
            UNREADABLE, f"The .npy file {what}: it has {size} bytes of data, its header announces {expected}."
        )
