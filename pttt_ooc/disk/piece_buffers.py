"""Carries pieces of mapped files between memory and disk, past the system's cache.

A piece that is in memory lies in a buffer of this process, at its own address within the map, so kernels find the array
where it always is.  It is read and written directly and as a whole, and the buffer of a piece that leaves is used
again.  A piece that is not in memory is mapped from the file: who uses it all the same waits for pages, but finds what
was written, unless the piece is on its way at that very moment.

Where the system or the file system has no direct reads and writes, no piece is carried.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import IO, Any, NamedTuple

from pttt_ooc.disk.files import explain_errors
from pttt_ooc.disk.store import Array, FileMap, map_of

PIECE = 4 << 20  # bytes; the last piece of a map is smaller

_LARGE_PAGE = 2 << 20  # bytes
_ACCESS = mmap.PROT_READ | mmap.PROT_WRITE
_PRIVATE, _SHARED, _AT_ADDRESS, _FILLED = 0x22, 0x01, 0x10, 0x8000  # mmap: private is anonymous, too
_TO_ADDRESS, _LEAVES_PLACE = 0x1 | 0x2, 0x4  # mremap; the place stays reserved since Linux 5.7
_IN_LARGE_PAGES = 14  # madvise


class Piece(NamedTuple):
    """The bytes of a map from ``number * PIECE`` on, whole pages only."""

    map: FileMap
    number: int

    @property
    def start(self) -> int:
        """Its first byte in the file."""
        return self.number * PIECE

    @property
    def size(self) -> int:
        """Bytes; 0 or less if not even a page is left."""
        return min(PIECE, len(self.map) // mmap.PAGESIZE * mmap.PAGESIZE - self.start)

    @property
    def address(self) -> int:
        """Its first byte in memory."""
        return self.map.address + self.start


def pieces_of(part: Array) -> Iterator[Piece]:
    """The pieces in which a part of an array lies, if it is mapped and its pieces can be carried."""
    mapped = map_of(part) if part.size else None
    if mapped is not None and _is_direct(mapped):
        begin = part.ctypes.data - mapped.address
        for number in range(begin // PIECE, -(-(begin + part.nbytes) // PIECE)):
            if (piece := Piece(mapped, number)).size > 0:
                yield piece


def _is_direct(mapped: FileMap) -> bool:
    """Whether a map's file is read and written directly, from now on."""
    if mapped.direct is None:
        mapped.direct = sys.platform == "linux" and _moves_pages() and set_direct(mapped.file, True)
    return mapped.direct


def set_direct(file: IO[bytes], direct: bool) -> bool:
    """From now on read and write whole pages of a file past the system's cache, or not; False if that is not possible.

    Only Linux knows this, and not each of its file systems.
    """
    if sys.platform != "linux":
        return False
    import fcntl

    flags = fcntl.fcntl(file, fcntl.F_GETFL)
    with suppress(OSError):
        fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_DIRECT if direct else flags & ~os.O_DIRECT)
        return True
    return False


