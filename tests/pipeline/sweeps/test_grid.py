"""Sweeps: the runs of a grid, the section of the configuration, the page that compares them, and its target."""

import csv
import json
from dataclasses import replace
from html import escape

import pytest

from pttt_ooc.cli.sections import check_file, further_runs
from pttt_ooc.disk.numbers import gap, interval
from pttt_ooc.errors import ConfigError, StoreError
from pttt_ooc.pipeline.sweeps.report import compare, page_text, read_run
from tests.pipeline.stages.test_workflow import Workflow

GAME = "mini-2x2k2-abrupt"
SWEEP = {"games": [GAME], "algorithms": ["dcfr", "sapdcfr+"], "precisions": ["float64"]}


def runs_of(**content):
    return further_runs(*check_file(content))


def test_a_run_for_each_combination():
    assert runs_of() == {}
    games, precisions = [GAME, {"rows": 2, "columns": 4, "k": 3, "turn_rule": "classical"}], ["float32", "float64"]
    runs = runs_of(
        sweep=SWEEP | {"games": games, "precisions": precisions}, solve={"max_iterations": 7}, symmetry="none"
    )
    assert list(runs) == [
        f"data/{game}/none/runs/sweep-{algorithm}-{precision}"
        for game in (GAME, "pttt-2x4k3-classical")
        for algorithm in ("dcfr", "sapdcfr+")
        for precision in ("float32", "float64")
    ]
    for directory, config in runs.items():
        assert directory == f"data/{config.game}/{config.symmetry}/runs/{config.run}"
        assert config.run == f"sweep-{config.solve.algorithm}-{config.solve.precision}"
        assert config.solve.max_iterations == 7


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"sweep": SWEEP | {"games": [GAME] * 2}}, "mini-2x2k2-abrupt is there more than once"),
        ({"sweep": SWEEP | {"algorithms": []}}, r"sweep.algorithms is \[\]"),
        ({"sweep": SWEEP | {"precisions": []}}, r"sweep.precisions is \[\]"),
        ({"sweep": SWEEP | {"algorithms": ["dcrf"]}}, "dcrf"),
        ({"sweep": SWEEP | {"game": "x"}}, "there is no key sweep.game"),
        ({"sweep": SWEEP | {"name": "a" * 33}}, "sweep.name"),
        ({"sweep": SWEEP, "solve": {"gamma": 3}}, "solve.gamma is 3, but sweep.algorithms names several"),
        ({"sweep": SWEEP, "game": GAME, "run": "sweep-dcfr-float64"}, "a run of the sweep has this name"),
    ],
)
def test_refused_sections(content, sentence):
    with pytest.raises(ConfigError, match=sentence):
        runs_of(**content)


def test_a_sweep_that_only_names_games_solves_each_once():
    assert list(runs_of(sweep={"games": [GAME]})) == [f"data/{GAME}/full/runs/sweep-sapdcfr+-float32"]


def test_a_parameter_may_have_a_value_for_one_rule():
    [run] = runs_of(sweep={"games": [GAME], "algorithms": ["dcfr"]}, solve={"gamma": 3}).values()
    assert run.solve.gamma == 3


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    return Workflow.of_wing(tmp_path_factory.mktemp("sweep"), "sweep", **SWEEP)


def jobs(workflow, *arguments):
    """The number of jobs of each kind that would run."""
    lines = [line.split() for line in workflow.succeed("sweep", "--dry-run", *arguments).splitlines()]
    return {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdigit()}


