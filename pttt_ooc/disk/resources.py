"""Time and memory of a piece of work.

Pages of mapped files count as resident memory, but the operating system drops them when memory is
short.  A program's real need is its *anonymous* memory, so both are measured.
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
"""Files of control groups, versions 2 and 1: the memory that a container may use, and what it uses."""


@dataclass
class Usage:
    """The result of :func:`measure_usage`.

    Attributes
    ----------
    seconds, cpu_seconds
        Elapsed time, and time of all processors together.
    peak_rss_mb
        Peak resident memory since the process started, MB (10^6 bytes), including mapped files.
    peak_anonymous_mb
        Peak anonymous memory, by sampling, MB.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_mb: float = 0.0
    peak_anonymous_mb: float = 0.0


def cores() -> int:
    """Number of cores that this process may use; all cores if the system does not say."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def small_threads() -> None:
    """Limit the memory of threads started later; call this before numpy is imported.

    Unused stacks count as memory, too.  The package multiplies no matrices, so numpy needs no threads of its own.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    threading.stack_size(2 << 20)


def anonymous_bytes() -> int:
    """Anonymous memory of this process now; its unique memory if the system does not say."""
    status = _status("RssAnon")
    if status is not None:
        return status
    import psutil

    return int(psutil.Process().memory_full_info().uss)


def peak_rss_bytes() -> int:
    """Peak resident memory of this process."""
    status = _status("VmHWM")  # getrusage would include the parent's memory before the exec
    if status is not None:
        return status
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def available_bytes() -> int:
    """Memory available to programs now: on the machine or within the control group, whichever has less."""
    left = [_number(Path("/proc/meminfo"), "MemAvailable:") or sys.maxsize]
    for most, used in _GROUPS:
        limit, taken = _number(most), _number(used)
        if limit is not None and taken is not None:
            left.append(max(0, limit - taken))
    return min(left)


def _number(file: Path, key: str = "") -> int | None:
    """The bytes that a system file gives; with a `key`, those of its line, which is in kB.  None if there are none."""
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
def measure_usage(interval: float = 0.05) -> Iterator[Usage]:
    """Measure the block; the yielded :class:`Usage` is filled in at the end.

    Parameters
    ----------
    interval
        Seconds between two samples of the anonymous memory.
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