class PieceBuffers:
    """The buffers, and the pieces in them: for one thread, beside which another one writes.

    Parameters
    ----------
    most
        Bytes of buffers to keep when pieces have left.
    """

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0  # of the buffers that there are
        self._free: list[int] = []  # their addresses
        self._homes: dict[Piece, int] = {}  # the buffer of each piece in memory; 0 if it has pages of its own
        self._writer = ThreadPoolExecutor(1, "writer")
        self._writes: dict[Piece, Future[None]] = {}

    def bring(self, piece: Piece) -> None:
        """Read a piece into memory, unless it is there.

        Raises
        ------
        StoreError
            If it cannot be read, or there is no memory for it.
        """
        if piece in self._homes:
            return
        with explain_errors("read a part of an array"):
            home = self._buffer_for(piece)
            _transfer(os.preadv, piece, home)
            leaves = _LEAVES_PLACE if piece.size == PIECE else 0
            _call("mremap", home, piece.size, piece.size, _TO_ADDRESS | leaves, piece.address)
            self._homes[piece] = home if leaves else 0

    def start_writing(self, piece: Piece) -> None:
        """Begin to write a piece, which nothing may change until it is dropped or written again."""
        self._writes[piece] = self._writer.submit(_write, piece)

    def drop(self, piece: Piece) -> None:
        """Give the memory of a piece back, once it is written.

        Raises
        ------
        StoreError
            If it cannot be written.
        """
        if write := self._writes.pop(piece, None):
            write.result()
        with explain_errors("give back the memory of a part of an array"):
            if home := self._homes.pop(piece):
                _call("mremap", piece.address, PIECE, PIECE, _TO_ADDRESS | _LEAVES_PLACE, home)
                self._free.append(home)
            file = piece.map.file.fileno()
            _call("mmap", piece.address, piece.size, _ACCESS, _SHARED | _AT_ADDRESS, file, piece.start)
            if self._free and self._count * PIECE > self._most:
                self._free_one()

    def close(self) -> None:
        """Drop all pieces; for errors see :meth:`drop`."""
        try:
            for piece in list(self._homes):
                self.drop(piece)
            while self._free:
                self._free_one()
        finally:
            self._writer.shutdown()

    def _buffer_for(self, piece: Piece) -> int:
        """The address of a buffer: for a smaller piece, pages of its own."""
        if piece.size < PIECE:
            return _call("mmap", None, piece.size, _ACCESS, _PRIVATE | _FILLED, -1, 0)
        if not self._free:
            self._free.append(_new_buffer())
            self._count += 1
        return self._free.pop()

    def _free_one(self) -> None:
        _call("munmap", self._free.pop(), PIECE)
        self._count -= 1


def _new_buffer() -> int:
    """A buffer that begins with a large page: large pages are moved as they are."""
    taken = _call("mmap", None, PIECE + _LARGE_PAGE, _ACCESS, _PRIVATE, -1, 0)
    begin = -(-taken // _LARGE_PAGE) * _LARGE_PAGE
    if begin > taken:
        _call("munmap", taken, begin - taken)
    if begin < taken + _LARGE_PAGE:
        _call("munmap", begin + PIECE, taken + _LARGE_PAGE - begin)
    _system().madvise(begin, PIECE, _IN_LARGE_PAGES)
    return begin


def _write(piece: Piece) -> None:
    with explain_errors("write a part of an array"):
        _transfer(os.pwritev, piece, piece.address)


def _transfer(call: Callable[[int, list[Any], int], int], piece: Piece, address: int) -> None:
    """Read or write a whole piece, to or from an address."""
    done = 0
    while done < piece.size:
        part = (ctypes.c_char * (piece.size - done)).from_address(address + done)
        moved = call(piece.map.file.fileno(), [part], piece.start + done)
        if not moved:
            raise OSError(errno.EIO, "its file has become shorter")
        done += moved


# ---------------------------------------------------------------------------------------------
# The system's calls


@cache
def _system() -> Any:
    """The C library, whose calls leave the interpreter to other threads."""
    library, address, size = ctypes.CDLL(None, use_errno=True), ctypes.c_void_p, ctypes.c_size_t
    library.mmap.argtypes = (address, size, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64)
    library.mremap.argtypes = (address, size, size, ctypes.c_int, address)
    library.munmap.argtypes = (address, size)
    library.madvise.argtypes = (address, size, ctypes.c_int)
    library.mmap.restype = library.mremap.restype = ctypes.c_ssize_t
    return library


def _call(name: str, *arguments: Any) -> int:
    """What a call returns: an address, or 0."""
    found: int = getattr(_system(), name)(*arguments)
    if found == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


@cache
def _moves_pages() -> bool:
    """Whether the system moves pages and leaves their place reserved."""
    size = mmap.PAGESIZE
    place = _call("mmap", None, 2 * size, _ACCESS, _PRIVATE, -1, 0)
    try:
        _call("mremap", place, size, size, _TO_ADDRESS | _LEAVES_PLACE, place + size)
    except OSError:
        return False
    finally:
        _call("munmap", place, 2 * size)
    return True
