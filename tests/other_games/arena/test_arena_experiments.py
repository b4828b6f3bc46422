"""Experiments: read from a configuration, played, resumed and judged."""

import json

import pytest

from pttt_ooc.errors import ConfigError
from pttt_ooc.other_games.arena.experiments import experiment as experiments
from pttt_ooc.other_games.arena.experiments import report
from pttt_ooc.other_games.arena.experiments.significance import Units
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.matches import log
from pttt_ooc.other_games.arena.settings import Experiment
from tests.other_games.arena.arena_kit import lab

TEXT = """
arena:
  experiments:
    one:
      claim: searching beats chance
      agents: ["alphabeta:heur=1,depth=1", random]
      games: 30
      theirs: {rate: 0.9, games: 100}
    two:
      claim: more nodes win more
      agents: ["alphabeta:nodes={}", random]
      values: [2, 50]
      games: 10
      test: none
    three:
      claim: depth takes time
      agents: ["alphabeta:heur=1,depth={}", random]
      values: [1, 2]
      games: 4
      test: time
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A directory with the results of TEXT, which are there already."""
    place = tmp_path_factory.mktemp("experiments")
    (place / "some.yaml").write_text(TEXT)
    for name, one in experiments.read(place / "some.yaml").items():
        experiments.conduct(name, one, place / "out" / name, 1, lambda sentence: None)
    return place


def conducted(capsys, place):
    arguments = ("-o", place / "out", "--processes", "1", "--json")
    return json.loads(lab(capsys, "experiment", place / "some.yaml", *arguments))["experiments"]


def test_experiments_are_played_once_and_judged(played, capsys):
    before = (played / "out" / "one" / "match" / log.EFFORT).read_bytes()
    one, two, _ = conducted(capsys, played)
    assert one["verdict"].startswith("holds")
    assert one["matches"][0]["wins"] + one["matches"][0]["draws"] + one["matches"][0]["losses"] == 30
    assert [part["value"] for part in two["matches"]] == ["2", "50"]
    assert two["matches"][1]["rate"] > two["matches"][0]["rate"]
    del one["verdict"]  # it depends on the other claims
    assert json.loads((played / "out" / "one" / "result.json").read_text()) == one
    assert len(log.read_lines(played / "out" / "one" / "match" / log.GAMES)) == 30
    assert (played / "out" / "one" / "match" / log.EFFORT).read_bytes() == before


def test_tables_say_what_the_games_say(played, tmp_path, capsys):
    one, two, three = conducted(capsys, played)
    lines = lab(capsys, "claims", played / "out").splitlines()
    row = next(line for line in lines if line.startswith("| searching"))
    assert "90.00% (n = 100)" in row and one["verdict"] in row
    low, high = Units.of(one["matches"][0]).interval
    assert f"({low:.2%} to {high:.2%}; n = 30" in row
    assert f"{one['matches'][0]['rate']:.2%} (" in row and "n = 30; p = " in row
    assert [line.split(" | ")[0] for line in lines[-2:]] == ["| 2", "| 50"]
    assert f"{two['matches'][1]['rate']:.2%}" in lines[-1]
    times = lines.index("| value | milliseconds | nodes | games |")
    for line, match in zip(lines[times + 2 : times + 4], three["matches"], strict=True):
        _, value, milliseconds, nodes, games, _ = map(str.strip, line.split("|"))
        mean = match["mean_of_agent_0"]
        assert (value, games) == (match["value"], "4") and int(nodes.replace(",", "")) == round(mean["nodes"])
        assert float(milliseconds) == pytest.approx(mean["processor_milliseconds"], rel=0.01)
    lab(capsys, "claims", tmp_path / "nowhere", code=1)


