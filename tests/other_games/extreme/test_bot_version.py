# ruff: noqa: E501
"""The version of Python of a bot: settled once, the same for a check, a match and a tournament; formal rules."""

import json
import os
from dataclasses import replace

import pytest

from pttt_ooc.other_games.extreme import bot_check, bot_programs, bot_version, tournament, walls
from pttt_ooc.other_games.extreme.bot_check import ENOUGH, check, most_seconds
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import ProgramError
from pttt_ooc.other_games.extreme.bot_version import settle_version
from pttt_ooc.other_games.extreme.match import play_match
from pttt_ooc.other_games.extreme.source_remarks import LOST, MOST
from pttt_ooc.other_games.extreme.tournament_record import Record
from pttt_ooc.other_games.extreme.walls import ExtremeError
from tests.other_games.extreme.bot_kit import FIRST, bot, bot_text, read, run

OPEN = Conditions(time_limit=60, walls=False)
PYTHON2 = walls.python2()
HELPERS = "    def compare(self, a, b):\n        return b[2] - a[2]\n"
CELLS = "cells = board.find_valid_move_cells(old_move)\n"

OLD_BOTS = {  # all other differences are in test_python2_semantics
    "keys": "d = {0: 1}\nreturn board.find_valid_move_cells(old_move)[d.keys()[0]]",
    "compare": CELLS + "cells.sort(self.compare)\nreturn cells[0]",
    "division": CELLS + "return cells[(cells[0][1] + cells[0][2]) / 2 % len(cells)]",
    "leak": CELLS + "x = [cell for cell in cells]\nreturn cell",
}


def old_bot(name):
    return read(bot_text(OLD_BOTS[name], init="self.moves = 0") + HELPERS)


def own_moves(games):
    return [[move.cell for move in match.moves if move.player == side] for side, match in enumerate(games)]


@pytest.fixture
def no_python2(monkeypatch):
    monkeypatch.setattr(bot_programs, "python2", lambda: None)


@pytest.mark.slow
@pytest.mark.parametrize("name", OLD_BOTS)
def test_a_bot_in_python_2_plays_converted(name, no_python2):
    found = settle_version(old_bot(name), OPEN)
    assert found.program.pythons == (2,), found
    assert all(match.message in ("WON", "DRAW") for match in found.games), [one.detail for one in found.games]
    assert {match.pythons[side] for side, match in enumerate(found.games)} == {"converted"}
    told = check(old_bot(name), OPEN)
    assert told.accepted and told.python == "converted" and "Python 2" in told.why
    match = play_match((found.program, bot(file="team2.py")), OPEN)
    assert match.message in ("WON", "DRAW") and match.pythons[0] == "converted", match.detail


@pytest.mark.skipif(PYTHON2 is None, reason="no Python 2.7 is installed")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", OLD_BOTS)
def test_a_real_python_2_is_taken_first_and_plays_the_same(name, monkeypatch):
    real = settle_version(old_bot(name), OPEN)
    assert real.program.pythons == (2,) and check(old_bot(name), OPEN).python == "2.7"
    monkeypatch.setattr(bot_programs, "python2", lambda: None)
    assert own_moves(settle_version(old_bot(name), OPEN).games) == own_moves(real.games)


LATE = """
self.moves += 1
if self.moves > 14:
    return board.find_valid_move_cells(old_move)[len(flag) / 2]
return board.find_valid_move_cells(old_move)[0]
"""


@pytest.mark.slow
def test_a_bot_that_fails_late_as_python_3_is_python_2_everywhere(no_python2):
    one = read(bot_text(LATE, init="self.moves = 0"))
    assert one.pythons == (3, 2) and not one.told
    found = settle_version(one, OPEN)
    assert found.program.pythons == (2,) and check(one, OPEN).python == "converted"
    assert all(match.message in ("WON", "DRAW") for match in found.games) and not found.warnings


