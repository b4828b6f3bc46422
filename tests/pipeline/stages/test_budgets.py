"""Little memory: a hard limit for every process of the workflow, and the same bits as without one."""

import json
import platform
import re
import resource
import shutil
import subprocess
import sys

import pytest
import yaml

from pttt_ooc.cfr.solving.arrays import solver_arrays
from pttt_ooc.cfr.solving.solve_run import solve
from pttt_ooc.config import SolveConfig, check_config
from pttt_ooc.disk.memory import MemoryNeeds, leaves
from pttt_ooc.errors import MemoryBudgetError
from pttt_ooc.pipeline.stages import DEFAULT_RUN, STAGES
from pttt_ooc.pipeline.stages import enumerate as enumerate_stage
from pttt_ooc.pipeline.stages import evaluate as evaluate_stage
from pttt_ooc.pipeline.stages import export as export_stage
from pttt_ooc.pipeline.stages import index as index_stage
from pttt_ooc.pipeline.stages import solve as solve_stage
from pttt_ooc.pipeline.stages.compilation import ensure_compiled
from pttt_ooc.pipeline.stages.fsck import run_digest
from pttt_ooc.pipeline.stages.memory_plan import plan_memory
from pttt_ooc.pipeline.stages.product_check import timeless
from tests.kits import helpers
from tests.kits.carried import needs_carried_pieces
from tests.kits.patience import PATIENCE
from tests.pipeline.stages.test_workflow import ROOT, Workflow

MB = 1_000_000
PLENTY = 8000
DEVELOPMENT = 128  # MB that libraries of the development environment allocate and never touch, in every process


@pytest.mark.slow
def test_small_board_with_all_arrays_mapped(tmp_path):
    engine = helpers.small_engine("mini-2x3k3-abrupt", "full")
    settings = SolveConfig(max_iterations=5, target_nashconv=0)
    arrays = solver_arrays(engine.index, settings)
    found = []
    for budget, mapped in ((0, set(leaves(arrays))), (PLENTY, set())):
        workspace = MemoryNeeds({}, arrays).within(budget, tmp_path / "scratch")
        assert set(leaves(arrays)) - workspace.held == mapped
        solution = solve(engine, settings, tmp_path / f"work-{budget}", "x", arrays=workspace.allocate())
        found.append([strategy.probabilities.tobytes() for strategy in solution.strategies])
    assert found[0] == found[1]


