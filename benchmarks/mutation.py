"""Change the package in small ways and see whether a test notices: ``make mutate``.

A mutant is a module with one change: a sign, a comparison, a constant, a dropped call.  Tests run on a copy of the tree
in which one module is a mutant; if they pass, it has survived, and either a test is missing or the change is without
consequence.  Survivors of the second kind are listed in ``equivalent_mutants.yaml``, each with the reason.

For the core, a table says which tests run.  In the wings, they are those that call the changed function, the quickest
first (:mod:`benchmarks.traces`); kernels run as plain Python there, and only what survives that is compiled.

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
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import yaml

from benchmarks import traces
from benchmarks.forking import ForkServer
from benchmarks.mutants import Mutant, dealt, mutants, sample
from pttt_ooc import jit

__all__ = ["Mutant", "dealt", "mutants", "sample"]

ROOT = Path(__file__).parent.parent
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.yaml")
PATIENCE = 10  # a mutant that takes so many times as long as the tests usually do is taken to loop for ever
GRACE = 600.0  # seconds that it may take besides, to compile all kernels on a busy machine
SECONDS = 10.0  # of the processor, that the tests of a function take at most
WATCHED = 2  # files with tests of a function, or twice as many without, after which no other file is watched for it

TESTS: dict[str, Sequence[str]] = {
    "rules/game": [
        "rules/test_game.py",
        "rules/test_naive.py",
        "structure/test_index.py",
        "rules/test_referee.py",
        "cli/test_cli.py -k info",
    ],
    "rules/play": ["rules/test_play.py", "rules/test_referee.py -k plays"],
    "structure/orders": [
        "structure/test_index.py",
        "products/test_infosets.py",
        "products/test_formats.py",
        "sweep/test_gradient.py -k tiny",
    ],
    "structure/views": [
        "structure/test_views.py",
        "structure/test_index.py",
        "sweep/test_gradient.py -k tiny",
        "test_benchmarks.py -k walk",
    ],
    "structure/index": [
        "structure/test_index.py",
        "sweep/test_gradient.py",
        "products/test_infosets.py",
        "solving/test_solver.py",
    ],
    "structure/relabelling": ["structure/test_index.py", "sweep/test_gradient.py -k tiny", "products/test_formats.py"],
    "structure/patterns": ["sweep/test_gradient.py", "solving/test_solver.py"],
    "structure/cells": ["structure/test_cells.py", "sweep/test_gradient.py", "solving/test_solver.py"],
    "structure/timing": ["sweep/test_gradient.py", "disk/test_store.py", "solving/test_solver.py"],
    "sweep/gradient": ["sweep/test_gradient.py", "solving/test_solver.py"],
    "sweep/sixteen": ["solving/test_state_precision.py"],
    "sweep/tree": ["sweep/test_gradient.py", "solving/test_solver.py", "solving/test_assessment.py"],
    "sweep/vectors": ["sweep/test_vectors.py", "sweep/test_gradient.py"],
    "sweep/engine": [
        "sweep/test_gradient.py",
        "solving/test_solver.py",
        "solving/test_assessment.py",
        "stages/test_faults.py -k threads",
    ],
    "structure/symmetry": [
        "solving/test_solver.py",
        "solving/test_assessment.py",
        "products/test_formats.py",
        "cli/test_cli.py -k 'uniform or alike'",
    ],
    "solving/state_precision": ["solving/test_state_precision.py", "solving/test_solver.py"],
    "solving/regret": ["solving/test_solver.py"],
    "solving/best_response": ["solving/test_best_response.py"],
    "solving/schedule": ["solving/test_solver.py", "cli/test_faults_cli.py"],
    "solving/solver": [
        "solving/test_solver.py",
        "stages/test_budgets.py",
        "stages/test_faults.py -k 'boundary or threads'",
        "cli/test_faults_cli.py",
    ],
    "solving/evaluation": [
        "solving/test_evaluation.py",
        "sweep/test_gradient.py",
        "solving/test_assessment.py",
        "solving/test_solver.py",
        "cli/test_cli.py -k against",
    ],
    "solving/assessment": ["solving/test_assessment.py", "course/test_course_judging.py"],
    "disk/commits": [
        "disk/test_commits.py",
        "stages/test_faults.py -k 'boundary or damaged'",
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
    "disk/memory": ["disk/test_memory.py", "stages/test_budgets.py"],
    "questions/places": ["questions/test_infoset.py", "questions/test_continuations.py"],
    "questions/histories": [
        "questions/test_histories.py",
        "questions/test_infoset.py",
        "questions/test_continuations.py",
        "questions/test_beliefs.py",
    ],
    "questions/beliefs": ["questions/test_beliefs.py"],
    "questions/losses": ["questions/test_mistakes.py"],
    "questions/ranking": ["questions/test_mistakes.py"],
    "stages/provenance": ["stages/test_provenance.py", "cli/test_cli.py -k made"],
    "products/infosets": [
        "products/test_infosets.py",
        "products/test_formats.py",
        "cli/test_cli.py -k infosets",
        "cli/test_cli_bad_input.py",
    ],
    "products/tensors": [
        "products/test_formats.py",
        "products/test_bundle.py",
        "cli/test_cli_bad_input.py",
        "cli/test_cli.py -k 'file or alike'",
    ],
    "arena/kernels/ultimate": ["arena/test_arena_ultimate.py", "arena/test_arena_agents.py"],
    "arena/kernels/mnk": ["arena/test_arena_rows.py"],
    "arena/kernels/infinite": ["arena/test_arena_rows.py"],
    "arena/kernels/extreme": ["extreme/test_extreme_rules.py"],
    "arena/kernels/perft": ["arena/test_arena_ultimate.py"],
    "arena/kernels/ultimate_values": [
        "arena/test_arena_agents.py",
        "arena/test_arena_qlearning.py",
        "arena/test_arena_alphabeta.py",
    ],
    "arena/kernels/minimax": ["arena/test_arena_agents.py"],
    "arena/kernels/transposition_table": ["arena/test_arena_agents.py"],
    "arena/kernels/alphabeta": ["arena/test_arena_alphabeta.py"],
    "arena/kernels/ultimate_learnt": ["arena/test_arena_trained.py"],
    "arena/kernels/mcts": ["arena/test_arena_mcts.py"],
    "arena/kernels/solving": ["arena/test_arena_solvers.py"],
    "arena/kernels/qlearning": ["arena/test_arena_qlearning.py"],
    "arena/kernels/value_table": ["arena/test_arena_learning.py"],
    "arena/kernels/line_patterns": ["arena/test_arena_patterns.py"],
    "arena/kernels/extreme_search": ["extreme/test_extreme_search.py"],
    "arena/kernels/clock": ["arena/test_arena_agents.py", "arena/test_arena_mcts.py"],
    "arena/kernels/rng": ["arena/test_arena_agents.py", "arena/test_arena_mcts.py"],
    "smbc/kernels": ["smbc/test_smbc_round.py", "smbc/test_smbc_match.py"],
    "learners/exact/kernels": ["learners/test_learners_exact.py"],
    "learners/sampled/kernels": ["learners/test_learners_sampled.py"],
}
"""For each module of the core, and for the arena's kernels, the tests that run on its mutants: its own first."""