def test_a_setting_says_the_version():
    text = bot_text("return board.find_valid_move_cells(old_move)[len(flag) / 2 * 0]").encode()
    for python in (2, 3):
        one = bot_programs.program("team1.py", text, False, str(python))
        assert one.pythons == (python,) and settle_version(one, OPEN).games is None
        assert one.why == f"all bots are taken as Python {python}"
    with pytest.raises(ProgramError, match="as Python 3: Missing parentheses"):
        bot_programs.program("team1.py", b"print 'x'\n", False, "3")
    assert bot_programs.read_program(bot_programs.Path("strong"), False, "2").pythons == (3,)


@pytest.mark.slow
def test_a_bot_that_plays_in_both_is_python_3_and_is_told_where_it_differs():
    body = CELLS + "x = (len(cells) + old_move[2]) / 2\nreturn cells[int(x * 2) % len(cells)]"
    found = settle_version(read(bot_text(body)), OPEN)
    assert found.program.pythons == (3,)
    assert found.program.why == "nothing in its text tells Python 2 from 3, and it plays whole games in both"
    assert "It plays other moves as Python 2, from its move " in found.warnings[0]
    assert found.warnings[1:] == ("Line 7: / between whole numbers rounds down in Python 2.",)
    same = settle_version(read(bot_text("x = len(flag) / 2\n" + FIRST)), OPEN)
    assert same.program.pythons == (3,) and same.games and not same.warnings


def test_a_bot_that_uses_its_time_tells_its_version_after_few_moves(monkeypatch):
    """Its check plays ten moves all the same, and each of its moves is told."""
    monkeypatch.setattr(bot_version, "LONG", 0.0)
    one, told = read(bot_text("x = len(flag) / 2\n" + FIRST)), []

    def tell(match, side):
        assert match.moves[-1].player == side
        told.append((match.pythons[side], "xo"[side], len(match.used(side))))

    found = settle_version(one, OPEN, tell)
    assert found.program.pythons == (3,) and not found.warnings
    assert found.program.why.endswith("and it plays its first moves, which take long, in both")
    versions = list(dict.fromkeys(python for python, _, _ in told))
    assert told == [(python, side, n) for python in versions for side in "xo" for n in range(1, bot_version.FEW + 1)]
    told.clear()
    checked = check(one, OPEN, tell=tell)
    assert checked.accepted and checked.moves == 2 * ENOUGH
    assert [n for _, _, n in told[4 * bot_version.FEW :]] == [*range(1, ENOUGH + 1)] * 2


def test_the_bound_of_a_check_is_that_of_all_its_moves():
    known, unknown = replace(bot(), pythons=(3,)), replace(bot(), pythons=(3, 2))
    assert most_seconds(known, Conditions()) == 2 * (60 + 10 * 24)
    assert most_seconds(unknown, Conditions()) == 2 * (60 + 10 * 24) + 4 * (60 + 3 * 24)
    assert most_seconds(unknown, Conditions(1.0, 5.0)) == 2 * (5 + 10 * 1) + 4 * (5 + 10 + 1)


@pytest.mark.slow
def test_names_make_a_version_likelier_but_games_decide(monkeypatch):
    played = []
    real = bot_version.trial_games
    monkeypatch.setattr(
        bot_version, "trial_games", lambda one, _, *more: played.append(one.pythons[0]) or real(one, OPEN, *more)
    )
    found = settle_version(read(bot_text("for i in xrange(2): pass\n" + FIRST)), OPEN)
    assert found.program.pythons == (2,) and played == [2]
    played.clear()
    shim = "class xrange2: pass\ntry:\n    xrange\nexcept NameError:\n    from builtins import range as old\n"
    found = settle_version(read(bot_text("assert 7 / 2 == 3.5\n" + FIRST, before=shim)), OPEN)
    assert found.program.pythons == (3,) and played == [2, 3]


