"""Kill the solver again and again, and see whether it ever notices.

The solver is the real one, in processes of its own.  They are forked from this one, where everything is imported
and compiled, so that a start takes milliseconds.  A run without interruptions comes first; it leaves the checksums
of all arrays after every iteration.  Then a solver is killed with SIGKILL, and started again, until it reaches
the end.  After each kill the saved state has to be whole, not older than the last save that was over, and of the
same bits as that iteration of the first run; and the next solver has to go on from there.
"""

from __future__ import annotations

import argparse
import mmap
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import pttt_ooc.cfr.solving.solve_run
from pttt_ooc.cfr.solving.solve_run import solve
from pttt_ooc.cfr.sweep.blocks import Block
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk import commits
from pttt_ooc.disk.commits import ResumableState, fsck
from pttt_ooc.disk.files import digest
from pttt_ooc.disk.snapshot_record import SnapshotRecord
from pttt_ooc.errors import PtttError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.timing import Timing
from pttt_ooc.pipeline.files.structure_store import read_index, read_timings
from pttt_ooc.pipeline.stages.preparation import prepare_index

# Calls that change or sync anything on disk, as Python's own auditing names them.
STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "mmap.__new__", "fcntl.flock"}
FINGERPRINT = "faults"
Count = Callable[[], None]


class FaultError(Exception):
    """A kill was noticed: work was lost, or a bit is not the same."""


@dataclass(frozen=True)
class Job:
    """What is solved, and how; ``settings.max_iterations`` is the end."""

    index: Index
    timings: tuple[Timing, Timing]
    settings: SolveConfig
    threads: int = 2

    def engine(self, kind: type[Engine] = Engine) -> Engine:
        """A new engine: threads do not survive a fork."""
        return kind(self.index, self.timings, np.dtype(self.settings.precision).type, self.threads)


@dataclass(frozen=True)
class Reference:
    """An uninterrupted run: checksums of all arrays after each iteration, and digests of what it ends with."""

    checksums: Mapping[int, Mapping[str, str]]
    result: Mapping[str, str]


@dataclass
class Tally:
    """What became of the solvers that were started.

    Attributes
    ----------
    killed, finished
        How many were killed in time, and how many came to the end, with the right bits.
    starting, committing
        How many were killed before their state was open, and while they saved it.
    resumed
        How many went on from a saved iteration.
    """

    killed: int = 0
    finished: int = 0
    starting: int = 0
    committing: int = 0
    resumed: int = 0


# ---------------------------------------------------------------------------------------------
# A solver that tells what it does


class Board:
    """A few numbers that a forked process writes and its parent reads, even after a kill."""

    NAMES = ("opened", "committing", "committed", "first", "steps")

    def __init__(self) -> None:
        self._numbers = np.frombuffer(mmap.mmap(-1, 8 * len(self.NAMES)), np.int64)
        self._numbers[:] = -1

    def __getitem__(self, name: str) -> int:
        return int(self._numbers[self.NAMES.index(name)])

    def __setitem__(self, name: str, value: int) -> None:
        self._numbers[self.NAMES.index(name)] = value


def _observed(board: Board, hook: Callable[[], Any], on_open: Callable[[], None]) -> type[ResumableState]:
    class Observed(ResumableState):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            board["opened"] = self.iteration
            on_open()

        def commit(self, iteration: int, extra: Mapping[str, Any] | None = None, *unchanged: Any) -> None:
            board["committing"] = 1
            with hook():
                super().commit(iteration, extra)
            board["committing"], board["committed"] = 0, iteration

    return Observed


@contextmanager
def _no_hook() -> Iterator[None]:
    yield


def run(
    job: Job,
    work: Path,
    board: Board,
    engine: Engine | None = None,
    commit_hook: Callable[[], Any] = _no_hook,
    on_iteration: Callable[[int], None] = lambda iteration: None,
    on_open: Callable[[], None] = lambda: None,
) -> None:
    """Solve, in this process, and leave the strategies in ``strategies.npy`` beside the work directory."""

    def progress(row: Mapping[str, Any]) -> None:
        if board["first"] < 0:
            board["first"] = row["iteration"]
        on_iteration(row["iteration"])

    pttt_ooc.cfr.solving.solve_run.ResumableState = _observed(board, commit_hook, on_open)  # type: ignore[misc]
    try:
        solution = solve(engine or job.engine(), job.settings, work, FINGERPRINT, progress)
    finally:
        pttt_ooc.cfr.solving.solve_run.ResumableState = ResumableState  # type: ignore[misc]
    for strategy in solution.strategies:
        np.save(strategies_file(work, strategy.player), strategy.probabilities)


