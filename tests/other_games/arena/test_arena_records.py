"""Compact records: complete, of the configuration that they belong to, and enough for all tables."""

import json

import pytest

from pttt_ooc.cli import commands
from pttt_ooc.other_games.arena.experiments import claims_table, records
from pttt_ooc.other_games.arena.experiments import experiment as experiments
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.matches import log
from tests.other_games.arena.arena_kit import lab

TEXT = """
arena:
  experiments:
    one:
      claim: chance is as strong as chance
      game: mnk:3x3+need3
      agents: [random, random]
      games: 12
      start: both
      test: equal
    two:
      claim: more playouts win more
      game: mnk:3x3+need3
      agents: ["mcts:nodes={}", random]
      values: [3, 9]
      games: 6
      test: none
    three:
      claim: turns
      game: mnk:3x3+need3
      agents: [random, random]
      games: 5
      test: none
  round_robins:
    all: { game: "mnk:3x3+need3", agents: [random, "mcts:nodes=5", "mcts:nodes=9"], games: 4 }
  trainings:
    small: { claim: small board, game: "mnk:3x3+need3", games: 1500, seeds: 2 }
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("records")
    (place / "some.yaml").write_text(TEXT)
    with pytest.raises(SystemExit, match="0"):
        commands.main(["lab", "experiment", str(place / "some.yaml"), "-o", str(place / "out"), "--processes", "1"])
    return place


def record(capsys, place, output, *names, code=0):
    return lab(capsys, "record", place / "some.yaml", *names, "--results", place / "out", "-o", output, code=code)


def test_tables_from_records_are_those_from_results(place, tmp_path, capsys):
    file = tmp_path / "some.jsonl"
    record(capsys, place, file)
    settings, lines = experiments.read(place / "some.yaml"), records.read(file)
    assert [line["name"] for line in lines] == ["one", "two", "two", "three", *["all"] * 3, "small", "small"]
    found = records.results(settings, lines)
    there = claims_table.read_results(place / "out")
    assert claims_table.everything([found[one["name"]] for one in there]) == claims_table.everything(there)
    standings = json.loads((place / "out" / "all" / "standings.json").read_text())["standings"]
    assert found["all"]["standings"] == standings
    turns = [next(one for one in rows if one["name"] == "three") for rows in (found.values(), there)]
    assert turns[0]["matches"][0]["turns_of_agent_0"]["turn"] == turns[1]["matches"][0]["turns_of_agent_0"]["turn"]


def test_a_line_says_where_it_is_from(place, tmp_path, capsys):
    file = tmp_path / "some.jsonl"
    record(capsys, place, file)
    one, *_, small = records.read(file)
    assert one["command"].endswith("some.yaml one") and one["version"].startswith("0.")
    games = log.read_lines(place / "out" / "one" / "match" / log.GAMES)
    assert one["games_digest"] == records.digest(games) != one["first_games_digest"] == records.digest(games[:4])
    assert sum(one["pairs"]) == 6 and sum(one["first_player"]) == 12
    assert small["training"]["games"] == 1500 and small["seed"] == 1
    games[0]["moves"] = games[0]["moves"][::-1]
    assert records.digest(games) != one["games_digest"]


def test_records_of_other_names_stay(place, tmp_path, capsys):
    file = tmp_path / "some.jsonl"
    record(capsys, place, file, "one", "small")
    before = records.read(file)
    record(capsys, place, file, "two")
    assert records.read(file)[:3] == before and len(records.read(file)) == 5
    record(capsys, place, file, "one")
    assert [line["name"] for line in records.read(file)] == ["small", "small", "two", "two", "one"]


def test_records_that_do_not_fit_are_refused(place, tmp_path, capsys):
    file = tmp_path / "some.jsonl"
    record(capsys, place, file)
    settings, lines = experiments.read(place / "some.yaml"), records.read(file)
    for changed in (
        {"one": settings["one"].model_copy(update={"seed": 1})},
        {"two": settings["two"].model_copy(update={"values": [3.0, 9.0, 11.0]})},
        {"all": settings["all"].model_copy(update={"games": 6})},
        {"small": settings["small"].model_copy(update={"seeds": 3})},
        {"small": settings["small"].model_copy(update={"draw": 0.5})},
    ):
        with pytest.raises(ArenaError, match=f"records of {next(iter(changed))} are not those of the configuration"):
            records.results(changed, lines)
    told = {"one": settings["one"].model_copy(update={"claim": "another", "margin": 0.1})}
    assert records.results(told, lines)["one"]["claim"] == "another", "what does not change the games may change"
    file.write_text(file.read_text() + "{\n")
    with pytest.raises(ArenaError, match="Line 10 of .* is damaged"):
        records.read(file)
    with pytest.raises(ArenaError, match="no records"):
        records.read(tmp_path / "none.jsonl")
    (place / "some.yaml").write_text(TEXT.replace("games: 12", "games: 14"))
    assert "12 of 14 games" in record(capsys, place, tmp_path / "more.jsonl", "one", code=1)
    (place / "some.yaml").write_text(TEXT)
