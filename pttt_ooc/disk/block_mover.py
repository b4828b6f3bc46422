"""Moves pieces of mapped arrays between memory and disk: read ahead of the work, written behind it.

The operating system would do both by itself, page by page, and look for pages to drop while the work waits.  A
:class:`BlockMover` knows the order of the work, so it plans what is in memory at each step.  One thread beside the work
brings in what the next step uses, and drops the pieces that are needed last when its share of the memory is full; what
has been changed begins to be written long before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple, Self

from pttt_ooc.disk.piece_buffers import Piece, PieceBuffers, pieces_of
from pttt_ooc.disk.store import Array


class Use(NamedTuple):
    """A part of an array that a step needs, and whether the step changes it; only mapped arrays are moved."""

    part: Array
    changes: bool = False


class Step(NamedTuple):
    """A piece of work, and what it needs in memory."""

    uses: Iterable[Use]
    work: Callable[[], None]


_Pieces = dict[Piece, bool]
"""Pieces, and whether they are changed."""


class _Move(NamedTuple):
    """What the thread does for a step.

    Attributes
    ----------
    after
        How many steps must be done before.
    leaving
        Pieces that are dropped first.
    pieces
        Those that the step finds in memory, and whether it changes them.
    writes
        Pieces that begin to be written when the step is done, as they are dropped before a step uses them again.
    """

    after: int
    leaving: list[Piece]
    pieces: _Pieces
    writes: list[Piece]


class BlockMover:
    """Does steps in order while a thread of its own moves what they use; a context manager that ends the thread.

    Attributes
    ----------
    most
        Bytes of mapped arrays to have in memory.  What a step needs besides, it uses where it is: the system reads it
        page by page.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._condition = threading.Condition()
        self._moves: list[_Move] = []
        self._ready = self._done = self._written = 0  # steps whose pieces are in memory; that are finished; and written
        self._present: _Pieces = {}  # and whether they have been changed since they were written
        self._buffers = PieceBuffers(most)
        self._early: list[Piece] = []  # to be written before the first step
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
        for piece, changed in self._present.items():
            if changed:
                self._buffers.start_writing(piece)
        self._buffers.close()

    def perform(self, steps: Iterable[Step]) -> None:
        """Do these steps; what ends the thread is raised here."""
        listed = list(steps)
        wanted = [_pieces_of(step.uses) for step in listed]
        with self._condition:
            self._ready = len(self._moves)  # an error may have ended the steps before
            self._wait(lambda: not (self._moves_now or self._must_write()))
            self._early, self._moves = plan_moves(wanted, self._present, self.most)
            self._ready = self._done = self._written = 0
            self._condition.notify_all()
        for k, step in enumerate(listed):
            with self._condition:
                self._wait(lambda k=k: self._ready > k)  # type: ignore[misc]
                self._present.update(piece for piece in self._moves[k].pieces.items() if piece[1])
            step.work()
            with self._condition:
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
            k, pieces, leaving = self._ready, _Pieces(), list[Piece]()
            if brings := self._may_bring():
                pieces, leaving = self._moves[k].pieces, self._moves[k].leaving
            for piece in writes:
                self._present[piece] = False
            for piece in leaving:
                del self._present[piece]
            self._present.update((piece, False) for piece in pieces if piece not in self._present)
            self._moves_now = True
        for piece in writes:
            self._buffers.start_writing(piece)
        for piece in leaving:
            self._buffers.drop(piece)
        for piece in pieces:
            self._buffers.bring(piece)
        with self._condition:
            self._moves_now = False
            self._ready = max(self._ready, k + brings)
            self._condition.notify_all()
        return True

    def _must_write(self) -> bool:
        return bool(self._early) or self._written < self._done

    def _may_bring(self) -> bool:
        return self._ready < len(self._moves) and self._moves[self._ready].after <= self._done


def plan_moves(wanted: Sequence[_Pieces], present: _Pieces, most: int) -> tuple[list[Piece], list[_Move]]:
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
    carried = [_within(pieces, most) for pieces in wanted]
    uses: dict[Piece, list[int]] = {piece: [] for piece in present}
    for k, pieces in enumerate(carried):
        for piece in pieces:
            uses.setdefault(piece, []).append(k)
    early: list[Piece] = []
    never, moves = 2 * len(wanted), [_Move(0, [], pieces, []) for pieces in carried]
    # The last use so far, and the next one, of all that is in memory; and a heap of the next uses, some out of date.
    numbers, names = {piece: number for number, piece in enumerate(uses)}, list(uses)
    last = dict.fromkeys(present, -1)
    following = {piece: uses[piece][0] if uses[piece] else never for piece in present}
    heap = [(-following[piece], numbers[piece]) for piece in present]
    heapify(heap)
    changed, size = {piece for piece in present if present[piece]}, sum(piece.size for piece in present)
    turn = dict.fromkeys(uses, 0)  # how many of its uses are over
    in_place: dict[Piece, int] = {}  # the last step that has used a piece where it is
    for k, pieces in enumerate(carried):
        # What the step uses where it is must not be in memory.
        outside = [piece for piece in wanted[k] if piece not in pieces]
        leaving = [piece for piece in outside if following.pop(piece, None) is not None]
        size += sum(piece.size for piece in pieces if piece not in last) - sum(piece.size for piece in leaving)
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
                del following[piece]
            for entry in kept:
                heappush(heap, entry)
        after = 1 + max((in_place[piece] for piece in pieces if piece in in_place and piece not in last), default=-1)
        for piece in leaving:
            if piece in changed:
                changed.remove(piece)
                (moves[last[piece]].writes if last[piece] >= 0 else early).append(piece)
            after = max(after, 1 + last.pop(piece))
        moves[k] = moves[k]._replace(after=after, leaving=leaving)
        in_place.update(dict.fromkeys(outside, k))
        for piece, changes in pieces.items():
            last[piece], mine = k, uses[piece]
            turn[piece] += 1
            following[piece] = mine[turn[piece]] if turn[piece] < len(mine) else len(wanted) + mine[0]
            heappush(heap, (-following[piece], numbers[piece]))
            if changes:
                changed.add(piece)
    return early, moves


def _within(pieces: _Pieces, most: int) -> _Pieces:
    """The first of some pieces, for which there is room; at least one."""
    found: _Pieces = {}
    for piece, changes in pieces.items():
        most -= piece.size
        if most < 0 and found:
            break
        found[piece] = changes
    return found


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
        for piece in pieces_of(part):
            found[piece] = changes or found.get(piece, False)
    return found
