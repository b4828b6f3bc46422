"""A program that compiles kernels, by calling them with the smallest game and the types that they will have.

It prints a line for each kernel that it compiles, and for each file that has a kernel in the end.  If nothing can be
kept, it ends early, because the work would be lost.  It also ends when its standard input closes: the process that
started it is gone, or was interrupted before it had a handle on this one.  Its parts run in processes of their own,
which are forked when the compiler has been loaded.  No kernel is compiled twice: only one part compiles the kernels
that build the structure of a game; the others run the same functions as plain Python, which takes a tenth of a second.
"""

from __future__ import annotations

import gc
import signal
import sys
import zlib
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numba.core.event import Event, Listener, install_listener

from pttt_ooc import compiled_code, jit
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.commits import ResumableState
from pttt_ooc.disk.memory import in_memory, leaves
from pttt_ooc.disk.resources import cores
from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.stages.compilation import COMPILES, KEPT_IN, NOT_KEPT, TELLS, has_double_oracle

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

    from pttt_ooc.games.structure.index import Index
    from pttt_ooc.games.structure.timing import Timing
    from pttt_ooc.types import Symmetry

GAME = named_game("mini-2x2k2-abrupt")


def _structure(symmetry: Symmetry) -> tuple[Index, tuple[Timing, Timing]]:
    from pttt_ooc.games.structure.building import build_timing
    from pttt_ooc.games.structure.index import build_index
    from pttt_ooc.games.structure.views import find_pairs

    pairs = find_pairs(GAME)
    index = build_index(GAME, symmetry, pairs)
    return index, (build_timing(index, pairs, 0), build_timing(index, pairs, 1))


def call_structure(directory: Path) -> None:
    """Build a game's structure; write and read strategies; turn strategies into plans and back."""
    folded, whole = _structure("full")[0], _structure("none")[0]

    from pttt_ooc.games.structure.strategy import uniform_strategy
    from pttt_ooc.games.structure.symmetry import Symmetriser, fold, unfold
    from pttt_ooc.pipeline.files.infosets import default_rows, read_infosets, write_infosets
    from pttt_ooc.pipeline.files.tensor_reader import open_tensor
    from pttt_ooc.pipeline.files.tensors import export_strategy, strategy_from_tensor

    for player in (0, 1):
        file, tensor = directory / "infosets.txt", directory / "tensor.zip"
        strategy = uniform_strategy(folded, player)
        Symmetriser(folded, player)(strategy.probabilities)
        unfolded = unfold(strategy, whole)
        fold(unfolded, folded)
        write_infosets(whole, player, file, default_rows(whole, player))
        rows = read_infosets(whole, player, file)
        export_strategy(unfold(uniform_strategy(folded, player, np.float64), whole), rows, tensor, np.float64)
        export_strategy(unfolded, rows, tensor)
        with open_tensor(tensor, (len(rows), GAME.squares)) as read:
            strategy_from_tensor(whole, player, read, rows)
        with open_tensor(tensor, (len(rows), GAME.squares)) as read:
            strategy_from_tensor(whole, player, read, rows, np.float32, normalise=False)

    from pttt_ooc.exact.double_oracle.complete_strategy import write_whole
    from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
    from pttt_ooc.exact.double_oracle.sparse_plan import first_infoset
    from pttt_ooc.exact.double_oracle.warm_start import allow_played

    rules = rule_tables(GAME)
    played = uniform_strategy(folded, 0, np.float64), uniform_strategy(folded, 1, np.float64)
    plans = allow_played(rules, (first_infoset(rules, 0), first_infoset(rules, 1)), played)
    write_whole(rules, plans[0], folded, 0, played[0].probabilities)


def call_double_oracle(directory: Path) -> None:
    """Play the rounds of the double oracle, and find their plans in an index, as a choice of an equilibrium does."""
    from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
    from pttt_ooc.exact.equilibria.plan_places import PlanPlaces

    oracle = DoubleOracle(GAME)
    while not oracle.round().settled:
        pass
    with jit.interpret_kernels():
        index = _structure("full")[0]
    plan, nodes = oracle.plans[0], index.players[0].nodes
    choices, chances = np.zeros(nodes, np.uint8), np.zeros(index.players[0].sequences)
    places = PlanPlaces(oracle.rules, index, 0)
    places.sequences(plan)
    places.values_beyond(plan, np.zeros(nodes))
    places.write(plan, chances)
    places.mark_left_out(plan, chances)
    places.allow_choices(places.allow_everywhere(plan, choices), choices, choices)