@pytest.mark.slow
def test_a_sweep_makes_its_runs_and_one_page(swept):
    """Views and index once for all runs of a game; the configuration's own run is not made."""
    data = swept.directory / "data"
    assert {path.name for path in data.iterdir()} == {GAME, "sweeps"} and jobs(swept) == {}
    assert {path.name for path in (data / GAME / "full").glob("*.json")} == {"enumerate.json", "index.json"}
    rows = list(csv.DictReader((data / "sweeps/sweep/comparison.csv").open()))
    page = (data / "sweeps/sweep/report.html").read_text()
    assert len(rows) == 2 and page.count("<svg") == 2
    for row in rows:
        run = data / GAME / "full/runs" / f"sweep-{row['algorithm']}-{row['precision']}"
        solved = json.loads((run / "solve.json").read_text())
        evaluated = json.loads((run / "evaluate.json").read_text())["solution"]
        assert solved["settings"]["algorithm"] == row["algorithm"] and solved["game"] == row["game"] == GAME
        assert float(row["nashconv"]) == solved["result"]["nashconv"] == pytest.approx(evaluated["nashconv"], abs=1e-12)
        assert float(row["value_lower"]) <= evaluated["value"] <= float(row["value_upper"])
        assert float(row["exploitability_0"]) + float(row["exploitability_1"]) == pytest.approx(float(row["nashconv"]))
        assert f"{row['algorithm']}, {row['precision']}" in page and escape(gap(float(row["nashconv"]))) in page
    assert not (run / "export.json").exists() and not (run / "report.html").exists()


@pytest.mark.slow
def test_a_page_of_several_games(swept):
    """The value is in the intersection of the bounds by one game's runs; games are kept apart."""
    runs = [read_run(swept.directory / f"data/{GAME}/full/runs/sweep-{rule}-float64") for rule in SWEEP["algorithms"]]
    bounds = [(run.solved["result"]["value_lower"], run.solved["result"]["value_upper"]) for run in runs]
    both = interval((max(low for low, _ in bounds), min(high for _, high in bounds)), 6)
    others = [replace(run, solved={**run.solved, "game": "mini-2x2k2-classical"}) for run in runs]
    page = page_text([*runs, *others])
    assert page.count("<section") == 2 and page.count(both) == 2 and "4 runs of 2 games" in page
    assert page == page_text([*runs, *others])


@pytest.mark.slow
def test_only_what_a_change_asks_for_runs_again(swept, tmp_path):
    workflow = swept.copy(tmp_path)
    workflow.configure("sweep", precisions=["float64", "float32"])
    assert jobs(workflow) == {"solve": 2, "evaluate": 2, "sweep_report": 1, "sweep": 1, "total": 6}
    workflow.configure("sweep", **SWEEP)
    workflow.configure("solve", max_iterations=3, target_nashconv=0)
    assert jobs(workflow) == {"solve": 2, "evaluate": 2, "sweep_report": 1, "sweep": 1, "total": 6}
    workflow.configure("sweep", games=[GAME, "mini-2x2k2-classical"])
    assert jobs(workflow)["enumerate"] == jobs(workflow)["index"] == 1


@pytest.mark.slow
def test_a_run_of_the_same_game_shares_views_and_index_with_the_sweep(swept, tmp_path):
    workflow = swept.copy(tmp_path)
    text = (workflow.directory / "config.yaml").read_text()
    (workflow.directory / "config.yaml").write_text(text.replace("mini-2x3k2-abrupt", GAME))
    assert workflow.stale() == ["solve", "finish", "evaluate", "export", "report"] and jobs(workflow) == {}


@pytest.mark.slow
def test_a_sweep_without_games_is_refused_in_one_sentence(swept, tmp_path):
    workflow = swept.copy(tmp_path)
    workflow.configure("sweep", games=[], name="empty")
    done = workflow.run("sweep")
    assert done.returncode != 0 and "The sweep has no runs; name games in sweep.games" in done.stdout + done.stderr


@pytest.mark.slow
def test_a_run_that_was_tampered_with_is_not_compared(swept, tmp_path):
    swept.copy(tmp_path)
    run = tmp_path / "w/data" / GAME / "full/runs/sweep-dcfr-float64"
    (run / "convergence.jsonl").write_text((run / "convergence.jsonl").read_text().replace("9", "8"))
    with pytest.raises(StoreError, match="changed or damaged"):
        compare([run], tmp_path)
    (run / "evaluate.json").unlink()
    with pytest.raises(StoreError, match="evaluate"):
        compare([run], tmp_path)
