"""Several runs: where their results are, and how the report compares them."""

import json
from pathlib import Path

import pytest

from pttt_ooc.errors import ConfigError, StoreError
from pttt_ooc.pipeline.show.comparison import RunFacts, common_gap, comparison_rows
from pttt_ooc.pipeline.show.pictures import comparison_figure, figure_bytes
from pttt_ooc.pipeline.stages import comparison, directories
from pttt_ooc.pipeline.stages.stage_context import stage

DATA = Path("data/mini/full")


def facts(name, gaps, **parameters):
    rows = [{"iteration": 10 * i, "seconds": i / 2, "nashconv": gap} for i, gap in enumerate(gaps, 1)]
    return RunFacts(name, "dcfr", parameters, "float32", rows, "target_nashconv")


def test_results_of_runs():
    assert directories.results_of(Path("data"), "mini", "full") == DATA
    own = directories.results_of(Path("data"), "mini", "full", "a")
    assert own == DATA / "runs/a" and directories.structure_of(own) == DATA == directories.structure_of(DATA)
    assert directories.manifest_of(own, "index") == DATA / "index.json"
    assert directories.manifest_of(own, "solve") == own / "solve.json"
    assert directories.sibling(own, "b") == DATA / "runs/b" and directories.sibling(own, "default") == DATA
    assert directories.sibling(DATA, "b") == DATA / "runs/b"
    assert [directories.run_of(place) for place in (own, DATA)] == ["a", "default"]


def test_runs_work_at_the_same_time_but_not_while_the_index_is_made(tmp_path):
    first, second = tmp_path / "runs/a", tmp_path / "runs/b"
    with stage("solve", first, []), stage("solve", second, []), stage("solve", tmp_path, []):
        for busy in (first, tmp_path):
            with pytest.raises(StoreError, match=f"at work in {busy} "), stage("evaluate", busy, []):
                pass
        with pytest.raises(StoreError, match=f"at work in {tmp_path} "), stage("index", tmp_path, []):
            pass
    with stage("index", tmp_path, []):
        for busy in (first, tmp_path):
            with pytest.raises(StoreError, match=f"at work in {tmp_path} "), stage("evaluate", busy, []):
                pass


def test_the_common_gap_is_one_that_all_runs_reached():
    runs = [facts("a", [0.5, 0.02, 0.03]), facts("b", [0.2, 0.1, 0.05, 0.01])]
    assert common_gap(runs) == 0.02
    table = comparison_rows(runs)
    assert [row["reached"]["iteration"] for row in table] == [20, 40]
    assert [row["last"]["nashconv"] for row in table] == [0.03, 0.01]
    assert common_gap([facts("a", []), runs[0]]) is None
    assert comparison_rows([facts("a", [])])[0]["reached"] == {}


def test_settings_in_words():
    told = {"alpha": 1.5, "beta": 0.0, "restart_average": None, "updates": "alternating"}
    assert comparison_rows([facts("a", [1], **told)])[0]["settings"] == "alpha 1.5, beta 0"
    assert comparison_rows([facts("a", [1], **{**told, "updates": "simultaneous"})])[0]["settings"].endswith(
        ", simultaneous"
    )


def test_every_run_has_a_curve_and_a_name():
    curves = {f"run{i}": facts("", [1.0, 0.5 / (i + 1)]).rows for i in range(7)}
    svg = figure_bytes(comparison_figure(curves, "iteration"), "svg").decode()
    assert all(f">run{i}<" in svg for i in range(7))
    assert svg.encode() == figure_bytes(comparison_figure(curves, "iteration"), "svg")


def solved(directory, gap):
    """A directory of results with the files of the stage "solve" that a comparison reads."""
    with stage("solve", directory, ["convergence.jsonl"]) as told:
        row = {"iteration": 1, "seconds": 1.0, "nashconv": gap}
        (directory / "convergence.jsonl").write_text(json.dumps(row) + "\n")
        told.update(settings={"algorithm": "dcfr", "precision": "float32"}, parameters={"alpha": 1.5})
        told["result"] = {**row, "stopped_by": "target_nashconv"}
    return json.loads((directory / "solve.json").read_text())


def test_facts_are_read_from_other_runs(tmp_path):
    own = solved(tmp_path / "runs/a", 0.1)
    other = solved(tmp_path, 0.2)
    runs, read = comparison.read_comparison(tmp_path / "runs/a", ["a", "default"], own)
    assert [(run.name, run.last["nashconv"]) for run in runs] == [("a", 0.1), ("default", 0.2)]
    assert list(read.values()) == [other["products"]["convergence.jsonl"]["digest"]]
    assert comparison.compared_files(tmp_path / "runs/a", ["a"]) == []
    (tmp_path / "convergence.jsonl").write_text("{}\n")
    with pytest.raises(StoreError, match="was changed or damaged after stage 'solve'"):
        comparison.read_comparison(tmp_path / "runs/a", ["default"], own)
    (tmp_path / "convergence.jsonl").unlink()
    with pytest.raises(ConfigError, match="names the run default, but there is no solution"):
        comparison.check_compared(tmp_path / "runs/a", ["default"])
