"""Locks between processes, released when the holding process ends.

A lock is a file that the operating system has locked (``flock``).  It is released however the process ends; the file
stays, because its existence alone means nothing.

On some shared file systems such locks hold only within each machine.  :func:`only_here` knows some of these systems,
and :func:`free_here` notices any of them while another machine holds a lock.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import IO

from pttt_ooc.errors import PtttError, StoreError

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


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


# Shared file systems, and the options with which their locks do not hold between machines (None: with any).
_KEPT_HERE: dict[str, frozenset[str] | None] = {
    "nfs": frozenset({"nolock", "local_lock=all", "local_lock=flock"}),
    "nfs4": frozenset({"nolock", "local_lock=all", "local_lock=flock"}),
    "lustre": frozenset({"localflock"}),
    "cifs": frozenset({"nobrl"}),
    "smb3": frozenset({"nobrl"}),
    "fuse.sshfs": None,
}
MOUNTS = Path("/proc/self/mountinfo")


def only_here(directory: Path, mounts: Path = MOUNTS) -> str:
    """The file system, if machines share it but its locks hold only within each machine; else empty.

    Parameters
    ----------
    directory
        It must exist.
    mounts
        A file in the form of Linux's ``mountinfo``; if there is none, nothing is known, and the result is empty.

    Returns
    -------
    Text such as "nfs, mounted with nolock".
    """
    place, found, longest = directory.resolve(), "", -1
    try:
        lines = mounts.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        mount, _, system = line.partition(" - ")
        at, options = Path(mount.split()[4].replace("\\040", " ")), mount.split()[5]
        kind, _, more = system.split(" ", 2)
        if place.is_relative_to(at) and len(at.parts) >= longest:  # the latest of several mounts at one place counts
            longest, given = len(at.parts), {*options.split(","), *more.split(",")}
            bad = _KEPT_HERE.get(kind, frozenset())
            by = sorted(given & bad) if bad is not None else []
            found = f"{kind}, mounted with {', '.join(by)}" if by else kind if bad is None else ""
    return found


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
        The lock file; it contains the number of the process that last took the lock, and its machine.
    busy
        Returns the sentence to show if another process holds the lock, given that process's number, its machine if it
        is another one, and the time at which it took the lock, such as "123, since 14:03" or "123 on node7, since ...".
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
        Or the given `error`: if another process holds the lock, and `wait` is false; or if the file system has no
        locks.
    OSError
        If the file cannot be opened or locked.
    """
    lock = open(file, "a+b" if touch else "rb", buffering=0)  # noqa: SIM115  (closing it releases the lock)
    try:
        # Another process holds it: refuse, or say so and wait.
        if not lock_open(lock, shared=shared):
            sentence = busy(_holder(lock))
            if not wait:
                raise error(sentence)
            print(sentence, file=sys.stderr, flush=True)
            lock_open(lock, shared=shared, wait=True)
        # The file names its holder, for the sentences of others.
        if touch:
            lock.truncate(0)
            lock.write(f"{os.getpid()} {socket.gethostname()}\n".encode())
    except OSError as failed:
        # Without the lock the file is closed; for a file system without locks there is a sentence.
        lock.close()
        if failed.errno in _NO_LOCKS:
            raise error(
                f"{file} cannot be locked: {failed.strerror}. Mount its file system with locks, or use a directory "
                "on another one."
            ) from failed
        raise
    except BaseException:
        lock.close()
        raise
    return lock


def free_here(file: Path) -> str:
    """The machine that last took a lock, if it is another one and the lock is free on this one; else empty.

    While a process there holds the lock, this means that locks do not hold between the two machines.

    Raises
    ------
    OSError
        If the file cannot be opened or locked.
    """
    try:
        lock = open(file, "rb")  # noqa: SIM115  (closed below)
    except FileNotFoundError:
        return ""
    with lock:
        _, machine = _last(lock)
        elsewhere = machine not in ("", socket.gethostname())
        return machine if elsewhere and lock_open(lock, shared=True) else ""


def _last(lock: IO[bytes]) -> tuple[str, str]:
    """The number of the process that last took a lock, and its machine."""
    lock.seek(0)
    number, _, machine = lock.read().decode(errors="replace").strip().partition(" ")
    return number, machine


def _holder(lock: IO[bytes]) -> str:
    number, machine = _last(lock)
    where = f" on {machine}" if machine not in ("", socket.gethostname()) else ""
    return f"{number}{where}, since {_time_taken(lock)}" if number else "unknown"


def _time_taken(lock: IO[bytes]) -> str:
    at = datetime.fromtimestamp(os.fstat(lock.fileno()).st_mtime)
    return f"{at:%H:%M}" if at.date() == datetime.now().date() else f"{at:%Y-%m-%d %H:%M}"
