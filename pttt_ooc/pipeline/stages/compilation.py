"""Compilation of kernels, once for each user and version of the sources: what a command or stage runs, no more.

Compiled code is kept on disk, see :mod:`pttt_ooc.compiled_code`.  Compiling takes some time and much memory, so a
program of its own does it, :mod:`pttt_ooc.pipeline.stages.kernel_calls`, on all cores: before a stage begins, or while
earlier stages are at work.  It compiles parts.  A stamp for each says that it is complete, and how long its files are.
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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from pttt_ooc import compiled_code, jit
from pttt_ooc.disk.locks import hold
from pttt_ooc.errors import PtttError, StoreError
from pttt_ooc.imports import PACKAGE, dependencies

KEPT = 5  # versions of a kernel
KERNELS = {
    "index": 13,
    "solver": 31,
    "evaluation": 34,
    "responses": 32,
    "restricted-games": 22,
    "choice": 40,
    "export": 10,
    "files": 11,
}
"""The parts in the order in which the workflow needs them, and their numbers of kernels, each counted once for each
type of its arguments: progress is shown as a share of them.  On many cores, parts at the same time count some twice."""
DOUBLE_ORACLE = ("responses", "restricted-games")
"""The parts that the double oracle runs."""
WITH_EXACT = (*DOUBLE_ORACLE, "choice")
"""Without HiGHS, of the extra `exact`, nothing calls these."""
STAGES: dict[str, tuple[str, ...]] = {
    "index": ("index",),
    "solve": ("solver", "evaluation"),
    "finish": ("evaluation", *WITH_EXACT),
    "evaluate": ("evaluation",),
    "export": ("export",),
}
"""What the stages of the workflow run."""
COMPILES, KEPT_IN, DONE, TELLS, NOT_KEPT = "compiles", "kept-in", "done", "tells", "not-kept"
"""First words of the lines that the program prints: about a kernel with a number for its types, a file of a part, a
part that is complete, a sentence for people, and why it gave up."""
_LINE_EVERY = 5.0  # seconds, where the output is not a terminal
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
    """The version of all that :mod:`pttt_ooc.pipeline.stages.kernel_calls` may compile; an edit that changes no kernel
    changes it too, and then the program finds that all is there.
    """
    return jit.version(filter(jit.has_kernels, dependencies("pipeline/stages/kernel_calls")))


def stage_kernels(stage: str, listed: bool = True) -> tuple[str, ...]:
    """The parts that a stage of the workflow runs, for a game whose infosets are listed or not."""
    return STAGES.get(stage, ()) if listed or stage not in STAGES else DOUBLE_ORACLE


def _possible(parts: Collection[str]) -> list[str]:
    """Parts whose libraries are installed."""
    has_exact = find_spec("highspy") is not None
    return [part for part in KERNELS if part in parts and (has_exact or part not in WITH_EXACT)]


def ensure_compiled(
    parts: Collection[str] = tuple(KERNELS), compiling: Compiling | None = None, beside: bool = False
) -> None:
    """Fill numba's cache unless it has these parts; progress is shown on stderr.

    Parameters
    ----------
    parts
        Names of :data:`KERNELS`; default: all.
    compiling
        The object by which another thread can stop the compilation.
    beside
        Whether others print meanwhile.

    Raises
    ------
    PtttError
        If the compilation fails.
    """
    if jit.compiler().config.DISABLE_JIT:
        return
    missing = [part for part in _possible(parts) if not any(map(_is_complete, _stamps(part)))]
    if not missing:
        return
    root = compiled_code.writable_root(_SOURCE)
    if root is None:
        compiled_code.tell_none("none can be written to")
        return
    compiled_code.tell_place(root)
    place = compiled_code.folder(root, _SOURCE)
    with ExitStack() as all_held:
        # A part is compiled by one process: others wait for it, and for no other.
        held = {part: all_held.enter_context(_one_at_a_time(place / f"compiling-{part}.lock")) for part in missing}
        stamps = {part: place / _stamp_name(part) for part in missing}
        left = [part for part in missing if not _is_complete(stamps[part])]
        for part in {*missing} - {*left}:
            held[part].close()
        if left:
            _fill(
                {part: stamps[part] for part in left}, compiling or Compiling(), lambda part: held[part].close(), beside
            )
            in_root = {file.parent for file in root.rglob(f"*{compiled_code.ENDING}")}  # of all rooms
            forget_versions(jit.DIRECTORIES | in_root)


@contextmanager
def _one_at_a_time(lock: Path) -> Iterator[ExitStack]:
    """Let one process compile until the stack is closed; where files cannot be locked, several may do the same."""
    waiting = "Waiting for another process, which compiles the kernels ..."
    with ExitStack() as held:
        with suppress(OSError, StoreError):
            held.enter_context(hold(lock, lambda _: waiting, wait=True))
        yield held


def _stamps(part: str) -> list[Path]:
    return [compiled_code.folder(root, _SOURCE) / _stamp_name(part) for root in compiled_code.roots()]


def _stamp_name(part: str) -> str:
    return f"compiled-{part}-{version()}"


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


def _fill(stamps: dict[str, Path], compiling: Compiling, release: Callable[[str], None], beside: bool) -> None:
    """Compile parts; write the stamp of each, and release it, when it is complete."""

    def end(part: str, done: _Done) -> None:
        try:
            _write_stamp(stamps[part], done.kernels[part], done.files[part])
        except OSError as error:
            compiled_code.tell_none(error.strerror or str(error))
        release(part)

    done = _compile(list(stamps), compiling, end, beside)
    if done.refusal:
        compiled_code.tell_none(done.refusal)


def _write_stamp(stamp: Path, kernels: set[str], files: set[str]) -> None:
    aside = stamp.with_name(f"{stamp.name}.tmp")
    sizes = {os.path.relpath(file, stamp.parent): os.path.getsize(file) for file in sorted(files)}
    aside.write_text(json.dumps({"kernels": len(kernels), "files": sizes}), encoding="utf-8")
    aside.replace(stamp)


@contextmanager
def compiled_meanwhile(parts: Collection[str] = tuple(KERNELS)) -> Iterator[None]:
    """Fill numba's cache as :func:`ensure_compiled` does, while the block is at work.

    A stage in the block, of this process or another, waits for what it runs.  If the block fails or is interrupted, the
    compilation is stopped.
    """
    compiling, failed = Compiling(), list[BaseException]()
    thread = _compile_beside(parts, compiling, failed)
    try:
        yield
        thread.join()
    except BaseException:
        if compiling.stop():
            thread.join()
        raise
    if failed:
        raise failed[0]


def compile_beside(parts: Collection[str]) -> Compiling:
    """Begin to fill numba's cache, as :func:`ensure_compiled` does; what fails is told by the stage that needs it.

    It goes on until it is stopped, or this process ends.
    """
    compiling = Compiling()
    _compile_beside(parts, compiling, [])
    return compiling


def _compile_beside(parts: Collection[str], compiling: Compiling, failed: list[BaseException]) -> threading.Thread:
    def compile_parts() -> None:
        try:
            ensure_compiled(parts, compiling, beside=True)
        except BaseException as error:
            failed.append(error)

    # The program can end although this thread still waits for another process that compiles.
    thread = threading.Thread(target=compile_parts, daemon=True)
    thread.start()
    return thread


@dataclass
class _Done:
    """What the program that compiles has reported: of each part names of kernels and files; why nothing can be kept."""

    kernels: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    files: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    refusal: str = ""

    @property
    def count(self) -> int:
        """The number of kernels that were compiled."""
        return sum(map(len, self.kernels.values()))


def _compile(
    parts: Sequence[str], compiling: Compiling, end: Callable[[str, _Done], None], beside: bool = False
) -> _Done:
    """Compile what is not kept of some parts; `end` is called for each that is complete."""
    begun, done = time.perf_counter(), _Done()
    with (
        _Count(sum(KERNELS[part] for part in parts), beside) as count,
        tempfile.TemporaryDirectory() as scratch,
        _child(scratch, parts) as child,
    ):
        compiling.begins(child)
        assert child.stdout
        for line in child.stdout:
            what, _, about = line.rstrip("\n").partition(" ")
            part, _, name = about.partition(" ")
            if what == COMPILES:
                done.kernels[part].add(name)
                count.show(done.count)
            elif what == KEPT_IN:
                done.files[part].add(name)
            elif what == DONE:
                end(part, done)
            elif what == TELLS:
                compiled_code.tell(about)
            elif what == NOT_KEPT:
                done.refusal = about
    if child.returncode and not done.refusal:
        raise PtttError("Compiling the kernels failed, for the reason above.")
    if done.count and not done.refusal:
        seconds = time.perf_counter() - begun
        print(f"Compiled {done.count} kernels in {seconds:.0f} s.", file=sys.stderr, flush=True)
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

    def __init__(self, kernels: int, beside: bool = False) -> None:
        from rich.console import Console  # slow to import, and seldom needed

        console, self._kernels = Console(stderr=True), kernels
        self._status = console.status(self._line(0)) if console.is_terminal and not beside else None
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
        return f"Compiling kernels, once for this version of the package: {count} of {max(count, self._kernels)} ..."


@contextmanager
def _child(scratch: str, parts: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Run the program that compiles; if the block ends early, the program ends at once.

    It also ends when its standard input closes, as happens if an interrupt comes before `Popen` has returned.
    """
    command = [sys.executable, "-m", "pttt_ooc.pipeline.stages.kernel_calls", scratch, *parts]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PACKAGE.parent), *sys.path])}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as child:
        try:
            yield child
        except BaseException:
            child.terminate()  # it ends its own processes
            child.wait()
            raise
