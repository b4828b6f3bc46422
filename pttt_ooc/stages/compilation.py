"""Compilation of all kernels, once for each user and version of the sources.

Numba keeps what it has compiled in a cache on disk, under names that :mod:`pttt_ooc.jit` gives.  Filling it takes
some time and much memory, so that it is done by a program of its own, :mod:`pttt_ooc.stages.kernel_calls`: before a
stage begins, or while a stage that needs no kernels is at work.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from pttt_ooc import jit
from pttt_ooc.disk.locks import hold
from pttt_ooc.errors import PtttError
from pttt_ooc.imports import PACKAGE, dependencies
from pttt_ooc.sweep import gradient

KEPT = 5  # versions of a kernel
KERNELS = 170
"""The number of kernels, each counted once for each type of its arguments; progress is shown as a part of it."""
_LINE_EVERY = 5.0  # seconds, where the output is no terminal


class Compiling:
    """A compilation that may be stopped, also before it begins."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[str] | None = None
        self._stopped = False

    def begins(self, child: subprocess.Popen[str]) -> None:
        """Set the process that compiles."""
        self._child = child
        if self._stopped:
            child.terminate()

    def stop(self) -> bool:
        """End it; returns whether it had begun."""
        self._stopped = True
        if self._child is None:
            return False
        self._child.terminate()
        return True


@cache
def version() -> str:
    """The version of all kernels that :mod:`pttt_ooc.stages.kernel_calls` compiles."""
    return jit.version(filter(jit.has_kernels, dependencies("stages/kernel_calls")))


def has_double_oracle() -> bool:
    """Whether its kernels are compiled, too: without HiGHS, of the extra `exact`, nobody calls them."""
    return find_spec("highspy") is not None


def ensure_compiled(compiling: Compiling | None = None) -> None:
    """Fill numba's cache unless it has all kernels; progress is shown on stderr.

    Parameters
    ----------
    compiling
        The object by which another thread can stop the compilation.

    Raises
    ------
    PtttError
        If the compilation fails.
    """
    cache = getattr(gradient.receive, "stats", None)
    if cache is None:  # numba is set to compile nothing
        return
    directory = Path(cache.cache_path)
    stamp = directory / f"compiled-{version()}{'' if has_double_oracle() else '-without-exact'}"
    if stamp.exists():
        with suppress(OSError):
            os.utime(stamp)  # the versions that were used last are kept
        return
    directory.mkdir(parents=True, exist_ok=True)
    waiting = "Waiting for another process, which compiles the kernels ..."
    with hold(directory / "compiling.lock", lambda _: waiting, wait=True):
        if not stamp.exists():
            if not directory.is_relative_to(jit.user_cache()):
                print(
                    f"{jit.user_cache()} cannot be written to: compiled code is kept in {PACKAGE}.",
                    file=sys.stderr,
                )
            stamp.write_text(f"{_compile(compiling or Compiling())}\n", encoding="ascii")
            in_cache = {file.parent for file in jit.user_cache().rglob("*.nbi")}  # of all rooms
            forget_versions(jit.DIRECTORIES | in_cache)


@contextmanager
def compiled_meanwhile() -> Iterator[None]:
    """Fill numba's cache as :func:`ensure_compiled` does, while the block, which calls no kernel, is at work.

    Where the block fails or is interrupted, the compilation is stopped.
    """
    compiling, failed = Compiling(), list[BaseException]()

    def compile_all() -> None:
        try:
            ensure_compiled(compiling)
        except BaseException as error:
            failed.append(error)

    # The program can end although this thread still waits for another process that compiles.
    thread = threading.Thread(target=compile_all, daemon=True)
    thread.start()
    try:
        yield
        thread.join()
    except BaseException:
        if compiling.stop():
            thread.join()
        raise
    if failed:
        raise failed[0]


def _compile(compiling: Compiling) -> int:
    """Compile all kernels; return how many there are."""
    begun, names = time.perf_counter(), set[str]()
    with _Count() as count, tempfile.TemporaryDirectory() as scratch, _child(scratch) as child:
        compiling.begins(child)
        assert child.stdout
        for name in child.stdout:
            names.add(name)
            count.show(len(names))
    if child.returncode:
        raise PtttError("Compiling the kernels failed, for the reason above.")
    print(f"Compiled {len(names)} kernels in {time.perf_counter() - begun:.0f} s.", file=sys.stderr, flush=True)
    return len(names)


def forget_versions(directories: Iterable[Path]) -> None:
    """Delete compiled code, except the versions of each kernel that were used last, so that the cache does not grow."""
    kernels: dict[Path, dict[str, list[Path]]] = defaultdict(lambda: defaultdict(list))
    patterns = ("compiled-*", "*.nb[ic]")  # stamps first
    for file in [file for pattern in patterns for place in directories for file in place.glob(pattern)]:
        version = re.sub(r"(\.\d+\.nbc|\.nbi)$", "", file.name)
        kernel = re.sub(r"-(\d+|[0-9a-f]{8}|[0-9a-f]{16})(?=[-.]|$)", "", version)  # without line and digests
        kernels[file.with_name(kernel)][version].append(file)
    for versions in kernels.values():
        ages = {version: max(file.stat().st_mtime for file in files) for version, files in versions.items()}
        for version in sorted(versions, key=lambda version: -ages[version])[KEPT:]:
            for file in versions[version]:
                file.unlink(missing_ok=True)


class _Count:
    """Shows how many kernels have been compiled: on a terminal always, else a line every few seconds."""

    def __init__(self) -> None:
        from rich.console import Console  # slow to import, and seldom needed

        console = Console(stderr=True)
        self._status = console.status(self._line(0)) if console.is_terminal else None
        self._last = -math.inf

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        self.show(0)
        return self

    def __exit__(self, *of_error: object) -> None:
        if self._status:
            self._status.stop()

    def show(self, count: int) -> None:
        if self._status:
            self._status.update(self._line(count))
        elif time.monotonic() - self._last >= _LINE_EVERY:
            self._last = time.monotonic()
            print(self._line(count), file=sys.stderr, flush=True)

    def _line(self, count: int) -> str:
        return f"Compiling kernels, once for this version of the package: {count} of {max(count, KERNELS)} ..."


@contextmanager
def _child(scratch: str) -> Iterator[subprocess.Popen[str]]:
    """Run the program that compiles; if the block ends early, the program ends at once.

    It also ends when its standard input closes, as happens if an interrupt comes before `Popen` has returned.
    """
    command = [sys.executable, "-m", "pttt_ooc.stages.kernel_calls", scratch]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), *sys.path])}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as child:
        try:
            yield child
        except BaseException:
            child.terminate()  # it ends its own processes
            child.wait()
            raise