_CORE = ("products/", "questions/", "solving/", "structure/", "sweep/")
KERNELS = {name for name in TESTS if name.startswith(_CORE) and jit.has_kernels(name)} - {"structure/timing"}
KERNELS |= {"sweep/vectors"}
"""Modules of the core that numba compiles.  Their mutants run as plain Python first; then all is compiled anew for each
of them."""

_UNCOMPILED = {
    "products/tensors": "products/test_formats.py -k 'mini-2x2k2'",
    "products/infosets": "products/test_infosets.py -k 'mini-2x2k2'",
    "structure/orders": "structure/test_index.py -k 'mini-2x2k2'",
    "sweep/sixteen": "solving/test_state_precision.py -k 'off_by or mean or cut or small'",
}

WINGS = ("service", "web", "play", "course", "grid", "environments", "smbc", "extreme", "learners", "arena")
"""Rooms whose tests are found by watching which functions they call."""

TRACED = (
    "test_web*.py",
    "test_grid*.py",
    "show/test_comparison.py",
    "course/test_course_pages.py",
    "course/test_extreme_course.py",
    "explore/test_play_pages.py",
    *(f"{wing}/test_*.py" for wing in WINGS),
)
"""The tests that are watched, apart from those of browsers, workflows, attacks and busy machines."""