def run(directory, symmetry, budget, limit):
    """Run the workflow on the full game, each process under a hard limit (MB) if given; return all manifests."""
    workflow = Workflow.fresh(directory)
    settings = yaml.safe_load((ROOT / "config.yaml").read_text())
    settings |= {"symmetry": symmetry, "memory_mb": budget}
    settings["solve"] |= {"max_iterations": 4, "target_nashconv": 0}
    if symmetry == "full":
        settings["finish"] = {"against": "none"}  # the choice among equilibria needs more than 384 MB
    (directory / "config.yaml").write_text(yaml.safe_dump(settings))

    def limited():
        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, ((limit + DEVELOPMENT) * MB, (limit + DEVELOPMENT) * MB))

    done = subprocess.run(
        workflow.command(),
        cwd=directory,
        env=workflow.environment,
        capture_output=True,
        text=True,
        preexec_fn=limited,
        timeout=10 * PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    data = directory / "data/pttt-abrupt" / symmetry
    found = {stage: json.loads((data / f"{stage}.json").read_text()) for stage in STAGES}
    shutil.rmtree(data)
    return found


@pytest.mark.full
@pytest.mark.parametrize(("symmetry", "limit"), [("full", 384), ("none", 512)])
def test_full_game_under_a_hard_limit(tmp_path, symmetry, limit):
    ensure_compiled()  # takes more memory, once, in separate processes
    little = run(tmp_path / "little", symmetry, limit, limit)
    plenty = run(tmp_path / "plenty", symmetry, PLENTY, None)
    for stage in STAGES:
        for manifests in (little, plenty):
            memory = manifests[stage]["memory"]
            assert manifests[stage]["usage"]["peak_anonymous_mb"] <= memory["projected_mb"] <= memory["budget_mb"], (
                stage
            )
        for product, described in little[stage]["products"].items():
            if product != "measurements.html":
                same = plenty[stage]["products"][product]
                assert described.get("content", described["digest"]) == same.get("content", same["digest"]), product
    assert little["solve"]["memory"]["mapped_mb"] > plenty["solve"]["memory"]["mapped_mb"] == 0
    assert little["solve"]["result"]["nashconv"] == plenty["solve"]["result"]["nashconv"]


SOLVE_AND_EVALUATE = """
import sys
from pathlib import Path
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk import memory
from pttt_ooc.pipeline.stages import evaluate, solve

directory, left, budget = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
memory.available_bytes = lambda: left
settings = SolveConfig(max_iterations=3, target_nashconv=0)
solve.run("pttt-abrupt", "none", settings, directory, 2, memory_mb=budget)
evaluate.run("pttt-abrupt", "none", directory, 2, memory_mb=budget)
"""


@pytest.mark.full
def test_full_game_whose_arrays_are_moved(tmp_path):
    """On a machine that does not hold the arrays: the same bits, within the budget."""
    needs_carried_pieces(tmp_path)
    ensure_compiled()
    directory = tmp_path / "pttt-abrupt/none"
    enumerate_stage.run("pttt-abrupt", directory)
    index_stage.run("pttt-abrupt", "none", directory)
    found = []
    for left, budget in ((10**12, PLENTY), (-(10**12), 450)):
        command = [sys.executable, "-c", SOLVE_AND_EVALUATE, str(directory), str(left), str(budget)]
        subprocess.run(command, check=True, timeout=10 * PATIENCE)
        solved, evaluated = (json.loads((directory / f"{stage}.json").read_text()) for stage in ("solve", "evaluate"))
        products = {name: told.get("content", told["digest"]) for name, told in solved["products"].items()}
        found.append((products, timeless(evaluated["solution"])))
        shutil.rmtree(directory / "work")
    assert found[0] == found[1]
    for stage in (solved, evaluated):
        assert stage["usage"]["peak_anonymous_mb"] <= stage["memory"]["projected_mb"] <= budget
        assert stage["usage"]["read_mb"] > stage["memory"]["mapped_mb"], "it was moved"


@pytest.mark.full
def test_the_configuration_as_shipped_on_16_cores(tmp_path):
    workflow = Workflow.fresh(tmp_path / "clone")
    shutil.copy(ROOT / "config.yaml", tmp_path / "clone/config.yaml")
    done = subprocess.run(
        [*workflow.command(), "--cores", "16"],
        cwd=tmp_path / "clone",
        env=workflow.environment,
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    data = tmp_path / "clone/data/pttt-abrupt/full"
    found = {stage: json.loads((data / f"{stage}.json").read_text()) for stage in STAGES}
    for stage, manifest in found.items():
        memory = manifest["memory"]
        assert manifest["usage"]["peak_anonymous_mb"] <= memory["projected_mb"] <= memory["budget_mb"] == 512, stage
    assert [found[stage]["usage"]["threads"] for stage in STAGES] == [1, 1, 16, 11, 16, 4, 1]
    assert found["solve"]["result"]["stopped_by"] == "target_nashconv"
    if platform.machine() == "x86_64":
        assert run_digest(data) == DEFAULT_RUN
    check_shown_results(data)


def check_shown_results(data):
    """The page on the workflow shows the sizes, counts and values of this run of the configuration as shipped."""
    section = (
        (ROOT / "docs/workflow.md").read_text(encoding="utf-8").partition("\n## Results\n")[2].partition("\n## ")[0]
    )
    sizes = dict(re.findall(r"^\| `([\w.-]+)/?` \| (\d+) MB \|", section, re.MULTILINE))
    assert len(sizes) == 7
    for name, megabytes in sizes.items():
        files = [data / name, *(data / name).rglob("*")]
        assert round(sum(file.stat().st_size for file in files if file.is_file()) / MB) == int(megabytes), name
    found = {stage: json.loads((data / f"{stage}.json").read_text()) for stage in STAGES}
    solved, finished = found["solve"]["result"], found["finish"]["result"]
    evaluated, uniform = found["evaluate"]["solution"], found["evaluate"]["uniform"]
    assert f"| {evaluated['value']:.12f} |" in section
    assert evaluated["nashconv"] < 1e-12 and f"{solved['nashconv']:.2g} before `finish`" in section
    assert max(evaluated["exploitability_0"], evaluated["exploitability_1"]) < 1e-12
    assert f"(of uniform play: {uniform['exploitability_0']:.4f} / {uniform['exploitability_1']:.4f})" in section
    assert f"| {solved['iteration']}, then {finished['iteration']} |" in section
    assert "| {:,} / {:,} |".format(*finished["support"]) in section
    counts = [len((data / f"player{player}-infosets.txt").read_text().splitlines()) for player in (0, 1)]
    assert "| {:,} / {:,} |".format(*counts) in section


GAME = "mini-2x2k2-abrupt"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    directory = tmp_path_factory.mktemp("budgets") / GAME / "full"
    enumerate_stage.run(GAME, directory)
    index_stage.run(GAME, "full", directory)
    return directory


def run_stages(directory, threads, budgets, log):
    """Solve, evaluate and export on at most `threads` threads; return the manifests."""
    config = check_config({"game": GAME, "solve": {"max_iterations": 5, "target_nashconv": 0}})
    solve_stage.run(GAME, "full", config.solve, directory, threads, log, budgets["solve"])
    evaluate_stage.run(GAME, "full", directory, threads, budgets["evaluate"], log)
    export_stage.run(GAME, "full", config.export, directory, threads, budgets["export"], log)
    return {name: json.loads((directory / f"{name}.json").read_text()) for name in budgets}


@pytest.mark.slow
def test_stages_use_the_planned_threads_and_say_so_once(indexed, tmp_path, capsys):
    budgets, log = {"solve": 249, "evaluate": 249, "export": 325}, tmp_path / "log"
    plans = {
        name: plan_memory(check_config({"game": GAME, "memory_mb": mb}), 16).stages[name]
        for name, mb in budgets.items()
    }
    found = run_stages(indexed, 16, budgets, log)
    assert {name: each.threads for name, each in plans.items()} == {"solve": 3, "evaluate": 3, "export": 2}
    told = capsys.readouterr().err.splitlines()
    for name, (threads, most) in {"solve": (3, 16), "evaluate": (3, 16), "export": (2, 4)}.items():
        assert found[name]["usage"]["threads"] == threads and found[name]["memory"]["projected_mb"] <= budgets[name]
        sentence = f"{budgets[name]} MB of memory hold {threads} of {most} threads, so {name} uses {threads}; "
        for lines in (told, log.read_text().splitlines()):
            assert lines.count(f"{sentence}raise memory_mb for more.") == 1
    one = run_stages(indexed, 1, dict.fromkeys(budgets, PLENTY), tmp_path / "other")
    assert "threads" not in capsys.readouterr().err
    for name in budgets:
        assert one[name]["usage"]["threads"] == 1
        for product, described in one[name]["products"].items():
            if product != "convergence.jsonl":
                assert described["digest"] == found[name]["products"][product]["digest"], product
    with pytest.raises(MemoryBudgetError, match="too small"):
        run_stages(indexed, 16, budgets | {"solve": plans["solve"].smallest_mb - 1}, tmp_path / "third")
