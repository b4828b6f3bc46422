"""A missing extra gives one sentence with the command that installs it, before anything else happens."""

import sys
import tomllib
from pathlib import Path

import pytest

from pttt_ooc.cli import commands as cli
from pttt_ooc.errors import MissingExtraError
from pttt_ooc.extras import EXTRAS, check_extra, imports, package
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.api import openspiel
from pttt_ooc.other_games.environments.catalogue import environment

ROOT = Path(__file__).parent.parent
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
ONE = [(name, module) for name, modules in EXTRAS.items() for module in modules]
COMMANDS = {
    "web data/pttt-abrupt/full --no-browser": "uvicorn",
    "web --play uniform --no-browser": "uvicorn",
    "course serve --game mini-2x2k2-abrupt --port 0": "uvicorn",
    "web --arena data --no-browser": "uvicorn",
    "web --smbc data --no-browser": "uvicorn",
    "web --tournament data --no-browser": "uvicorn",
    "extreme open": "uvicorn",
    "arena match random first --games 2": "statsmodels",
    "extreme match one.py two.py": "pyseccomp",
    "lab learn psro --game mini-2x3k2-abrupt": "scipy",
    "lab learn double-oracle --game mini-2x3k2-abrupt": "highspy",
    "lab learn ppo --game mini-2x3k2-abrupt": "jax",
    "smbc goals data/smbc --all-equilibria": "scipy",
    "exact --game mini-2x3k2-abrupt --workers 2": "distributed",
}

IMPORTERS = ("pttt_ooc.other_games.arena.matches.statistics", "pttt_ooc.learners.deep.")
"""Modules whose import needs an extra."""


def test_the_extras_are_those_of_the_project():
    for name, modules in EXTRAS.items():
        assert [line.partition(">")[0].replace("_", "-") for line in DECLARED[name]] == [
            package(one) for one in modules
        ]
    assert {*DECLARED} - {*EXTRAS} == {"workflow", "slurm", "all", "dev", "docs"}


def test_the_libraries_that_make_installs_run_all_commands():
    [everything] = DECLARED["all"]
    named = everything.removeprefix("pttt-ooc[").removesuffix("]").split(",")
    assert {*named} == {"workflow", *EXTRAS} - {"cluster", "deep", "openspiel", "scoring"}


@pytest.mark.parametrize(("name", "module"), ONE, ids=" ".join)
def test_all_libraries_of_an_extra_are_looked_for(monkeypatch, name, module):
    for other in EXTRAS[name]:
        monkeypatch.setitem(sys.modules, other, type(sys)(other))
        sys.modules[other].__spec__ = object()
    check_extra(name, "This")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=f"^This needs {package(module)}, which is not installed; "):
        check_extra(name, "This")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_names_missing_libraries_before_it_does_anything(capsys, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text("class Team1:\n    pass\n")
    before = sorted(tmp_path.rglob("*"))
    for name in list(sys.modules):
        if name.startswith(IMPORTERS):
            monkeypatch.delitem(sys.modules, name)
        elif name.startswith(f"{COMMANDS[command]}."):
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, COMMANDS[command], None)
    monkeypatch.setattr("subprocess.Popen", lambda *a, **o: pytest.fail("a process was started"))
    with pytest.raises(SystemExit) as end:
        cli.main(command.split())
    out, err = capsys.readouterr()
    assert (end.value.code, out) == (1, "") and err.count("\n") == 1
    assert f" needs {COMMANDS[command]}, which is not installed; install with: " in err
    assert err.endswith(f" install {COMMANDS[command]}\n") and sys.executable in err
    assert sorted(tmp_path.rglob("*")) == before


def test_the_library_says_it_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(MissingExtraError, match="^An environment needs pettingzoo, which"):
        environment("mnk")
    monkeypatch.setitem(sys.modules, "open_spiel", None)
    with pytest.raises(MissingExtraError, match="^The bridge to OpenSpiel needs open-spiel, which"):
        openspiel.load_game(named_game("pttt-abrupt"))


def test_an_import_that_fails_names_the_library_but_never_this_package():
    with (
        pytest.raises(MissingExtraError, match=r"^It needs no-library, which is not installed; .* install no-library$"),
        imports("It"),
    ):
        import no_library.part  # noqa: F401
    with pytest.raises(ModuleNotFoundError), imports("It"):
        import pttt_ooc.nothing  # noqa: F401


def test_the_command_is_for_this_python_and_its_installer(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setitem(sys.modules, "h11", None)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "my env/bin/python"))
    monkeypatch.chdir(tmp_path)
    line = "The course needs h11 and uvicorn, which are not installed; install with: "
    found = {True: "'my env/bin/python' -m pip install", False: "uv pip install --python 'my env/bin/python'"}
    for pip, installer in found.items():
        monkeypatch.setitem(sys.modules, "pip", type(sys)("pip") if pip else None)
        if pip:
            sys.modules["pip"].__spec__ = object()
        with pytest.raises(MissingExtraError) as told:
            check_extra("course", "The course")
        assert str(told.value) == f"{line}{installer} h11 uvicorn"
