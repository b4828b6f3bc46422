"""Change the package in small ways and see whether a test notices: ``make mutate``.

A mutant is a module with one change: a sign, a comparison, a constant, a dropped call.  Tests run on a copy of the tree
in which one module is a mutant; if they pass, it has survived, and either a test is missing or the change is without
consequence.  Survivors of the second kind are listed in ``equivalent_mutants.yaml``, each with the reason.

All modules can be mutated.  For some of the core, a table says which tests run.  For the others, they are the files
that are nearest by imports: those that use the changed function, or name a module that does so; then those that name
the changed module, and so on.  What they call in other processes is not to be seen from here, so that whole files run,
for a while.

Results are kept as they come, so that the command goes on where it was stopped.  A result counts as long as the module
is the same; after a new test, ``--again`` tries the survivors once more.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import yaml

from docs.make import rooms
from pttt_ooc import jit
from tests.mutation.forking import ForkServer
from tests.mutation.mutants import Mutant, dealt, mutants, sample
from tests.mutation.nearness import entries, nearest

__all__ = ["Mutant", "dealt", "mutants", "sample"]

ROOT = Path(__file__).parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.yaml")
SECONDS = 60.0  # of the processor, after which no other file of tests is begun for a mutant, where no table names them
PATIENCE = 120  # seconds after which a test is taken to loop for ever
LIMIT = 900.0  # ... and all tests of a step, which may have to compile kernels on a busy machine

TESTS: dict[str, Sequence[str]] = {
    "games/rules/game": [
        "games/rules/test_game.py",
        "games/rules/test_naive.py",
        "games/structure/test_index.py",
        "games/rules/test_referee.py",
        "cli/test_cli.py -k info",
    ],
    "games/rules/play": ["games/rules/test_play.py", "games/rules/test_referee.py -k plays"],
    "games/structure/orders": [
        "games/structure/test_index.py",
        "pipeline/files/test_infosets.py",
        "pipeline/files/test_formats.py",
        "cfr/sweep/test_gradient.py -k tiny",
    ],
    "games/structure/views": [
        "games/structure/test_views.py",
        "games/structure/test_index.py",
        "cfr/sweep/test_gradient.py -k tiny",
        "test_benchmarks.py -k walk",
    ],
    "games/structure/index": [
        "games/structure/test_index.py",
        "cfr/sweep/test_gradient.py",
        "pipeline/files/test_infosets.py",
        "cfr/solving/test_solver.py",
    ],
    "games/structure/relabelling": [
        "games/structure/test_index.py",
        "cfr/sweep/test_gradient.py -k tiny",
        "pipeline/files/test_formats.py",
    ],
    "games/structure/patterns": ["cfr/sweep/test_gradient.py", "cfr/solving/test_solver.py"],
    "games/structure/cells": [
        "games/structure/test_cells.py",
        "cfr/sweep/test_gradient.py",
        "cfr/solving/test_solver.py",
    ],
    "games/structure/timing": ["cfr/sweep/test_gradient.py", "disk/test_store.py", "cfr/solving/test_solver.py"],
    "cfr/sweep/gradient": ["cfr/sweep/test_gradient.py", "cfr/solving/test_solver.py"],
    "cfr/sweep/tree": ["cfr/sweep/test_gradient.py", "cfr/solving/test_solver.py", "cfr/solving/test_assessment.py"],
    "cfr/sweep/vectors": ["cfr/sweep/test_vectors.py", "cfr/sweep/test_gradient.py"],
    "cfr/sweep/engine": [
        "cfr/sweep/test_gradient.py",
        "cfr/solving/test_solver.py",
        "cfr/solving/test_assessment.py",
        "pipeline/stages/test_faults.py -k threads",
    ],
    "games/structure/symmetry": [
        "cfr/solving/test_solver.py",
        "cfr/solving/test_assessment.py",
        "pipeline/files/test_formats.py",
        "cli/test_cli.py -k 'uniform or alike'",
    ],
    "cfr/solving/regret": ["cfr/solving/test_solver.py"],
    "cfr/solving/best_response": ["cfr/solving/test_best_response.py"],
    "cfr/solving/schedule": ["cfr/solving/test_solver.py", "cli/test_faults_cli.py"],
    "cfr/solving/solver": ["cfr/solving/test_solver.py", "pipeline/stages/test_budgets.py"],
    "cfr/solving/solve_run": [
        "cfr/solving/test_solver.py",
        "pipeline/stages/test_budgets.py",
        "pipeline/stages/test_faults.py -k 'boundary or threads'",
        "cli/test_faults_cli.py",
    ],
    "cfr/solving/evaluation": [
        "cfr/solving/test_evaluation.py",
        "cfr/sweep/test_gradient.py",
        "cfr/solving/test_assessment.py",
        "cfr/solving/test_solver.py",
        "cli/test_cli.py -k against",
    ],
    "cfr/solving/assessment": ["cfr/solving/test_assessment.py", "course/strategies/test_course_judging.py"],
    "disk/commits": [
        "disk/test_commits.py",
        "pipeline/stages/test_faults.py -k 'boundary or damaged'",
        "cli/test_faults_cli.py",
    ],
    "disk/files": [
        "disk/test_files.py",
        "disk/test_commits.py",
        "disk/test_store.py",
        "disk/test_manifests.py",
        "cli/test_faults_cli.py",
    ],
    "disk/store": ["disk/test_store.py", "disk/test_commits.py", "cli/test_faults_cli.py"],
    "disk/manifests": ["disk/test_manifests.py", "cli/test_faults_cli.py", "cli/test_cli.py -k made"],
    "disk/memory": ["disk/test_memory.py", "pipeline/stages/test_budgets.py"],
    "games/structure/infoset_places": ["library/questions/test_infoset.py", "library/questions/test_continuations.py"],
    "library/questions/histories": [
        "library/questions/test_histories.py",
        "library/questions/test_infoset.py",
        "library/questions/test_continuations.py",
        "library/questions/test_beliefs.py",
    ],
    "library/questions/losses": ["library/questions/test_mistakes.py"],
    "library/questions/infoset_ranking": ["library/questions/test_mistakes.py"],
    "pipeline/stages/provenance": ["pipeline/stages/test_provenance.py", "cli/test_cli.py -k made"],
    "pipeline/files/infosets": [
        "pipeline/files/test_infosets.py",
        "pipeline/files/test_formats.py",
        "cli/test_cli.py -k infosets",
        "cli/test_cli_bad_input.py",
    ],
    "pipeline/files/tensors": [
        "pipeline/files/test_formats.py",
        "pipeline/files/test_bundle.py",
        "cli/test_cli_bad_input.py",
        "cli/test_cli.py -k 'file or alike'",
    ],
}
"""For modules of the core, the tests that run on their mutants: their own first."""

_CORE = ("pipeline/files/", "library/questions/", "cfr/solving/", "games/structure/", "cfr/sweep/")
KERNELS = {name for name in TESTS if name.startswith(_CORE) and jit.has_kernels(name)} - {"games/structure/timing"}
KERNELS |= {"cfr/sweep/vectors"}
"""Modules of the core that numba compiles.  Their mutants run as plain Python first; then all is compiled anew for each
of them."""

_UNCOMPILED = {
    "pipeline/files/tensors": "pipeline/files/test_formats.py -k 'mini-2x2k2'",
    "pipeline/files/infosets": "pipeline/files/test_infosets.py -k 'mini-2x2k2'",
    "games/structure/orders": "games/structure/test_index.py -k 'mini-2x2k2'",
}


_NOTHING_BEFOREHAND = """

