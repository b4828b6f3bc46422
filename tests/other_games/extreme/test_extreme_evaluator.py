"""The evaluator: the board that bots get, matches between files, Python 2, time, and the command."""

import copy
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pttt_ooc import extras
from pttt_ooc.errors import MissingExtraError
from pttt_ooc.other_games.arena.games.catalogue import game as by_name
from pttt_ooc.other_games.arena.kernels import extreme as rules
from pttt_ooc.other_games.extreme import bot_programs, source_reader, walls
from pttt_ooc.other_games.extreme.bot_process import BotProcess, Conditions
from pttt_ooc.other_games.extreme.match import check_walls, play_match
from pttt_ooc.other_games.extreme.referee import FLAGS, Referee
from pttt_ooc.other_games.extreme.runner import BigBoard, encode_source
from pttt_ooc.other_games.extreme.source_reader import dialect, text_of
from pttt_ooc.other_games.extreme.walls import ExtremeError
from tests.kits.patience import wait_until
from tests.other_games.extreme.bot_kit import FIRST, bot, bot_text, children, need_walls, read, run
from tests.other_games.extreme.naive_extreme import Game
from tests.other_games.extreme.random_extreme import random_games

ROOT = Path(__file__).parents[3]

OPEN = Conditions(time_limit=60, walls=False)  # these tests are about other things than walls


def play(one, two, **conditions):
    return play_match((one, two), Conditions(**{"time_limit": 60, "walls": False, **conditions}))


# ---------------------------------------------------------------------------------------------
# The board


def test_the_board_is_plain_lists_in_tuples():
    board = BigBoard()
    assert type(board.big_boards_status) is tuple and type(board.small_boards_status) is tuple
    assert board.big_boards_status == ([["-"] * 9] * 9, [["-"] * 9] * 9)
    assert board.small_boards_status == ([["-"] * 3] * 3, [["-"] * 3] * 3)
    rows = [row for big in board.big_boards_status for row in big]
    assert len({id(row) for row in rows}) == 18
    assert set(vars(board)) == {"big_boards_status", "small_boards_status"}  # copies and pickles know no more


