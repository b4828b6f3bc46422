"""Time and memory that a piece of work takes.

Pages of mapped files count as resident memory, but the operating system drops them when it needs
the room.  What a program really needs is its *anonymous* memory, so both are measured.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

MB = 1_000_000
_STATUS = Path("/proc/self/status")
_GROUPS = [
    (Path("/sys/fs/cgroup", most), Path("/sys/fs/cgroup", used))
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    )
]
"""Where control groups of both versions say how much memory a container may have, and has."""


@dataclass
class Usage:
    """What :func:`measured` found.

    Attributes
    ----------
    seconds, cpu_seconds
        Elapsed time, and time of all processors together.
    peak_rss_mb
        Most resident memory since the process started, MB (10^6 bytes), mapped files included.
    peak_anonymous_mb
        Most anonymous memory, by sampling, MB.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_mb: float = 0.0
    peak_anonymous_mb: float = 0.0


def cores() -> int:
    """Number of cores that this process may use; all cores where the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def small_threads() -> None:
    """Let threads that are still to be started take little memory; to be called before numpy is imported.

    Stacks count as memory even where they are not used.  Nothing here multiplies matrices, which numpy
    would keep threads for.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    threading.stack_size(2 << 20)


def anonymous_bytes() -> int:
    """Anonymous memory of this process now; where the system does not tell, the memory that is its own."""
    found = _status("RssAnon")
    if found is not None:
        return found
    import psutil

    return int(psutil.Process().memory_full_info().uss)


def peak_rss_bytes() -> int:
    """Most resident memory that this process has had."""
    found = _status("VmHWM")  # getrusage would count the parent's memory from before the exec
    if found is not None:
        return found
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def available_bytes() -> int:
    """Memory that programs can have now: what the machine has left, and no more than a control group leaves."""
    left = [_number(Path("/proc/meminfo"), "MemAvailable:") or sys.maxsize]
    for most, used in _GROUPS:
        limit, taken = _number(most), _number(used)
        if limit is not None and taken is not None:
            left.append(max(0, limit - taken))
    return min(left)


def _number(file: Path, key: str = "") -> int | None:
    """A number of bytes that the system tells in a file, in the line of a key in kB; None if it does not."""
    with suppress(OSError, ValueError, IndexError):
        lines = [line for line in file.read_text().splitlines() if line.startswith(key)]
        return int(lines[0].split()[1]) * 1024 if key else int(lines[0])
    return None


def _status(key: str) -> int | None:
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:")), None)


@contextmanager
def measured(interval: float = 0.05) -> Iterator[Usage]:
    """Measure the block; the :class:`Usage` that it yields is filled in at the end.

    Parameters
    ----------
    interval
        Seconds between two looks at the anonymous memory.
    """
    usage, stop = Usage(), threading.Event()
    peak = [anonymous_bytes()]

    def sample() -> None:
        while not stop.wait(interval):
            peak[0] = max(peak[0], anonymous_bytes())

    thread = threading.Thread(target=sample, daemon=True)
    started, cpu = time.perf_counter(), time.process_time()
    thread.start()
    try:
        yield usage
    finally:
        stop.set()
        thread.join()
        usage.seconds = round(time.perf_counter() - started, 3)
        usage.cpu_seconds = round(time.process_time() - cpu, 3)
        usage.peak_rss_mb = round(peak_rss_bytes() / MB, 1)
        usage.peak_anonymous_mb = round(max(peak[0], anonymous_bytes()) / MB, 1)