def test_a_series_of_times_is_drawn_as_times(played, tmp_path):
    result = played / "out" / "three" / "result.json"
    three = json.loads(result.read_text())
    [line] = report.series_figure(three).axes[0].lines
    assert line.get_xdata().tolist() == [1, 2] and line.axes.get_xlabel() == "depth"
    assert line.get_ydata().tolist() == [m["mean_of_agent_0"]["processor_milliseconds"] for m in three["matches"]]
    report.write([result], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 1 and "the mean time of the processor for a move of alphabeta:heur=1,depth={}." in page


def test_a_series_is_drawn_in_the_order_of_its_values():
    scores = {"2": (5, 0, 5), "30": (7, 0, 3)}
    found = [
        {"value": value, **dict(zip(("wins", "draws", "losses"), score, strict=True))}
        for value, score in scores.items()
    ]
    one = {"matches": found[::-1], "test": "none", "agents": ["mcts:nodes={}", "random"]}
    axes = report.series_figure(one).axes[0]
    assert axes.lines[0].get_xdata().tolist() == [2, 30] and axes.lines[0].get_ydata().tolist() == [0.5, 0.7]
    assert axes.get_xlabel() == "nodes" and axes.get_xscale() == "log"


def test_moves_of_the_opening_took_nobody_any_time(tmp_path, monkeypatch):
    """They are given; their rows hold nothing that the agents have spent."""
    row = {"number": 0, "wall": [9.0, 1.0], "processor": [9.0, 2.0], "nodes": [9, 3], "depths": [9, 4]}
    monkeypatch.setattr(experiments, "run", lambda *_: [{"number": 0, "starter": 0, "winner": 1}])
    monkeypatch.setattr(experiments.log, "read_lines", lambda file: [row])
    claim = Experiment(claim="x", agents=("random", "random"), games=2, opening=1, test="none")
    [told] = experiments.conduct("x", claim, tmp_path, 1, print)["matches"]
    assert told["mean_of_agent_1"] == {"milliseconds": 1e3, "processor_milliseconds": 2e3, "nodes": 3, "depth": 4}
    assert told["mean_of_agent_0"]["nodes"] == 0 and told["turns_of_agent_0"]["turn"] == []


def test_means_are_those_of_the_moves():
    games = [{"number": 0, "starter": 1, "winner": 0}, {"number": 1, "starter": 0, "winner": 2}]
    effort = {
        0: {"wall": [1.0, 2.0, 3.0], "processor": [0.5, 1.0, 1.5], "nodes": [10, 20, 30], "depths": [1, 2, 3]},
        1: {"wall": [4.0], "processor": [2.0], "nodes": [40], "depths": [4]},
    }
    told = experiments.efforts(games, effort)
    assert told["mean_of_agent_0"] == {"milliseconds": 3e3, "processor_milliseconds": 1.5e3, "nodes": 30, "depth": 3}
    assert told["mean_of_agent_1"]["nodes"] == 20
    assert told["turns_of_agent_0"]["turn"] == [0, 1] and told["turns_of_agent_0"]["nodes"] == [40, 20]
    assert told["turns_of_agent_1"]["turn"] == [0, 2] and told["turns_of_agent_1"]["moves"] == [1, 1]
    assert experiments.first_player(games).to_json()["losses"] == 1


def test_a_match_in_which_both_start_in_turn_has_pairs(tmp_path):
    for start, pairs in (("both", 3), ("random", None)):
        claim = Experiment(claim="x", game="mnk:3x3+need3", agents=("random", "random"), games=6, start=start)
        [match] = experiments.conduct(start, claim, tmp_path / start, 1, print)["matches"]
        assert (match["pairs"] if pairs is None else sum(match["pairs"])) == pairs


@pytest.mark.parametrize("name", ["ultimate", "ultimate-timed"])
def test_the_claims_of_the_report_are_matches_that_can_be_played(name):
    found = experiments.read(experiments.Path(__file__).parents[3] / "examples" / "arena" / f"{name}.yaml")
    assert len(found) > 8
    for one in found.values():
        assert all(match.games == one.games for match in experiments.matches(one).values())


def test_bad_configurations_are_sentences(played, tmp_path):
    file = tmp_path / "some.yaml"
    with pytest.raises(ArenaError, match=r"no experiment 'onne'.*one, two"):
        experiments.choose_experiments(experiments.read(played / "some.yaml"), ["onne"])
    for text, kind, part in (
        ("{}", ArenaError, "no experiments"),
        ("arena: {experiments: {a: {claim: x}}}", ConfigError, "agents"),
        (TEXT.replace("claim: more", "clam: more"), ConfigError, "clam"),
        (TEXT.replace("values: [2, 50]", ""), ConfigError, "both values"),
    ):
        file.write_text(text)
        with pytest.raises(kind, match=part):
            experiments.read(file)
