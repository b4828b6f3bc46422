"""The arena's pages say what the committed records say, and the records what the agents play."""

import copy
import json

import pytest

from docs.make import arena as arena_pages
from pttt_ooc.other_games.arena.experiments import experiment as experiments
from pttt_ooc.other_games.arena.experiments import records, trainings
from pttt_ooc.other_games.arena.matches.runner import SeatedAgents
from pttt_ooc.other_games.arena.research.solvers import endings

CONFIG, RECORDS = arena_pages.ROOT / "examples" / "arena", arena_pages.ROOT / "docs" / "records" / "arena"
LINES = {
    (name, line["name"], line.get("part", line.get("seed"))): line
    for name in arena_pages.CONFIGURATIONS
    for line in records.read(RECORDS / f"{name}.jsonl")
}


def settings_of(name, experiment):
    return experiments.read(CONFIG / f"{name}.yaml")[experiment]


@pytest.fixture(scope="module")
def found():
    return arena_pages.everything()


@pytest.mark.slow
def test_the_tables_of_the_pages_are_those_of_the_records(found):
    named = []
    for page in arena_pages.PAGES:
        text = (arena_pages.ROOT / page).read_text(encoding="utf-8")
        named += arena_pages.names(text)
        assert arena_pages.rendered(text, found) == text, f"{page}: python -m docs.make.arena --write"
    assert sorted(named) == sorted(arena_pages.TABLES)


def test_another_result_is_another_table(found):
    found = copy.deepcopy(found)
    before = {
        name: table(found)
        for name, table in arena_pages.TABLES.items()
        if not name.startswith(("sizes", "turns", "boards", "errors", "attack"))
    }
    before = {name: table for name, table in before.items() if "|" in table}
    for one in filter(None, found.values()):
        for match in one.get("matches", []):
            match["wins"], match["losses"] = match["losses"] + 1, match["wins"]
            match["pairs"] = match["pairs"][::-1] if match["pairs"] else None
            for agent in (0, 1):
                if cost := match.get(f"mean_of_agent_{agent}"):
                    cost["nodes"] += 1000
        for row in one.get("trainings", []):
            row["curve"] = [[mark, second, first, draws] for mark, first, second, draws in row["curve"]]
            row["greedy"] = row["greedy"][::-1]
            row["lost"] = [1 + lost for lost in row.get("lost", [])]
        for row in one.get("standings", []):
            row["points"] += 1
    assert all(arena_pages.TABLES[name](found) != table for name, table in before.items())


def test_errors_are_measured_of_the_committed_endings():
    """All agents of the table faced each ending once, and the cheapest is measured again."""
    told = json.loads((RECORDS / "errors.json").read_text(encoding="utf-8"))
    there = endings.read(RECORDS / "endings.jsonl")
    for one in told["agents"]:
        assert sum(counts[0] for counts in one["phases"]) == len(there) == told["endings"]
        kept = sum(counts[1] for counts in one["phases"])
        assert kept + sum(one["errors"].values()) == len(there)
    (recorded,) = (one for one in told["agents"] if one["agent"] == "random")
    again = endings.measure("random", there, told["seed"])
    assert all(again[key] == recorded[key] for key in ("phases", "errors"))


def test_records_are_complete_and_compact():
    assert sum(file.stat().st_size for file in RECORDS.iterdir()) < 5_000_000
    for (name, experiment, _), line in LINES.items():
        command = f"experiment examples/arena/{name}.yaml {experiment}"
        assert line["command"] in (f"pttt lab {command}", f"pttt arena {command}")  # as it was called then
        assert line["version"].startswith("0.") and ("note" in line or line.keys() & {"games_digest", "digest"})
        if line.get("pairs"):
            points = sum(score * count for score, count in enumerate(line["pairs"]))
            assert points == 2 * line["wins"] + line["draws"]
        if "match" in line:
            assert line["wins"] + line["draws"] + line["losses"] == line["match"]["games"]


@pytest.mark.long_but("heur3-heur1", "tuned-nodes")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "experiment", "part"),
    [
        ("ultimate", "heur3-heur1", "match"),
        ("ultimate", "expectimax-minimax", "match"),
        ("ultimate", "memory-plain-nodes", "match"),
        ("ultimate", "heur4-heur3", "match"),
        ("ultimate", "memory-fifo-nodes", "match"),
        ("ultimate", "nodes-depth-2", "800"),
        ("ladder", "network-tuned-nodes", "match"),
        ("round-robin", "tuned-nodes", "match"),
        ("round-robin", "mcts-uct", "match"),
        ("round-robin", "tuned-depth-2", "match"),
    ],
)
def test_the_first_games_of_a_match_are_played_again(name, experiment, part):
    line, match = LINES[name, experiment, part], records.matches(settings_of(name, experiment))[part]
    seated = SeatedAgents(match)
    games = [game.game_json() for game in seated.play(range(records.FEW))]
    seated.close()
    assert records.digest(games) == line["first_games_digest"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "experiment", ["rows-3x3", pytest.param("rows-5x5", marks=[pytest.mark.slow, pytest.mark.long])]
)
def test_a_training_learns_the_same_again(experiment):
    line = LINES["rows", experiment, 1]
    row = trainings.train(settings_of("rows", experiment), 1)
    assert {key: row[key] for key in ("curve", "greedy", "digest")} == {
        key: line[key] for key in ("curve", "greedy", "digest")
    }
