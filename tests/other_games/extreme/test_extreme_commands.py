"""What the commands of the tournament read."""

import re
import statistics

import pytest

from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import NAMES, read_program
from pttt_ooc.other_games.extreme.match import play_match
from pttt_ooc.other_games.extreme.terminal import commands, display
from pttt_ooc.other_games.extreme.walls import ExtremeError
from tests.other_games.extreme.bot_kit import FIRST, bot_text, run


def test_moves_are_read_as_they_are_written():
    assert commands._opening("") == []
    assert commands._opening("0.4.5, 1.2.3,") == [(0, 4, 5), (1, 2, 3)]


@pytest.mark.parametrize("text", ["0.4", "0.4.5.6", "0,4,5", "a.b.c", "0.4.55"])
def test_what_is_no_move_is_a_sentence(text):
    with pytest.raises(ExtremeError, match=r"in --moves is not a move; write BIG.ROW.COLUMN"):
        commands._opening(f"0.0.0,{text}")


def test_a_check_tells_each_move_as_it_comes_and_how_long_it_takes_at_most(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(display, "_MOMENT", 0.0)
    (tmp_path / "team1.py").write_text("#!/usr/bin/python3\n" + bot_text("import time; time.sleep(0.06)\n" + FIRST))
    limits = ("--time-limit", 5, "--load-limit", 9)
    code, _, err = run(capsys, "check", tmp_path / "team1.py", "--no-sandbox", *limits)
    assert code == 0
    first, *moves = [line for line in err.splitlines() if "move" in line or "most" in line]
    assert first == "The check takes 2.0 min at most, if the bot uses all its time."  # 2 (9 + 10 * 5) = 118 s
    told = [
        re.fullmatch(r"Python 3\.\d+, as ([xo]), move (\d+): (\d\.\d{3}) s(; about (\d+) s more)?\.", line)
        for line in moves
    ]
    assert [(one[1], int(one[2])) for one in told] == [(side, n) for side in "xo" for n in range(1, 11)]
    # 0.06 s of sleep, less the time in which the machine let the bot wait, which may be long for some of them.
    assert statistics.median(float(one[3]) for one in told) >= 0.05 and told[-1][5] is None
    assert float(told[0][5]) == pytest.approx(19 * float(told[0][3]), abs=0.6), "ten moves as each player are expected"


def test_a_check_that_takes_a_moment_tells_nothing(capsys, monkeypatch):
    monkeypatch.setattr(display, "_MOMENT", 1e9)
    progress = display.CheckProgress(1.0, 20)

    class Match:
        used = staticmethod(lambda side: [0.1])

    progress.tell(Match, 0)
    assert capsys.readouterr().err == ""


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["alphabeta", "strong"])
def test_our_own_bots_take_half_of_any_limit(name):
    """As they are named on the command line, and in a tournament's directory."""
    pair = read_program(commands.Path(name), False), read_program(commands.Path(NAMES[0]), False)
    match = play_match(pair, Conditions(time_limit=0.8, walls=False), lambda match: match.plies < 3)
    assert match.message == "", match.detail
    assert 0 < match.used(0)[0] < 0.8
    assert play_match(pair[::-1], Conditions(time_limit=0.8, walls=False), lambda match: match.plies < 2).message == ""
