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
_STATUS, _IO, _OWN_GROUPS = (Path("/proc/self", name) for name in ("status", "io", "cgroup"))
_GROUPS = [
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current", ("inactive_file", "active_file")),
    (
        *(Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes"),
        ("total_inactive_file", "total_active_file"),
    ),
]
"""Control groups, versions 2 and 1: their root, the files of the memory that a group may use and of what it uses, and
the lines of ``memory.stat`` about pages of files, which the system drops when it needs room."""


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
    read_mb, written_mb
        What was read from disks and written to them, MB; 0 if the system does not say.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_mb: float = 0.0
    peak_anonymous_mb: float = 0.0
    read_mb: float = 0.0
    written_mb: float = 0.0


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


def moved_bytes() -> tuple[int, int]:
    """Bytes that this process has read from disks, and has written or will write to them; 0 if the system is silent."""
    read, written = (_number(_IO, key, 1) or 0 for key in ("read_bytes:", "write_bytes:"))
    return read, written


def available_bytes() -> int:
    """Memory available to programs now: on the machine or within its control groups, whichever has least."""
    left = [_number(Path("/proc/meminfo"), "MemAvailable:") or sys.maxsize]
    for root, most, used, pages in _GROUPS:
        for group in _own_groups(root):
            limit, taken = _number(group / most), _number(group / used)
            if limit is not None and taken is not None:
                files = sum(_number(group / "memory.stat", f"{line} ", 1) or 0 for line in pages)
                left.append(max(0, limit - taken + min(files, taken)))
    return min(left)


def _own_groups(root: Path) -> set[Path]:
    """The control groups of this process below `root`, and `root`; within a container they may not be seen."""
    try:
        lines = _OWN_GROUPS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return {root}
    paths = [line.split(":", 2)[2].strip("/") for line in lines if line.split(":", 2)[1] in ("", "memory")]
    return {root} | {root / part for path in paths for part in (Path(path), *Path(path).parents)}


def _number(file: Path, key: str = "", unit: int = 1024) -> int | None:
    """The bytes that a system file gives; with a `key`, those of its line, in a unit.  None if there are none."""
    with suppress(OSError, ValueError, IndexError):
        lines = [line for line in file.read_text().splitlines() if line.startswith(key)]
        return int(lines[0].split()[1]) * unit if key else int(lines[0])
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
    started, cpu, moved = time.perf_counter(), time.process_time(), moved_bytes()
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
        usage.read_mb, usage.written_mb = (
            round((now - before) / MB, 1) for now, before in zip(moved_bytes(), moved, strict=True)
        )
