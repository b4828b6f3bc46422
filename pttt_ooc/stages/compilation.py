"""Compilation of all kernels, once for each machine and version of the sources.

Numba keeps what it has compiled in a cache on disk, under names that :mod:`pttt_ooc.jit` gives.  Filling it takes
some time and much memory, so that it is done by processes of their own, before a stage begins: this module run as
a program.
"""

from __future__ import annotations

import fcntl
import math
import os
import re
import selectors
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Self

import numpy as np
from numba.core.event import Event, Listener, install_listener
from rich.console import Console

from pttt_ooc import jit
from pttt_ooc.errors import PtttError
from pttt_ooc.rules.catalogue import named_game
from pttt_ooc.sweep import gradient

GAME = "mini-2x2k2-abrupt"
KEPT = 5  # versions of the sources whose compiled code is kept
KERNELS = 71
"""How many there are, counted once for each type of arguments; what is shown while they are compiled."""
_LINE_EVERY = 5.0  # seconds, where the output is no terminal
_PACKAGE = Path(__file__).parent.parent


def ensure_compiled() -> None:
    """Fill numba's cache unless that has been done; what is going on is shown on stderr.

    Raises
    ------
    PtttError
        If the compilation fails.
    """
    cache = getattr(gradient.receive, "stats", None)
    if cache is None:  # numba is told to compile nothing
        return
    directory = Path(cache.cache_path)
    stamp = directory / f"compiled-{jit.DIGEST}"
    if stamp.exists():
        return
    directory.mkdir(parents=True, exist_ok=True)
    with _alone(directory):
        if not stamp.exists():
            stamp.write_text(f"{_compile()}\n", encoding="ascii")
            for name in jit.SOURCES:
                import_module(f"pttt_ooc.{name.replace('/', '.')}")
            forget_versions(jit.DIRECTORIES)


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Let one process at a time compile; the operating system ends the lock however the process ends."""
    with open(directory / "compiling.lock", "a", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another process, which compiles the kernels ...", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile() -> int:
    """Compile all kernels; return how many there are."""
    begun, names = time.perf_counter(), set[str]()
    # Processes that write to the cache at the same moment may lose an entry: what is missing is made one by one.
    with _Count() as count, tempfile.TemporaryDirectory() as scratch:
        for parts in (list(PARTS), *[[part] for part in PARTS]):
            with ExitStack() as stack:
                children = [stack.enter_context(_child(part, scratch)) for part in parts]
                for name in _lines(children):
                    names.add(name)  # both processes may compile the same one
                    count.show(len(names))
            if any(child.returncode for child in children):
                raise PtttError("Compiling the kernels failed, for the reason above.")
    print(f"Compiled {len(names)} kernels in {time.perf_counter() - begun:.0f} s.", file=sys.stderr, flush=True)
    return len(names)


def forget_versions(directories: Iterable[Path]) -> None:
    """Delete the compiled code of all versions of the sources but the latest few, so that the cache does not grow."""
    versions: dict[str, list[Path]] = defaultdict(list)
    patterns = ("compiled-*", "*.nb[ic]")  # stamps first
    for file in [file for pattern in patterns for place in directories for file in place.glob(pattern)]:
        named = re.search(r"-([0-9a-f]{16})(\.\d+\.nbc|\.nbi|)$", file.name)
        versions[named[1] if named else ""].append(file)
    ages = {version: max(file.stat().st_mtime for file in files) for version, files in versions.items()}
    for version in sorted(versions, key=lambda version: -ages[version])[KEPT:]:
        for file in versions[version]:
            file.unlink(missing_ok=True)


class _Count:
    """Shows how many kernels have been compiled: on a terminal always, else a line every few seconds."""

    def __init__(self) -> None:
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
        return f"Compiling kernels, once for this machine: {count} of {max(count, KERNELS)} ..."


@contextmanager
def _child(part: str, scratch: str) -> Iterator[subprocess.Popen[str]]:
    """A process that compiles a part; whatever ends the block early ends the process at once."""
    command = [sys.executable, "-m", "pttt_ooc.stages.compilation", part, scratch]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_PACKAGE.parent), *sys.path])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
        try:
            yield child
        except BaseException:
            child.kill()
            child.wait()
            raise


def _lines(children: list[subprocess.Popen[str]]) -> Iterator[str]:
    """The lines that come from any of the children."""
    with selectors.DefaultSelector() as ready:
        for child in children:
            assert child.stdout
            ready.register(child.stdout, selectors.EVENT_READ)
        while ready.get_map():
            for key, _ in ready.select():
                if line := key.fileobj.readline():  # type: ignore[union-attr]
                    yield line.strip()
                else:
                    ready.unregister(key.fileobj)


def compile_solver(directory: Path) -> None:
    """Do two iterations with the smallest game, so that every kernel is called with the types that it will have."""
    from pttt_ooc.config import SolveConfig
    from pttt_ooc.disk.commits import State
    from pttt_ooc.disk.memory import in_memory
    from pttt_ooc.solving.solver import Solver, solve_arrays, state_layout
    from pttt_ooc.sweep.engine import Engine

    engine, settings = Engine.of_game(named_game(GAME), "full", np.float32, threads=1), SolveConfig()
    with State.open(directory / "work", state_layout(engine.index, settings), "compilation") as state:
        solver = Solver(engine, settings, state, lambda row: None, in_memory(solve_arrays(engine.index, settings)))
        solver.begin()
        solver.iterate()
        solver.average()
    engine.close()


def compile_rest(directory: Path) -> None:
    """Evaluate, assess, write and read strategies of the smallest game."""
    from pttt_ooc.products.infosets import default_rows, read_infosets, write_infosets
    from pttt_ooc.products.tensors import export_strategy, read_strategy_file, strategy_from_tensor
    from pttt_ooc.solving.assess import assess
    from pttt_ooc.solving.best_response import best_response
    from pttt_ooc.solving.evaluation import evaluate
    from pttt_ooc.structure.strategy import uniform_strategy
    from pttt_ooc.structure.symmetry import fold, unfold
    from pttt_ooc.sweep.engine import Engine

    game = named_game(GAME)
    engine, plain = (Engine.of_game(game, symmetry, np.float64, threads=1) for symmetry in ("full", "none"))
    whole = plain.index
    strategies = (uniform_strategy(engine.index, 0), uniform_strategy(engine.index, 1))
    evaluate(*strategies, engine)
    for strategy in strategies:
        player, file, tensor = strategy.player, directory / "infosets.txt", directory / "tensor.zip"
        unfolded = unfold(strategy, whole)
        assess(unfolded, plain)
        best_response(unfolded, plain).strategy()
        fold(unfolded, engine.index)
        write_infosets(whole, player, file, default_rows(whole, player))
        rows = read_infosets(whole, player, file)
        export_strategy(unfolded, rows, tensor)
        strategy_from_tensor(whole, player, read_strategy_file(tensor, (len(rows), game.squares)), rows)


PARTS = {"solver": compile_solver, "rest": compile_rest}
"""What is compiled by processes of their own, at the same time."""


class _Names(Listener):
    """Prints the name of each of our kernels that is compiled, with the types of its arguments."""

    def on_start(self, event: Event) -> None:
        kernel = event.data["dispatcher"].py_func
        if kernel.__module__.startswith("pttt_ooc."):
            print(f"{kernel.__module__}.{kernel.__name__}{event.data['args']}", flush=True)

    def on_end(self, event: Event) -> None:
        pass


if __name__ == "__main__":
    with install_listener("numba:compile", _Names()), tempfile.TemporaryDirectory(dir=sys.argv[2]) as name:
        PARTS[sys.argv[1]](Path(name))