@pytest.mark.slow
def test_the_traceback_is_that_of_the_version_it_was_written_for(no_python2):
    """A bot in Python 3 with an error in it, and one in Python 2 that comes further as such."""
    told = check(read("from __future__ import division\n" + bot_text("x = 1 / 2\nreturn self.missing")), OPEN)
    assert (told.accepted, told.python[:2], told.changes) == (False, "3.", "")
    lines = told.detail.splitlines()
    assert lines[1] == '  File "team1.py", line 8, in move' and lines[-1].startswith("AttributeError")
    assert told.warnings.startswith("As Python 2 it forfeits at move 1 as x: THREW AN EXCEPTION. AttributeError")
    assert "runner.py" not in told.detail and "python2_semantics" not in told.detail
    late = (
        "self.moves += 1\nx = len(flag) / 2\nif self.moves > 3: x / 0\nreturn board.find_valid_move_cells(old_move)[x]"
    )
    told = check(read(bot_text(late, init="self.moves = 0")), OPEN)
    assert told.python == "converted" and told.message == "THREW AN EXCEPTION"
    lines = told.detail.splitlines()
    assert lines[1:3] == ['  File "team1.py", line 8, in move', "    if self.moves > 3: x / 0"] and len(lines) <= 5
    assert lines[-1].startswith("ZeroDivisionError") and "As Python 3 it forfeits at move 1 as x" in told.warnings


@pytest.mark.slow
def test_an_error_while_a_file_is_loaded_does_not_lead_into_our_files():
    for text in ("x = 1\n", "class Team1:\n    def move(self, a): pass\n    def __init__(self, b): pass\n"):
        told = check(read(text), OPEN)
        assert not told.accepted and "runner.py" not in told.detail and "Error" in told.detail


@pytest.mark.slow
def test_what_the_conversion_loses_is_told_with_its_line(no_python2):
    text = "print 1\nfor k in d.items(): pass\nx = hash('a')\nprint eval('1')\nfor k in set('ab'): pass\n" + FIRST
    told = check(read(bot_text("d = {}\n" + text)), OPEN).warnings.splitlines()
    assert [line.split(":")[0] for line in told] == ["Line 8", "Line 9", "Line 10", "Line 11"]
    assert "dictionary" in told[0] and "hash()" in told[1] and "eval" in told[2] and "set" in told[3]
    assert all(line.endswith("; the conversion does not keep it.") for line in told)
    assert check(read(bot_text("x = {}.items()\n" + FIRST)), OPEN).python[:2] in ("3.", "co")


@pytest.mark.slow
def test_lines_are_the_files_own_where_the_conversion_has_more():
    one = read(bot_text("def f((a, b)): return a\nprint hash('x')\n" + FIRST))
    assert [line for line, *_ in one.differences] == [7]


def test_what_changes_no_move_hides_no_difference():
    lines = "\n".join(f"if self.a[{n}] < self.b[{n}]: x = map(str, self.a)" for n in range(2 * MOST))
    one = read(bot_text(f"import cPickle\n{lines}\nprint hash('x')\n{FIRST}"))
    assert [(line, kind) for line, kind, _ in one.differences] == [(7 + 2 * MOST, LOST)]


@pytest.mark.slow
def test_a_program_that_only_python_2_can_run_needs_one(monkeypatch):
    text = bot_text("async = 1\nprint async\n" + FIRST)
    monkeypatch.setattr(bot_programs, "python2", lambda: None)
    with pytest.raises(ProgramError, match="It can only run in Python 2.7, which this machine has not"):
        read(text)
    monkeypatch.setattr(bot_programs, "python2", lambda: "there")
    bot_programs.read.cache_clear()
    one = read(text)
    monkeypatch.undo()
    assert one.pythons == (2,) and one.text is None
    assert [found.version for found in one.interpreters()] == ([(2, 7)] if PYTHON2 else [])
    bot_programs.read.cache_clear()


@pytest.mark.slow
def test_a_module_that_python_2_lacks_is_told_with_both_errors(monkeypatch):
    """A Python 3 stands for the real Python 2.7, as what is tested is only the second try."""
    monkeypatch.setattr(bot_programs, "python2", walls.python3)
    one = read(bot_text("print 1", before="import nothing_like_it"))
    monkeypatch.setattr(bot_programs.BotProgram, "needs_conversion", lambda self, version: True)
    match = play_match((one, bot(file="team2.py")), OPEN)
    first, second = match.detail.split("\nConverted to Python 3:\n")
    assert first.startswith("In Python 2.7:\nTraceback") and "nothing_like_it" in first and "nothing_like_it" in second


