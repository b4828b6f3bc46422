"""Commits of a solver's resumable state.

A :class:`ResumableState` is a work directory of this form:

========================= =================================================================================
``lock``                  locked (flock) while a solver runs; contains its process number
``working/``              Zarr group of the arrays that kernels change in place, if they are not in memory; useless
                          after a kill
``commits/<generation>/`` Zarr group with the same arrays: a snapshot, never changed after it is recorded
``CURRENT.json``          lists the valid snapshots: fingerprint, iterations, checksums
========================= =================================================================================

A commit writes a new snapshot, syncs it, replaces ``CURRENT.json``, and only then deletes the snapshot
that it continues.  Other snapshots may be kept.  Generation numbers are never reused; time stamps do not
matter.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import traceback
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from pttt_ooc.disk.block_mover import BlockMover, Step, Use, perform_steps
from pttt_ooc.disk.files import atomic_write_text, explain_errors, fsync_path, fsync_tree, make_directory, remove
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.piece_buffers import PIECE, set_direct
from pttt_ooc.disk.snapshot_record import Commit, SnapshotRecord, advice, crc_text
from pttt_ooc.disk.store import Array, array_names, chunk_file, create_array, describe_array, locate_array
from pttt_ooc.errors import StoreError

Choice = tuple[Commit | None, Sequence[Commit]]

_BLOCK = 1 << 20  # bytes: a block is checksummed and written while it is still in the processor's cache


# ---------------------------------------------------------------------------------------------
# Commits


def latest(saved: Sequence[Commit]) -> Choice:
    """Continue from the newest commit, and keep the others."""
    return (saved[0], saved[1:]) if saved else (None, ())


def _snapshot(path: Path, generation: int) -> Path:
    return path / "commits" / f"{generation:08d}"


class ResumableState:
    """A solver's arrays, changed in place, with commits that survive a kill at any instant.

    Made by :meth:`open`; a context manager that closes it.  Only one process at a time can have a
    work directory open.  Its memory consists of mapped files, whose pages the operating system
    writes back and drops as needed.

    Attributes
    ----------
    path
        The work directory.
    arrays
        Name to writable map of ``working/<name>``.  Maps that outlive :meth:`close` are harmless
        and useless: the next opener makes new files.
    kept
        Earlier commits of other runs; each stays until a run continues from it.
    mover
        What moves the arrays while they are saved, if they do not fit into memory.
    """

    def __init__(
        self, path: Path, lock: IO[bytes], arrays: dict[str, Array], current: SnapshotRecord, choice: Choice
    ) -> None:
        self.path = path
        self.arrays = arrays
        self._lock = lock
        self._fingerprint = current.fingerprint
        self._last_generation = current.generation
        self.mover: BlockMover | None = None
        self._base, self.kept = choice[0], tuple(choice[1])
        working = path / "working"
        self._metadata = sorted(file.relative_to(working) for file in working.rglob("zarr.json"))

    @classmethod
    def open(
        cls,
        path: Path,
        arrays: Mapping[str, Array],
        fingerprint: str,
        choose: Callable[[Sequence[Commit]], Choice] = latest,
        in_memory: bool = False,
    ) -> ResumableState:
        """Create the state, all zeros at iteration 0, or resume it from a commit.

        Parameters
        ----------
        path
            The work directory.
        arrays
            Name to an array, perhaps a virtual one, of the required shape and dtype.
        fingerprint
            Identifies everything that the state depends on; a state with another fingerprint is refused.
        choose
            Gets all saved commits, newest first.  It returns the one to continue (None: all zeros) and the others to
            keep; the next commit deletes the rest.  Default: the newest, and all others.
        in_memory
            Whether the arrays are in memory, instead of files that are mapped: then only commits write.

        Raises
        ------
        StoreError
            If another process has it open; if it was made for another fingerprint, other arrays or another
            format version; if the chosen commit is damaged; or if the disk is full or not writable.
        """
        with explain_errors(f"open the work directory {path}"):
            make_directory(path)
            # The lock comes first: nothing is read or deleted while another process is at work.
            lock = hold(path / "lock", partial(_busy, path))
            try:
                current = _current_or_new(path, fingerprint)
                # The arrays are new files of zeros, or get the content of the chosen commit.
                choice = choose(current.saved)
                working = _working_arrays(path, arrays, in_memory)
                if choice[0]:
                    _restore(path, choice[0], working)
                # What an interrupted commit has left over is deleted; all recorded commits stay until the next one.
                _delete_all_but(path, current.saved)
                return cls(path, lock, working, current, choice)
            except BaseException:
                lock.close()
                raise

    @property
    def iteration(self) -> int:
        """The iteration of the last commit, 0 if there is none."""
        return self._base.iteration if self._base else 0

    @property
    def extra(self) -> dict[str, Any]:
        """A copy of the JSON values committed with the arrays."""
        copy: dict[str, Any] = json.loads(json.dumps(self._base.extra if self._base else {}))
        return copy

    @property
    def nbytes(self) -> int:
        """Total size of the arrays, which is also the size of a snapshot."""
        return sum(array.nbytes for array in self.arrays.values())

    def commit(
        self, iteration: int, extra: Mapping[str, Any] | None = None, unchanged: Collection[str] = frozenset()
    ) -> None:
        """Save the present arrays for the next :meth:`open`.

        No thread may write to the arrays meanwhile.  For a moment the disk holds three copies of the arrays, in
        addition to the other kept commits.

        Parameters
        ----------
        iteration
            The new :attr:`iteration`.
        extra
            JSON object: the new :attr:`extra`.
        unchanged
            Names of arrays that are still as they were opened: the last snapshot's files are linked.

        Raises
        ------
        StoreError
            If the disk is full or not writable.  The previous commit is then intact, the arrays
            are untouched, and the commit can be tried again.
        TypeError, ValueError
            If `extra` is not JSON.
        """
        if self._lock.closed:
            raise ValueError(f"the state {self.path} is closed")
        content = json.loads(json.dumps(dict(extra or {})))
        self._last_generation += 1  # never the same number twice, even if this commit fails halfway
        generation = self._last_generation
        try:
            with explain_errors(f"commit iteration {iteration} in {self.path}"):
                checksums = self._write_snapshot(_snapshot(self.path, generation), unchanged)
                commit = Commit(generation, int(iteration), content, checksums)
                record = SnapshotRecord(self._fingerprint, (commit, *self.kept))
                atomic_write_text(self.path / "CURRENT.json", record.text())
        except StoreError as error:
            self._drop_unless_named(generation)
            for each in (error, error.__cause__):  # else the error would keep the maps and their space on the disk
                traceback.clear_frames(each.__traceback__ if each else None)
            raise
        self._base = commit
        _delete_all_but(self.path, record.saved)

    def _write_snapshot(self, target: Path, unchanged: Collection[str]) -> dict[str, str]:
        for file in self._metadata:
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.path / "working" / file, target / file)
        checksums, copies = {}, {}
        for name, array in self.arrays.items():
            file = chunk_file(target, name, array.ndim)
            base = self._base if name in unchanged and array.size else None
            if base and _link(chunk_file(_snapshot(self.path, base.generation), name, array.ndim), file):
                checksums[name] = base.checksums[name]
            else:
                copies[name] = _Copy(file, array, self.mover is not None)
        perform_steps((step for copy in copies.values() for step in copy.steps()), self.mover)
        checksums |= {name: crc_text(copy.crc) for name, copy in copies.items()}
        fsync_tree(target)
        fsync_path(target.parent)
        return checksums

    def _drop_unless_named(self, generation: int) -> None:
        # Writing CURRENT.json can fail after its replacement (while its directory is synced).  After a
        # power cut, either snapshot may then be the recorded one, so both must stay.
        try:
            named = SnapshotRecord.read(self.path).generation
        except StoreError:
            return
        if named != generation:
            shutil.rmtree(_snapshot(self.path, generation), ignore_errors=True)

    def close(self) -> None:
        """Drop the maps and release the lock; changes since the last commit are lost."""
        self.arrays.clear()
        if not self._lock.closed:
            shutil.rmtree(self.path / "working", ignore_errors=True)  # it would only take space
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _busy(path: Path, process: str) -> str:
    return f"Another solver is at work on {path} (process {process}); wait for it or stop it."


def _current_or_new(path: Path, fingerprint: str) -> SnapshotRecord:
    """The record of the last commit; if the state was never completely created, a new record on disk."""
    (path / "commits").mkdir(exist_ok=True)
    if not _was_created(path):
        atomic_write_text(path / "CURRENT.json", SnapshotRecord(fingerprint, ()).text())
        fsync_path(path.parent)  # again: a kill may have prevented the sync after the directory was made
    current = SnapshotRecord.read(path)
    if current.fingerprint != fingerprint:
        raise StoreError(
            f"The work directory {path} was made for another configuration (fingerprint {current.fingerprint}, "
            f"now {fingerprint}); choose another directory, or {advice(path)}."
        )
    return current


def _was_created(path: Path) -> bool:
    # With snapshots but no record, it is a state that has lost its record.
    commits = path / "commits"
    return (path / "CURRENT.json").exists() or (commits.is_dir() and any(commits.iterdir()))


def _working_arrays(path: Path, arrays: Mapping[str, Array], in_memory: bool) -> dict[str, Array]:
    # New files each time, so that maps of the old files, which may still be referenced, are harmless.
    remove(path / "working")
    working = path / "working"
    if in_memory:
        return {name: describe_array(working, name, array.shape, array.dtype) for name, array in arrays.items()}
    return {name: create_array(working, name, array.shape, array.dtype) for name, array in arrays.items()}


def _restore(path: Path, commit: Commit, arrays: Mapping[str, Array]) -> None:
    if commit.checksums.keys() != arrays.keys():
        raise StoreError(f"The work directory {path} holds arrays of other names than are asked for; {advice(path)}.")
    for name, array in arrays.items():
        snapshot = _snapshot(path, commit.generation)
        file, shape, dtype = locate_array(snapshot, name, advice(path))
        if (shape, dtype) != (array.shape, array.dtype):
            raise StoreError(
                f"The array {name} in {snapshot} is {dtype}{list(shape)}, but {array.dtype}{list(array.shape)} "
                f"is asked for; {advice(path)}."
            )
        if array.size:
            _read_chunk(path, name, file, commit.checksums[name], _bytes_of(array))


def _bytes_of(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


class _Copy:
    """A copy of an array's bytes in a new file, made piece by piece; none if the array is empty.

    Attributes
    ----------
    crc
        CRC-32 of the bytes so far.
    """

    def __init__(self, file: Path, array: Array, moved: bool) -> None:
        self._file, self._array, self._moved = file, array.reshape(-1).view(np.uint8), moved
        self.crc = 0

    def steps(self) -> Iterator[Step]:
        """The steps that make it."""
        for start in range(0, len(self._array), PIECE):
            part = self._array[start : start + PIECE]
            yield Step([Use(part)], partial(self._add, start, part.data))

    def _add(self, start: int, data: memoryview) -> None:
        if not start:
            self._file.parent.mkdir(parents=True, exist_ok=True)
        with open(self._file, "ab" if start else "xb", buffering=0) as f:
            for begin in range(0, len(data), _BLOCK):
                block = data[begin : begin + _BLOCK]
                self.crc = zlib.crc32(block, self.crc)
                if self._moved:  # past the system's cache, which then has room for the arrays
                    set_direct(f, len(block) % mmap.PAGESIZE == 0)
                while block:
                    block = block[f.write(block) :]


def _link(old: Path, new: Path) -> bool:
    """Give a file another name; False if the file system cannot, or there is no such file."""
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new)
    except OSError:
        return False
    return True


def _read_chunk(path: Path, name: str, file: Path, checksum: str, target: memoryview | None) -> None:
    """Read `file`, into `target` if given, and raise a StoreError unless its bytes match the checksum."""
    # Read, not mapped: an unreadable block then raises an error instead of killing the process.
    crc, start, buffer = 0, 0, memoryview(bytearray(_BLOCK))
    try:
        with open(file, "rb", buffering=0) as f:
            while got := f.readinto(buffer):
                crc = zlib.crc32(buffer[:got], crc)
                if target is not None:
                    target[start : start + got] = buffer[:got]
                start += got
    except OSError as error:
        raise StoreError(f"The array {name} cannot be read from {file}: {error.strerror}; {advice(path)}.") from error
    if crc_text(crc) != checksum:
        raise StoreError(f"The array {name} is damaged: {file} does not match its checksum; {advice(path)}.")


def _delete_all_but(path: Path, saved: Sequence[Commit]) -> None:
    # A leftover that cannot be deleted is not an error: it is never read, and the next commit tries again.
    named = [_snapshot(path, commit.generation) for commit in saved]
    for leftover in (path / "commits").iterdir():
        if leftover not in named:
            shutil.rmtree(leftover, ignore_errors=True)


# ---------------------------------------------------------------------------------------------
# Checking


def is_state(path: Path) -> bool:
    """Whether a directory is the work directory of a :class:`ResumableState`, even of a damaged one."""
    return (path / "CURRENT.json").exists() or (path / "commits").is_dir()


def fsck(path: Path) -> list[str]:
    """Read all commits of a state and compare them with their checksums; nothing is written.

    Returns
    -------
    problems
        One sentence for each; empty if there are none.  Leftovers of a killed commit are not a problem, nor
        is a state whose creation was killed.

    Raises
    ------
    StoreError
        If a solver is using it.
    """
    with explain_errors(f"check the work directory {path}"), ExitStack() as stack:
        if (path / "lock").exists():
            stack.enter_context(hold(path / "lock", partial(_busy, path), shared=True, touch=False))
        if not _was_created(path):
            return []
        try:
            current = SnapshotRecord.read(path)
        except StoreError as error:
            return [str(error)]
        return [problem for commit in current.saved for problem in _problems_of(path, commit)]


def _problems_of(path: Path, commit: Commit) -> list[str]:
    snapshot = _snapshot(path, commit.generation)
    problems = [_problem_of(path, snapshot, name, checksum) for name, checksum in sorted(commit.checksums.items())]
    if not any(problems) and array_names(snapshot) != sorted(commit.checksums):
        problems.append(f"The arrays that Zarr finds in {snapshot} are not those committed; {advice(path)}.")
    return [problem for problem in problems if problem]


def _problem_of(path: Path, snapshot: Path, name: str, checksum: str) -> str | None:
    try:
        file, shape, _ = locate_array(snapshot, name, advice(path))
        if 0 not in shape:
            _read_chunk(path, name, file, checksum, None)
    except StoreError as error:
        return str(error)
    return None
