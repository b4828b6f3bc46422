"""Change the core and the arena's kernels in small ways and see whether a test notices: ``make mutate``.

A mutant is a module with one change: a sign, a comparison, a constant, a dropped call.  The tests run on a copy of the
tree in which one module is a mutant; if they pass, it has survived, and either a test is missing or the change is
without consequence.  Survivors of the second kind are listed in ``equivalent_mutants.yaml``, each with the reason.

Results are kept as they come, so that the command goes on where it was stopped.  A result counts as long as the module
is the same; after a new test, ``--again`` tries the survivors once more.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from pttt_ooc import jit

ROOT = Path(__file__).parent.parent
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.yaml")
PATIENCE = 10  # a mutant that takes so many times as long as the tests usually do is taken to loop for ever
GRACE = 600.0  # seconds that it may take besides, to compile all kernels on a busy machine

TESTS: dict[str, Sequence[str]] = {
    "rules/game": ["test_game.py", "test_naive.py", "test_index.py", "test_referee.py", "test_cli.py -k info"],
    "rules/play": ["test_play.py", "test_referee.py -k plays"],
    "structure/orders": ["test_index.py", "test_infosets.py", "test_formats.py", "test_gradient.py -k tiny"],
    "structure/views": ["test_views.py", "test_index.py", "test_gradient.py -k tiny", "test_benchmarks.py -k walk"],
    "structure/index": ["test_index.py", "test_gradient.py", "test_infosets.py", "test_solve.py"],
    "structure/relabelling": ["test_index.py", "test_gradient.py -k tiny", "test_formats.py"],
    "structure/patterns": ["test_gradient.py", "test_solve.py"],
    "structure/cells": ["test_cells.py", "test_gradient.py", "test_solve.py"],
    "structure/timing": ["test_gradient.py", "test_store.py", "test_solve.py"],
    "sweep/gradient": ["test_gradient.py", "test_solve.py"],
    "sweep/sixteen": ["test_held.py"],
    "sweep/tree": ["test_gradient.py", "test_solve.py", "test_assess.py"],
    "sweep/vectors": ["test_vectors.py", "test_gradient.py"],
    "sweep/engine": ["test_gradient.py", "test_solve.py", "test_assess.py", "test_faults.py -k threads"],
    "structure/symmetry": ["test_solve.py", "test_assess.py", "test_formats.py", "test_cli.py -k 'uniform or alike'"],
    "solving/held": ["test_held.py", "test_solve.py"],
    "solving/regret": ["test_solve.py"],
    "solving/best_response": ["test_best_response.py"],
    "solving/resuming": ["test_solve.py", "test_faults_cli.py"],
    "solving/solver": [
        "test_solve.py",
        "test_budgets.py",
        "test_faults.py -k 'boundary or threads'",
        "test_faults_cli.py",
    ],
    "solving/evaluation": [
        "test_evaluate.py",
        "test_gradient.py",
        "test_assess.py",
        "test_solve.py",
        "test_cli.py -k against",
    ],
    "solving/assess": ["test_assess.py", "grader/test_grader_judging.py"],
    "disk/commits": ["test_commits.py", "test_faults.py -k 'boundary or damaged'", "test_faults_cli.py"],
    "disk/files": ["test_files.py", "test_commits.py", "test_store.py", "test_manifests.py", "test_faults_cli.py"],
    "disk/store": ["test_store.py", "test_commits.py", "test_faults_cli.py"],
    "disk/manifests": ["test_manifests.py", "test_faults_cli.py", "test_cli.py -k made"],
    "disk/memory": ["test_memory.py", "test_budgets.py"],
    "questions/places": ["test_infoset.py", "test_following.py"],
    "questions/histories": ["test_histories.py", "test_infoset.py", "test_following.py", "test_beliefs.py"],
    "questions/beliefs": ["test_beliefs.py"],
    "questions/losses": ["test_mistakes.py"],
    "questions/ranking": ["test_mistakes.py"],
    "stages/provenance": ["test_provenance.py", "test_cli.py -k made"],
    "products/infosets": ["test_infosets.py", "test_formats.py", "test_cli.py -k infosets", "test_cli_bad_input.py"],
    "products/tensors": [
        "test_formats.py",
        "test_bundle.py",
        "test_cli_bad_input.py",
        "test_cli.py -k 'file or alike'",
    ],
    "arena/kernels/ultimate": ["arena/test_arena_ultimate.py", "arena/test_arena_agents.py"],
    "arena/kernels/mnk": ["arena/test_arena_rows.py"],
    "arena/kernels/infinite": ["arena/test_arena_rows.py"],
    "arena/kernels/extreme": ["extreme/test_extreme_rules.py"],
    "arena/kernels/counting": ["arena/test_arena_ultimate.py"],
    "arena/kernels/ultimate_values": [
        "arena/test_arena_agents.py",
        "arena/test_arena_qlearning.py",
        "arena/test_arena_tuned.py",
    ],
    "arena/kernels/search": ["arena/test_arena_agents.py"],
    "arena/kernels/memory": ["arena/test_arena_agents.py"],
    "arena/kernels/tuned": ["arena/test_arena_tuned.py"],
    "arena/kernels/ultimate_learnt": ["arena/test_arena_learnt.py"],
    "arena/kernels/mcts": ["arena/test_arena_mcts.py"],
    "arena/kernels/solving": ["arena/test_arena_solvers.py"],
    "arena/kernels/qlearning": ["arena/test_arena_qlearning.py"],
    "arena/kernels/value_table": ["arena/test_arena_learning.py"],
    "arena/kernels/line_patterns": ["arena/test_arena_patterns.py"],
    "arena/kernels/extreme_search": ["extreme/test_extreme_search.py"],
}
"""For each module of the core, and for the arena's kernels, the tests that run on its mutants: its own first."""

