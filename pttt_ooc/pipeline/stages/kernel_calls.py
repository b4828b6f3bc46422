"""A program that compiles kernels, by calling them with the smallest game and the types that they will have.

It prints a line for each kernel that it compiles, for each file that has a kernel in the end, and for each part that is
complete.  If nothing can be kept, it ends early, because the work would be lost.  It also ends when its standard input
closes: the process that started it is gone, or was interrupted before it had a handle on this one.  Its parts run in
processes of their own, one for each core, which are forked when the compiler has been loaded.  Parts at the same time
compile no kernel twice: what "solver" and "evaluation" need of "index" runs as plain Python, in a tenth of a second;
the others begin later, where cores are few, and find it.
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
from pttt_ooc.pipeline.stages.compilation import COMPILES, DONE, KEPT_IN, NOT_KEPT, TELLS

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


def call_index(directory: Path) -> None:
    """Build a game's structure, and average what is symmetric."""
    folded = _structure("full")[0]

    from pttt_ooc.games.structure.strategy import uniform_strategy
    from pttt_ooc.games.structure.symmetry import Symmetriser

    for player in (0, 1):
        Symmetriser(folded, player)(uniform_strategy(folded, player).probabilities)


def call_export(directory: Path) -> None:
    """Unfold an equilibrium, and write its files for the course."""
    folded, whole = _structure("full")[0], _structure("none")[0]

    from pttt_ooc.games.structure.strategy import uniform_strategy
    from pttt_ooc.games.structure.symmetry import unfold
    from pttt_ooc.pipeline.files.infosets import default_rows, write_infosets
    from pttt_ooc.pipeline.files.tensors import export_strategy

    for player in (0, 1):
        file, tensor = directory / "infosets.txt", directory / "tensor.zip"
        rows = default_rows(whole, player)
        write_infosets(whole, player, file, rows)
        export_strategy(unfold(uniform_strategy(folded, player, np.float64), whole), rows, tensor, np.float64)


def call_files(directory: Path) -> None:
    """Read and write strategies of other kinds; fold them."""
    folded, whole = _structure("full")[0], _structure("none")[0]

    from pttt_ooc.games.structure.strategy import uniform_strategy
    from pttt_ooc.games.structure.symmetry import fold, unfold
    from pttt_ooc.pipeline.files.infosets import default_rows, read_infosets, write_infosets
    from pttt_ooc.pipeline.files.tensor_reader import open_tensor
    from pttt_ooc.pipeline.files.tensors import export_strategy, strategy_from_tensor

    for player in (0, 1):
        file, tensor = directory / "infosets.txt", directory / "tensor.zip"
        unfolded = unfold(uniform_strategy(folded, player), whole)
        fold(unfolded, folded)
        write_infosets(whole, player, file, default_rows(whole, player))
        rows = read_infosets(whole, player, file)
        export_strategy(unfolded, rows, tensor)
        with open_tensor(tensor, (len(rows), GAME.squares)) as read:
            strategy_from_tensor(whole, player, read, rows)
        with open_tensor(tensor, (len(rows), GAME.squares)) as read:
            strategy_from_tensor(whole, player, read, rows, np.float32, normalise=False)


def call_responses(directory: Path) -> None:
    """Search a subtree of a best response, as a round of the double oracle does."""
    from pttt_ooc.exact.double_oracle.response_search import load_kernels
    from pttt_ooc.exact.double_oracle.rule_tables import rule_tables

    load_kernels(rule_tables(GAME))


def call_restricted_games(directory: Path) -> None:
    """Solve the restricted game of one action, prune it and allow a response, as a round of the double oracle does."""
    from pttt_ooc.exact.double_oracle.lazy_response import Response, allow_response, new_steps
    from pttt_ooc.exact.double_oracle.restricted_histories import HistoryFinder
    from pttt_ooc.exact.double_oracle.restricted_matching import Matching
    from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
    from pttt_ooc.exact.double_oracle.sparse_plan import behave, first_infoset, played_part, prune_plan

    rules, attempt = rule_tables(GAME), new_steps(1, GAME.squares)
    attempt.parents[:] = -1
    plans, _ = HistoryFinder(rules).find_won((first_infoset(rules, 0), first_infoset(rules, 1)))
    first, second = (allow_response(rules, plan, Response(0.0, attempt, 0))[0] for plan in plans)
    plans, won = HistoryFinder(rules).find_won((first, second))
    reach, _ = Matching().solve(plans, won, 0.1, 2)
    for player, plan in enumerate(plans):
        behave(plan, reach[player], 0.0)
        prune_plan(rules, player, plan, 0.0)
        played_part(rules, player, plan)