_PLAIN = re.compile(
    "arena/test_arena_(ultimate|agents|rows|qlearning|tuned|mcts|solvers|learn|patterns)|extreme_(rules|search)|smbc_(round|match)|learners_(exact|sampled)"
)
"""... and those that are watched with kernels that are not compiled, too."""

_UNWATCHED = re.compile("browser|workflow|beside|attacks")


# ---------------------------------------------------------------------------------------------
# Running the tests


@dataclass(frozen=True)
class Step:
    """Tests to run: arguments of pytest, whether kernels are compiled, and seconds until it is given up."""

    tests: tuple[str, ...]
    compiled: bool
    limit: float | None = None  # None: by what they usually take

    def __str__(self) -> str:
        return " ".join(self.tests) + ("" if self.compiled else " (not compiled)")


class Tree:
    """A copy of the project, in which modules are changed and tests run."""

    def __init__(self, place: Path, calls: Calls) -> None:
        self.place, self._calls, self._forks = place, calls, ForkServer()
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
        kept = [str(file.relative_to(ROOT)) for file in (ROOT / "pttt_ooc").rglob("*.nb[ic]")]  # compiled kernels
        shutil.rmtree(place, ignore_errors=True)
        for name in filter(None, [*names, *kept]):
            if (ROOT / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, place / name)
        # It would compile all kernels anew for every mutant; numba compiles those that are called, one by one.
        with open(self.file("stages/compilation"), "a", encoding="utf-8") as file:
            file.write("\n\ndef ensure_compiled(*_, **__) -> None:\n    pass\n")
        self._usual: dict[Step, float] = {}
        self._sound: set[str] = set()
        self._times = count(int(time.time()))

    def file(self, module: str) -> Path:
        """The source of a module of the package."""
        return self.place / "pttt_ooc" / f"{module}.py"

    def write(self, file: Path, source: str) -> None:
        """Write a source with a time of its own, so that no byte code of another version is taken for its own."""
        file.write_text(source, encoding="utf-8")
        now = next(self._times)
        os.utime(file, (now, now))

    def steps(self, mutant: Mutant) -> list[Step]:
        """What to run for a mutant, one after the other."""
        module, steps = mutant.module, []
        if module in KERNELS:
            plain = _UNCOMPILED.get(module, "sweep/test_gradient.py -k 'tiny and 2x2k2'")
            steps.append(Step(tuple(shlex.split(f"tests/{plain}")), False))
        if module.partition("/")[0] in WINGS:
            source = self.file(module).read_text(encoding="utf-8")
            function, compiled = traces.function_at(source, mutant.start[0]), not is_kernel(source)
            found, seconds = self._calls.tests(self, module, function, compiled)
            if found:
                steps.append(Step(tuple(found), compiled, 60 + PATIENCE * seconds))
                if compiled:
                    return steps
        return steps + [Step(tuple(shlex.split(f"tests/{tests}")), True) for tests in TESTS.get(module, ())]

    def passes(self, step: Step, limit: float, *options: str, **more: str) -> bool | None:
        """Whether tests pass; None if they take longer than `limit` seconds."""
        environment = {**os.environ, "PYTHONPATH": str(self.place), "PYTHONDONTWRITEBYTECODE": "1", **more}
        environment |= {} if step.compiled else {"NUMBA_DISABLE_JIT": "1"}
        arguments = ["-q", "-p", "no:cacheprovider", *(options or ("-x",)), *step.tests]
        log = str(self.place / "tests.log")
        code = self._forks.run(limit, place=str(self.place), arguments=arguments, environment=environment, log=log)
        return None if code is None else code == 0

    def usual(self, step: Step) -> float:
        """Seconds that tests take on the module as it is, which they have to pass."""
        if step not in self._usual:
            begun = time.monotonic()
            if not self.passes(step, 3600.0):
                raise SystemExit(f"Without any mutant, these tests fail: {step}\n{self.told()}")
            self._usual[step] = time.monotonic() - begun
        return self._usual[step]

    def told(self) -> str:
        """The end of what the last tests have printed."""
        return (self.place / "tests.log").read_text()[-3000:]

    def _compiled(self) -> set[Path]:
        return set((self.place / "pttt_ooc").rglob("*.nb[ic]"))

    def judge(self, mutant: Mutant) -> str:
        """Which tests killed a mutant; the empty string if it survived."""
        file, steps = self.file(mutant.module), self.steps(mutant)
        limits = [PATIENCE * self.usual(one) + GRACE if one.limit is None else one.limit for one in steps]
        source, before = file.read_text(encoding="utf-8"), self._compiled()
        for step, limit in zip(steps, limits, strict=True):
            self.write(file, mutant.applied(source))
            try:
                passed, told = self.passes(step, limit), self.told()
            finally:
                self.write(file, source)
                if is_kernel(source):  # compiled under the name of a version that never returns
                    for made in self._compiled() - before:
                        made.unlink()
            if not passed and (by := self._killer(step, limit, passed, told)):
                return by
        return ""

    def _killer(self, step: Step, limit: float, passed: bool | None, told: str) -> str:
        """What killed a mutant: a test that fails with it, and not without; empty if it was something else."""
        failed = re.search(r"^(?:FAILED|ERROR) (tests/\S+::.+?)(?: - .*)?$", told, re.M)
        if passed is None:
            return f"{step} (no end)"[-200:] if self.passes(step, limit) is not None else ""
        if not failed:
            return "the tests cannot begin" if self.passes(step, max(limit, GRACE)) else ""
        name = failed[1]
        if name not in self._sound:
            if not self.passes(Step((name,), step.compiled), max(limit, GRACE)):
                print(f"Without any mutant, this test fails: {name}\n{self.told()}", file=sys.stderr, flush=True)
                return ""
            self._sound.add(name)
        return name if step.compiled else f"{name} (not compiled)"