# ---------------------------------------------------------------------------------------------
# Tournaments and commands


def hand_in(directory, names):
    directory.mkdir()
    for n, name in enumerate(names):
        text = bot_text(OLD_BOTS[name], init="self.moves = 0", name=f"Team{n}") + HELPERS
        (directory / f"team{n}.py").write_text(text)
    return directory


POOL = ("--pools", "1", "--qualify", "1", "--marks", "10", "--no-sandbox", "--time-limit", "60")


@pytest.mark.long
def test_a_tournament_of_old_bots_has_no_forfeits(tmp_path, no_python2, monkeypatch, capsys):
    """Their versions are recorded with the tournament, and not guessed anew."""
    bots, out = hand_in(tmp_path / "bots", ["keys", "division", "compare"]), tmp_path / "out"
    assert run(capsys, "tournament", bots, "-o", out, *POOL)[0] == 0
    logs = [json.loads(file.read_text()) for file in (out / "matches").glob("*.json")]
    assert len(logs) == 6 and {log["message"] for log in logs} <= {"WON", "DRAW"}
    assert all(log["pythons"] == ["converted", "converted"] for log in logs)
    assert {team.python for team in Record(out).teams.values()} == {2}
    monkeypatch.setattr(tournament, "settle_version", None)
    next((out / "matches").glob("*.json")).unlink()
    assert run(capsys, "tournament", bots, "-o", out, *POOL)[0] == 0
    assert run(capsys, "tournament", bots, "-o", out, *POOL, "--python", "3")[0] == 1
    assert len(list((out / "matches").glob("*.json"))) == 6


@pytest.mark.slow
def test_the_commands_take_a_version(tmp_path, no_python2, capsys):
    (tmp_path / "team1.py").write_text(bot_text(OLD_BOTS["keys"]))
    file = tmp_path / "team1.py"
    for python, code, words in (("3", 1, "run by Python 3"), ("2", 0, "as all bots are taken as Python 2")):
        found, out, _ = run(capsys, "check", file, "--no-sandbox", "--python", python)
        assert found == code and words in out
    for python, messages in (("2", {"WON", "DRAW"}), ("3", {"THREW AN EXCEPTION"}), ("guess", {"WON", "DRAW"})):
        code, out, _ = run(capsys, "match", file, "random", "--no-sandbox", "--python", python, "--json")
        assert code == 0 and json.loads(out.splitlines()[-1])["message"] in messages
    for command in (("check", file), ("match", file, file), ("tournament", tmp_path)):
        code, _, err = run(capsys, *command, "--python", "4")
        assert code == 1 and "--python 4 is not a version of Python that bots can have; say 2, 3 or guess." in err


# ---------------------------------------------------------------------------------------------
# The formal rules


def breaches(text, file="team1.py"):
    return [tuple(one) for one in read(text, file).breaches]