_ensure_compiled = ensure_compiled


def ensure_compiled(*arguments, **named) -> None:
    if "test_kernels.py" in os.environ.get("PYTEST_CURRENT_TEST", ""):  # its own tests
        _ensure_compiled(*arguments, **named)
"""

# ---------------------------------------------------------------------------------------------
# Running the tests


@dataclass(frozen=True)
class Step:
    """Tests to run: arguments of pytest, and whether kernels are compiled."""

    tests: tuple[str, ...]
    compiled: bool = True

    def __str__(self) -> str:
        return " ".join(self.tests) + ("" if self.compiled else " (not compiled)")


class Tree:
    """A copy of the project, in which modules are changed and tests run."""

    def __init__(self, place: Path) -> None:
        self.place, self._forks = place, ForkServer()
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
        compiled = [str(file.relative_to(ROOT)) for file in (ROOT / "pttt_ooc").rglob("*.nb[ic]")]  # compiled kernels
        shutil.rmtree(place, ignore_errors=True)
        for name in filter(None, [*names, *compiled]):
            if (ROOT / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, place / name)
        # It would compile all kernels anew for every mutant; numba compiles those that are called, one by one.
        with open(self.file("pipeline/stages/compilation"), "a", encoding="utf-8") as file:
            file.write(_NOTHING_BEFOREHAND)
        self._sound: set[str] = set()
        self._unsound: set[str] = set()
        self._times = count(int(time.time()))

    def file(self, module: str) -> Path:
        """The source of a module of the package."""
        return self.place / "pttt_ooc" / f"{module}.py"

    def write(self, file: Path, source: str) -> None:
        """Write a source with a time of its own, so that no byte code of another version is taken for its own."""
        file.write_text(source, encoding="utf-8")
        now = next(self._times)
        os.utime(file, (now, now))

    @contextmanager
    def changed(self, mutant: Mutant | None) -> Iterator[None]:
        """The tree with a mutant."""
        if mutant is None:
            yield
            return
        file = self.file(mutant.module)
        source = file.read_text(encoding="utf-8")
        self.write(file, mutant.applied(source))
        try:
            yield
        finally:
            self.write(file, source)

    def failing(self, step: Step, mutant: Mutant | None = None) -> tuple[str, float]:
        """The first test that fails, or the step where they do not end or begin; empty if all pass; and the seconds."""
        environment = {**os.environ, "PYTHONPATH": str(self.place), "PYTHONDONTWRITEBYTECODE": "1"}
        environment["XDG_CACHE_HOME"] = str(self.place.parent / "cache")  # compiled mutants are not for the user's
        environment |= {} if step.compiled else {"NUMBA_DISABLE_JIT": "1"}
        arguments = ["-q", "-x", "-p", "no:cacheprovider", *(f"--deselect={one}" for one in self._unsound), *step.tests]
        log = self.place / "tests.log"
        with self.changed(mutant):
            code, seconds = self._forks.run(
                LIMIT, place=str(self.place), arguments=arguments, environment=environment, log=str(log)
            )
        if code in (0, 5):  # 5: none is left
            return "", seconds
        match = re.search(r"^(?:FAILED|ERROR) (tests/\S+::.+?)(?: - .*)?$", log.read_text(errors="replace"), re.M)
        return match[1] if match and code is not None else str(step), seconds

    def is_sound(self, failed: str, step: Step) -> bool:
        """Whether what failed passes without a mutant; tests that do not are left out from then on."""
        if failed not in self._sound | self._unsound:
            alone = step if failed == str(step) else Step((failed,), step.compiled)
            while (broken := self.failing(alone)[0]) and broken not in self._unsound:
                self._unsound.add(broken)
                log = (self.place / "tests.log").read_text(errors="replace")[-3000:]
                print(f"Without any mutant, this fails: {broken}\n{log}", file=sys.stderr, flush=True)
            self._sound |= {failed} - self._unsound
        return failed in self._sound

    def judge(self, mutant: Mutant) -> str:
        """What killed a mutant, a test that fails with it and not without; the empty string if it survived."""
        kernels = set(self.place.parent.rglob("*.nb[ic]"))
        spent = 0.0
        try:
            for step in steps(mutant.module, mutant.start[0]):
                if spent > SECONDS and mutant.module not in TESTS:
                    break
                while True:
                    failed, seconds = self.failing(step, mutant)
                    spent += seconds
                    if failed and self.is_sound(failed, step):
                        return failed if step.compiled else f"{failed} (not compiled)"
                    if not failed or failed == str(step):
                        break
            return ""
        finally:
            if is_kernel(self.file(mutant.module).read_text(encoding="utf-8")):
                for file in set(self.place.parent.rglob("*.nb[ic]")) - kernels:
                    file.unlink()


def is_kernel(source: str) -> bool:
    """Whether a module has functions that numba compiles."""
    return re.search(r"^from pttt_ooc\.jit import", source, re.M) is not None


def steps(module: str, line: int = 1) -> Iterator[Step]:
    """What to run for a mutant of a line of a module, one after the other."""
    if module in KERNELS:
        plain = _UNCOMPILED.get(module, "cfr/sweep/test_gradient.py -k 'tiny and 2x2k2'")
        yield Step(tuple(shlex.split(f"tests/{plain}")), False)
    for tests in TESTS.get(module, ()):
        yield Step(tuple(shlex.split(f"tests/{tests}")))
    if module not in TESTS:
        source = (ROOT / "pttt_ooc" / f"{module}.py").read_text(encoding="utf-8")
        patience = LIMIT if is_kernel(source) else PATIENCE  # compiling takes its time
        for file, slow in nearest(module, ROOT, entries(source, line)):
            marks = f"{'slow' if slow else 'not slow'} and not full and not long"
            yield Step((file, f"--timeout={patience:.0f}", "-m", marks))


# ---------------------------------------------------------------------------------------------
# Modules, and the work on several trees at the same time


def modules_of(names: Sequence[str]) -> list[str]:
    """Modules by their names and those of folders; none: all that the package has."""
    known = [name.replace(".", "/") for name, file in rooms.modules(ROOT / "pttt_ooc").items() if file.stem[:2] != "__"]
    chosen: list[str] = []
    for name in names:
        found = [module for module in known if f"{module}/".startswith(f"{name.rstrip('/')}/")]
        if not found:
            folders = sorted({module.rpartition("/")[0] for module in known} - {""})
            raise SystemExit(f"There is no module or room {name} to mutate; the rooms are {', '.join(folders)}.")
        chosen += found
    return list(dict.fromkeys(chosen or known))


class Workshop:
    """Trees, each for one piece of work at a time."""

    def __init__(self, data: Path, jobs: int) -> None:
        self._free: SimpleQueue[Tree] = SimpleQueue()
        for number in range(jobs):
            self._free.put(Tree(data / f"tree-{number}"))

    def do(self, work: Callable[[Tree], Any]) -> Any:
        """Work on a tree that is free."""
        tree = self._free.get()
        try:
            return work(tree)
        finally:
            self._free.put(tree)


# ---------------------------------------------------------------------------------------------
# Results


class Results:
    """What became of the mutants: a file with a line for each."""

    def __init__(self, file: Path) -> None:
        self.file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self.rows = {row["key"]: row for row in map(json.loads, lines)}

    @staticmethod
    def key(mutant: Mutant, source: str) -> str:
        """Names a mutant of a certain version of its module."""
        return hashlib.blake2b(f"{source}\0{asdict(mutant)}".encode(), digest_size=8).hexdigest()

    def add(self, key: str, mutant: Mutant, killed_by: str) -> None:
        """Keep a result."""
        self.rows[key] = {"key": key, **asdict(mutant), "killed_by": killed_by}
        with open(self.file, "a", encoding="utf-8") as file:
            file.write(json.dumps(self.rows[key]) + "\n")


def equivalents() -> dict[str, str]:
    """Names of mutants that change nothing that anybody could notice, and the reasons."""
    return yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) or {} if EQUIVALENT.exists() else {}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation.mutation", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="modules and rooms (default: all)")
    parser.add_argument("--total", type=int, default=100, metavar="N", help="mutants in all (default: 100)")
    parser.add_argument("--count", type=int, metavar="N", help="mutants of each module, in place of --total")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the sample (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="mutants at the same time (default: 1)")
    parser.add_argument("--again", action="store_true", help="try survivors again")
    parser.add_argument("--list", action="store_true", help="print the results so far, and run nothing")
    parser.add_argument("--data", type=Path, default=ROOT / "data" / "mutation", metavar="DIR", help="for results")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Judge the sample, as far as that has not been done; all its results."""
    options.data.mkdir(parents=True, exist_ok=True)
    results = Results(options.data / "results.jsonl")
    sources = {m: (ROOT / "pttt_ooc" / f"{m}.py").read_text(encoding="utf-8") for m in modules_of(options.names)}
    if options.count:
        chosen = [one for module in sources for one in sample(module, sources[module], options.count, options.seed)]
    else:
        chosen = dealt(sources, options.total, options.seed)
    keys = [results.key(mutant, sources[mutant.module]) for mutant in chosen]
    if not options.list:
        reasons = equivalents() if options.again else {}
        waiting = [
            (mutant, key)
            for mutant, key in zip(chosen, keys, strict=True)
            if key not in results.rows
            or (options.again and not results.rows[key]["killed_by"])
            and mutant.name(sources[mutant.module]) not in reasons
        ]
        workshop, lock = Workshop(options.data, options.jobs), threading.Lock()

        def judge(job: tuple[Mutant, str]) -> None:
            mutant, key = job
            by = workshop.do(lambda tree: tree.judge(mutant))
            with lock:
                results.add(key, mutant, by)
                note(f"{mutant.name(sources[mutant.module])}   {by or 'SURVIVED'}")

        with ThreadPoolExecutor(options.jobs) as pool:
            list(pool.map(judge, waiting))
    return [
        {**results.rows[key], "name": mutant.name(sources[mutant.module])}
        for mutant, key in zip(chosen, keys, strict=True)
        if key in results.rows
    ]


def summary(results: Sequence[dict[str, Any]]) -> str:
    """Score of each module and in all, then the survivors."""
    reasons, lines, survivors = equivalents(), [], []
    for room in [*dict.fromkeys(row["module"].partition("/")[0] for row in results), None]:
        rows = [
            row for row in results if room in (None, row["module"].partition("/")[0]) and row["name"] not in reasons
        ]
        alive = [row for row in rows if not row["killed_by"]]
        survivors += alive if room else []
        share = f"{100 * (1 - len(alive) / len(rows)):.0f}%" if rows else "-"
        lines.append(f"{room or 'all':12}{len(rows) - len(alive):5} of {len(rows):4} killed  {share:>5}")
    listed = [f"{row['module']}.py:{row['start'][0]}: {row['name'].partition(': ')[2]}" for row in survivors]
    same = sum(row["name"] in reasons for row in results)
    return "\n".join(
        [*lines, f"{same} without consequence are not counted.", *(["Survivors:"] if listed else []), *listed]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    options = _options(arguments)
    print(summary(run(options, lambda line: print(line, flush=True))))


if __name__ == "__main__":
    main()
