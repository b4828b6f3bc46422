"""Compilation of all kernels, once for each machine and version of the sources.

Numba keeps what it has compiled in a cache on disk.  Filling it takes some time and much memory, so
that it is done by a process of its own, before a stage begins: this module run as a program.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core.event import Event, Listener, install_listener
from rich.console import Console

from pttt_ooc import gradient
from pttt_ooc.errors import PtttError

_PACKAGE = Path(__file__).parent


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
    stamp = Path(cache.cache_path) / f"compiled-{_digest()}"
    if stamp.exists():
        return
    for file in stamp.parent.glob("*.nb[ic]"):  # numba does not notice that a kernel of another module has changed
        file.unlink(missing_ok=True)
    console, begun, count = Console(stderr=True), time.perf_counter(), 0
    first = "Compiling kernels, once for this machine ..."
    if not console.is_terminal:
        print(first, file=sys.stderr, flush=True)
    with console.status(first) if console.is_terminal else nullcontext() as status:
        command = [sys.executable, "-m", "pttt_ooc.kernels"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_PACKAGE.parent), *sys.path])}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
            assert child.stdout
            for count, name in enumerate(child.stdout, 1):  # noqa: B007
                if status:
                    status.update(f"{first} {count} so far: {name.strip()}")
    if child.returncode:
        raise PtttError("Compiling the kernels failed, for the reason above.")
    print(f"Compiled {count} kernels in {time.perf_counter() - begun:.0f} s.", file=sys.stderr, flush=True)
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.touch()


def _digest() -> str:
    """Names what the cache depends on: the sources, numba, and the processor."""
    total = hashlib.blake2b(digest_size=8)
    for part in (numba.__version__, llvm.get_host_cpu_name(), sys.version):
        total.update(part.encode())
    for file in sorted(_PACKAGE.glob("*.py")):
        total.update(file.read_bytes())
    return total.hexdigest()


def compile_all() -> None:
    """Do everything once with the smallest game, so that every kernel is called with the types that it will have."""
    from pttt_ooc.config import SolveConfig
    from pttt_ooc.engine import Engine
    from pttt_ooc.formats import export_strategy, read_strategy_file, strategy_from_tensor
    from pttt_ooc.game import named_game
    from pttt_ooc.index import build_index
    from pttt_ooc.infosets import default_rows, read_infosets, write_infosets
    from pttt_ooc.solve import solve
    from pttt_ooc.strategy import fold, unfold

    game = named_game("mini-2x2k2-abrupt")
    whole, engine = build_index(game, "none"), Engine.of_game(game, "full", np.float32, threads=1)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        settings = SolveConfig(max_iterations=2, target_nashconv=0)
        for strategy in solve(engine, settings, directory / "work", "compilation").strategies:
            player, file, tensor = strategy.player, directory / "infosets.txt", directory / "tensor.zip"
            unfolded = unfold(strategy, whole)
            fold(unfolded, engine.index)
            write_infosets(whole, player, file, default_rows(whole, player))
            rows = read_infosets(whole, player, file)
            export_strategy(unfolded, rows, tensor)
            shape = (len(rows), game.squares)
            strategy_from_tensor(whole, player, read_strategy_file(tensor, shape), rows)
    engine.close()


class _Names(Listener):
    """Prints the name of each kernel that is compiled."""

    def on_start(self, event: Event) -> None:
        kernel = event.data["dispatcher"].py_func
        print(f"{kernel.__module__.removeprefix('pttt_ooc.')}.{kernel.__name__}", flush=True)

    def on_end(self, event: Event) -> None:
        pass


if __name__ == "__main__":
    with install_listener("numba:compile", _Names()):
        compile_all()