KERNELS = set(jit.SOURCES) - {"compiler", "jit", "structure/timing"}
"""Modules that numba compiles.  Their mutants run as plain Python first; then all is compiled anew for each of them."""

_UNCOMPILED = {
    "products/tensors": "test_formats.py -k 'mini-2x2k2'",
    "products/infosets": "test_infosets.py -k 'mini-2x2k2'",
    "structure/orders": "test_index.py -k 'mini-2x2k2'",
    "sweep/sixteen": "test_held.py -k 'off_by or mean or cut or small'",
}


# ---------------------------------------------------------------------------------------------
# Mutants


@dataclass(frozen=True)
class Mutant:
    """One change: the characters of lines and columns `start` to `end` of the module become `after`."""

    module: str
    start: tuple[int, int]
    end: tuple[int, int]
    before: str
    after: str

    def name(self, source: str) -> str:
        """The lines before and after; stays the same when the module changes elsewhere."""
        changed = self.applied(source).splitlines()
        lines, more = source.splitlines(), len(changed) - len(source.splitlines())
        part = slice(self.start[0] - 1, self.end[0])
        return f"{self.module}: {_short(lines[part])} => {_short(changed[part.start : part.stop + more])}"

    def applied(self, source: str) -> str:
        """The source with the change."""
        lines = source.splitlines(keepends=True)
        first, last = lines[self.start[0] - 1], lines[self.end[0] - 1]
        head = first.encode()[: self.start[1]].decode()
        tail = last.encode()[self.end[1] :].decode()
        return "".join([*lines[: self.start[0] - 1], head + self.after + tail, *lines[self.end[0] :]])


def _short(lines: Sequence[str]) -> str:
    return " ".join(" ".join(lines).split())


_COMPARED = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_COMPUTED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}


