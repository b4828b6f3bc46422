"""Locks between processes, which end with the process that holds them.

A lock is a file that the operating system has locked (``flock``).  It is released however the process ends; the file
stays, because a file that merely exists means nothing.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import IO

from pttt_ooc.errors import PtttError, StoreError


def lock_open(file: IO[bytes], *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file until it is closed.

    Parameters
    ----------
    shared
        Whether others may hold the lock at the same time, if they share it too.
    wait
        Whether to wait while others hold it.

    Returns
    -------
    Whether it is locked now; always true after waiting.

    Raises
    ------
    OSError
        If the file cannot be locked.
    """
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(file, kind if wait else kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def hold(
    file: Path,
    busy: Callable[[str], str],
    *,
    shared: bool = False,
    touch: bool = True,
    wait: bool = False,
    error: type[PtttError] = StoreError,
) -> IO[bytes]:
    """Take a lock until the returned file is closed, by a ``with`` block, by ``close`` or by the end of the process.

    Parameters
    ----------
    file
        The file of the lock; its content is the number of the process that has taken it last.
    busy
        Makes one sentence for the case that another process holds the lock, from that process's number and the time at
        which it took the lock, such as "123, since 14:03".
    shared
        Whether others may hold the lock at the same time, if they share it too.
    touch
        Whether the file is made if it is missing, and the number of this process written to it.
    wait
        Whether to say `busy` on stderr and wait, where the lock is not free.
    error
        What to raise otherwise.

    Raises
    ------
    StoreError
        Or another `error`: if another process holds the lock, and `wait` is false.
    OSError
        If the file cannot be opened or locked.
    """
    lock = open(file, "a+b" if touch else "rb", buffering=0)  # noqa: SIM115  (closing it is what unlocks)
    try:
        if not lock_open(lock, shared=shared):
            sentence = busy(_holder(lock))
            if not wait:
                raise error(sentence)
            print(sentence, file=sys.stderr, flush=True)
            lock_open(lock, shared=shared, wait=True)
        if touch:
            lock.truncate(0)
            lock.write(f"{os.getpid()}\n".encode())
    except BaseException:
        lock.close()
        raise
    return lock


def _holder(lock: IO[bytes]) -> str:
    lock.seek(0)
    number = lock.read().decode(errors="replace").strip()
    return f"{number}, since {_taken(lock)}" if number else "unknown"


def _taken(lock: IO[bytes]) -> str:
    at = datetime.fromtimestamp(os.fstat(lock.fileno()).st_mtime)
    return f"{at:%H:%M}" if at.date() == datetime.now().date() else f"{at:%Y-%m-%d %H:%M}"
