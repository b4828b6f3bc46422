"""Locks between processes, released when the holding process ends.

A lock is a file that the operating system has locked (``flock``).  It is released however the process ends; the file
stays, because its existence alone means nothing.
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
        Whether other processes may hold the lock at the same time, if they share it too.
    wait
        Whether to wait while others hold it.

    Returns
    -------
    Whether this process holds the lock; always true after waiting.

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
        The lock file; it contains the number of the process that last took the lock.
    busy
        Returns the sentence to show if another process holds the lock, given that process's number and the time at
        which it took the lock, such as "123, since 14:03".
    shared
        Whether other processes may hold the lock at the same time, if they share it too.
    touch
        Whether to create a missing file and to write the number of this process to it.
    wait
        If another process holds the lock: whether to print `busy` to stderr and wait.
    error
        The error to raise if `wait` is false.

    Raises
    ------
    StoreError
        Or the given `error`: if another process holds the lock, and `wait` is false.
    OSError
        If the file cannot be opened or locked.
    """
    lock = open(file, "a+b" if touch else "rb", buffering=0)  # noqa: SIM115  (closing it releases the lock)
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
