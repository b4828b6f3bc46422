"""What the tests themselves do with marks and with skipped tests."""

import re
from pathlib import Path
from types import SimpleNamespace

from tests.kits.selection import mark_cases
from tests.kits.untried import NEEDS

TESTS = Path(__file__).parent
NOTHING_TO_INSTALL = (
    *("/dev/full", "has no /proc", "nothing can be mounted", "superuser", "has no device", "game has no symmetry"),
    *("compile nothing", "mount a small disk", "another version has compiled", "there are walls"),
    *("daemons want to be root", "no user namespaces", "number of the system call is not known"),
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


def test_one_case_of_many_is_kept_and_one_of_each_player():
    rare = [Item(f"a.py::test[{case}]", "slow_but_one", *marks) for case, marks in enumerate([["full"], [], [], []])]
    others = [Item("b.py::test[0]", "slow_but_one"), Item("a.py::alone", "slow_but_one"), Item("a.py::quick[1]")]
    mark_cases(rare + others, whole=True)
    assert ["slow" in item.marks for item in rare] == [False, False, True, True]
    assert not any("slow" in item.marks for item in others)
    of_players = [Item(f"a.py::test[{case}]", "slow_but_one", player=case % 2) for case in range(4)]
    mark_cases(of_players, whole=True)
    assert ["slow" in item.marks for item in of_players] == [False, False, True, True]


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
    # These skip in words of their own.
    modules = {"tests.learners.openspiel_game", "open_spiel.python.algorithms.mmd_dilated"}
    known = [*NEEDS, *NOTHING_TO_INSTALL]
    assert [reason for reason in reasons - modules if not any(part in reason for part in known)] == []
