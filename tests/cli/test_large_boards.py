"""Boards whose infosets are not listed: each command that needs the list says so, and names a command that works."""

import re
import shlex
from pathlib import Path

import pytest

from pttt_ooc.cli.site import games_of
from pttt_ooc.config import Config, check_listed, solving_command
from pttt_ooc.errors import GameError, StrategyFileError
from pttt_ooc.games.structure.views import find_pairs
from pttt_ooc.library.api.games import placement_game
from tests.kits.cli_runner import Runner

TEN, TWELVE = "pttt-2x5k3-classical", "pttt-3x4k3-classical"
NEEDS_ALL = [
    ("solve",),
    ("lab", "score", "agent.py:uniform"),
    ("lab", "score", "agent.py:uniform", "--games", "20"),
    ("lab", "score", "uniform", "--page", "page.html"),
    ("lab", "score", "agent.py:uniform", "--games", "20", "--equilibrium", "uniform"),
    ("mistakes", "uniform", "--player", "0"),
    (
        "lab",
        "equilibria",
    ),
]
CANNOT_LIST = [
    ("evaluate", "uniform", "uniform"),
    ("lab", "best-response", "uniform", "--player", "0", "-o", "best.zip"),
    ("compare", "uniform", "uniform", "--player", "0"),
    ("lab", "infosets", "--player", "0", "-o", "infosets.txt"),
    ("lab", "uniform", "--player", "0", "-o", "uniform.zip"),
    ("show", "uniform", "|", "--player", "0"),
    ("lab", "learn", "xfp"),
    ("web", "uniform", "--no-browser"),
    ("web", "uniform", "--terminal"),
    ("web", "--play", "uniform", "--no-browser"),
    ("web", "--play", "uniform", "--terminal"),
]
NOT_SOLVED = [
    ("web", "--explore", "--no-browser"),
    ("web", "--play", "--no-browser"),
    ("web", "--play", "--terminal"),
    ("web", "--no-browser"),
]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text("def uniform(infostates, legal):\n    raise AssertionError('asked')\n")
    return Runner(capsys, tmp_path / "data", TEN)


def told(done):
    """The commands in a refusal, which is one sentence."""
    assert done.code == 1 and done.out == "" and done.err.count("\n") == 1 and "Traceback" not in done.err, done.err
    return [shlex.split(one) for one in re.findall("`pttt ([^`]+)`", done.err)]


@pytest.mark.parametrize("command", NEEDS_ALL, ids=" ".join)
@pytest.mark.parametrize("game", [TEN, TWELVE])
def test_what_needs_all_infosets_names_a_command_that_needs_none(run, tmp_path, command, game):
    assert told(run(*command, game=game)) == [["exact", "--game", game]]
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", CANNOT_LIST, ids=" ".join)
def test_where_they_cannot_be_listed_so_does_every_command(run, tmp_path, command):
    assert told(run(*command, game=TWELVE)) == [["exact", "--game", TWELVE]]
    assert not (tmp_path / "data").exists()


def test_the_command_that_is_named_works_and_what_it_writes_can_be_looked_at(run, tmp_path):
    place = tmp_path / "data" / TEN / "full"
    for command in NOT_SOLVED:
        exact, *then = told(run(*command, game=TEN))
        assert exact == ["exact", "--game", TEN, "--output", str(place)]
        assert then in ([], [["web", str(place)]])
    done = run.ok(*exact)
    assert f"The strategies are in {place}" in done.err
    assert "attempt" in run.ok("show", place, "|", "--player", "0").out
    for command in NOT_SOLVED[:2]:
        assert told(run(*command, game=TEN)) == [["web", str(place)]]
    for command in (("mistakes", "uniform", "--player", "0"), ("lab", "score", "uniform", "--games", "20")):
        assert told(run(*command, game=TEN)) == [["exact", "--game", TEN]], "a plan is no solution with all infosets"
    assert told(run("lab", "score", "uniform", "--games", "20", "--equilibrium", str(place), game=TEN))


def test_who_asks_for_a_list_gets_one():
    check_listed(Config(game=TEN, listed=True), "this")
    check_listed(Config(game="pttt-abrupt"), "this")
    with pytest.raises(GameError, match=f"^Game {TEN}: this needs a list of all infosets, .* up to 9 squares"):
        check_listed(Config(game=TEN), "this")
    with pytest.raises(
        GameError, match=f"^Game {TWELVE}: a board of 12 squares .* at most 10 squares are possible here; "
    ):
        check_listed(Config(game=TWELVE), "this")
    assert solving_command("pttt-abrupt") == "pttt solve --game pttt-abrupt"
    with pytest.raises(StrategyFileError, match="`pttt solve --game pttt-abrupt --data elsewhere` makes one"):
        games_of([], "pttt-abrupt", Path("elsewhere"))


def test_a_game_without_a_name_is_sent_to_no_command():
    wins = [{0, 1, 2}]
    game = placement_game(3, 4, (wins, wins), name="mine")
    with pytest.raises(GameError) as caught:
        find_pairs(game)
    assert "`" not in str(caught.value) and str(caught.value).endswith("at most 10 squares are possible here.")