def strategies_file(work: Path, player: int) -> Path:
    """Where :func:`run` leaves a player's strategy."""
    return work.with_name(f"{work.name}-strategy{player}.npy")


def result(work: Path) -> dict[str, str]:
    """Digests of the final regrets, sums of strategies and strategies."""
    current = SnapshotRecord.read(work)
    snapshot = work / "commits" / f"{current.generation:08d}"
    found = {name: digest(snapshot / name) for name in current.checksums}
    return found | {f"strategy/{p}": digest(strategies_file(work, p)) for p in (0, 1)}


def reference(job: Job, place: Path) -> Reference:
    """Solve without interruptions, saving after every iteration; compiles everything, too."""
    checksums: dict[int, Mapping[str, str]] = {}
    every = Job(job.index, job.timings, job.settings.model_copy(update={"commit_seconds": 0.0}), 1)

    def look(iteration: int) -> None:
        current = SnapshotRecord.read(place)
        if current.iteration != iteration:
            raise FaultError(f"Iteration {iteration} was not saved.")
        checksums[iteration] = current.checksums

    run(every, place, Board(), on_iteration=look)
    return Reference(checksums, result(place))


# ---------------------------------------------------------------------------------------------
# Kills


def forked(work: Callable[[], None], errors: Path) -> int:
    """Run `work` in a forked process; its number.  Errors are left in the file `errors`."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        errors.write_text(traceback.format_exc())
    os._exit(code)


def die() -> None:
    """What a power cut does to a process."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_after(seconds: float) -> None:
    """Be killed after so many seconds of processor time, at whatever instant that is.

    The clock of the processor does not go on while others are at work, so that the instants are the same on a busy
    machine.  The signal is not SIGKILL but ends a process in the same way: nobody handles it.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)


class Killer:
    """Starts solvers on one job, ends them, and checks what they leave.

    Parameters
    ----------
    job, expected
        What is solved, and an uninterrupted run of it.
    place
        An empty directory.
    """

    def __init__(self, job: Job, expected: Reference, place: Path) -> None:
        self.job, self.expected, self.work = job, expected, place / "work"
        self.tally = Tally()
        self.seconds = 0.0  # processor time of the last solver
        self._errors = place / "error.txt"

    def start(self, solver: Callable[[Board], None]) -> Board:
        """Run `solver` in a process, in which it may be killed.  Checks all that it leaves.

        Raises
        ------
        FaultError
            If anything is not as if nothing had happened.
        """
        board, before = Board(), self._saved()
        child = forked(lambda: solver(board), self._errors)
        _, status, usage = os.wait4(child, 0)
        if status not in (0, signal.SIGKILL, signal.SIGPROF):
            raise FaultError(f"The solver ended with status {status}: {self._errors.read_text()}")
        self._check(board, before)
        self.seconds = usage.ru_utime + usage.ru_stime
        if status == 0:
            self._check_end()
        else:
            self.tally.killed += 1
            self.tally.starting += board["opened"] < 0
            self.tally.committing += board["committing"] == 1
        return board

    def _saved(self) -> int:
        return SnapshotRecord.read(self.work).iteration if (self.work / "CURRENT.json").exists() else 0

    def _check(self, board: Board, before: int) -> None:
        saved = self._saved()
        if saved < max(before, board["committed"]):
            raise FaultError(f"Iteration {max(before, board['committed'])} had been saved, now it is {saved}.")
        if problems := (fsck(self.work) if self.work.exists() else []):
            raise FaultError(f"The state is damaged: {problems}")
        if saved and SnapshotRecord.read(self.work).checksums != self.expected.checksums[saved]:
            raise FaultError(f"The bits of iteration {saved} are not those of an uninterrupted run.")
        if board["opened"] >= 0 and board["opened"] != before:
            raise FaultError(f"Iteration {before} was saved, but the next run went on from {board['opened']}.")
        if board["first"] >= 0 and board["first"] != before + 1:
            raise FaultError(f"Iteration {before} was saved, but {board['first']} came next.")
        self.tally.resumed += before > 0 and board["opened"] == before

    def _check_end(self) -> None:
        digests = result(self.work)
        names = self.expected.result.keys() | digests.keys()
        if wrong := sorted(name for name in names if self.expected.result.get(name) != digests.get(name)):
            raise FaultError(f"After {self.tally.killed} kills these have other bits: {', '.join(wrong)}.")
        self.tally.finished += 1

    def anew(self) -> None:
        """Forget the state, to begin with the first iteration."""
        shutil.rmtree(self.work, ignore_errors=True)

    def finish(self) -> None:
        """Let a solver run to its end."""
        if self._saved() < self.job.settings.max_iterations:
            self.start(lambda board: run(self.job, self.work, board))

    def random_instants(
        self, kills: int, chance: random.Random, share: float = 1 / 3, note: Callable[[str], None] = lambda line: None
    ) -> None:
        """Kill until so many are killed, each within a share of the processor time of a whole run.

        That time begins with the start of the process, or else when its state is open.  Those that reach the end
        start anew.
        """
        self.finish()
        whole = self.seconds
        self.anew()
        while self.tally.killed < kills:
            seconds, since_open = chance.uniform(0, share * whole), chance.random() < 0.5
            if self._saved() >= self.job.settings.max_iterations:
                self.anew()
            killed = self.tally.killed
            self.start(partial(self._mortal, seconds, since_open))
            if self.tally.killed > killed:
                since = "the state was open" if since_open else "the start"
                note(f"kill {self.tally.killed}, {seconds:.2f} s after {since}: iteration {self._saved()} is saved")
        self.finish()

    def _mortal(self, seconds: float, since_open: bool, board: Board) -> None:
        seconds = max(seconds, 1e-6)  # 0 would be never
        if not since_open:
            die_after(seconds)
        run(self.job, self.work, board, on_open=partial(die_after, seconds) if since_open else lambda: None)

    def every_slice(self) -> int:
        """Kill before the first, second, third, ... call of a kernel that an iteration makes; the number of them.

        Counted are those of a process that goes on with one iteration: both players' strategies from what was saved,
        then, for both, gradients and regrets upward, and strategy, reach and averages downward.
        """

        def solver(board: Board, last: int) -> None:
            count = counter(board, last)

            class Mortal(Engine):
                def run_block(self, player: int, block: Block, kernel: Callable[..., None], *arguments: Any) -> None:
                    count()
                    super().run_block(player, block, kernel, *arguments)

                def gradient_slice(self, *arguments: Any) -> Any:
                    count()
                    return super().gradient_slice(*arguments)

            run(self.job, self.work, board, self.job.engine(Mortal), on_iteration=lambda _: die())

        return self._one_after_the_other(solver, 1)

    def every_step_of_a_commit(self, stride: int = 1) -> int:
        """Kill before the first, second, third, ... change or sync that a commit makes; the number of them."""

        def solver(board: Board, last: int) -> None:
            hook = partial(steps, counter(board, last))
            run(self.job, self.work, board, commit_hook=hook, on_iteration=lambda _: die())

        return self._one_after_the_other(solver, stride)

    def _one_after_the_other(self, solver: Callable[[Board, int], None], stride: int) -> int:
        last, board = 1, Board()
        while board["first"] < 0:  # until a solver is through with an iteration before it dies
            if self._saved() + 2 > self.job.settings.max_iterations:
                self.finish()
                self.anew()
            if not self._saved():
                self.start(lambda board: run(self.job, self.work, board, on_iteration=lambda _: die()))
            board = self.start(lambda board, last=last: solver(board, last))  # type: ignore[misc]
            last += stride
        self.finish()
        return board["steps"]


def counter(board: Board, last: int) -> Count:
    """A function that kills this process when it is called for the `last` time."""
    board["steps"] = 0

    def count() -> None:
        board["steps"] += 1
        if board["steps"] == last:
            die()

    return count


@contextmanager
def steps(count: Count) -> Iterator[None]:
    """Call `count` before everything in the block that changes or syncs anything on disk, in whatever thread.

    For processes that have no future: the hook stays.
    """
    at_work, fsync, crc32 = [True], os.fsync, zlib.crc32

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not at_work[0] or event not in STEPS:
            return
        if event == "open" and not (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return  # it only reads
        count()

    def counted_fsync(descriptor: int) -> None:
        count()
        fsync(descriptor)

    class Zlib:
        """A block is checksummed just before it is written."""

        @staticmethod
        def crc32(*arguments: Any) -> int:
            count()
            return crc32(*arguments)

    sys.addaudithook(hook)
    os.fsync, commits.zlib = counted_fsync, Zlib  # type: ignore[assignment]
    try:
        yield
    finally:
        at_work[0], os.fsync, commits.zlib = False, fsync, zlib  # type: ignore[assignment]


# ---------------------------------------------------------------------------------------------
# The command


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.solver", description=__doc__)
    parser.add_argument("--game", default="pttt-abrupt", metavar="NAME", help="the game (default: %(default)s)")
    parser.add_argument("--kills", type=int, default=20, metavar="N", help="at random instants (default: %(default)s)")
    parser.add_argument("--iterations", type=int, default=40, metavar="N", help="of a solve (default: %(default)s)")
    parser.add_argument(
        "--commit-seconds", type=float, default=1.0, metavar="S", help="the state is saved this often (default: 1)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the instants (default: %(default)s)")
    parser.add_argument("--every", action="store_true", help="also at every slice boundary and every step of a commit")
    parser.add_argument(
        "--data", type=Path, default=Path("data"), metavar="DIR", help="where the index is, or else is made"
    )
    return parser.parse_args(arguments)


def job_of(game: str, data: Path, settings: SolveConfig) -> Job:
    """A job on the index of a game with symmetry, which is made in `data` if it is not there."""
    named_game(game)
    store = prepare_index(data, game, "full") / "index.zarr"
    return Job(read_index(store, game, "full"), read_timings(store, game), settings)


def harass(options: argparse.Namespace, place: Path, note: Callable[[str], None]) -> None:
    """Do what the command promises; a FaultError if it finds anything."""
    settings = SolveConfig(
        target_nashconv=0, max_iterations=options.iterations, max_minutes=10**6, commit_seconds=options.commit_seconds
    )
    job = job_of(options.game, options.data, settings)
    note(f"An uninterrupted run of {options.iterations} iterations ...")
    expected = reference(job, place / "reference")
    killer = Killer(job, expected, place)
    for threads in (1, 2, 3, 5):
        note(f"{threads} threads ...")
        short = settings.model_copy(update={"max_iterations": 3})
        work = place / f"threads{threads}"
        run(replace(job, settings=short, threads=threads), work, Board())
        if SnapshotRecord.read(work).checksums != expected.checksums[3]:
            raise FaultError(f"{threads} threads make other bits.")
    note("Kills at random instants ...")
    # A run that starts anew seldom comes to the end, so that most go on from where another was killed.
    killer.random_instants(options.kills, random.Random(options.seed), note=note)
    tally = killer.tally
    note(
        f"{tally.killed} kills at random instants, {tally.starting} of them before the state was open and "
        f"{tally.committing} while it was saved; {tally.resumed} went on from a saved iteration; "
        f"{tally.finished} came to the end of {options.iterations} iterations: no work was lost, all bits are the same."
    )
    if options.every:
        killer.job = replace(job, settings=settings.model_copy(update={"commit_seconds": 0.0}))
        killer.anew()
        calls = killer.every_slice()
        note(f"A kill at each of the {calls} calls for a slice in an iteration: all bits are the same.")
        killer.anew()
        found = killer.every_step_of_a_commit()
        note(f"A kill at each of the {found} steps of a commit: all bits are the same.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    options = _options(arguments)
    started = time.perf_counter()
    try:
        with tempfile.TemporaryDirectory(prefix=".faults-", dir=_made(options.data)) as place:
            harass(options, Path(place), lambda line: print(line, flush=True))
    except (FaultError, PtttError) as error:
        sys.exit(str(error))
    print(f"{time.perf_counter() - started:.0f} s in all.")


def _made(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory


if __name__ == "__main__":
    main()
