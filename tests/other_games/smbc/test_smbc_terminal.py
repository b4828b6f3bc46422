"""Explore and play on a pseudo-terminal."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pttt_ooc.cli.commands import main
from pttt_ooc.other_games.smbc.match_play import Thought
from pttt_ooc.other_games.smbc.rules import GOALS
from pttt_ooc.other_games.smbc.terminal import play
from pttt_ooc.pipeline.show.dialogue import Dialogue
from tests.other_games.smbc.coarse_match import run

ROOT = Path(__file__).parents[3]


@pytest.fixture
def own(coarse, tmp_path):
    """A copy, because matches are kept beside the solution."""
    return shutil.copytree(coarse, tmp_path / "smbc")


def words(text):
    return re.sub(r"\s+", " ", text)


@pytest.mark.long
def test_exploring(terminal, coarse):
    shell = terminal("smbc", "explore", str(coarse), "--scores", "1-1")
    begin = shell.until(r" >")
    assert "the match to 2" in begin and "at 1-1" in begin and "0 2 6 8" in begin
    last = re.search(r"Iteration (\d+)", begin)[1]
    after = shell.type("m 4")
    assert "To move: the second player (o)" in after and "x" in after and "0 2 6 8" in after
    later = shell.type("m 8")
    assert "│ 8     │\r\n│       │       │ o     │\r\n│       │       │ 2" in later
    assert "EV of the first player: 1.000000" not in later and "average" in later and "*" in later
    assert "goal: lose. Second player's goal: tie" in shell.type("g l t")
    assert "Iteration 0 of" in shell.type("i 0") and f"Iteration {last} of" in shell.type(f"i {last}")
    for bad, sentence in (
        ("i 7", "There is no snapshot of iteration 7; there are snapshots of 0, 10,"),
        ("i -1", "'-1' is not a number of iterations"),
        ("i ²", "is not a number of iterations"),
        ("m 4", "Square 4 is taken"),
        ("m 9", "'9' is not a square"),
        ("m x", "'x' is not a square"),
        ("m", "'m' takes one word after it"),
        ("g w", "'g' takes two words after it"),
        ("g w x", "There is no goal 'x'"),
        ("s 2 0", "No round begins with a score of '2'; scores are 0 to 1."),
        ("s 1", "'s' takes two words"),
        ("hello", "There is no command 'hello'"),
        ("é", "There is no command"),
    ):
        assert sentence in words(shell.type(bad)), bad
    assert "To move: the second player" in shell.type("u") and "To move: the first player" in shell.type("u")
    assert "There is nothing to undo" in shell.type("u") and "0 1 2 is the top row" in shell.type("?")
    assert "Iteration" in shell.type("s 0 1") and "Iteration" in shell.type("")
    for square in "0314":
        shell.type(f"m {square}")
    assert "The round is decided: three in a row for the first player." in shell.type("m 2")
    assert "The round is decided; no move is left." in shell.type("m 8")
    os.write(shell.own, b"q\n")
    assert "Goodbye." in shell.until(r"\Z.^") and shell.process.wait(60) == 0
    assert "Traceback" not in shell.told


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("explore", "{}", "--scores", "2-0"), "No round begins with a score of '2'"),
        (("explore", "{}", "--scores", "11"), "--scores is '11'; it must be two numbers, such as 4-4."),
        (("explore", "{}/none"), "There is no solved match in"),
        (("play", "{}/none"), "There is no solved match in"),
    ],
)
def test_refused_arguments(coarse, capsys, arguments, sentence):
    told = run(capsys, *(part.format(coarse) for part in arguments))
    assert told.code == 1 and sentence in words(told.err)


@pytest.mark.parametrize("browser", [True, False])
def test_the_match_is_served(coarse, monkeypatch, capsys, browser):
    served = []
    monkeypatch.setattr("pttt_ooc.site.service.local_server.serve", lambda *given: served.append(given))
    with pytest.raises(SystemExit) as ended:
        main(["web", "--smbc", str(coarse), "--port", "7", "--browser" if browser else "--no-browser"])
    [([pages], *given)] = served
    assert not ended.value.code and given == ["127.0.0.1", 7, "/smbc/play" if browser else None, ""]
    assert pages.what == "The match to 2" and pages.answerer[1:] == (str(coarse),) and pages.parts[1:] == (str(coarse),)


def test_the_table_of_what_the_bot_thought(capsys):
    beliefs = [Thought(1, 4, (0.4, 0.4021, 0.1979)), Thought(3, 0, None)]
    Dialogue().table(("move", "square", *GOALS), map(play._row, beliefs))
    assert capsys.readouterr().out.splitlines() == [
        "move  square                win    tie   lose",
        "1          4              40.0%  40.2%  19.8%",
        "3          0  it never plays so",
    ]


@pytest.mark.slow
def test_a_whole_match(terminal, own):
    """Bad input at every prompt, rounds to the end of the match, the statistics, Ctrl-C in the next match."""
    shell = terminal("smbc", "play", str(own))
    shown = shell.until(r" >")
    assert "The first to reach 2 points" in shown and "The bot's goal" not in shown
    for bad in ("", "9", "10", "x", "é", "-1"):
        assert "is not a square" in words(shell.type(bad))
    assert "secret goal" in shell.type("?")
    rounds = 0
    while "won the match" not in words(shown):
        assert re.search(r"goal is (win|tie|lose)\. Where do you put [xo]", words(shell.told)[-120:])
        while "The round is decided" not in shown:
            assert "The bot's goal" not in shown and "thought" not in shown
            free = [s for s in "012345678" if re.search(rf"[│ ] {s} ", shown)]
            for square in free:
                shown = shell.type(square)
                if "is taken" not in shown:
                    break
        rounds += 1
        assert "The bot's goal was" in shown and "What the bot thought your goal was" in words(shown)
        assert "%" in shown
        assert "'maybe' is not one of the answers." in shell.type("maybe")
        if "won the match" not in words(shown):
            shown = shell.type("")
            assert f"Round {rounds + 1}. Points: you" in words(shown)
    assert "Of 1 match in which" in words(shown) and "a perfect player" in words(shown)
    assert (own / "matches.jsonl").read_text().count("\n") == 1
    again = shell.type("")
    assert "Round 1. Points: you 0, the bot 0." in words(again)
    code, rest = shell.end(b"\x03")
    assert code == 130 and "does not count" in words(rest) and "Of 1 match" in words(rest)
    assert (own / "matches.jsonl").read_text().count("\n") == 1 and "Traceback" not in shell.told


@pytest.mark.full
def test_the_page_shows_the_solution_of_the_match_to_five(tmp_path):
    run_pttt(tmp_path, "solve")
    check_shown_position(tmp_path)


def run_pttt(place, *words, typed=""):
    command = [sys.executable, "-m", "pttt_ooc.cli", "smbc", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=place, input=typed, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def check_shown_position(place):
    """What docs/smbc.md shows of the solution in `data/smbc` there."""
    page = (ROOT / "docs/smbc.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"^\$ pttt smbc explore data/smbc\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    typed = re.findall(r"^explore > (.*)\n", shown, re.MULTILINE)
    told = run_pttt(place, "explore", "data/smbc", typed="\n".join([*typed, "q", ""])).splitlines()
    lines = [line for line in shown.splitlines() if line and line != "..." and not line.startswith("explore > ")]
    assert len(lines) == 11 and [line for line in lines if line not in told] == []
