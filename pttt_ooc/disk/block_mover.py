"""Moves pieces of mapped arrays between memory and disk: read ahead of the work, written behind it.

The operating system would do both by itself, page by page, and look for pages to drop while the work waits.  A
:class:`BlockMover` knows the order of the work, so it plans what is in memory at each step.  One thread beside the work
brings in what the next step uses, and drops the pieces that are needed last when its share of the memory is full; what
has been changed begins to be written long before.  All of these are hints: the arrays have the same content without
them.

Only Linux takes these hints; elsewhere nothing is moved, and the system does what it would do anyway.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from heapq import heapify, heappop, heappush
from typing import IO, Any, NamedTuple, Self

from pttt_ooc.disk.store import Array, FileMap, map_of

PIECE = 4 << 20  # bytes

_BEHIND = 4  # pieces of a growing file that are on their way to the disk

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


class _Move(NamedTuple):
    """What the thread does for a step.

    Attributes
    ----------
    after
        How many steps must be done before.
    leaving
        Pieces that are dropped first.
    writes
        Pieces that begin to be written when the step is done, as they are dropped before a step uses them again.
    """

    after: int
    leaving: list[_Piece]
    writes: list[_Piece]


class BlockMover:
    """Does steps in order while a thread of its own moves what they use; a context manager that ends the thread.

    Attributes
    ----------
    most
        Bytes of mapped arrays to have in memory.  A step that needs more gets it.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._condition = threading.Condition()
        self._steps: list[_Pieces] = []
        self._moves: list[_Move] = []
        self._ready = self._done = self._written = 0  # steps whose pieces are in memory; that are finished; and written
        self._present: _Pieces = {}  # and whether they have been changed since they were written
        self._mapped: _Pieces = {}  # and whether it can be changed without page faults
        self._early: list[_Piece] = []  # to be written before the first step
        self._moves_now = self._ends = False
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
            self._ready = len(self._steps)  # an error may have ended the steps before
            self._wait(lambda: not (self._moves_now or self._must_write()))
            self._early, self._moves = plan_moves(wanted, self._present, self.most)
            self._steps, self._ready, self._done, self._written = wanted, 0, 0, 0
            self._condition.notify_all()
        for k, step in enumerate(listed):
            with self._condition:
                self._wait(lambda k=k: self._ready > k)  # type: ignore[misc]
            step.work()
            with self._condition:
                self._present.update(piece for piece in wanted[k].items() if piece[1])
                self._done = k + 1
                self._condition.notify_all()

    def _wait(self, condition: Callable[[], bool]) -> None:
        self._condition.wait_for(lambda: self._error is not None or condition())
        if self._error is not None:
            raise self._error

    # ---------------------------------------------------------------------------------------------
    # The thread

    def _run(self) -> None:
        try:
            while self._move():
                pass
        except BaseException as error:
            with self._condition:
                self._error = error
                self._condition.notify_all()

    def _move(self) -> bool:
        """Write what finished steps have changed, and bring what the next one needs; False at the end."""
        with self._condition:
            self._condition.wait_for(lambda: self._ends or self._must_write() or self._may_bring())
            if self._ends:
                return False
            done = self._moves[self._written : self._done]
            writes = [*self._early, *(piece for move in done for piece in move.writes)]
            self._early, self._written = [], self._done
            k, pieces, leaving = self._ready, _Pieces(), list[_Piece]()
            if brings := self._may_bring():
                pieces, leaving = self._steps[k], self._moves[k].leaving
            for piece in writes:
                self._present[piece] = False
            for piece in leaving:
                del self._present[piece]
            self._present.update((piece, False) for piece in pieces if piece not in self._present)
            self._moves_now = True
        for piece in writes:
            _start_writing(piece)
        for piece in leaving:
            _drop(piece)
        for piece in (*writes, *leaving):
            self._mapped.pop(piece, None)
        for piece, changes in pieces.items():
            if piece not in self._mapped or changes > self._mapped[piece]:
                _bring(piece, changes)
                self._mapped[piece] = changes
        with self._condition:
            self._moves_now = False
            self._ready = max(self._ready, k + brings)
            self._condition.notify_all()
        return True

    def _must_write(self) -> bool:
        return bool(self._early) or self._written < self._done

    def _may_bring(self) -> bool:
        return self._ready < len(self._steps) and self._moves[self._ready].after <= self._done


