"""A zip with one ``.npy`` file, from a stranger: only this code reads such zips, and it needs no numpy.

Nothing is extracted or unpickled.  A file is read through buffers of fixed size, and the sizes that it announces are
compared with what deflate can hold before anything is inflated.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import IO, Protocol, cast

from isal.igzip_lib import DECOMP_DEFLATE, IgzipDecompressor, IsalError

from pttt_ooc.errors import StrategyFileError
from pttt_ooc.pipeline.files import deflate

NOT_A_ZIP = "Not a valid zip file"
SEVERAL_FILES = "The zip contains more than one file"
NOT_NPY = "The zipped file does not end with .npy"
UNREADABLE = "Exception parsing numpy tensor"

HEADER_BYTES = 1 << 17
"""Longest header of an npy file, bytes: the limit of version 1.  A longer header is refused unread."""

BLOCK_BYTES = 1 << 18
"""Largest read request to a stream.  The directory of a zip with one file has at most 46 + 3 * 65,535 bytes."""

_BESIDE = (".ds_store", "thumbs.db", "desktop.ini")  # what systems put into folders; macOS adds a folder __MACOSX
_DEFLATE = 1032  # the best compression of deflate
_INFLATING = cast(type[Exception], IsalError)  # a class, which its stubs declare as an error
_BAD_ZIP = (  # errors raised for damaged or hostile zips, besides OSError
    zipfile.BadZipFile,
    _INFLATING,
    struct.error,
    EOFError,
    ValueError,
    RuntimeError,
    OverflowError,
    LookupError,
)


class FlawedFileError(StrategyFileError):
    """A file is neither a zipped array nor a plain one.

    Parameters
    ----------
    source
        The file, as the sentence names it.
    note
        The verdict, in the course's words if it has any.
    detail
        One sentence that helps to repair the file.
    """

    def __init__(self, source: object, note: str, detail: str = "") -> None:
        super().__init__(f"{source}: {note}." + (f" {detail}" if detail else ""))
        self.note, self.detail = note, detail


class Stream(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; empty at the end."""


def other_player(player: int, where: str = "") -> str:
    """The sentence about a file of the other player, handed in for `player`; `where`: such as " in GAME"."""
    return f"This is a file of player {1 - player}{where}, not of player {player}."


@contextmanager
def open_zipped(path: Path) -> Iterator[tuple[Stream, int]]:
    """The only file in a zip, whose name ends with ``.npy``: a stream, and the announced size in bytes.

    Folders, and files that an operating system adds, do not count; see :func:`passed_over`.

    Raises
    ------
    FlawedFileError
        If it is no such zip, or is damaged; perhaps only when the stream is read.
    OSError
        If it cannot be read.
    """
    with _archive(path) as archive:
        with _explain_errors(path):
            member = _only_member(path, archive)
            packed = archive.open(_as_stored(member))
        with packed:
            yield Member(path, packed, member), member.file_size


def passed_over(path: Path) -> str:
    """The sentence about files that an operating system put into a zip beside the array; empty if there are none."""
    with _archive(path) as archive:
        names = [one.filename for one in archive.infolist() if not one.is_dir() and _is_of_a_system(one.filename)]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"Passed over in the zip: {shown}." if names else ""


def _is_of_a_system(name: str) -> bool:
    """Whether Finder or Windows makes such files by itself."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].lower() in _BESIDE


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    with open(path, "rb", buffering=0) as raw, _Bounded(raw) as file:
        with _explain_errors(path):
            archive = zipfile.ZipFile(file)
        with archive:
            yield archive


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except _BAD_ZIP as error:
        detail = "" if "not a zip file" in str(error) else f"{str(error).rstrip('.')[:200]}."
        raise FlawedFileError(path, NOT_A_ZIP, detail) from error


class _Bounded(io.BufferedReader):
    """A file that refuses to read more at once than the zip of one file can need."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            data = super().read(BLOCK_BYTES + 1)
            if len(data) > BLOCK_BYTES:
                raise FlawedFileError(self.name, NOT_A_ZIP, "The zip's directory cannot be found.")
            return data
        if size > BLOCK_BYTES:
            what = "The zip's directory is longer than that of a single file can be."
            raise FlawedFileError(self.name, SEVERAL_FILES, what)
        return super().read(size)