@pytest.mark.slow
def test_games_by_the_board_are_those_of_the_bitboards_and_of_the_plain_implementation():
    extreme = by_name("extreme")
    moves, plies, _, results, scores = random_games(40, 11)
    for i in range(40):
        referee, game, state = Referee(), Game(), extreme.start()
        for number in moves[i, : plies[i]]:
            cell = (int(number) // 81, int(number) % 81 // 9, int(number) % 9)
            assert referee.result() == ("CONTINUE", "-")
            assert referee.board.find_valid_move_cells(referee.old_move) == game.legal()
            assert (referee.player, referee.bonus) == ("xo".index(game.player), game.bonus)
            assert referee.play(cell)
            game.play(cell)
            rules.play(state, number)
        for k in range(2):
            for j in range(9):
                owner = game.boards.get((k, j // 3, j % 3), "-")
                assert referee.board.small_boards_status[k][j // 3][j % 3] == owner
        result = {1: ("x", "WON"), 2: ("o", "WON"), 3: ("NONE", "DRAW")}[results[i]]
        assert referee.result() == result
        if results[i] == 3:
            assert list(referee.points()) == scores[i].tolist()


def test_update_tells_whether_a_small_board_was_won():
    board = BigBoard()
    for column in (0, 1):
        board.big_boards_status[1][0][column] = "o"
    assert board.update((0, 3, 3), (1, 0, 2), "o") == ("SUCCESSFUL", True)
    assert board.small_boards_status[1][0][0] == "o"
    assert board.update((1, 0, 2), (0, 0, 6), "o") == ("SUCCESSFUL", False)


@pytest.mark.parametrize(
    "move",
    [(0, 0, 9), (2, 0, 0), (0, 4, 4), (0, 0), (0, 0, True), (0, 0, 0.0), [0, 0, 0], (0, 0, np.int64(0)), (0, 0, -1)],
)
def test_what_is_no_valid_move_changes_nothing(move):
    board = BigBoard()
    before = copy.deepcopy(vars(board))
    assert board.check_valid_move((0, 3, 3), move) is False
    assert board.update((0, 3, 3), move, "x") == ("UNSUCCESSFUL", False)
    assert vars(board) == before


def test_print_board(capsys):
    board = BigBoard()
    board.update((-1, -1, -1), (0, 0, 4), "x")
    board.update((0, 0, 4), (1, 1, 3), "o")
    board.small_boards_status[1][2][0] = "d"
    board.print_board()
    shown = capsys.readouterr().out.splitlines()
    assert shown[2].split() == list("----x----" + "---------") and shown[3].split() == list("---------" + "---o-----")
    assert shown[-4].split() == list("---" + "d--")


# ---------------------------------------------------------------------------------------------
# Matches


def test_a_match_between_bots_that_take_the_first_cell_follows_from_the_rules():
    game, cells = Game(), []
    while not game.winner:
        cells.append(game.legal()[0])
        game.play(cells[-1])
    match = play(bot(), bot(file="team2.py"))
    assert [move.cell for move in match.moves] == cells
    assert (match.winner, match.message) == ({"x": "P1", "o": "P2"}[game.winner], "WON")
    assert sorted(match.points) == [0, 86] and match.points["xo".index(game.winner)] == 86
    assert sum(move.bonus for move in match.moves) > 0


LAST = "return board.find_valid_move_cells(old_move)[-1]"


def test_an_opening_is_made_for_the_players():
    referee, opening = Referee(), []
    while not referee.bonus:  # ends with a small board that is won: who has won it is asked first
        opening.append(referee.valid_cells()[0])
        referee.play(opening[-1])
    body = f"""
        if self.calls == 0 and flag == {FLAGS[referee.player]!r}:
            assert old_move == {opening[-1]} and board.small_boards_status[0][0][0] == flag
        self.calls += 1
        {FIRST}
    """
    one, two = (bot(body, init="self.calls = 0", file=file) for file in ("team1.py", "team2.py"))
    match = play_match((one, two), Conditions(walls=False), opening=opening)
    assert match.message == "WON", match.detail
    assert [move.cell for move in match.moves] == [move.cell for move in play(bot(), bot(file="team2.py")).moves]
    assert all((move.seconds == 0) == (ply < len(opening)) for ply, move in enumerate(match.moves))


def test_an_opening_against_the_rules_is_a_sentence(capsys):
    for moves, words in (("0.0.0,0.8.8", "(0, 8, 8) cannot be move 2"), ("0.0", "'0.0' in --moves is not a move")):
        code, _, err = run(capsys, "match", "random", "random", "--no-sandbox", "--moves", moves)
        assert code == 1 and words in err


def test_a_bot_is_called_as_the_course_calls_it():
    checks = """
        assert type(old_move) is tuple and all(type(n) is int for n in old_move) and flag in ("x", "o")
        self.calls += 1
        if self.calls == 1 and flag == "x":
            assert old_move == (-1, -1, -1)
        else:
            mark = board.big_boards_status[old_move[0]][old_move[1]][old_move[2]]
            assert mark is "x" or mark is "o"
        assert board is getattr(self, "board", board)  # the same object all the time
        self.board = board
        mine = copy.deepcopy(board)
        cell = mine.find_valid_move_cells(old_move)[0]
        assert mine.update(old_move, cell, flag)[0] == "SUCCESSFUL"
        k, row, column = cell
        assert board.big_boards_status[k][row][column] is "-"
        board.big_boards_status[k][row][column] = flag  # written, and taken back
        board.big_boards_status[k][row][column] = "-"
        board.small_boards_status = tuple([list(row) for row in small] for small in board.small_boards_status)
        return cell
    """
    one, two = (bot(checks, "import copy", "self.calls = 0", file) for file in ("team1.py", "team2.py"))
    match = play(one, two)
    assert match.message in ("WON", "DRAW"), match.detail
    assert match.plies > 30


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    "body, message",
    [
        ("raise ValueError('no idea')", "THREW AN EXCEPTION"),
        ("raise SystemExit(0)", "THREW AN EXCEPTION"),
        ("import os; os._exit(0)", "THREW AN EXCEPTION"),
        ("return None", "INVALID MOVE"),
        ("return (0, 9, 9)", "INVALID MOVE"),
        ("return [0, 0, 0]", "INVALID MOVE"),
        ("return (0, 0, 0.0)", "INVALID MOVE"),
        ("return (False, 0, 0)", "INVALID MOVE"),
        ("return (10 ** 400, 0, 0)", "INVALID MOVE"),
        ("board.big_boards_status[0][0][0] = flag; return (0, 0, 0)", "MODIFIED THE BOARD"),
        ("board.small_boards_status[1][0][0] = 'd'; return (0, 0, 0)", "MODIFIED THE BOARD"),
        ("board.big_boards_status = list(board.big_boards_status); return (0, 0, 0)", "MODIFIED THE BOARD"),
        ("board.big_boards_status[0][0][0] = object(); return (0, 0, 0)", "MODIFIED THE BOARD"),
        ("del board.big_boards_status; return (0, 0, 0)", "THREW AN EXCEPTION"),
    ],
)
def test_a_bot_forfeits_with_the_message_of_the_course(body, message):
    match = play(bot(body), bot(file="team2.py"))
    assert (match.winner, match.message, match.points, match.plies) == ("P2", message, (0, 86), 0)
    assert match.detail
    match = play(bot(file="team2.py"), bot("if flag == 'x': raise ValueError\n" + body))
    assert (match.winner, match.message, match.points, match.plies) == ("P1", message, (86, 0), 1)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("text", ["raise RuntimeError", "class Team1:\n    pass", "import nothing_like_it", "x = 1"])
def test_a_file_that_gives_no_player_forfeits(text):
    match = play(read(text), bot(file="team2.py"))
    assert (match.winner, match.message) == ("P2", "THREW AN EXCEPTION")


def test_what_a_bot_raised_is_shown_from_its_own_file_on():
    match = play(bot("return board.find_valid_move_cells(None)"), bot(file="team2.py"))
    lines = match.detail.splitlines()
    assert lines[1:3] == ['  File "team1.py", line 6, in move', "    return board.find_valid_move_cells(None)"]
    assert "in find_valid_move_cells" in match.detail and lines[-1].startswith("TypeError")


def test_the_class_is_the_one_with_the_name_of_the_file():
    text = (
        bot_text("raise ValueError", name="Helper")
        + bot_text(name="Team07")
        + bot_text("raise ValueError", name="Team8")
    )
    assert play(read(text, "team07.py"), bot()).message == "WON"


def test_what_a_bot_prints_is_kept_and_harms_nothing():
    match = play(bot("print('P1 WON', flush=True); " + FIRST), bot("print('hm'); " + FIRST, file="team2.py"))
    assert match.message == "WON" and match.printed[0].startswith("P1 WON\nP1 WON") and "hm" in match.printed[1]


# ---------------------------------------------------------------------------------------------
# Python 2 and 3

OLD = """
import random, sys
from copy import deepcopy
class Team1():
\tdef __init__(self):
\t        self.best = -sys.maxint - 1
\tdef move(self, board, old_move, flag):
\t\tcells = board.find_valid_move_cells(old_move)
\t\tcounts = {}
\t\tfor k, row, column in cells:
\t\t\tplace = (row/3, column/3)
\t\t\tcounts[place] = counts.get(place, 0L) + 1
\t\tif counts.has_key((0, 0)) and len(counts) <> 1:
\t\t\tprint "open", len(counts),
\t\tassert 7 / 2 == 3 and -7 / 2 == -4 and 7 / 2.0 == 3.5
\t\thalf = 7
\t\thalf /= 2
\t\tassert half == 3 and board.small_boards_status[0][old_move[1] % 9/3]
\t\ttry:
\t\t\traise ValueError, "no"
\t\texcept ValueError, error:
\t\t\tpass
\t\tcells.sort(cmp=lambda a, b: cmp(a, b)) if sys.version_info[0] == 2 else cells.sort()
\t\treturn filter(lambda cell: cell in cells, map(tuple, cells))[len(cells) / 2 if len(cells) > 1 else 0]
"""


def test_a_file_in_python_2_runs_converted_where_there_is_no_python_2(monkeypatch):
    monkeypatch.setattr(bot_programs, "python2", lambda: None)
    one = read(OLD)
    assert one.pythons == (2,) and "Python 3 does not accept it" in one.why
    match = play(one, bot(file="team2.py"))
    assert match.message in ("WON", "DRAW"), match.detail
    assert match.pythons[0] == "converted"
    assert one.source == OLD  # what is stored is what was handed in


@pytest.mark.skipif(walls.python2() is None, reason="no Python 2.7 is installed")
def test_a_file_in_python_2_runs_in_python_2_and_plays_the_same(monkeypatch):
    one, two = read(OLD), bot(file="team2.py")
    real = play(one, two)
    assert real.pythons[0] == "2.7" and real.message in ("WON", "DRAW"), real.detail
    monkeypatch.setattr(bot_programs, "python2", lambda: None)
    assert [move.cell for move in play(one, two).moves] == [move.cell for move in real.moves]


@pytest.mark.skipif(walls.python2() is None, reason="no Python 2.7 is installed")
def test_a_module_that_python_2_lacks_is_looked_for_in_python_3():
    text = OLD.replace("import random", "import numpy, random").replace("7 / 2.0", "numpy.float64(7) / 2")
    match = play(read(text), bot(file="team2.py"))
    assert match.message in ("WON", "DRAW"), match.detail


@pytest.mark.parametrize(
    "body, pythons",
    [
        ("print 'x'", (2,)),
        ("x = xrange(3)", (2, 3)),
        ("x = {}.iteritems()", (2, 3)),
        ("import time; time.clock()", (2, 3)),
        ("self.clock = 3; x = self.clock", (3, 2)),
        ("x = f'{flag}'", (3,)),
        ("import time; time.perf_counter()", (3, 2)),
        ("x: int = 3", (3,)),
        ("x = len(flag) // 2", (3, 2)),
        ("x = len(flag) / 2", (3, 2)),
        ("x = {}.keys()[0]", (3, 2)),
        ("import cPickle", (3, 2)),
        ("x = map(len, [flag]); x.sort()", (3, 2)),
        ("x = old_move > None", (3, 2)),
        ("old_move.sort(self.compare)", (3, 2)),
        ("range(3).reverse()", (3, 2)),
    ],
)
def test_which_python_a_file_is_written_in(body, pythons):
    assert dialect(bot_text(body))[0] == pythons


def test_nobody_can_make_what_would_stop_conversions():
    with pytest.raises(OSError):
        Path(source_reader._NOT_KEPT).mkdir(parents=True)
    assert source_reader.convert_source("print 1\n") == "print(1)\n"


@pytest.mark.parametrize("version", [2, 3])
def test_the_first_line_of_a_file_says_its_version(version):
    assert dialect(f"#!/usr/bin/env python{version}.7\n" + bot_text("x = len(flag) / 2"))[0] == (version,)


@pytest.mark.parametrize("text", [b"def (:\n", b"class Team1:\n\0", b"print 'a\n"])
def test_what_is_no_program_is_a_sentence(text):
    with pytest.raises(ExtremeError, match="not a program in Python"):
        read(text)


@pytest.mark.parametrize("coding", ["undefined", "punycode", "idna", "unicode_escape", "utf_7", "rot13", "utf-8"])
@pytest.mark.parametrize("text", ["x = 1", "x = '\\ud800'", "x = '+2AA-'", "x = '\xff'"])
def test_a_file_in_any_encoding_has_a_text(coding, text):
    found = text_of(f"# coding: {coding}\n{text}\n".encode("latin-1"))
    assert found.encode() and "x = " in found


@pytest.mark.parametrize(
    ("head", "coding"),
    [
        ("", "utf-8-sig"),
        ("#!/usr/bin/python2\n", "utf-8-sig"),
        ("# coding: latin-1\n", "latin-1"),
        ("#!/usr/bin/python2\n# -*- coding: latin-1 -*-\n", "latin-1"),
        ("\n# vim: set fileencoding=utf-8 :\n", "utf-8"),
        ("encoding='x'\n# coding: latin-1\n", "utf-8-sig"),
        ("\n\n# coding: latin-1\n", "utf-8-sig"),
    ],
)
def test_python_2_gets_the_encoding_that_a_file_declares(head, coding):
    """By the rules of PEP 263, which hold for both versions; no line is added, because errors name lines."""
    text = head + "x = u'\xe9'\n"
    assert encode_source(text) == text.encode(coding)
    found = {}
    exec(compile(encode_source(text), "team1.py", "exec"), found)
    assert found["x"] == "\xe9"


@pytest.mark.skipif(walls.python2() is None, reason="no Python 2.7 is installed")
@pytest.mark.parametrize("head", ["", "#!/usr/bin/python2\n", "# coding: latin-1\n"])
def test_an_error_in_python_2_names_its_line(head):
    text = head + bot_text("print repr(u'\xe9')\nraise ValueError('no')")
    match = play(read(text.encode("latin-1" if head.startswith("# coding") else "utf-8")), bot(file="team2.py"))
    line = 1 + text.splitlines().index("        raise ValueError('no')")
    assert match.pythons[0] == "2.7" and match.printed[0] == "u'\\xe9'\n"
    assert f'File "team1.py", line {line}, in move\n    raise ValueError' in match.detail


@pytest.mark.parametrize("name", ["team1.txt", "../team1.py", "team 1.py", ".py"])
def test_a_bad_name_of_a_file_is_a_sentence(name):
    with pytest.raises(ExtremeError, match="not a name for a bot's file"):
        read(b"", name)


def test_what_a_bot_tells_can_be_written_down():
    match = play(bot("print('a\\0b'); raise ValueError('\\ud800 \\0 x')"), bot(file="team2.py"))
    for text in (match.detail, *match.printed):
        assert "\0" not in text and isinstance(text.encode(), bytes)
    assert "ValueError: ? \ufffd x" in match.detail and "a\ufffdb" in match.printed[0]


# ---------------------------------------------------------------------------------------------
# Time


@pytest.mark.parametrize(
    "limits, bot_facts",
    [
        ({"time_limit": 0.3}, {"body": "import time; time.sleep(60)"}),
        ({"time_limit": 0.3}, {"body": "while True: pass"}),
        ({"load_limit": 0.5}, {"init": "while True: pass"}),
    ],
)
def test_a_bot_that_takes_too_long_forfeits(limits, bot_facts):
    match = play(bot(**bot_facts), bot(file="team2.py"), **limits)
    assert (match.winner, match.message, match.points) == ("P2", "TIME OUT", (0, 86))


REQUEST = {"moves": [], "old_move": (-1, -1, -1), "flag": "x"}


def test_a_bot_does_not_think_while_it_is_not_asked(tmp_path):
    body = "import os; self.pid = os.getpid(); " + FIRST
    process = BotProcess(bot(body), bot(body).interpreters()[0], OPEN)
    try:
        process.load()
        process.ask(REQUEST)
        wait_until(lambda: Path(f"/proc/{process.enclosed.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    finally:
        process.end()
    assert not Path(f"/proc/{process.enclosed.pid}").exists()


# ---------------------------------------------------------------------------------------------
# The command


@pytest.mark.slow
def test_the_command_prints_an_object_on_the_last_line(capsys, tmp_path):
    one, two = tmp_path / "team1.py", tmp_path / "team2.py"
    one.write_text(bot_text("print('{}', flush=True); " + FIRST))
    two.write_text(bot_text(name="Team2"))
    log = tmp_path / "log.json"
    code, out, _ = run(capsys, "match", one, two, "--json", "--no-sandbox", "--log", log)
    found = json.loads(out.splitlines()[-1])
    assert code == 0 and found["winner"] in ("P1", "P2") and found["message"] == "WON"
    assert sorted(found["points"]) == [0, 86] and found["seconds"] > 0
    logged = json.loads(log.read_text())
    assert found["plies"] == len(logged["moves"]) == logged["plies"]
    code, out, _ = run(capsys, "match", one, two, "--no-sandbox")
    assert f"Winner: {found['winner']}\nMessage: WON\n" in out


@pytest.mark.slow
def test_a_coin_says_who_begins(capsys, tmp_path):
    one, two = tmp_path / "team1.py", tmp_path / "team2.py"
    one.write_text(bot_text())
    two.write_text(bot_text(name="Team2"))
    match = ("match", one, two, "--no-sandbox", "--python", "3")
    begins = {}
    for seed in [*range(8), 3]:
        _, out, _ = run(capsys, *match, "--json", "--coin", seed, "--moves", "0.0.0")
        names = json.loads(out.splitlines()[-1])["bots"]
        assert sorted(names) == ["team1.py", "team2.py"] and begins.setdefault(seed, names) == names
    assert {names[0] for names in begins.values()} == {"team1.py", "team2.py"}
    _, out, _ = run(capsys, *match, "--coin", 3)
    assert f"The coin with the seed 3 says that {begins[3][0]} begins.\nP1  {begins[3][0]}" in out


def test_the_bot_of_the_documents_plays(capsys, tmp_path):
    text = (ROOT / "docs" / "extreme.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "team39.py"
    file.write_text(code)
    code, out, err = run(capsys, "check", file, "--no-sandbox", "--python", "3")
    assert code == 0 and "It plays." in out, out + err


def test_a_bot_is_checked_as_both_players(capsys, tmp_path):
    bot_file = tmp_path / "team1.py"
    bot_file.write_text(bot_text())
    code, out, _ = run(capsys, "check", bot_file, "--no-sandbox", "--python", "3", "--json")
    found = json.loads(out)
    assert code == 0 and found["accepted"] and found["moves"] == 20 and not found["message"]
    bot_file.write_text(bot_text("if flag == 'o': raise ValueError('\\x1b[31mred')\n" + FIRST))
    code, out, err = run(capsys, "check", bot_file, "--no-sandbox", "--python", "3")
    assert code == 1 and "It forfeits: THREW AN EXCEPTION." in out
    assert "red" in err and "\x1b" not in err
    bot_file.write_text(OLD)
    code, out, _ = run(capsys, "check", bot_file, "--no-sandbox")
    assert code == 0 and "Python 3 does not accept it" in out and "It plays." in out


def test_a_conversion_that_cannot_be_is_a_sentence_and_no_fault_of_the_program(monkeypatch):
    without = dataclasses.replace(walls.python3(), paths=())
    monkeypatch.setattr(bot_programs, "python3", lambda: without)
    text = b"print 'only Python 2'\n"
    with pytest.raises(ExtremeError, match="cannot import fissix, though it is installed"):
        bot_programs.read.__wrapped__(text, walls=False)
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="The conversion of programs in Python 2 needs fissix"):
        bot_programs.read.__wrapped__(text, walls=False)


def test_a_search_that_cannot_be_compiled_is_a_sentence(monkeypatch, tmp_path):
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no compiler here >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    with pytest.raises(ExtremeError, match="cannot be compiled: no compiler here"):
        bot_programs._compile_search.__wrapped__()


def test_a_missing_bot_is_a_sentence(capsys):
    code, _, err = run(capsys, "match", "nobody.py", "random")
    assert code == 1 and "nobody.py cannot be read" in err and "alphabeta" in err


def test_strangers_are_refused_where_there_are_no_walls(capsys, monkeypatch, tmp_path):
    def refuse(listening):
        raise ExtremeError("There is no libseccomp here.")

    monkeypatch.setattr("pttt_ooc.other_games.extreme.bot_process.call_filter", refuse)
    (tmp_path / "team1.py").write_text(bot_text())
    code, _, err = run(capsys, "match", tmp_path / "team1.py", "random")
    assert code == 1 and "no libseccomp" in err and "--no-sandbox" in err


def test_there_are_walls_where_the_system_can_make_them():
    """Other tests skip where there are none, also where that is our own fault."""
    pytest.importorskip("pyseccomp")
    rights = [] if os.geteuid() == 0 else ["--user"]
    separate = ["unshare", *rights, "--mount", "--net", "--ipc", "--uts", "--pid", "--fork"]
    try:
        subprocess.run([*separate, "mount", "-t", "tmpfs", "none", "/tmp"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"the system makes no namespaces: {error}")
    check_walls()


def test_a_referee_that_keeps_its_files_private_can_run_bots():
    need_walls()
    before = os.umask(0o077)  # as the course's processes do
    try:
        check_walls()
    finally:
        os.umask(before)


def test_bots_behind_walls_play_as_without():
    need_walls()
    one, two = bot(), bot(LAST, file="team2.py")
    games = [[move.cell for move in play(one, two, walls=kind).moves] for kind in (True, False)]
    assert games[0] == games[1]


@pytest.mark.slow
def test_the_referees_end_is_the_bots_end(tmp_path):
    """Killed in the middle of a match, the evaluator leaves no process behind."""
    need_walls()
    (tmp_path / "team1.py").write_text(bot_text("while True: pass"))
    program, before = Path(sys.executable).with_name("pttt"), children()
    evaluator = subprocess.Popen([program, "extreme", "match", tmp_path / "team1.py", "random"])
    try:
        wait_until(lambda: len(children() - before) >= 5, alive=lambda: evaluator.poll() is None)
        pids = children() - before - {evaluator.pid}
    finally:
        os.kill(evaluator.pid, signal.SIGKILL)
        evaluator.wait()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
