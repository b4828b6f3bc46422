"""The arena's target in the workflow: what it makes, and what runs again after which change."""

import json

import pytest

from pttt_ooc.imports import dependencies
from pttt_ooc.other_games.arena.experiments import pipeline
from pttt_ooc.other_games.arena.settings import Experiment, RoundRobin, Trainings
from tests.pipeline.stages.test_workflow import Workflow

MATCH = {"claim": "chance wins", "game": "mnk:3x3+need3", "agents": ["random", "random"], "games": 4}
SECTION = {
    "experiments": {
        "one": MATCH,
        "two": MATCH | {"agents": ["mcts:nodes={}", "random"], "values": [5, 20], "test": "none", "claim": "more wins"},
        "three": MATCH | {"test": "none"},
    },
    "round_robins": {"all": {"game": "mnk:3x3+need3", "agents": ["random", "mcts:nodes=5"], "games": 4}},
    "trainings": {"small": {"claim": "small board", "game": "mnk:3x3+need3", "games": 1200, "seeds": 2}},
}
JOBS = ("arena_experiment", "arena_round_robin", "arena_trainings", "arena_report")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return Workflow.of_wing(tmp_path_factory.mktemp("arena"), "arena", **SECTION)


@pytest.fixture
def workflow(finished, tmp_path):
    return finished.copy(tmp_path)


def stale(workflow):
    """How many jobs of each kind would run."""
    lines = [line.split() for line in workflow.succeed("arena", "--dry-run").splitlines()]
    found = {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[0] in JOBS and line[1].isdigit()}
    return tuple(found.get(job, 0) for job in JOBS)


def changed(workflow, kind, name, **values):
    section = json.loads(json.dumps(SECTION))
    section[kind][name].update(values)
    workflow.configure("arena", **section)


@pytest.mark.slow
def test_the_target_makes_everything_of_the_wing_and_nothing_else(finished):
    arena = finished.directory / "data/arena"
    assert [path.name for path in (finished.directory / "data").iterdir()] == ["arena"]
    assert stale(finished) == (0, 0, 0, 0)
    page = (arena / "report.html").read_text()
    result = json.loads((arena / "one/result.json").read_text())
    [match] = result["matches"]
    assert match["wins"] + match["draws"] + match["losses"] == 4 and f"{match['rate']:.2%}" in page
    assert page.count("<svg") == 4 and "built-in" not in page  # a series, times, ratings, trainings
    for row in json.loads((arena / "all/standings.json").read_text())["standings"]:
        assert (arena / "all" / row["against"][0]["match"] / "games.jsonl").exists()


@pytest.mark.long_but("experiments-one-values0-jobs0")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "name", "values", "jobs"),
    [
        ("experiments", "one", {"games": 6}, (1, 0, 0, 1)),
        ("round_robins", "all", {"agents": ["random", "mcts:nodes=6"]}, (0, 1, 0, 1)),
        ("trainings", "small", {"seeds": 3}, (0, 0, 1, 1)),
    ],
)
def test_stale_jobs_after_a_change_of_configuration(workflow, kind, name, values, jobs):
    changed(workflow, kind, name, **values)
    assert stale(workflow) == jobs


def test_a_result_depends_on_its_game_its_agents_and_the_matches(monkeypatch):
    """An edit of their sources makes it stale, and no other one."""
    settings = [
        *(Experiment(**one) for one in SECTION["experiments"].values()),
        *(RoundRobin(**one) for one in SECTION["round_robins"].values()),
        *(Trainings(**one) for one in SECTION["trainings"].values()),
    ]
    monkeypatch.setattr(pipeline, "code_digest", lambda modules: modules)
    found = [{name.removeprefix("other_games/arena/") for name in pipeline.sources(one)} for one in settings]
    for module, stale in (
        ("research/kernels/mcts", (0, 1, 0, 1, 0)),
        ("matches/referee", (1, 1, 1, 1, 0)),
        ("kernels/value_table", (0, 0, 0, 0, 1)),
        ("kernels/mnk", (1, 1, 1, 1, 1)),
        ("kernels/extreme", (0, 0, 0, 0, 0)),
        ("pages/play_pages", (0, 0, 0, 0, 0)),
    ):
        assert tuple(int(module in one) for one in found) == stale, module
    monkeypatch.setattr(pipeline, "module_digest", dependencies)
    assert "other_games/arena/templates/arena_report.html.j2" in pipeline.report_sources()


@pytest.mark.long
def test_games_that_are_there_are_not_played_again_and_other_ones_have_a_place_of_their_own(workflow):
    games = workflow.directory / "data/arena/one/games"
    [before] = games.iterdir()
    kept = (before / "match/effort.jsonl").read_text().splitlines()  # what clocks said
    changed(workflow, "experiments", "one", games=6)
    workflow.succeed("arena", "--until", "arena_experiment")
    assert (before / "match/effort.jsonl").read_text().splitlines()[:4] == kept and len(list(games.iterdir())) == 1
    changed(workflow, "experiments", "one", seed=1)
    workflow.succeed("arena", "--until", "arena_experiment")
    assert len(list(games.iterdir())) == 2


@pytest.mark.slow
def test_a_wrong_section_is_refused_in_one_sentence(workflow):
    changed(workflow, "experiments", "one", games=0)
    done = workflow.run("arena")
    assert done.returncode != 0 and "greater than or equal to 1" in done.stderr and "Traceback" not in done.stderr
