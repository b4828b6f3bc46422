"""Solving in little memory: a hard limit around the whole process, and the same bits as with plenty."""

import json
import os
import resource
import subprocess
import sys

import helpers
import pytest

from pttt_ooc.config import SolveConfig
from pttt_ooc.memory import MemoryPlan
from pttt_ooc.solve import solve as solve_game
from pttt_ooc.solve import solve_arrays

MB = 1_000_000
PLENTY = 8000


def solve(data, game, symmetry, budget, iterations, limit=None):
    """Run the real command; its manifest."""
    command = [
        sys.executable,
        "-c",
        "from pttt_ooc.cli import main; main()",
        "solve",
        "--game",
        game,
        "--symmetry",
        symmetry,
        "--data",
        data,
    ]
    command += ["--max-iterations", str(iterations), "--target-nashconv", "0", "--memory-mb", str(budget)]

    def limited():
        if limit:
            resource.setrlimit(resource.RLIMIT_DATA, (limit * MB, limit * MB))

    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        preexec_fn=limited,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((data / game / symmetry / "solve.json").read_text())


def check(data, game, symmetry, limit, iterations):
    """Solve within `limit` MB and with plenty, from the start, and compare."""
    solve(data, game, symmetry, PLENTY, 1)  # makes the index, which the limit is not about
    found = {}
    for budget, bound in ((limit, limit), (PLENTY, None)):
        for work in (data / game / symmetry / "work").iterdir():
            subprocess.run(["rm", "-r", str(work)], check=True)
        found[budget] = solve(data, game, symmetry, budget, iterations, bound)
    little, plenty = found[limit], found[PLENTY]
    assert little["products"]["solution.zarr"] == plenty["products"]["solution.zarr"]
    gaps = [f["result"]["nashconv"] for f in (little, plenty)]
    assert gaps[0] == gaps[1]
    for manifest in (little, plenty):
        assert manifest["usage"]["peak_anonymous_mb"] <= manifest["memory"]["projected_mb"]
    assert little["memory"]["projected_mb"] <= limit
    return little, plenty


def test_small_board_with_all_arrays_mapped(tmp_path):
    engine = helpers.small_engine("mini-2x3k3-abrupt", "full")
    settings = SolveConfig(max_iterations=20, target_nashconv=0)
    arrays = solve_arrays(engine.index, settings)
    found = []
    for budget, mapped in ((0, set(arrays)), (PLENTY, set())):
        room = MemoryPlan({}, arrays).room(budget, tmp_path / "scratch")
        assert set(arrays) - room.held == mapped
        solution = solve_game(engine, settings, tmp_path / f"work-{budget}", "x", room=room)
        found.append([strategy.probabilities.tobytes() for strategy in solution.strategies])
    assert found[0] == found[1]


@pytest.mark.full
@pytest.mark.parametrize(("symmetry", "limit"), [("full", 384), ("none", 512)])
def test_full_game_under_a_hard_limit(tmp_path, symmetry, limit):
    little, plenty = check(tmp_path, "pttt-abrupt", symmetry, limit, 4)
    assert little["memory"]["mapped_mb"] > plenty["memory"]["mapped_mb"] == 0