def test_a_file_in_the_documents_form_breaks_no_rule():
    assert breaches('"""A comment."""\nimport os, random\n' + bot_text().lstrip()) == []
    assert breaches("import numpy\n" + bot_text("print 1\n" + FIRST, name="Team39"), "team39.py") == []


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    ("text", "file", "line", "words"),
    [
        (bot_text(), "bot.py", 0, "not teamX.py"),
        (bot_text(name="team1"), "team1.py", 0, "there is no class Team1"),
        (bot_text().replace("old_move, flag):", "old_move):"), "team1.py", 5, "move has other parameters"),
        (bot_text().replace("(self):", "(self, depth=3):"), "team1.py", 3, "__init__ has other parameters"),
        ("class Team1:\n    def move(self, board, old_move, flag): pass\n", "team1.py", 1, "has no method __init__"),
        (bot_text(before="def helper(): pass"), "team1.py", 1, "the function helper is outside of"),
        (bot_text(before="class Node: pass"), "team1.py", 1, "the class Node is outside of"),
        (bot_text(before="DEPTH = 3"), "team1.py", 1, "a statement is outside of"),
        (bot_text() + "    def find_valid_move_cells(self, m): pass\n", "team1.py", 7, "is the evaluator's code"),
        (bot_text("import signal\n" + FIRST), "team1.py", 6, "signal: the library signal is prohibited"),
        (bot_text("x = 1\nimport threading\n" + FIRST), "team1.py", 7, "threading: threads are prohibited"),
        (bot_text("from multiprocessing import Pool\n" + FIRST), "team1.py", 6, "system calls are prohibited"),
        (bot_text("import os\nprint 1\nos.system('ls')"), "team1.py", 8, "os.system: system calls are prohibited"),
        (bot_text("from os import fork\n" + FIRST), "team1.py", 6, "os.fork: system calls are prohibited"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_told_with_its_line(text, file, line, words):
    found = [told for at, told in breaches(text, file) if at == line]
    assert any(words in told for told in found), breaches(text, file)


@pytest.mark.slow
def test_a_broken_rule_is_a_warning_or_by_a_setting_a_refusal(tmp_path, capsys):
    text = bot_text(before="DEPTH = 3")
    told = check(read(text), OPEN)
    assert told.accepted and told.breaches.startswith("Line 1: a statement is outside of the team's class")
    told = check(read(text), OPEN, strict=True)
    assert (told.accepted, told.message, told.detail) == (False, bot_check.BREAKS, told.breaches)
    assert check(read(bot_text()), OPEN, strict=True).accepted
    (tmp_path / "team1.py").write_text(text)
    code, out, err = run(capsys, "check", tmp_path / "team1.py", "--no-sandbox")
    assert code == 0 and "It plays." in out and "Formal rules that it breaks:\nLine 1: a statement is outside" in err
    code, out, err = run(capsys, "check", tmp_path / "team1.py", "--no-sandbox", "--strict")
    assert code == 1 and "It is refused: BREAKS THE FORMAL RULES." in out and err.count("Line 1:") == 1


def test_python2_is_the_first_on_the_path_that_runs_or_the_named_one(tmp_path, monkeypatch, caplog):
    programs = {}
    for place, answer in (("broken", "no"), ("other", '[[3, 9], "/x", [], []]'), ("good", '[[2, 7], "/y", [], []]')):
        (tmp_path / place).mkdir()
        programs[place] = tmp_path / place / "python2.7"
        shim = "echo 'pyenv: python2.7: command not found' >&2; exit 127" if place == "broken" else ""
        programs[place].write_text(f"#!/bin/sh\n{shim}\necho '{answer}'\n")
        programs[place].chmod(0o755)
    monkeypatch.setenv(
        "PATH", os.pathsep.join(str(program.parent) for program in programs.values()), prepend=os.pathsep
    )
    monkeypatch.delenv(walls.PYTHON2_VARIABLE, raising=False)
    find = walls.python2.__wrapped__  # not the one that has been found before
    assert find().command == ("/y", "-s", "-S", "-B")
    assert not [one for one in caplog.messages if str(programs["other"]) in one]  # it runs, and is another version
    (told,) = (one for one in caplog.messages if str(programs["broken"]) in one)
    assert "does not run, and the next Python 2.7 is tried: pyenv: python2.7: command not found." in told
    programs["good"].chmod(0o644)
    assert find() is None or find().command[0] != "/y"
    monkeypatch.setenv(walls.PYTHON2_VARIABLE, str(programs["other"]))
    with pytest.raises(ExtremeError, match="which is not a Python 2.7 that runs"):
        find()
    programs["good"].chmod(0o755)
    monkeypatch.setenv(walls.PYTHON2_VARIABLE, str(programs["good"]))
    assert find().command[0] == "/y"
    monkeypatch.setenv(walls.PYTHON2_VARIABLE, "")
    assert find() is None
