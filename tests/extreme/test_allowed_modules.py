"""Modules that a course allows: a bot that imports one which is missing does not forfeit."""

import pytest

from pttt_ooc.errors import MissingExtraError
from pttt_ooc.extras import check_extra
from pttt_ooc.extreme import allowed_modules, walls
from pttt_ooc.extreme.allowed_modules import MissingModuleError, check_modules
from pttt_ooc.extreme.bot_process import Conditions
from pttt_ooc.extreme.match import play_match
from tests.extreme.bot_kit import FIRST, bot

FREE = Conditions(time_limit=600, walls=False)


def lacking(module):
    return bot(f"raise ImportError(\"No module named '{module}'\")")


@pytest.mark.parametrize("first", [True, False])
def test_a_bot_does_not_forfeit_for_a_module_that_is_missing_here(monkeypatch, first):
    other = bot(FIRST, file="team2.py")
    pair = (lacking("sklearn"), other) if first else (other, lacking("sklearn"))
    monkeypatch.setattr(allowed_modules, "find_spec", lambda name: None)
    with pytest.raises(MissingModuleError, match=r"team1.py, run by Python 3.*install with: .* scikit-learn$"):
        play_match(pair, FREE)


@pytest.mark.parametrize("module, there", [("numpy", True), ("antigravity2", False), ("sklearnx", False)])
def test_it_forfeits_for_another_module_and_for_one_that_is_there(monkeypatch, module, there):
    if not there:
        monkeypatch.setattr(allowed_modules, "find_spec", lambda name: None)
    match = play_match((lacking(module), bot(FIRST, file="team2.py")), FREE)
    assert (match.winner, match.message) == ("P2", "THREW AN EXCEPTION")


def test_words_before_the_last_line_say_nothing(monkeypatch):
    monkeypatch.setattr(allowed_modules, "find_spec", lambda name: None)
    check_modules("team1.py", "ModuleNotFoundError: No module named 'pandas'\nValueError: no", walls.python3())
    check_modules("team1.py", "", walls.python3())


@pytest.mark.skipif(walls.python2() is None, reason="no Python 2.7 is installed")
def test_python_2_is_asked_for_its_own_modules(monkeypatch):
    with pytest.raises(MissingModuleError, match="run by Python 2.7, needs sklearn"):
        check_modules("team1.py", "ImportError: No module named sklearn", walls.python2())
    monkeypatch.setattr(allowed_modules, "_MISSING", allowed_modules.re.compile("ImportError: (json)"))
    check_modules("team1.py", "ImportError: json", walls.python2())


def test_the_extra_is_named_by_its_packages(monkeypatch):
    monkeypatch.setattr("pttt_ooc.extras.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="bots of teams needs pandas and scikit-learn, which are not installed"):
        check_extra("bots", "A tournament with bots of teams")