def call_solver(directory: Path) -> None:
    """Do an iteration in single precision, as a solve does."""
    with jit.interpret_kernels():
        index, timings = _structure("full")

    from pttt_ooc.cfr.solving.arrays import solver_arrays, state_arrays
    from pttt_ooc.cfr.solving.solver import Solver
    from pttt_ooc.cfr.sweep.engine import Engine

    engine, settings = Engine(index, timings, np.float32, threads=1), SolveConfig()
    with ResumableState.open(directory / "work", leaves(state_arrays(index, settings)), "compilation") as state:
        solver = Solver(engine, settings, state.arrays, in_memory(solver_arrays(index, settings)))
        solver.begin()
        solver.iterate()
        solver.average()
    engine.close()


def call_evaluation(directory: Path) -> None:
    """Evaluate strategies, in double precision, and find the best plans as a choice of an equilibrium does."""
    with jit.interpret_kernels():
        index, timings = _structure("none")

    from pttt_ooc.cfr.solving.assessment import assess
    from pttt_ooc.cfr.solving.best_response import best_response, write_choices
    from pttt_ooc.cfr.solving.evaluation import evaluate
    from pttt_ooc.cfr.sweep.engine import Engine
    from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
    from pttt_ooc.exact.equilibria.responses import Responses, rule_choices
    from pttt_ooc.games.structure.strategy import uniform_strategy

    engine = Engine(index, timings, np.float64, threads=1)
    strategies = (uniform_strategy(index, 0), uniform_strategy(index, 1))
    evaluate(*strategies, engine)
    evaluate(uniform_strategy(index, 0, np.float64), uniform_strategy(index, 1, np.float64), engine)
    first, chances = index.players[0], np.zeros(index.players[0].sequences)
    choices = Responses(engine).best(0, chances, rule_choices(engine, rule_tables(GAME), 0))[1]
    write_choices(first.node_start, first.sequence_start, choices, chances)
    for strategy in strategies:
        assess(strategy, engine)
        best_response(strategy, engine).strategy()
    engine.close()


PARTS: dict[str, Callable[[Path], None]] = {
    "solver": call_solver,
    "evaluation": call_evaluation,
    "structure": call_structure,
    "double oracle": call_double_oracle,
}
"""What may be compiled at the same time."""


def parts() -> list[str]:
    """The parts whose libraries are installed."""
    return [part for part in PARTS if part != "double oracle" or has_double_oracle()]


def _print(what: str, about: str) -> None:
    # Several processes write to the same pipe: one short line, end included, in one write.
    sys.stdout.write(f"{what} {about}\n")
    sys.stdout.flush()


class _Names(Listener):
    """Prints the name of each of our kernels that is compiled, and a number that stands for its types."""

    def on_start(self, event: Event) -> None:
        kernel = event.data["dispatcher"].py_func
        if kernel.__module__.startswith("pttt_ooc."):
            types = zlib.crc32(str(event.data["args"]).encode())
            _print(COMPILES, f"{kernel.__module__}.{kernel.__name__} {types}")

    def on_end(self, event: Event) -> None:
        pass


def _call(part: str, scratch: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    watch_parent()
    scratch.mkdir()
    compiled_code.keep_or_fail(partial(_print, TELLS))
    try:
        with install_listener("numba:compile", _Names()):
            PARTS[part](scratch)
    except compiled_code.NotKeptError as error:
        _print(NOT_KEPT, str(error))
        sys.exit(1)
    for file in compiled_code.used:
        _print(KEPT_IN, str(file))


def _start(process: ForkProcess) -> None:
    """Start a process.

    Meanwhile SIGTERM is blocked.  The new process receives it when it has a handler of its own: Python drops an
    exception that a handler raises during a fork.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    process.start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _wait_for(*sentinels: int) -> None:
    """Wait for the end of processes; when standard input closes, end them and this process at once.

    No thread watches standard input, because a process with threads cannot be forked safely.
    """
    running = set(sentinels)
    while running:
        ready = wait([sys.stdin.fileno(), *running])
        if sys.stdin.fileno() in ready:
            sys.exit(1)
        running.difference_update(ready)


def main(scratch: Path) -> int:
    """Compile everything, all parts at the same time if there is more than one core; return the exit code.

    Files are written to an empty directory `scratch`.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the process that started it reports what happened
    jit.load_compiler()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which ends the processes of the parts, too
    # The compiler makes millions of small objects that live to the end: looking for garbage among them would take a
    # tenth of the time.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    processes = [
        get_context("fork").Process(target=_call, args=(part, scratch / part), daemon=True) for part in parts()
    ]
    for process in processes:
        _start(process)
        if cores() == 1:
            _wait_for(process.sentinel)
    _wait_for(*(process.sentinel for process in processes))
    for process in processes:
        process.join()
    return int(any(process.exitcode for process in processes))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
