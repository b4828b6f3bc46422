"""Modules that a course allows: a bot that imports one which is missing does not forfeit."""

import dataclasses
import json

import pytest

from pttt_ooc.config import check_section
from pttt_ooc.errors import ConfigError
from pttt_ooc.other_games.extreme import bot_process, walls
from pttt_ooc.other_games.extreme.bot_check import check
from pttt_ooc.other_games.extreme.bot_process import Conditions, MissingModuleError, check_modules
from pttt_ooc.other_games.extreme.bot_programs import program
from pttt_ooc.other_games.extreme.match import play_match
from pttt_ooc.other_games.extreme.settings import Terms
from pttt_ooc.other_games.extreme.tournament import Entry, Player, Tournament, TournamentSettings
from pttt_ooc.other_games.extreme.tournament_record import Record
from pttt_ooc.other_games.extreme.walls import ExtremeError
from tests.other_games.extreme.bot_kit import FIRST, bot, bot_text, need_walls, run

FREE = Conditions(time_limit=600, walls=False)


def lacking(module):
    return bot(f"raise ImportError(\"No module named '{module}'\")")


@pytest.mark.parametrize("first", [True, False])
def test_a_bot_does_not_forfeit_for_a_module_that_is_missing_here(monkeypatch, first):
    other = bot(FIRST, file="team2.py")
    pair = (lacking("sklearn"), other) if first else (other, lacking("sklearn"))
    monkeypatch.setattr(bot_process, "find_spec", lambda name: None)
    with pytest.raises(MissingModuleError, match=r"team1.py, run by Python 3.*install with: .* scikit-learn$"):
        play_match(pair, FREE)


@pytest.mark.parametrize("module, there", [("numpy", True), ("antigravity2", False), ("sklearnx", False)])
def test_it_forfeits_for_another_module_and_for_one_that_is_there(monkeypatch, module, there):
    if not there:
        monkeypatch.setattr(bot_process, "find_spec", lambda name: None)
    match = play_match((lacking(module), bot(FIRST, file="team2.py")), FREE)
    assert (match.winner, match.message) == ("P2", "THREW AN EXCEPTION")


def test_words_before_the_last_line_say_nothing(monkeypatch):
    monkeypatch.setattr(bot_process, "find_spec", lambda name: None)
    check_modules("team1.py", "ModuleNotFoundError: No module named 'pandas'\nValueError: no", walls.python3())
    check_modules("team1.py", "", walls.python3())


@pytest.mark.skipif(walls.python2() is None, reason="no Python 2.7 is installed")
def test_python_2_is_asked_for_its_own_modules():
    with pytest.raises(MissingModuleError, match="run by Python 2.7, needs sklearn"):
        check_modules("team1.py", "ImportError: No module named sklearn", walls.python2())
    check_modules("team1.py", "ImportError: No module named json", walls.python2(), ["json"])
    with pytest.raises(MissingModuleError, match="needs networkx, which the course allows; install it for that"):
        check_modules("team1.py", "ImportError: No module named networkx", walls.python2(), ["networkx"])


# ---------------------------------------------------------------------------------------------
# Libraries that a course allows besides those of its document


def breaches(before, *libraries, file="team1.py", name="Team1", python="guess"):
    text = bot_text(before=before, name=name).lstrip("\n").encode()
    return [tuple(one) for one in program(file, text, False, python, libraries).breaches]


@pytest.mark.slow
def test_a_library_needs_permission():
    told = "is not allowed; allowed are Python's own libraries, numpy, pandas and sklearn"
    assert breaches("import scipy.sparse") == [(1, f"scipy {told}")]
    assert breaches("import random\nfrom networkx.algorithms import dag, flow") == [(2, f"networkx {told}")]
    assert breaches("scipy = __import__('scipy')")[-1] == (1, f"scipy {told}")
    assert breaches("import scipy.sparse, numpy", "networkx", "scipy") == []
    assert breaches("import scipy", "networkx") == [(1, f"scipy {told.replace(' and ', ', ')} and networkx")]
    assert breaches("import scipyx", "scipy")[0][1].startswith("scipyx is not allowed")


@pytest.mark.slow
@pytest.mark.parametrize("python", ["2", "3"])
def test_libraries_of_python_need_none(python):
    own = "import os.path, random, __future__\nfrom collections import deque\nfrom sklearn.tree import *"
    assert breaches(own, python=python) == []
    old = "import cPickle, Queue, sets, imp, distutils.util\nfrom UserDict import UserDict"
    assert breaches(old, python=python) == []
    assert breaches("from . import team1\nimport team1", python=python) == []
    assert breaches("import team39", file="team39.py", name="Team39", python=python) == []
    assert breaches("import signal", python=python) == [(1, "signal: the library signal is prohibited")]
    assert [line for line, _ in breaches("import os\nx = __import__(os.name)", python=python)] == [2]  # no library