def plan_moves(wanted: Sequence[_Pieces], present: _Pieces, most: int) -> tuple[list[_Piece], list[_Move]]:
    """What leaves the memory before each step, so that least is moved; and the pieces to be written at first.

    The piece whose next use is the last one leaves, which is optimal (Belady 1966, IBM Systems Journal 5:2); after
    these steps, the same are expected again.  The step before may still be at work, so what it uses leaves only if
    nothing else can.

    Parameters
    ----------
    wanted
        The pieces of each step, and whether it changes them.
    present
        The pieces in memory, and whether they have to be written.
    most
        Bytes to have in memory.
    """
    uses: dict[_Piece, list[int]] = {piece: [] for piece in present}
    for k, pieces in enumerate(wanted):
        for piece in pieces:
            uses.setdefault(piece, []).append(k)
    early: list[_Piece] = []
    never, moves = 2 * len(wanted), [_Move(0, [], []) for _ in wanted]
    # The last use so far, and the next one, of all that is in memory; and a heap of the next uses, some out of date.
    numbers, names = {piece: number for number, piece in enumerate(uses)}, list(uses)
    last = dict.fromkeys(present, -1)
    following = {piece: uses[piece][0] if uses[piece] else never for piece in present}
    heap = [(-following[piece], numbers[piece]) for piece in present]
    heapify(heap)
    changed, size = {piece for piece in present if present[piece]}, sum(piece.size for piece in present)
    turn = dict.fromkeys(uses, 0)  # how many of its uses are over
    for k, pieces in enumerate(wanted):
        size += sum(piece.size for piece in pieces if piece not in last)
        leaving: list[_Piece] = []
        for latest in (k - 2, k - 1):
            kept = []
            while size > most and heap:
                entry = heappop(heap)
                piece = names[entry[1]]
                if following.get(piece) != -entry[0]:
                    continue
                if piece in pieces or last[piece] > latest:
                    kept.append(entry)
                    continue
                size -= piece.size
                leaving.append(piece)
                if piece in changed:
                    changed.remove(piece)
                    (moves[last[piece]].writes if last[piece] >= 0 else early).append(piece)
                del following[piece]
            for entry in kept:
                heappush(heap, entry)
        after = 1 + max((last.pop(piece) for piece in leaving), default=-1)
        moves[k] = _Move(after, leaving, moves[k].writes)
        for piece, changes in pieces.items():
            last[piece], mine = k, uses[piece]
            turn[piece] += 1
            following[piece] = mine[turn[piece]] if turn[piece] < len(mine) else len(wanted) + mine[0]
            heappush(heap, (-following[piece], numbers[piece]))
            if changes:
                changed.add(piece)
    return early, moves


def perform_steps(steps: Iterable[Step], mover: BlockMover | None) -> None:
    """Do some steps in order, each when what it uses is in memory; without a mover, everything is."""
    if mover is not None:
        mover.perform(steps)
        return
    for step in steps:
        step.work()


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
    if (system := _system()) is not None:
        system.madvise(piece.map.address + piece.start, piece.size, _DONTNEED)
        _write_and_forget(system, piece.map.file, piece.start, piece.size)


def _write_and_forget(system: Any, file: IO[bytes], start: int, size: int) -> None:
    system.sync_file_range(file.fileno(), start, size, _WAIT_BEFORE | _WRITE | _WAIT_AFTER)
    system.posix_fadvise(file.fileno(), start, size, _DONTNEED)


def write_behind(file: IO[bytes], start: int, size: int) -> None:
    """Begin to write the newest piece of a file that grows, from `start` on, and forget one that is a few older."""
    if (system := _system()) is not None:
        system.sync_file_range(file.fileno(), start, size, _WRITE)
        if (older := start - _BEHIND * PIECE) >= 0:
            _write_and_forget(system, file, older, PIECE)
