"""The kit: its games against the package's referee, its messages against the package's matches, in Python 3 and 2.7."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pttt_ooc.cli.commands import main
from pttt_ooc.other_games.extreme import kit
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import read_program
from pttt_ooc.other_games.extreme.match import play_match
from pttt_ooc.other_games.extreme.referee import FLAGS, PLAYERS, Referee
from pttt_ooc.other_games.extreme.walls import python2
from tests.other_games.extreme.bot_kit import FIRST, bot, bot_text

OLD = python2()
PYTHONS = [
    pytest.param(sys.executable, id="3"),
    pytest.param(
        OLD and OLD.command[0], id="2.7", marks=pytest.mark.skipif(OLD is None, reason="no Python 2.7 is installed")
    ),
]


@pytest.fixture
def play(tmp_path):
    """Run the kit in a directory of its own, from which the package cannot be seen."""
    (tmp_path / kit.NAME).write_text(kit.kit_text())

    def run(python, *arguments, text=""):
        command = [python, "-E", kit.NAME, *map(str, arguments)]
        return subprocess.run(command, cwd=tmp_path, input=text, capture_output=True, text=True, check=False)

    return run


def games_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.long_but("3")
@pytest.mark.slow
@pytest.mark.parametrize("python", PYTHONS)
def test_its_games_are_those_of_the_referee(python, play, tmp_path):
    done = play(python, "random", "random", "--games", 200, "--seed", 3, "--log", "games.jsonl")
    assert done.returncode == 0, done.stderr
    games, messages, bonuses = games_of(tmp_path / "games.jsonl"), set(), 0
    assert len(games) == 200
    for game in games:
        referee = Referee()
        for player, cell, bonus in game["moves"]:
            assert referee.result()[1] == "-" and (player, bonus) == (referee.player, referee.bonus)
            assert referee.play(tuple(cell))
            bonuses += bonus
        flag, message = referee.result()
        assert game["message"] == message
        assert game["winner"] == ("NONE" if message == "DRAW" else PLAYERS[FLAGS.index(flag)])
        if message == "DRAW":
            assert game["points"] == [*referee.points()]
        else:
            assert game["points"] == [86 * (flag == "x"), 86 * (flag == "o")]
        messages.add(message)
    assert messages == {"WON", "DRAW"} and bonuses > 1000


BOTS = {
    "plays": FIRST,
    "raises": "raise ValueError('no')",
    "leaves": "raise SystemExit(0)",
    "lists": "return list(board.find_valid_move_cells(old_move)[0])",
    "taken": "return old_move if old_move != (-1, -1, -1) else (0, 0, 0)",
    "modifies": "board.small_boards_status[0][0][0] = 'd'\n" + FIRST,
    "none": "pass",
    "late": "import time\nend = time.time() + 0.3\nwhile time.time() < end: pass\n" + FIRST,
}


@pytest.mark.slow_but_one
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("name", [one for one in BOTS if one != "late"])
def test_its_messages_are_those_of_a_match(python, name, play, tmp_path):
    (tmp_path / "team1.py").write_text(bot_text(BOTS[name]))
    (tmp_path / "team2.py").write_text(bot_text(FIRST, name="Team2"))
    done = play(python, "team2.py", "team1.py", "--log", "games.jsonl", "--time-limit", 600)
    (game,) = games_of(tmp_path / "games.jsonl")
    match = play_match((bot(FIRST, file="team2.py"), bot(BOTS[name])), Conditions(time_limit=600, walls=False))
    assert (game["winner"], game["message"], tuple(game["points"])) == (match.winner, match.message, match.points)
    assert [tuple(cell) for _, cell, _ in game["moves"]] == [move.cell for move in match.moves]
    lines = [f"Winner: {match.winner}", f"Message: {match.message}", f"Score of P1: {match.points[0]}"]
    assert "\n".join([*lines, f"Score of P2: {match.points[1]}"]) in done.stdout


def test_a_slow_move_loses_and_an_error_is_shown(play, tmp_path):
    (tmp_path / "team1.py").write_text(bot_text(BOTS["late"]))
    assert "Message: TIME OUT" in play(sys.executable, "team1.py", "random", "--time-limit", 0.2).stdout
    (tmp_path / "team1.py").write_text(bot_text(FIRST, init="raise KeyError('here')"))
    done = play(sys.executable, "random", "team1.py")
    assert "Message: THREW AN EXCEPTION" in done.stdout and "Winner: P1" in done.stdout and "'here'" in done.stderr


@pytest.mark.parametrize("python", PYTHONS)
def test_a_person_is_asked_until_the_cell_is_valid(python, play, tmp_path):
    (tmp_path / "team1.py").write_text(bot_text(FIRST))
    done = play(python, "manual", "team1.py", "--log", "games.jsonl", text="x\n0 9 9\n0, 4, 4\n")
    assert done.stdout.count("This is not a cell that you may mark.") == 2
    assert "[(0, 1, 1), (1, 1, 1)]" not in done.stdout and "[(0, 0, 0), (1, 0, 0)]" in done.stdout  # after 0 3 3
    assert done.returncode != 0 and "the match is not over" in done.stderr


def test_our_bots_play_in_it(play, tmp_path):
    shutil.copy(Path(kit.__file__).parent / "bots" / "random_bot.py", tmp_path)
    done = play(sys.executable, "random_bot.py", "random", "--games", 2, "--alternate")
    assert done.stdout.count("Winner: ") == 2 and "P2  random_bot.py" in done.stdout
    assert read_program(tmp_path / "random_bot.py").trusted


def test_bad_arguments_are_one_sentence(play, tmp_path):
    done = play(sys.executable, "nobody.py", "random")
    assert done.returncode == 2 and "there is no file nobody.py" in done.stderr
    (tmp_path / "games.jsonl").write_text("mine")
    done = play(sys.executable, "random", "random", "--log", "games.jsonl")
    assert done.returncode == 2 and "is there already" in done.stderr
    assert (tmp_path / "games.jsonl").read_text() == "mine"


def test_the_command_writes_it_once(tmp_path, capsys):
    file = tmp_path / "k.py"
    for content in (kit.kit_text(), "mine"):
        with pytest.raises(SystemExit) as end:
            main(["extreme", "kit", "--output", str(file)])
        assert bool(end.value.code) == (content == "mine")
        if content == "mine":
            assert file.read_text() == content and "--force" in capsys.readouterr().err
        else:
            assert file.read_text() == content and "pttt_ooc" not in content
            file.write_text("mine")
