"""Is an uploaded file a strategy?  It may be anything, made by anybody.

It is read through buffers of fixed size.  The sizes that it announces are compared with those of a strategy of the
game before anything is decompressed.  Nothing is extracted, unpickled or held as a whole.
"""

from __future__ import annotations

import io
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import StrategyError, StrategyFileError
from pttt_ooc.products.tensors import SUM_TOLERANCE, npy_header, strategy_from_tensor
from pttt_ooc.structure.index import Index
from pttt_ooc.structure.strategy import Strategy
from pttt_ooc.structure.views import Ints

NOT_A_ZIP = "Not a valid zip file"
SEVERAL_FILES = "The zip contains more than one file"
NOT_NPY = "The zipped file does not end with .npy"
UNREADABLE = "Exception parsing numpy tensor"

_READ = 1 << 18  # bytes; the directory of a zip with one file has at most 46 + 3 * 65,535
_HEADER = 1 << 17
_DEFLATE = 1032  # no byte of deflated data stands for more
_BAD = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OverflowError, LookupError)


class Refusal(Exception):
    """A file is no strategy.

    Parameters
    ----------
    note
        The verdict, in the course's words where it has any.
    detail
        What else helps to mend the file.
    """

    def __init__(self, note: str, detail: str = "") -> None:
        super().__init__(note)
        self.note, self.detail = _printable(note), _printable(detail)


def _printable(text: str) -> str:
    """Text without what a file may have smuggled into it: no database keeps zero bytes, no page shows controls."""
    return "".join(c if c.isprintable() else "?" for c in text)


class _Bounded(io.BufferedReader):
    """A file that gives no more at a time than one file's zip can need, whatever the zip announces."""

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


class _Tensor:
    """The tensor of an open npy stream, given out block by block, in order."""

    def __init__(self, head: bytes, stream: IO[bytes], shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype = shape, dtype
        self._rest, self._stream, self._next = head, stream, 0

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        assert rows.start == self._next, "a stream is read in order"
        stop = min(rows.stop, self.shape[0])
        self._next = stop
        block = np.empty((stop - rows.start, self.shape[1]), self.dtype)
        _fill(block.reshape(-1).view(np.uint8).data, self)
        return block

    def take(self, size: int) -> bytes:
        if self._rest:
            data, self._rest = self._rest[:size], self._rest[size:]
            return data
        return self._stream.read(min(size, _READ))


def _fill(target: memoryview, source: _Tensor) -> None:
    at = 0
    while at < len(target):
        data = source.take(len(target) - at)
        if not data:
            raise Refusal(NOT_A_ZIP, f"{len(target) - at} bytes and more of what it announces are missing.")
        target[at : at + len(data)] = data
        at += len(data)


class _Told:
    """A tensor that tells how far it has been read."""

    def __init__(self, tensor: Any, on_progress: Callable[[float], None]) -> None:
        self.shape, self.dtype = tensor.shape, tensor.dtype
        self._tensor, self._on_progress = tensor, on_progress

    def __getitem__(self, rows: slice) -> Any:
        self._on_progress(rows.start / self.shape[0])
        return self._tensor[rows]


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
        Without symmetry.
    rows
        int64, shape (infosets,): node number of each row.
    scratch
        A directory: a tensor in Fortran order goes to a nameless file there, as its rows lie scattered.
    on_progress
        Called with the share of the rows that have been read; what it raises ends the reading.

    Returns
    -------
    Strategy in double precision, its rows scaled to sum to 1.

    Raises
    ------
    Refusal
        If the file is no strategy, at the first thing that is wrong.
    OSError
        If the file is not there or `scratch` is full: the server's fault, not the file's.
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
    # Other methods would let a small file ask for gigabytes of dictionary.
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
    head = stream.read(_HEADER)
    try:
        found, fortran, dtype, start = npy_header(head)
    except StrategyFileError:
        raise Refusal(UNREADABLE, "The header of the .npy file is damaged, or of an unknown version.") from None
    _check_header(found, dtype, member.file_size - start, shape)
    tensor: Any = _Tensor(head[start:], stream, shape, dtype)
    with tempfile.TemporaryFile(dir=scratch) as aside:
        if fortran:
            tensor = _in_rows(tensor, aside, member.file_size - start, on_progress)
        try:
            told = _Told(tensor, on_progress)
            probabilities = strategy_from_tensor(index, player, told, rows, source="The tensor")
        except StrategyError as error:
            raise Refusal(str(error).removeprefix("The tensor, ").removeprefix("The tensor: ").rstrip(".")) from None
    if stream.read(1):  # past the end, where zipfile compares checksums
        raise Refusal(NOT_A_ZIP, "The zipped file is longer than the zip announces.")
    return Strategy(index, player, probabilities)


def _check_header(found: tuple[int, ...], dtype: np.dtype[Any], size: int, shape: tuple[int, int]) -> None:
    expected = dtype.itemsize
    for n in found:
        expected *= n
    if found != shape:
        raise Refusal(f"Invalid tensor shape: found {found}, expected {shape}")
    if dtype.newbyteorder("=").name not in SUM_TOLERANCE:
        raise Refusal(f"Invalid dtype: found {str(dtype)[:60]}, expected one of {', '.join(SUM_TOLERANCE)}")
    if size != expected:
        what = "is truncated" if size < expected else "goes on after the tensor"
        raise Refusal(
            UNREADABLE, f"The .npy file {what}: it has {size} bytes of data, its header announces {expected}."
        )


def _in_rows(tensor: _Tensor, aside: IO[bytes], size: int, on_progress: Callable[[float], None]) -> NDArray[Any]:
    """The same tensor in a file, from which rows can be read."""
    left = size
    while left:
        data = tensor.take(left)
        if not data:
            raise Refusal(NOT_A_ZIP, f"{left} bytes of what it announces are missing.")
        aside.write(data)
        left -= len(data)
        on_progress(0.0)
    aside.flush()
    return np.memmap(aside, tensor.dtype, "r", 0, tensor.shape, order="F")
