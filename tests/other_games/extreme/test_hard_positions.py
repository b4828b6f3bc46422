"""Positions in which a bot forfeited or was slow: found in matches, and tried with the next bot."""

import json

import pytest

from pttt_ooc.cli.commands import main
from pttt_ooc.other_games.extreme import bot_check
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.hard_positions import HardPosition, hard_positions, of_logs
from pttt_ooc.other_games.extreme.league import Pairing
from pttt_ooc.other_games.extreme.match import play_match
from pttt_ooc.other_games.extreme.walls import ExtremeError
from tests.other_games.extreme.bot_kit import FIRST, bot, bot_text
from tests.other_games.extreme.match_kit import log_of

FREE = Conditions(time_limit=600, walls=False)
FAILS_LATE = "self.n = getattr(self, 'n', 0) + 1\nassert self.n < 4\n" + FIRST
FAILS_THERE = (  # with two marks on the board, whoever the opponent is
    "assert sum(row.count(flag) for big in board.big_boards_status for row in big) != 2\n" + FIRST
)


@pytest.mark.parametrize("side", [0, 1])
def test_a_forfeit_is_a_hard_position_of_the_loser(side):
    pair = [bot(FIRST, file="team2.py")] * 2
    pair[side] = bot(FAILS_LATE)
    match = play_match(tuple(pair), FREE).as_json()
    cells = tuple(move["cell"] for move in match["moves"])
    assert match["message"] == "THREW AN EXCEPTION" and len(cells) > 5
    assert hard_positions(match, side, 600) == [HardPosition(cells, "THREW AN EXCEPTION")]
    assert hard_positions(match, 1 - side, 600) == []


def test_the_slowest_move_counts_from_half_of_the_limit():
    log = log_of(Pairing("final", 0, "a", "b"), 1)
    own = [ply for ply, move in enumerate(log["moves"]) if move["player"] == 1]
    for ply in own:
        log["moves"][ply]["seconds"] = 0.1
    log["moves"][own[5]]["seconds"] = 0.5
    cells = tuple(tuple(move["cell"]) for move in log["moves"][: own[5]])
    assert hard_positions(log, 1, 1.0) == [HardPosition(cells, "", 0.5)]
    assert hard_positions(log, 1, 1.01) == []


def test_a_line_of_the_opponent_and_a_file_that_does_not_load_are_no_positions():
    for seed in range(6):
        log = log_of(Pairing("final", 0, "a", "b"), seed)
        assert not any(hard_positions(log, side, 600) for side in (0, 1))
    match = play_match((bot(FIRST, file="team2.py"), bot(FIRST, init="1 / 0")), FREE).as_json()
    assert match["winner"] == "P1" and hard_positions(match, 1, 600) == []


@pytest.mark.slow
def test_the_next_bot_is_tried_where_the_former_one_failed():
    former = bot_check.check(bot(FAILS_THERE), FREE)
    assert not former.accepted and len(former.hard) > 0 and former.trials == ()
    same, repaired = (
        bot_check.check(bot(body, file="team3.py"), FREE, former=former.hard) for body in (FAILS_LATE, FIRST)
    )
    assert same.trials == ()  # it does not play at all
    assert repaired.accepted and [trial.message for trial in repaired.trials] == [""] * len(former.hard)
    assert f"After {len(former.hard[0].moves)} moves" in str(repaired.trials[0]) and "it plays, in" in str(
        repaired.trials[0]
    )
    (again,) = bot_check.try_positions(bot(FAILS_THERE), FREE, former.hard[:1] * 3)
    assert again.message == "THREW AN EXCEPTION" and "it forfeits, THREW AN EXCEPTION." in str(again)


def test_a_trial_says_that_a_move_is_slow():
    late = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end: pass\n" + FIRST
    (trial,) = bot_check.try_positions(bot(late), Conditions(time_limit=1, walls=False), [HardPosition((), "", 0.9)])
    assert trial.message == "TIME OUT" or (trial.slow and trial.seconds >= 0.5)


@pytest.mark.slow
def test_the_command_reads_positions_from_logs(tmp_path, capsys):
    file, log = tmp_path / "team1.py", tmp_path / "log.json"
    match = play_match((bot(FAILS_THERE), bot(FIRST, file="team2.py")), FREE)
    log.write_text(json.dumps(match.as_json()))
    for body, words in ((FIRST, "it plays, in"), ("pass", "It forfeits: INVALID MOVE")):
        file.write_text(bot_text(body))
        with pytest.raises(SystemExit):
            main(["extreme", "check", str(file), "--no-sandbox", "--former", str(log)])
        out = capsys.readouterr().out
        assert words in out and (f"After {len(match.moves)} move" in out) == (body == FIRST)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"names": ["team2.py", "team3.py"]}', '{"names": ["team1.py"]}'])
def test_what_is_no_log_of_the_bot_is_a_sentence(tmp_path, content):
    log = tmp_path / "log.json"
    log.write_text(content)
    with pytest.raises(ExtremeError, match=r"cannot be read|damaged|is not a log of a match of team1.py"):
        of_logs([log], "team1.py", 24)
