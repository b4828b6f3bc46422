"""What the tests themselves do with marks and with skipped tests."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.kits.selection import mark_cases
from tests.kits.untried import NEEDS, Untried, untried

TESTS = Path(__file__).parent
NOTHING_TO_INSTALL = (
    "/dev/full",
    "has no /proc",
    "nothing can be mounted",
    "superuser",
    "has no device",
    "game has no symmetry",
    "compile nothing",
    "mount a small disk",
)
NOTHING_TO_INSTALL += (
    "another version has compiled",
    "there are walls",
    "daemons want to be root",
    "no user namespaces",
    "number of the system call is not known",
)


class Item:
    def __init__(self, nodeid, *marks, player=None, **args):
        self.nodeid, self.marks, self.args = nodeid, [*marks, *args], args
        if "[" in nodeid:
            params = {} if player is None else {"player": player}
            self.callspec = SimpleNamespace(id=nodeid.partition("[")[2].removesuffix("]"), params=params)

    def get_closest_marker(self, name):
        return SimpleNamespace(args=self.args.get(name)) if name in self.marks else None

    def add_marker(self, mark):
        self.marks.append(mark.name)


def test_one_case_of_many_is_kept():
    rare = [Item(f"a.py::test[{case}]", "slow_but_one", *marks) for case, marks in enumerate([["full"], [], [], []])]
    others = [Item("b.py::test[0]", "slow_but_one"), Item("a.py::alone", "slow_but_one"), Item("a.py::quick[1]")]
    mark_cases(rare + others, whole=True)
    assert ["slow" in item.marks for item in rare] == [False, False, True, True]
    assert not any("slow" in item.marks for item in others)


def test_one_case_of_each_player_is_kept():
    items = [Item(f"a.py::test[{case}]", "slow_but_one", player=case % 2) for case in range(6)]
    mark_cases(items, whole=True)
    assert ["slow" in item.marks for item in items] == [False, False, True, True, True, True]


def test_cases_that_are_not_named_are_long():
    names = ["0-full", "1-full", "1-none"]
    items = [Item(f"a.py::test[{name}]", "slow_but_one", long_but=["0", "none"]) for name in names]
    mark_cases(items, whole=True)
    assert [[mark for mark in ("long", "slow") if mark in item.marks] for item in items] == [[], ["long"], ["slow"]]
    mark_cases([Item("a.py::test[1-full]", long_but=["0"])], whole=False)  # as it is asked for by hand
    with pytest.raises(pytest.UsageError, match="long_but names no case of a.py::test"):
        mark_cases([Item("a.py::test[1-full]", long_but=["0"])], whole=True)


def test_make_leaves_out_what_ci_runs():
    commands = re.findall(r"^(test\S*):.*\n\t(.*pytest.*)$", (TESTS.parent / "Makefile").read_text(), re.MULTILINE)
    chosen = {name: re.findall('-m "(.*?)"', command) for name, command in commands}
    assert chosen == {"test": ["not slow and not full and not long"], "test-all": []}
    run = (TESTS.parent / ".ci/run").read_text()
    assert "\nmake test-all\n" in run and "make test " not in run and "-m " not in run.partition("make check")[2]


def test_the_end_of_a_run_tells_what_to_install():
    assert untried([]) == untried(["the game has no symmetry"]) == ""
    reasons = ["there is no chromium (Debian: ...)"] * 3 + [
        "there is no PostgreSQL",
        "no OpenSpiel",
        "no OpenSpiel, JAX",
    ]
    assert untried(reasons) == (
        "Not tried: 3 in a browser, 1 on PostgreSQL, 2 with OpenSpiel as referee. "
        "To try all: apt-get install chromium-headless-shell fonts-dejavu-core postgresql; make env."
    )


def test_files_that_other_processes_skip_are_told_of_too():
    lines = []
    told = SimpleNamespace(
        stats={"skipped": [SimpleNamespace(nodeid="a::b", longrepr=("a", 1, "Skipped: there is no nginx"))]},
        write_line=lambda line, **_: lines.append(line),
    )
    worker, ours = Untried(SimpleNamespace(workeroutput={})), Untried(SimpleNamespace())
    worker.pytest_collectreport(SimpleNamespace(skipped=True, nodeid="c", longrepr=("c", 1, "Skipped: no jax, JAX")))
    worker.pytest_collectreport(SimpleNamespace(skipped=False, nodeid="d"))
    worker.pytest_sessionfinish()
    for _ in range(2):  # each process skips the same files
        ours.pytest_testnodedown(SimpleNamespace(workeroutput=worker.config.workeroutput))
    ours.pytest_testnodedown(SimpleNamespace())  # one that died
    ours.pytest_terminal_summary(told)
    advice = "To try all: apt-get install nginx-light openssl; make env."
    assert lines == [f"Not tried: 1 behind nginx, 1 of deep learners. {advice}"]


def test_every_reason_to_skip_is_known():
    ways = (
        r'skipif\(.*reason="([^"]+)"',
        r'pytest\.skip\("([^"]+)"',
        r'importorskip\("([^"]+)"\)',
        r'importorskip\(.*reason="([^"]+)"',
    )
    texts = [file.read_text() for file in TESTS.rglob("*.py") if file != Path(__file__)]
    reasons = {reason for text in texts for way in ways for reason in re.findall(way, text)}
    assert len(reasons) > 12
    modules = {"openspiel_game", "open_spiel.python.algorithms.mmd_dilated"}  # which skip in words of their own
    known = [*NEEDS, *NOTHING_TO_INSTALL]
    assert [reason for reason in reasons - modules if not any(part in reason for part in known)] == []