def _only_member(path: Path, archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    members = archive.infolist()
    if not members:
        raise FlawedFileError(path, NOT_A_ZIP, "The zip is empty.")
    found = [one for one in members if not one.is_dir() and not _is_of_a_system(one.filename)] or members
    if len(found) > 1:
        raise FlawedFileError(path, SEVERAL_FILES, f"There are {len(found)} of them.")
    member = found[0]
    if not member.filename.endswith(".npy"):
        raise FlawedFileError(path, NOT_NPY)
    if member.flag_bits & 1:
        raise FlawedFileError(path, NOT_A_ZIP, "The zipped file is encrypted.")
    # With other methods, a small file could demand gigabytes for a dictionary.
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise FlawedFileError(path, NOT_A_ZIP, "The zipped file is compressed by another method than deflate.")
    if member.header_offset < 0 or member.header_offset + 30 + member.compress_size > archive.start_dir:
        raise FlawedFileError(path, NOT_A_ZIP, "The zipped file overlaps with the zip's directory.")
    if member.file_size > max(member.compress_size, 1) * _DEFLATE + HEADER_BYTES:
        what = f"It announces {member.file_size} bytes, more than deflate can have put into it."
        raise FlawedFileError(path, NOT_A_ZIP, what)
    return member


def _as_stored(member: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """The member declared as uncompressed, so that `zipfile` returns the compressed bytes."""
    packed = copy(member)
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, member.compress_size
    del packed.CRC  # it is the uncompressed content's; without it, `zipfile` checks nothing
    return packed


class Member:
    """The content of a file in a zip; ISA-L inflates it in half of zlib's time.

    Parameters
    ----------
    source
        The zip, as sentences name it.
    packed
        The bytes as they are in the zip.
    member
        The zip's entry of the file: it is read up to the announced size, and then its checksum is compared.
    """

    def __init__(self, source: object, packed: IO[bytes], member: zipfile.ZipInfo) -> None:
        self._source, self._packed, self._name, self._expected = source, packed, member.filename, member.CRC
        self._left, self._crc, self._ended = member.file_size, 0, False
        stored = member.compress_type == zipfile.ZIP_STORED
        self._inflater = None if stored else IgzipDecompressor(flag=DECOMP_DEFLATE)

    def read(self, size: int, /) -> bytes:
        """The next available bytes, at most `size`; empty at the end.

        Raises
        ------
        FlawedFileError
            If the content is damaged, or is not what the zip announces.
        """
        if self._ended and self._left:
            what = f"{self._left} bytes of the announced content are missing."
            raise FlawedFileError(self._source, NOT_A_ZIP, what)
        data = b""
        try:
            while not data and not self._ended:
                data = self._next(min(size, self._left)) if self._left else b""
                self._crc = deflate.crc32(data, self._crc)
                self._left -= len(data)
                self._ended = self._ended or not self._left
        except (_INFLATING, EOFError) as error:
            raise FlawedFileError(self._source, NOT_A_ZIP, f"{str(error).rstrip('.')}.") from error
        if self._ended and self._crc != self._expected:
            raise FlawedFileError(self._source, NOT_A_ZIP, f"Bad CRC-32 for file {self._name!r}.")
        return data

    def _next(self, most: int) -> bytes:
        """Up to `most` bytes; `_ended` if no more will come."""
        inflater = self._inflater
        if inflater is None:
            data = self._packed.read(min(most, BLOCK_BYTES))
            self._ended = not data
            return data
        packed = self._packed.read(BLOCK_BYTES) if inflater.needs_input else b""
        if inflater.needs_input and not packed:
            self._ended = True
            return b""
        data = inflater.decompress(packed, most)
        self._ended = bool(inflater.eof)
        return data
