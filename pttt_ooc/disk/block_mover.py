"""Moves pieces of mapped arrays between memory and disk: read ahead of the work, written behind it.

The operating system would do both by itself, page by page, and look for pages to drop while the work waits.  A
:class:`BlockMover` knows the order of the work.  One thread beside the work brings in what the next steps use, begins
to write what a step has changed as soon as the step is done, and drops the oldest pieces when its share of the memory
is full.  All of these are hints: the arrays have the same content without them.

Only Linux takes these hints; elsewhere nothing is moved, and the system does what it would do anyway.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple, Self

from pttt_ooc.disk.store import Array, FileMap, map_of

PIECE = 4 << 20  # bytes

_POPULATE_READ, _POPULATE_WRITE = 22, 23  # madvise, Linux 5.14
_WAIT_BEFORE, _WRITE, _WAIT_AFTER = 1, 2, 4  # sync_file_range
_DONTNEED = 4  # madvise and posix_fadvise


class Use(NamedTuple):
    """A part of an array that a step needs, and whether the step changes it; only mapped arrays are moved."""

    part: Array
    changes: bool = False


class Step(NamedTuple):
    """A piece of work, and what it needs in memory."""

    uses: Iterable[Use]
    work: Callable[[], None]


class _Piece(NamedTuple):
    map: FileMap
    number: int

    @property
    def start(self) -> int:
        return self.number * PIECE

    @property
    def size(self) -> int:
        return min(PIECE, len(self.map) - self.start)


_Pieces = dict[_Piece, bool]


class BlockMover:
    """Does steps in order while a thread of its own moves what they use; a context manager that ends the thread.

    Parameters
    ----------
    most
        Bytes of mapped arrays to have in memory.  A step that needs more gets it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._condition = threading.Condition()
        self._steps: list[_Pieces] = []
        self._ready = self._done = 0  # steps whose pieces are in memory; steps that are finished
        self._using: Counter[_Piece] = Counter()  # by steps that are ready and not finished
        # The least recently used first, and whether they have been changed.
        self._present: OrderedDict[_Piece, bool] = OrderedDict()
        self._to_write: list[_Piece] = []
        self._size, self._ends = 0, False
        self._error: BaseException | None = None  # that ended the thread
        self._thread = threading.Thread(target=self._run, name="mover", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *of_error: object) -> None:
        with self._condition:
            self._ends = True
            self._condition.notify_all()
        self._thread.join()

    def perform(self, steps: Iterable[Step]) -> None:
        """Do these steps; what ends the thread is raised here."""
        listed = list(steps)
        wanted = [_pieces_of(step.uses) for step in listed]
        with self._condition:
            self._steps, self._ready, self._done = wanted, 0, 0
            self._using.clear()
            self._condition.notify_all()
        for k, step in enumerate(listed):
            with self._condition:
                while self._ready <= k and self._error is None:
                    self._condition.wait()
                if self._error is not None:
                    raise self._error
            step.work()
            with self._condition:
                self._finish(wanted[k])
                self._done = k + 1
                self._condition.notify_all()

    def _finish(self, pieces: _Pieces) -> None:
        self._using.subtract(pieces.keys())
        for piece, changes in pieces.items():
            if changes:
                self._present[piece] = True
            if not self._using[piece]:
                del self._using[piece]
                self._present.move_to_end(piece)
                if self._present[piece]:
                    self._to_write.append(piece)

    # ---------------------------------------------------------------------------------------------
    # The thread

    def _run(self) -> None:
        try:
            self._move()
        except BaseException as error:
            with self._condition:
                self._error = error
                self._condition.notify_all()

    def _move(self) -> None:
        while True:
            with self._condition:
                while not (self._ends or self._to_write or self._ready < len(self._steps)):
                    self._condition.wait()
                if self._ends:
                    return
                # What another step uses by now is written after that step.
                writes, self._to_write = [piece for piece in self._to_write if not self._using[piece]], []
                self._present.update(dict.fromkeys(writes, False))
                steps, k = self._steps, self._ready
                pieces = steps[k] if k < len(steps) else {}
                absent = {piece for piece in pieces if piece not in self._present}
                # What a step uses stays until it is done; of the rest, the least recently used goes first.
                excess = self._size + sum(piece.size for piece in absent) - self._most
                leaving = list(self._oldest(excess, pieces))
                fits = sum(piece.size for piece in leaving) >= excess or k == self._done
                if not (fits or leaving or writes):
                    self._condition.wait()  # for the end of a step
                    continue
                for piece in leaving:
                    self._size -= piece.size
                    del self._present[piece]
                # What was written is not mapped any more; what no other step uses may have been.
                coming = [piece for piece, changes in pieces.items() if changes or not self._using[piece]]
            for piece in writes:
                _start_writing(piece)
            for piece in leaving:
                _drop(piece)
            if k == len(steps) or not fits:
                continue
            for piece in coming:
                _bring(piece, pieces[piece])
            with self._condition:
                self._size += sum(piece.size for piece in absent)
                self._present.update(dict.fromkeys(absent, False))
                if steps is self._steps:  # else an error has ended them
                    self._using.update(pieces.keys())
                    self._ready = k + 1
                    self._condition.notify_all()

    def _oldest(self, excess: int, wanted: _Pieces) -> Iterator[_Piece]:
        for piece in self._present:
            if excess <= 0:
                return
            if not self._using[piece] and piece not in wanted:
                excess -= piece.size
                yield piece


def _pieces_of(uses: Iterable[Use]) -> _Pieces:
    """The pieces of mapped arrays in which these parts are, and whether they are changed."""
    found: _Pieces = {}
    for part, changes in uses:
        mapped = map_of(part) if part.size else None
        if mapped is not None:
            begin = part.ctypes.data - mapped.address
            for number in range(begin // PIECE, -(-(begin + part.nbytes) // PIECE)):
                piece = _Piece(mapped, number)
                found[piece] = changes or found.get(piece, False)
    return found


# ---------------------------------------------------------------------------------------------
# Hints for the operating system


@cache
def _system() -> Any:
    """The C library, whose calls leave the interpreter to other threads; None where it has no such hints."""
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None, use_errno=True)
    library.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    library.sync_file_range.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint)
    library.posix_fadvise.argtypes = (ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_int)
    return library


def _bring(piece: _Piece, changes: bool) -> None:
    """Read a piece if need be, and map it so that the work meets no page faults."""
    if (system := _system()) is None:
        return
    place = (piece.map.address + piece.start, piece.size)
    if system.madvise(*place, _POPULATE_WRITE if changes else _POPULATE_READ):
        system.madvise(*place, mmap.MADV_WILLNEED)  # an older system


def _start_writing(piece: _Piece) -> None:
    if (system := _system()) is not None:
        # Not mapped any more, pages need not be protected from changes one by one.
        system.madvise(piece.map.address + piece.start, piece.size, _DONTNEED)
        system.sync_file_range(piece.map.file.fileno(), piece.start, piece.size, _WRITE)


def _drop(piece: _Piece) -> None:
    """Write a piece if it was changed, and give its memory back."""
    system, (start, size) = _system(), (piece.start, piece.size)
    if system is None:
        return
    file = piece.map.file.fileno()
    system.madvise(piece.map.address + start, size, _DONTNEED)
    system.sync_file_range(file, start, size, _WAIT_BEFORE | _WRITE | _WAIT_AFTER)
    system.posix_fadvise(file, start, size, _DONTNEED)
