"""The table of equilibrium strategies against opponents who err, on a small game."""

import pytest

from benchmarks import opponents
from pttt_ooc.config import SolveConfig
from pttt_ooc.pipeline.stages import solve
from pttt_ooc.pipeline.stages.preparation import prepare_index

pytest.importorskip("scipy")

GAME = "dark-hex-2x2-abrupt"


@pytest.mark.slow
def test_columns_are_between_the_worst_and_the_best(tmp_path, capsys):
    directory = prepare_index(tmp_path, GAME, "full")
    solve.run(GAME, "full", SolveConfig(target_nashconv=0, max_iterations=20), directory)
    arguments = ["--game", GAME, "--seeds", "2", "--data", str(tmp_path)]
    assert opponents.main(arguments) == 0
    out = capsys.readouterr().out
    rows = opponents.read(tmp_path / "benchmarks" / f"opponents-{GAME}.jsonl")
    names = ["", "uniform", "rule", "random 0", "random 1"]
    assert [(row["player"], row["opponent"]) for row in rows] == [(p, name) for p in (0, 1) for name in names]
    for row in rows:
        if not row["opponent"]:
            assert abs(row["rule"]) < 1e-12 and abs(row["uniform"]) < 1e-12 and row["average"] > -1e-12
            continue
        assert row["worst"] <= row["best"] + 1e-9
        for exact in ("rule", "uniform"):  # these are equilibrium strategies
            assert row["worst"] - 1e-6 <= row[exact] <= row["best"] + 1e-6
        if row["opponent"] == "uniform":
            assert row["uniform"] == pytest.approx(row["best"], abs=1e-6)
    assert "| 0 | 2 random |" in out and "± " in out and "loses at most" in out
    assert opponents.main(arguments) == 0  # nothing is left to do
    assert opponents.read(tmp_path / "benchmarks" / f"opponents-{GAME}.jsonl") == rows
