"""Compilation of all kernels, once for each user and version of the sources.

Compiled code is kept on disk, see :mod:`pttt_ooc.compiled_code`.  Compiling all kernels takes some time and much
memory, so a program of its own does it, :mod:`pttt_ooc.pipeline.stages.kernel_calls`: before a stage begins, or while a
stage that needs no kernels is at work.  A stamp says that a version is complete, and how long its files are.
"""

from __future__ import annotations

import json
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
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from pttt_ooc import compiled_code, jit
from pttt_ooc.cfr.sweep import gradient
from pttt_ooc.disk.locks import hold
from pttt_ooc.errors import PtttError, StoreError
from pttt_ooc.imports import PACKAGE, dependencies

KEPT = 5  # versions of a kernel
KERNELS = 164
"""The number of kernels, each counted once for each type of its arguments; progress is shown as a part of it."""
COMPILES, KEPT_IN, TELLS, NOT_KEPT = "compiles", "kept-in", "tells", "not-kept"
"""First words of the lines that the program prints: about a kernel with a number for its types, a file, a sentence for
people, and why it gave up."""
_LINE_EVERY = 5.0  # seconds, where the output is no terminal
_SOURCE = PACKAGE / "cfr" / "sweep" / "gradient.py"  # the stamps are beside the code of its kernels


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
    """The version of all kernels that :mod:`pttt_ooc.pipeline.stages.kernel_calls` compiles."""
    return jit.version(filter(jit.has_kernels, dependencies("pipeline/stages/kernel_calls")))


def has_double_oracle() -> bool:
    """Whether its kernels are compiled too: without HiGHS, of the extra `exact`, nothing calls them."""
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
    if getattr(gradient.receive, "stats", None) is None:  # numba is set to compile nothing
        return
    stamps = [compiled_code.folder(root, _SOURCE) / _stamp_name() for root in compiled_code.roots()]
    if any(map(_is_complete, stamps)):
        return
    root = compiled_code.writable_root(_SOURCE)
    if root is None:
        compiled_code.tell_none("none can be written to")
        return
    compiled_code.tell_place(root)
    stamp = compiled_code.folder(root, _SOURCE) / _stamp_name()
    with _one_at_a_time(stamp.with_name("compiling.lock")):
        if not _is_complete(stamp):
            _fill(stamp, compiling or Compiling())
            in_root = {file.parent for file in root.rglob(f"*{compiled_code.ENDING}")}  # of all rooms
            forget_versions(jit.DIRECTORIES | in_root)


@contextmanager
def _one_at_a_time(lock: Path) -> Iterator[None]:
    """Let one process compile; where files cannot be locked, several may do the same work."""
    waiting = "Waiting for another process, which compiles the kernels ..."
    with ExitStack() as held:
        with suppress(OSError, StoreError):
            held.enter_context(hold(lock, lambda _: waiting, wait=True))
        yield


def _stamp_name() -> str:
    return f"compiled-{version()}{'' if has_double_oracle() else '-without-exact'}"


def _is_complete(stamp: Path) -> bool:
    """Whether a version is kept, and all its files have their lengths; if so, its stamp is renewed."""
    sizes = _sizes(stamp)
    try:
        if not sizes or any(file.stat().st_size != size for file, size in sizes.items()):
            return False
    except OSError:
        return False
    with suppress(OSError):
        os.utime(stamp)  # the versions that were used last are kept
    return True


def _sizes(stamp: Path) -> dict[Path, int]:
    """The files of a version with their lengths; none if it is not kept, or the stamp is damaged."""
    try:
        files = json.loads(stamp.read_bytes())["files"]
        return {stamp.parent / name: int(size) for name, size in files.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def _fill(stamp: Path, compiling: Compiling) -> None:
    """Compile all kernels, and write the stamp."""
    done = _compile(compiling)
    if done.refusal:
        compiled_code.tell_none(done.refusal)
        return
    aside = stamp.with_name(f"{stamp.name}.tmp")
    try:
        sizes = {os.path.relpath(file, stamp.parent): os.path.getsize(file) for file in sorted(done.files)}
        aside.write_text(json.dumps({"kernels": len(done.kernels), "files": sizes}), encoding="utf-8")
        aside.replace(stamp)
    except OSError as error:
        compiled_code.tell_none(error.strerror or str(error))


@contextmanager
def compiled_meanwhile() -> Iterator[None]:
    """Fill numba's cache as :func:`ensure_compiled` does, while the block, which calls no kernel, is at work.

    If the block fails or is interrupted, the compilation is stopped.
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


@dataclass
class _Done:
    """What the program that compiles has reported: names of kernels, files, and why nothing can be kept."""

    kernels: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    refusal: str = ""


def _compile(compiling: Compiling) -> _Done:
    """Compile all kernels that are not kept."""
    begun, done = time.perf_counter(), _Done()
    with _Count() as count, tempfile.TemporaryDirectory() as scratch, _child(scratch) as child:
        compiling.begins(child)
        assert child.stdout
        for line in child.stdout:
            what, _, about = line.rstrip("\n").partition(" ")
            if what == COMPILES:
                done.kernels.add(about)
                count.show(len(done.kernels))
            elif what == KEPT_IN:
                done.files.add(about)
            elif what == TELLS:
                compiled_code.tell(about)
            elif what == NOT_KEPT:
                done.refusal = about
    if child.returncode and not done.refusal:
        raise PtttError("Compiling the kernels failed, for the reason above.")
    if done.kernels and not done.refusal:
        seconds = time.perf_counter() - begun
        print(f"Compiled {len(done.kernels)} kernels in {seconds:.0f} s.", file=sys.stderr, flush=True)
    return done


def forget_versions(directories: Iterable[Path]) -> None:
    """Delete compiled code, except the versions of each kernel that were used last, so that the cache does not grow."""
    kernels: dict[Path, dict[str, list[Path]]] = defaultdict(lambda: defaultdict(list))
    ages: dict[Path, float] = {}
    patterns = ("compiled-*", "*.nb[ic]*")  # stamps first; numba's own files were .nbi and .nbc
    for file in [file for pattern in patterns for place in directories for file in place.glob(pattern)]:
        with suppress(OSError):  # another process has deleted it
            ages[file] = file.stat().st_mtime
            version = re.sub(r"(\.\w+\.nbc|\.nbi)?(\.\w+\.tmp)?$", "", file.name)
            kernel = re.sub(r"-(\d+|[0-9a-f]{8}|[0-9a-f]{16})(?=[-.]|$)", "", version)  # without line and digests
            kernels[file.with_name(kernel)][version].append(file)
    for versions in kernels.values():
        for files in sorted(versions.values(), key=lambda files: -max(ages[file] for file in files))[KEPT:]:
            for file in files:
                compiled_code.delete(file)


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
    command = [sys.executable, "-m", "pttt_ooc.pipeline.stages.kernel_calls", scratch]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), *sys.path])}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as child:
        try:
            yield child
        except BaseException:
            child.terminate()  # it ends its own processes
            child.wait()
            raise
