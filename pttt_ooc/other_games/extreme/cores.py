"""Cores and memory for timed bots: one bot on each core, among all processes of this machine."""

from __future__ import annotations

import errno
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from pttt_ooc.disk.files import explain_errors
from pttt_ooc.disk.locks import lock_open
from pttt_ooc.disk.resources import available_bytes

_POLL_SECONDS = 0.02  # seconds between two looks


def free_cores() -> list[int]:
    """The processors that this process may use, one of each core: two timed bots never share a core."""
    seen: set[str] = set()
    found = []
    for number in sorted(os.sched_getaffinity(0)):
        place = Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
        try:
            siblings = place.read_text().strip()
        except OSError:
            siblings = str(number)
        if siblings not in seen:
            seen.add(siblings)
            found.append(number)
    return found


def cores_with_memory(memory_mb: int) -> list[int]:
    """As many of :func:`free_cores` as there is memory for matches now; at least one.

    Parameters
    ----------
    memory_mb
        MiB that each of the two bots of a match may take.
    """
    matches = available_bytes() // (2 * memory_mb << 20)
    return free_cores()[: max(1, matches)]


@contextmanager
def taken_core(cores: Sequence[int], stopping: threading.Event | None = None) -> Iterator[int | None]:
    """Wait for one of these cores that is not taken, and take it until the block ends.

    Parameters
    ----------
    stopping
        Ends the wait when it is set; then there is no core.

    Raises
    ------
    StoreError
        If the locks of the cores cannot be made.
    """
    with explain_errors("lock a core"):
        taken = _take_core(cores, stopping)
    if taken is None:
        yield None
        return
    core, file = taken
    with file:
        yield core


def _take_core(cores: Sequence[int], stopping: threading.Event | None) -> tuple[int, IO[bytes]] | None:
    directory = Path(tempfile.gettempdir(), f"pttt-cores-{os.getuid()}")
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    if directory.is_symlink() or directory.stat().st_uid != os.getuid():
        raise PermissionError(errno.EPERM, f"{directory} belongs to somebody else")
    turn = _wait_for_lock([directory / "turn"], stopping)  # else the one that gave a core back would take it again
    if turn is None:
        return None
    with turn:
        file = _wait_for_lock([directory / str(core) for core in cores], stopping)
    return None if file is None else (int(Path(file.name).name), file)


def _wait_for_lock(files: Sequence[Path], stopping: threading.Event | None) -> IO[bytes] | None:
    """Wait until one of the files can be locked; returns it."""
    while stopping is None or not stopping.is_set():
        for path in files:
            file = open(path, "ab")  # noqa: SIM115  (closed by who gets it)
            if lock_open(file):
                return file
            file.close()
        time.sleep(_POLL_SECONDS)
    return None
