"""Matches: the same games whatever happens in between, and agents that break lose their game and nothing else."""

import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from pttt_ooc.disk.locks import hold
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.matches import log
from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.arena.matches.statistics import rate_of
from tests.kits.patience import PATIENCE, wait_until
from tests.other_games.arena.arena_kit import command

FAST = ("alphabeta:heur=1,depth=1", "random")


def played(directory):
    """Whether a whole game is in the log."""
    file = directory / log.GAMES
    return file.exists() and b"\n" in file.read_bytes()


def written(directory):
    return (directory / log.GAMES).read_bytes()


@pytest.mark.slow
def test_a_match_follows_from_its_seed(tmp_path):
    """However many processes play it, and at once or after an interruption."""
    match = Match("ultimate", FAST, 40, seed=5)
    first = run(match, tmp_path / "one")
    assert [game["number"] for game in first] == list(range(40))
    assert run(match, tmp_path / "two", processes=2) == first
    stopped = run(match, tmp_path / "three", tell=lambda games: len(games) > 20)
    assert 20 < len(stopped) < 40
    with open(tmp_path / "three" / log.GAMES, "ab") as file:
        file.write(b'{"number": 39, "start')  # as a kill leaves it
    assert run(match, tmp_path / "three") == first
    assert written(tmp_path / "one") == written(tmp_path / "two") == written(tmp_path / "three")
    assert run(Match("ultimate", FAST, 60, seed=6)) != first
    assert rate_of(first).rate > 0.7


def test_games_are_not_played_twice(tmp_path):
    match = Match("ultimate", FAST, 10)
    run(match, tmp_path)
    before = (tmp_path / log.EFFORT).read_bytes()
    assert len(run(match, tmp_path)) == 10
    assert (tmp_path / log.EFFORT).read_bytes() == before
    assert len(run(Match("ultimate", FAST, 14), tmp_path)) == 14
    assert (tmp_path / log.EFFORT).read_bytes().startswith(before)
    assert len(run(match, tmp_path)) == 10


@pytest.mark.long
def test_a_killed_match_goes_on(tmp_path):
    arguments = ["arena", "match", *FAST, "--games", "1000000", "-o", str(tmp_path), "--processes", "2"]
    code = f"from pttt_ooc.cli.commands import main; main({arguments!r})"
    with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as process:
        wait_until(lambda: played(tmp_path), alive=lambda: process.poll() is None)
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGKILL)
    kept = len(log.read_lines(tmp_path / log.GAMES))
    psutil.wait_procs(children, timeout=PATIENCE)
    assert not [child for child in children if child.is_running()]
    games = run(Match("ultimate", FAST, kept + 100), tmp_path, tell=lambda games: len(games) > kept + 60)
    assert [game["number"] for game in games] == sorted({game["number"] for game in games})
    again = {game["number"]: game for game in run(Match("ultimate", FAST, 20))}
    assert all(game == again.get(game["number"], game) for game in games)


def test_who_starts():
    drawn = [Match("ultimate", FAST, 1, seed=2).starter(number) for number in range(1000)]
    assert 430 < sum(drawn) < 570
    both = Match("ultimate", FAST, 1, start="both")
    assert [both.starter(number) for number in range(4)] == [0, 1, 0, 1]
    assert both.seeds(4, 1) == both.seeds(5, 1) != both.seeds(6, 1)
    assert {Match("ultimate", FAST, 1, start="first").starter(number) for number in range(9)} == {0}


def test_a_directory_holds_one_match(tmp_path):
    run(Match("ultimate", FAST, 2), tmp_path)
    for other in (Match("ultimate", FAST, 2, seed=1), Match("ultimate:open", FAST, 2)):
        with pytest.raises(ArenaError, match="holds another match"):
            run(other, tmp_path)


def test_who_plays_in_a_directory_is_named(tmp_path):
    with (
        hold(tmp_path / "lock", str),
        pytest.raises(ArenaError, match=rf"is in use \(process {os.getpid()}, since .*\)\.$"),
    ):
        run(Match("ultimate", FAST, 1), tmp_path)


def test_logs_are_replayed_and_foreign_ones_refused(tmp_path):
    games = run(Match("ultimate", FAST, 5), tmp_path)
    for row in log.read_lines(tmp_path / log.GAMES):
        assert len(list(log.replay("ultimate", row))) == len(row["moves"]) + 1
    with pytest.raises(ArenaError, match="does not end"):
        list(log.replay("ultimate", games[0] | {"winner": (games[0]["winner"] + 1) % 3}))
    with pytest.raises(ArenaError, match="does not end"):
        list(log.replay("ultimate", games[0] | {"moves": games[0]["moves"][:-1]}))
    with pytest.raises(ArenaError, match="cell is taken"):
        list(log.replay("ultimate", games[0] | {"moves": [0, 0]}))
    (tmp_path / log.GAMES).write_text("{\n" + log.line(games[0]))
    with pytest.raises(ArenaError, match="Line 1 of .* is damaged"):
        run(Match("ultimate", FAST, 5), tmp_path)