def _changed(node: Any, **fields: Any) -> Any:
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def _variants(node: ast.AST) -> Iterator[ast.AST | None]:
    """What may stand in the place of a node of the syntax tree; None for nothing."""
    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                for other in _COMPARED[type(op)]:
                    yield _changed(node, ops=[*ops[:i], other(), *ops[i + 1 :]])
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _COMPUTED:
            yield _changed(node, op=_COMPUTED[type(op)]())
            if isinstance(node, ast.AugAssign):
                yield None
        case ast.BoolOp(op=op):
            yield _changed(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield _changed(node, value=not value)
        case ast.Constant(value=int() | float() as value):
            yield _changed(node, value=value + 1)
            yield _changed(node, value=value - 1)
        case ast.Call(args=args, keywords=keywords):
            if len(args) > 1 and not any(isinstance(a, ast.Starred) for a in args[:2]):
                yield _changed(node, args=[args[1], args[0], *args[2:]])
            for i, keyword in enumerate(keywords):
                if keyword.arg:
                    yield _changed(node, keywords=[*keywords[:i], *keywords[i + 1 :]])
        case ast.IfExp(test=test):
            yield _changed(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Expr(value=ast.Call() | ast.Yield()) if isinstance(node.value, ast.Call):
            yield None
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]) | ast.Raise() | ast.Delete() | ast.Assert():
            yield None
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes that do something: no annotations, no types, no messages of errors, no documentation."""
    yield tree
    for name, value in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "bases"):
            continue
        if isinstance(tree, ast.Raise) and name == "exc":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _nodes(child)
    if isinstance(tree, ast.If | ast.While):
        yield _Condition(tree.test)


class _Condition(ast.AST):
    """The condition of an `if` or `while`, which may be turned round."""

    def __init__(self, test: ast.expr) -> None:
        super().__init__()
        self.test = test


def mutants(module: str, source: str) -> list[Mutant]:
    """All mutants of a module, in the sequence of the source."""
    found = {}
    for node in _nodes(ast.parse(source)):
        if isinstance(node, _Condition):
            place, variants = node.test, [ast.UnaryOp(ast.Not(), node.test)]
        else:
            place, variants = node, list(_variants(node))  # type: ignore[assignment]
        for variant in variants:
            after = "pass" if variant is None else ast.unparse(ast.fix_missing_locations(variant))
            if isinstance(variant, ast.expr):
                after = f"({after})"
            start, end = (place.lineno, place.col_offset), (place.end_lineno or 0, place.end_col_offset or 0)
            before = ast.get_source_segment(source, place) or ""
            mutant = Mutant(module, start, end, before, after)
            try:
                compile(mutant.applied(source), module, "exec")
            except (SyntaxError, ValueError):
                continue
            found[start, end, after] = mutant
    return [found[key] for key in sorted(found)]


def sample(module: str, source: str, count: int, seed: int) -> list[Mutant]:
    """Some mutants of a module by chance; a larger sample begins with the smaller one."""
    found = mutants(module, source)
    random.Random(f"{seed} {module}").shuffle(found)
    return found[:count]


# ---------------------------------------------------------------------------------------------
# Running the tests


class Tree:
    """A copy of the project, in which modules are changed and tests run."""

    def __init__(self, place: Path) -> None:
        self.place = place
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
        shutil.rmtree(place, ignore_errors=True)
        for name in filter(None, names):
            if (ROOT / name).is_file():
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, place / name)
        # It would compile all kernels anew for every mutant; numba compiles those that are called, one by one.
        with open(self.file("kernels"), "a", encoding="utf-8") as file:
            file.write("\n\ndef ensure_compiled() -> None:\n    pass\n")
        self._usual: dict[str, float] = {}

    def file(self, module: str) -> Path:
        """The source of a module of the package."""
        return self.place / "pttt_ooc" / f"{module}.py"

    def steps(self, module: str) -> list[tuple[str, bool]]:
        """Arguments for pytest, and whether to compile the kernels."""
        steps = [(tests, True) for tests in TESTS[module]]
        if module in KERNELS:
            steps.insert(0, (_UNCOMPILED.get(module, "test_gradient.py -k 'tiny and 2x2k2'"), False))
        return steps

    def passes(self, tests: str, compiled: bool, limit: float) -> bool | None:
        """Whether tests pass; None if they take longer than `limit` seconds."""
        environment = {**os.environ, "PYTHONPATH": str(self.place), "NUMBA_CACHE_DIR": str(self.place / "numba")}
        environment |= {"PYTHONDONTWRITEBYTECODE": "1"} | ({} if compiled else {"NUMBA_DISABLE_JIT": "1"})
        command = f"{sys.executable} -m pytest -x -q -p no:cacheprovider -p no:randomly tests/{tests}"
        with open(self.place / "tests.log", "w") as log:
            options: Any = {"cwd": self.place, "env": environment, "stdout": log, "stderr": log}
            child = subprocess.Popen(command, shell=True, start_new_session=True, **options)
            try:
                return child.wait(limit) == 0
            except subprocess.TimeoutExpired:
                return None
            finally:
                # Processes that a test has started, too.
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()

    def usual(self, tests: str, compiled: bool) -> float:
        """Seconds that tests take on the module as it is, which they have to pass."""
        key = f"{tests} {compiled}"
        if key not in self._usual:
            begun = time.monotonic()
            if not self.passes(tests, compiled, 3600.0):
                raise SystemExit(f"Without any mutant, these tests fail: {tests}\n{self.told()}")
            self._usual[key] = time.monotonic() - begun
        return self._usual[key]

    def told(self) -> str:
        """The end of what the last tests have printed."""
        return (self.place / "tests.log").read_text()[-3000:]

    def _compiled(self) -> set[Path]:
        return set((self.place / "numba").rglob("*.nb[ic]"))

    def judge(self, mutant: Mutant) -> str:
        """Which tests killed a mutant; the empty string if it survived."""
        file, steps = self.file(mutant.module), self.steps(mutant.module)
        limits = [PATIENCE * self.usual(*step) + GRACE for step in steps]
        source, before = file.read_text(encoding="utf-8"), self._compiled()
        file.write_text(mutant.applied(source), encoding="utf-8")
        try:
            for (tests, compiled), limit in zip(steps, limits, strict=True):
                passed = self.passes(tests, compiled, limit)
                if not passed:
                    return tests + (" (no end)" if passed is None else "") + ("" if compiled else " (not compiled)")
            return ""
        finally:
            file.write_text(source, encoding="utf-8")
            for made in self._compiled() - before:  # under the name of a version that never returns
                made.unlink()


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
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="of those that have tests here (default: all)")
    parser.add_argument("--count", type=int, default=10, metavar="N", help="mutants of a module (default: 10)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the sample (default: 0)")
    parser.add_argument("--again", action="store_true", help="try survivors again")
    parser.add_argument("--list", action="store_true", help="print the results so far, and run nothing")
    parser.add_argument("--data", type=Path, default=ROOT / "data" / "mutation", metavar="DIR", help="for results")
    options = parser.parse_args(arguments)
    if wrong := set(options.modules) - TESTS.keys():
        parser.error(f"there is no module {min(wrong)} to mutate; choose from {', '.join(TESTS)}")
    return options


def run(options: argparse.Namespace, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Judge the sample, as far as that has not been done; all its results."""
    options.data.mkdir(parents=True, exist_ok=True)
    results = Results(options.data / "results.jsonl")
    tree = None if options.list else Tree(options.data / "tree")
    found = []
    for module in options.modules or TESTS:
        source = (tree.place if tree else ROOT).joinpath("pttt_ooc", f"{module}.py").read_text(encoding="utf-8")
        for mutant in sample(module, source, options.count, options.seed):
            key = results.key(mutant, source)
            before = results.rows.get(key)
            if tree and (before is None or options.again and not before["killed_by"]):
                results.add(key, mutant, tree.judge(mutant))
                note(f"{mutant.name(source)}   {results.rows[key]['killed_by'] or 'SURVIVED'}")
            if key in results.rows:
                found.append({**results.rows[key], "name": mutant.name(source)})
    return found


def summary(found: Sequence[dict[str, Any]]) -> str:
    """Score of each module and in all, then the survivors."""
    reasons, lines, survivors = equivalents(), [], []
    for module in [*dict.fromkeys(row["module"] for row in found), None]:
        rows = [row for row in found if module in (None, row["module"]) and row["name"] not in reasons]
        alive = [row for row in rows if not row["killed_by"]]
        survivors += alive if module else []
        share = f"{100 * (1 - len(alive) / len(rows)):.0f}%" if rows else "-"
        lines.append(f"{module or 'all':12}{len(rows) - len(alive):5} of {len(rows):4} killed  {share:>5}")
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