def is_kernel(source: str) -> bool:
    """Whether a module has functions that numba compiles."""
    return re.search(r"^from pttt_ooc\.(jit|arena\.compiled) import", source, re.M) is not None


class Calls:
    """What tests call, found out when it is asked for, and kept in a directory; late tests are left out."""

    def __init__(self, place: Path, limit: float) -> None:
        self._place, self._limit = place, limit
        self._lock = threading.Lock()
        self._locks: dict[Path, threading.Lock] = {}
        place.mkdir(exist_ok=True)

    def tests(self, tree: Tree, module: str, function: str, compiled: bool) -> tuple[list[str], float]:
        """The tests to run for a change in a function, and their seconds; tests are watched until some are found."""
        found: list[dict[str, Any]] = []
        looked = 0.0
        for file in _likely(module, compiled):
            known = self._file(tree, file, compiled).exists()
            if looked >= WATCHED and not known:
                continue
            found += self._of(tree, file, compiled)
            looked += 1 if traces.calls(found, module, function) else 1 / 2
        return traces.chosen(found, module, function, SECONDS)

    def _file(self, tree: Tree, file: str, compiled: bool) -> Path:
        digest = hashlib.blake2b((tree.place / file).read_bytes(), digest_size=6).hexdigest()
        return self._place / f"{Path(file).stem}-{'compiled' if compiled else 'plain'}-{digest}.jsonl"

    def _of(self, tree: Tree, file: str, compiled: bool) -> list[dict[str, Any]]:
        found = self._file(tree, file, compiled)
        with self._lock:
            lock = self._locks.setdefault(found, threading.Lock())
        with lock:
            if not found.exists():
                part = found.with_suffix(".part")
                part.unlink(missing_ok=True)
                options = (
                    "-p",
                    "benchmarks.traces",
                    "-m",
                    "not full and not slow",
                    f"--timeout={60 if compiled else 8}",
                )
                tree.passes(Step((file,), compiled), self._limit, *options, PTTT_TRACES=str(part))
                part.touch()
                part.rename(found)
        return traces.read([found])