def call_choice(directory: Path) -> None:
    """Begin with the plans that strategies play, find plans in an index, and write them, as the stage "finish" does."""
    index, timings = _structure("full")

    from pttt_ooc.cfr.solving.best_response import write_choices
    from pttt_ooc.cfr.sweep.engine import Engine
    from pttt_ooc.exact.double_oracle.complete_strategy import write_whole
    from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
    from pttt_ooc.exact.double_oracle.sparse_plan import first_infoset
    from pttt_ooc.exact.double_oracle.warm_start import allow_played
    from pttt_ooc.exact.equilibria.plan_places import PlanPlaces
    from pttt_ooc.exact.equilibria.responses import Responses, rule_choices
    from pttt_ooc.games.structure.strategy import uniform_strategy
    from pttt_ooc.games.structure.symmetry import Symmetriser

    rules = rule_tables(GAME)
    played = uniform_strategy(index, 0, np.float64), uniform_strategy(index, 1, np.float64)
    plans = allow_played(rules, (first_infoset(rules, 0), first_infoset(rules, 1)), played)
    write_whole(rules, plans[0], index, 0, played[0].probabilities)
    # The choice: the payoffs against an opponent, the best plans for them, and their places in the index.
    engine = Engine(index, timings, np.float64, threads=1)
    responses, first = Responses(engine), index.players[0]
    _, payoffs = responses.gradient(0, responses.reach(1, played[1].probabilities))
    _, choices, _ = responses.best(0, payoffs, rule_choices(engine, rules, 0))
    chances = responses.behaviour(0, payoffs)
    responses.value(0, payoffs, chances)
    write_choices(first.node_start, first.sequence_start, choices, chances)
    Symmetriser(index, 0)(chances)
    engine.close()
    plan = plans[0]
    places = PlanPlaces(rules, index, 0)
    places.sequences(plan)
    places.values_beyond(plan, np.zeros(first.nodes))
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
    """Evaluate strategies, in double precision."""
    with jit.interpret_kernels():
        index, timings = _structure("none")

    from pttt_ooc.cfr.solving.assessment import assess
    from pttt_ooc.cfr.solving.best_response import best_response
    from pttt_ooc.cfr.solving.evaluation import evaluate
    from pttt_ooc.cfr.sweep.engine import Engine
    from pttt_ooc.games.structure.strategy import uniform_strategy

    engine = Engine(index, timings, np.float64, threads=1)
    strategies = (uniform_strategy(index, 0), uniform_strategy(index, 1))
    evaluate(*strategies, engine)
    evaluate(uniform_strategy(index, 0, np.float64), uniform_strategy(index, 1, np.float64), engine)
    for strategy in strategies:
        assess(strategy, engine)
        best_response(strategy, engine).strategy()
    engine.close()


PARTS: dict[str, Callable[[Path], None]] = {
    "index": call_index,
    "solver": call_solver,
    "evaluation": call_evaluation,
    "responses": call_responses,
    "restricted-games": call_restricted_games,
    "choice": call_choice,
    "export": call_export,
    "files": call_files,
}


def _print(what: str, about: str) -> None:
    # Several processes write to the same pipe: one short line, end included, in one write.
    sys.stdout.write(f"{what} {about}\n")
    sys.stdout.flush()


class _Names(Listener):
    """Prints the name of each of our kernels that is compiled for a part, and a number that stands for its types."""

    def __init__(self, part: str) -> None:
        super().__init__()
        self._part = part

    def on_start(self, event: Event) -> None:
        kernel = event.data["dispatcher"].py_func
        if kernel.__module__.startswith("pttt_ooc."):
            types = zlib.crc32(str(event.data["args"]).encode())
            _print(COMPILES, f"{self._part} {kernel.__module__}.{kernel.__name__} {types}")

    def on_end(self, event: Event) -> None:
        pass


def _call(part: str, scratch: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    watch_parent()
    scratch.mkdir()
    compiled_code.keep_or_fail(partial(_print, TELLS))
    try:
        with install_listener("numba:compile", _Names(part)):
            PARTS[part](scratch)
    except compiled_code.NotKeptError as error:
        _print(NOT_KEPT, str(error))
        sys.exit(1)
    for file in compiled_code.used:
        _print(KEPT_IN, f"{part} {file}")
    _print(DONE, part)


def _start(process: ForkProcess) -> None:
    """Start a process.

    Meanwhile SIGTERM is blocked.  The new process receives it when it has a handler of its own: Python drops an
    exception that a handler raises during a fork.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    process.start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


def _wait_for_one(running: list[ForkProcess]) -> None:
    """Wait for the end of one of several processes; when standard input closes, end them and this process at once.

    No thread watches standard input, because a process with threads cannot be forked safely.
    """
    ready = wait([sys.stdin.fileno(), *(process.sentinel for process in running)])
    if sys.stdin.fileno() in ready:
        sys.exit(1)
    for process in [process for process in running if process.sentinel in ready]:
        process.join()
        running.remove(process)


def main(scratch: Path, parts: list[str]) -> int:
    """Compile parts, as many at the same time as there are cores, in their order; return the exit code.

    Files are written to an empty directory `scratch`.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the process that started it reports what happened
    jit.load_compiler()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # which ends the processes of the parts, too
    # The compiler makes millions of small objects that live to the end: looking for garbage among them would take a
    # tenth of the time.
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    processes = [get_context("fork").Process(target=_call, args=(part, scratch / part), daemon=True) for part in parts]
    running: list[ForkProcess] = []
    for process in processes:
        while len(running) >= cores():
            _wait_for_one(running)
        _start(process)
        running.append(process)
    while running:
        _wait_for_one(running)
    return int(any(process.exitcode for process in processes))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