BROKEN = {
    "raises": ("raise ValueError('no idea')", "ValueError: no idea"),
    "exits": ("import os; os._exit(3)", "ended"),
    "crashes": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended"),
    "hangs": ("import time; time.sleep(1000)", "has not answered"),
    "is slow": ("import time; time.sleep(1.2); return legal[0]", "the limit is 1 s"),
    "cheats": ("return 0 if 0 not in legal else legal[0]", "is not legal"),
    "overflows": ("return 10**30", "is not legal"),
    "lies": ("return 'e4'", "no move|ValueError"),
    "starts others": ("import subprocess; subprocess.Popen(['sleep', '1000']); return legal[0]", ""),
}


@pytest.mark.long_but("raises")
@pytest.mark.slow
@pytest.mark.parametrize("how", BROKEN)
def test_an_agent_that_breaks_loses_its_game_and_nothing_else(how, tmp_path):
    body, why = BROKEN[how]
    (tmp_path / "mine.py").write_text(
        "def choose(legal, state):\n    if state[2] < 4:\n        return legal[-1]\n    " + body
    )
    text = f"file:path={tmp_path}/mine.py"
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    games = run(Match("ultimate", (text, "random"), 2, limit=1, start="both"))
    assert len(games) == 2
    if why:
        assert all(game["winner"] == 1 and re.search(why, game["forfeit"]) for game in games)
        assert all(len(game["moves"]) >= 4 for game in games)
    else:
        assert not any("forfeit" in game for game in games)
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before


def test_what_an_agent_prints_disturbs_nothing(tmp_path):
    (tmp_path / "mine.py").write_text("def choose(legal, state):\n    print('{}')\n    return legal[0]\n")
    games = run(Match("ultimate", (f"file:path={tmp_path}/mine.py", "random"), 2))
    assert not any("forfeit" in game for game in games)


@pytest.mark.slow
def test_matches_that_cannot_be_are_sentences(tmp_path):
    for more, part in (
        ({"games": 0}, "at least one game"),
        ({"start": "never"}, "random, both, first"),
        ({"limit": -1.0}, "cannot be met"),
        ({"clock": "sun"}, "wall or processor"),
        ({"agents": ("alphabeta:time=1", "random"), "limit": 0.5}, "would lose by the limit"),
        ({"agents": ("nobody", "random")}, "no agent 'nobody'"),
        ({"game": "chess"}, "no game 'chess'"),
    ):
        with pytest.raises(ArenaError, match=part):
            Match(**{"game": "ultimate", "agents": FAST, "games": 1} | more)
    for one, processes in (("file:path=/nowhere.py", 1), ("alphabeta:heur=9", 1), ("file:path=/nowhere.py", 2)):
        with pytest.raises(ArenaError, match="cannot be run|no heuristic"):
            run(Match("ultimate", (one, "random"), 2), processes=processes)


def test_the_command_match(capsys, tmp_path):
    one = ("--processes", "1")
    told = json.loads(command(capsys, "match", *FAST, "--games", "20", "--json", *one, "-o", tmp_path))
    assert told["wins"] + told["draws"] + told["losses"] == 20
    assert told["rate"] == rate_of(log.read_lines(tmp_path / log.GAMES)).rate
    out = command(capsys, "match", *FAST, "--games", "400", "--stop-early", "0.5", "0.7", *one)
    assert "Sequential test between 0.5 and 0.7: high." in out and "400 games" not in out
    assert "lower one first" in command(capsys, "match", *FAST, "--stop-early", "0.7", "0.5", code=1)
    assert command(capsys, "replay", tmp_path, "7").rstrip().endswith(("wins.", "A draw."))
    command(capsys, "replay", tmp_path, "20", code=1)
    command(capsys, "replay", Path(os.devnull), code=1)


def test_playing_on_the_terminal(capsys, monkeypatch):
    lines = [f"{move}\n" for _ in range(60) for move in range(81)]
    monkeypatch.setattr("sys.stdin", io.StringIO("nonsense\n" + "".join(lines)))
    out = command(capsys, "play", "random", "--second")
    assert "is not a move" in out and "is not legal here" in out
    assert out.rstrip().endswith(("It is a draw.", "You have won.", "The agent has won."))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert "left" in command(capsys, "play", "random")