def _likely(module: str, compiled: bool) -> list[str]:
    """Files of tests, those first that name a module, then those of its room."""
    parent, _, name = f"pttt_ooc/{module}".replace("/", ".").rpartition(".")
    named = re.compile(rf"from {re.escape(parent)} import [^\n]*\b{name}\b|\b{re.escape(parent)}\.{name}\b")

    def rank(file: str) -> tuple[bool, bool, int]:
        text = (ROOT / file).read_text(encoding="utf-8")
        return not named.search(text), module.partition("/")[0] not in file, len(text)

    return sorted((file for file, how in watched_files() if how == compiled), key=rank)


# ---------------------------------------------------------------------------------------------
# Modules, and the work on several trees at the same time


def watched_files() -> list[tuple[str, bool]]:
    """Files of tests whose calls are looked at, and whether with compiled kernels."""
    tests = ROOT / "tests"
    names = sorted({f"tests/{file.relative_to(tests)}" for pattern in TRACED for file in tests.glob(pattern)})
    names = [name for name in names if not _UNWATCHED.search(name)]
    return [(name, True) for name in names] + [(name, False) for name in names if _PLAIN.search(name)]


def modules_of(names: Sequence[str]) -> list[str]:
    """Modules by their names and those of rooms; none: all that can be mutated."""
    package = ROOT / "pttt_ooc"
    wings = {wing: sorted(str(f.relative_to(package))[:-3] for f in (package / wing).rglob("*.py")) for wing in WINGS}
    wings = {wing: [m for m in found if not m.endswith("__init__")] for wing, found in wings.items()}
    known = list(dict.fromkeys([*TESTS, *(module for found in wings.values() for module in found)]))
    chosen: list[str] = []
    for name in names:
        found = wings.get(name) or [m for m in known if m == name or m.startswith(f"{name}/")]
        if not found:
            raise SystemExit(f"There is no module or room {name} to mutate; choose from {', '.join(known)}.")
        chosen += found
    return list(dict.fromkeys(chosen or known))


class Workshop:
    """Trees, each for one piece of work at a time."""

    def __init__(self, data: Path, jobs: int, limit: float) -> None:
        calls = Calls(data / "traces", limit)
        self._free: SimpleQueue[Tree] = SimpleQueue()
        for number in range(jobs):
            self._free.put(Tree(data / f"tree-{number}", calls))

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
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="modules and rooms (default: all)")
    parser.add_argument("--total", type=int, default=100, metavar="N", help="mutants in all (default: 100)")
    parser.add_argument("--count", type=int, metavar="N", help="mutants of each module, in place of --total")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the sample (default: 0)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="mutants at the same time (default: 1)")
    parser.add_argument(
        "--watch", type=float, default=900.0, metavar="S", help="seconds for watching a file of tests (default: 900)"
    )
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
        waiting = [
            (mutant, key)
            for mutant, key in zip(chosen, keys, strict=True)
            if key not in results.rows or options.again and not results.rows[key]["killed_by"]
        ]
        workshop, lock = Workshop(options.data, options.jobs, options.watch), threading.Lock()

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


def summary(found: Sequence[dict[str, Any]]) -> str:
    """Score of each module and in all, then the survivors."""
    reasons, lines, survivors = equivalents(), [], []
    for room in [*dict.fromkeys(row["module"].partition("/")[0] for row in found), None]:
        rows = [row for row in found if room in (None, row["module"].partition("/")[0]) and row["name"] not in reasons]
        alive = [row for row in rows if not row["killed_by"]]
        survivors += alive if room else []
        share = f"{100 * (1 - len(alive) / len(rows)):.0f}%" if rows else "-"
        lines.append(f"{room or 'all':12}{len(rows) - len(alive):5} of {len(rows):4} killed  {share:>5}")
    listed = [f"{row['module']}.py:{row['start'][0]}: {row['name'].partition(': ')[2]}" for row in survivors]
    same = sum(row["name"] in reasons for row in found)
    return "\n".join(
        [*lines, f"{same} without consequence are not counted.", *(["Survivors:"] if listed else []), *listed]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    options = _options(arguments)
    print(summary(run(options, lambda line: print(line, flush=True))))


if __name__ == "__main__":
    main()