@pytest.mark.slow
def test_a_library_that_is_allowed_runs_behind_the_walls():
    need_walls()
    text = bot_text("import scipy.sparse\nself.m = scipy.sparse.eye(3).tocsr()\n" + FIRST).encode()
    conditions = Conditions(time_limit=600, libraries=("scipy",))
    found = check(program("team1.py", text, True, "3", conditions.libraries), conditions, strict=True)
    assert (found.accepted, found.moves, found.breaches) == (True, 20, ""), found.detail
    found = check(program("team1.py", text, True, "3"), Conditions(time_limit=600), strict=True)
    assert not found.accepted and found.detail.startswith("Line 6: scipy is not allowed; allowed are Python's own")


def test_nobody_forfeits_for_an_allowed_library_that_is_missing_here():
    pair = bot("import notinstalled\n" + FIRST), bot(FIRST, file="team2.py")
    told = r"team1.py, run by Python 3.*, needs notinstalled, which the course allows; install it beside pttt\."
    with pytest.raises(MissingModuleError, match=told):
        play_match(pair, Conditions(time_limit=600, walls=False, libraries=("notinstalled",)))
    match = play_match(pair, Conditions(time_limit=600, walls=False, libraries=("scipy",)))
    assert (match.winner, match.message) == ("P2", "THREW AN EXCEPTION")


@pytest.mark.parametrize("name", ["scikit-learn", "scipy.sparse", "", "a" * 65, "scipy\n", "signal"])
def test_a_bad_name_of_a_library_is_a_sentence(capsys, name):
    own = name == "signal"
    sentence = "a library that is not Python's own" if own else "the name by which programs import the library"
    with pytest.raises(ConfigError, match=rf"^extreme.yaml: libraries\[1\] is .*, but must be {sentence}"):
        check_section(Terms, {"libraries": ["scipy", name]}, "extreme.yaml")
    for command in (["check", "no"], ["match", "no", "no"], ["tournament", "no"]):
        code, _, err = run(capsys, *command, f"--library={name}")
        assert code == 1 and f"--library is {name!r}, but must be {sentence}" in err


def test_a_tournament_keeps_its_libraries(tmp_path):
    settings = TournamentSettings(Terms(pools=[1], qualify=[1], marks=[1]).stages, 0, FREE)
    entries = [Entry(key, key, f"{key}.py", bot_text(name=key.capitalize()).encode(), 3) for key in ("team1", "team2")]
    Tournament(tmp_path, entries, settings).close()
    record = json.loads((tmp_path / "tournament.json").read_text())
    assert record["conditions"].pop("libraries") == []
    (tmp_path / "tournament.json").write_text(json.dumps(record))  # as an older release wrote it
    Tournament(tmp_path, entries, settings).close()
    other = dataclasses.replace(settings, conditions=dataclasses.replace(FREE, libraries=("scipy",)))
    with pytest.raises(ExtremeError, match="holds a tournament with other conditions"):
        Tournament(tmp_path, entries, other)
    Tournament(tmp_path / "other", entries, other).close()
    Tournament(tmp_path / "other", entries, other).close()
    assert Player(Record(tmp_path / "other")).conditions.libraries == ["scipy"]


@pytest.mark.slow
def test_the_commands_take_libraries(tmp_path, capsys):
    files = [tmp_path / "bots" / f"team{n}.py" for n in (1, 2)]
    files[0].parent.mkdir()
    for file, name in zip(files, ("scipy", "notinstalled"), strict=True):
        file.write_text(bot_text(f"import {name}\n{FIRST}", name=file.stem.capitalize()))
    given = ("--python", "3", "--no-sandbox")
    assert run(capsys, "check", files[0], "--strict", *given)[0] == 1
    assert run(capsys, "check", files[0], "--strict", *given, "--library", "scipy")[0] == 0
    told = "needs notinstalled, which the course allows"
    pool = ("--pools", "1", "--qualify", "1", "--marks", "1")
    for command in (("match", *files), ("tournament", files[0].parent, *pool)):
        code, _, err = run(capsys, *command, *given, "--library", "notinstalled")
        assert code == 1 and told in err, err
