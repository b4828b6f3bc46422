"""Shared by the tests: waiting for other processes.

A test waits for a condition, never for a length of time.  The limits here only end what will never come: they are
minutes where a healthy machine needs seconds, so that a busy one does not reach them either.
"""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

PATIENCE = 600.0  # seconds


def wait_until(condition, *, alive=lambda: True, told=lambda: "it never came"):
    """Wait until `condition()` is true, as long as `alive()` is; `told()` explains a failure.

    The longer it has been waited for, the seldomer it is asked: conditions may take more than what they wait for.
    """
    begin = time.monotonic()
    end = begin + PATIENCE
    while not condition():
        # What came just before the end counts.
        assert (alive() or condition()) and time.monotonic() < end, told()
        time.sleep(min(0.02 + (time.monotonic() - begin) / 20, 0.2))


def wait_until_gone(pid):
    """Wait until a process, which somebody else reaps, has ended with all its threads, and let go of its files."""
    wait_until(lambda: set(_states(pid).values()) <= {"Z"}, told=lambda: f"process {pid} does not end")


def freeze(pid):
    """Stop a process with SIGSTOP, at a place where it holds no lock on a file for which others would wait for ever."""
    for _ in range(1000):
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: set(_states(pid).values()) == {"T"}, told=lambda: f"process {pid} does not stop")
        if not _holds_a_lock(pid):
            return
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.01)
    raise AssertionError(f"process {pid} always holds a lock")


def _states(pid):
    """The letter for the state of each thread of a process; nothing if there is no such process."""
    found = {}
    for file in Path(f"/proc/{pid}/task").glob("*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found[file.parent.name] = file.read_text().rpartition(")")[2].split()[0]
    return found


def _holds_a_lock(pid):
    """Whether it holds a lock for writing that SQLite takes (of the kind POSIX; flock's are of the kind FLOCK)."""
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return any(line[1:5] == ["POSIX", "ADVISORY", "WRITE", str(pid)] for line in lines)
