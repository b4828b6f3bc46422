"""Little memory: a hard limit around every process of the workflow, and the same bits as with plenty."""

import json
import resource
import shutil
import subprocess

import helpers
import pytest
import yaml
from patience import PATIENCE
from test_workflow import ROOT, Workflow

from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.memory import MemoryNeeds, leaves
from pttt_ooc.solving.arrays import solver_arrays
from pttt_ooc.solving.solver import solve
from pttt_ooc.stages import STAGES
from pttt_ooc.stages.compilation import ensure_compiled

MB = 1_000_000
PLENTY = 8000
DEVELOPMENT = 128  # MB that libraries of the development environment ask for and never touch, in every process


@pytest.mark.slow
def test_small_board_with_all_arrays_mapped(tmp_path):
    engine = helpers.small_engine("mini-2x3k3-abrupt", "full")
    settings = SolveConfig(max_iterations=20, target_nashconv=0)
    arrays = solver_arrays(engine.index, settings)
    found = []
    for budget, mapped in ((0, set(leaves(arrays))), (PLENTY, set())):
        workspace = MemoryNeeds({}, arrays).within(budget, tmp_path / "scratch")
        assert set(leaves(arrays)) - workspace.held == mapped
        solution = solve(engine, settings, tmp_path / f"work-{budget}", "x", arrays=workspace.allocate())
        found.append([strategy.probabilities.tobytes() for strategy in solution.strategies])
    assert found[0] == found[1]


def run(directory, symmetry, budget, limit):
    """The whole workflow on the full game, each process under a hard limit of MB if there is one; all manifests."""
    workflow = Workflow.fresh(directory)
    settings = yaml.safe_load((ROOT / "config.yaml").read_text())
    settings |= {"symmetry": symmetry, "memory_mb": budget}
    settings["solve"] |= {"max_iterations": 4, "target_nashconv": 0}
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
    ensure_compiled()  # which takes more memory, once, in processes of its own
    little = run(tmp_path / "little", symmetry, limit, limit)
    plenty = run(tmp_path / "plenty", symmetry, PLENTY, None)
    for stage in STAGES:
        for manifests in (little, plenty):
            memory = manifests[stage]["memory"]
            assert manifests[stage]["usage"]["peak_anonymous_mb"] <= memory["projected_mb"] <= memory["budget_mb"], (
                stage
            )
        for product, described in little[stage]["products"].items():
            if product not in ("convergence.jsonl", "report.html", "convergence.svg", "strategies.h5"):  # tell the time
                assert described["digest"] == plenty[stage]["products"][product]["digest"], product
    assert little["solve"]["memory"]["mapped_mb"] > plenty["solve"]["memory"]["mapped_mb"] == 0
    assert little["solve"]["result"]["nashconv"] == plenty["solve"]["result"]["nashconv"]
