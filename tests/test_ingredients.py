"""What a kernel is made of: an edit that changes what it computes changes its version, and no other edit does."""

import cProfile
import importlib
import json
import os
import random
import shutil
import subprocess
import sys
import types
from collections import namedtuple
from enum import IntEnum
from itertools import count

import numpy as np
import pytest

from pttt_ooc import ingredients as ingredients_module
from pttt_ooc import jit
from pttt_ooc.imports import PACKAGE
from pttt_ooc.ingredients import ingredients

NUMBERS = count()

# ---------------------------------------------------------------------------------------------
# Random packages


class RandomPackage:
    """Modules of pieces, constants and kernels that name one another, and functions that only Python calls.

    Each module is a list of lines: ``c<n>`` are constants, some made of other modules' constants; ``p<n>`` pieces;
    ``k<n>`` kernels; ``f<n>`` factories, whose kernels ``g<n>`` are given a number and a function; ``h<n>`` helpers.
    """

    def __init__(self, rng, place):
        self.rng, self.place, self.known = rng, place, {"c": [], "p": [], "k": [], "g": []}
        self.modules = [self._module(number) for number in range(5)]

    def _module(self, number):
        lines, rng = [], self.rng
        for _ in range(8):
            kind, name = rng.choice("ccpppkfh"), f"{next(NUMBERS)}"
            one, two = self._term(number), self._term(number)
            if kind == "c":
                of = [f"m{m}.c{n}" if m != number else f"c{n}" for m, n in self.known["c"]]
                made = f"{rng.choice(of)} * 2 + {rng.randrange(9)}" if of and rng.random() < 0.6 else rng.randrange(99)
                lines.append(f"c{name} = {made}")
            elif kind in "pk":
                sign = "piece" if kind == "p" else "kernel"
                lines.append(f"@{sign}\ndef {kind}{name}(x, y={rng.randrange(5)}): return {one} - 3 * {two} + y + x")
            elif kind == "f":
                lines.append(f"def f{name}(number, of):\n    @kernel\n    def inner(x): return {one} + number * of(x)")
                lines.append("    return inner")
                given = [f"m{m}.p{n}" if m != number else f"p{n}" for m, n in self.known["p"]]
                if given:
                    lines.append(f"g{name} = f{name}({rng.randrange(9)}, {rng.choice(given)})")
                    kind = "g"
            else:
                lines.append(f"def h{name}(x): return {one} + {rng.randrange(9)}")
            if kind in self.known:
                self.known[kind].append((number, name))
        return lines

    def _term(self, number):
        """A term of a module's function: a number, a constant or a call."""
        kind = self.rng.choice("1cpkg")
        if kind == "1" or not self.known[kind]:
            return str(self.rng.randrange(9))
        m, n = self.rng.choice(self.known[kind])
        name = f"{kind}{n}" if m == number else f"m{m}.{kind}{n}"
        return name if kind == "c" else f"{name}(x)"

    def edit(self):
        """Change a number somewhere, or a comment, or nothing but the lines."""
        m = self.rng.randrange(len(self.modules))
        if self.rng.random() < 0.2:
            self.modules[m].insert(0, f"# {self.rng.random()}")
            return
        digits = [(n, at) for n, line in enumerate(self.modules[m]) for at, char in enumerate(line) if char.isdigit()]
        alone = [(n, at) for n, at in digits if self._is_number(self.modules[m][n], at)]
        if alone:
            n, at = self.rng.choice(alone)
            line = self.modules[m][n]
            self.modules[m][n] = f"{line[:at]}{(int(line[at]) + 1) % 10}{line[at + 1 :]}"

    @staticmethod
    def _is_number(line, at):
        return not (line[at - 1].isalnum() or line[at + 1 : at + 2].isalnum())

    def load(self):
        """What all kernels compute, as plain Python, and their versions; each from new modules, as in a new process."""
        with jit.interpret_kernels():
            computed = self._of_kernels(lambda kernel: tuple(kernel(x) for x in (1, 2, 5)))
        return computed, self._of_kernels(jit.version_of)

    def _of_kernels(self, ask):
        name, found = f"made{next(NUMBERS)}", {}
        package = types.ModuleType(name)
        package.__path__ = [str(self.place / name)]
        sys.modules[name] = package
        (self.place / name).mkdir()
        for number, lines in enumerate(self.modules):
            others = "".join(f"from {name} import m{other}\n" for other in range(number))
            text = f"from pttt_ooc.jit import kernel, piece\n{others}" + "\n".join(lines) + "\n"
            (self.place / name / f"m{number}.py").write_text(text)
            module = importlib.import_module(f"{name}.m{number}")
            found |= {
                label: ask(value) for label, value in vars(module).items() if label[0] in "kg" and label[1:].isdigit()
            }
        for module in [module for module in sys.modules if module.partition(".")[0] == name]:
            del sys.modules[module]
        return found


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(jit, "DIRECTORIES", set())
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


@pytest.mark.parametrize("seed", [1, 2, 3, 5])
def test_random_edits_change_the_versions_of_the_kernels_that_they_change(place, seed):
    package = RandomPackage(random.Random(seed), place)
    before, versions = package.load()
    assert len(before) > 5 and package.load() == (before, versions)
    changed, idle, same = 0, 0, 0
    for _ in range(12):
        package.edit()
        after, now = package.load()
        for name in before:
            # Another result needs another version; where nothing that a kernel names has changed, there is none.
            is_new = versions[name] != now[name]
            assert before[name] == after[name] or is_new, name
            changed, same = changed + is_new, same + (not is_new)
            idle += is_new and before[name] == after[name]  # something is multiplied by zero, or has its default value
        before, versions = after, now
    assert changed > 4 and same > 2 * changed and idle <= changed / 2


# ---------------------------------------------------------------------------------------------
# All kinds of ingredients

SIZE, PAIR, TABLE = 3, (1, 2.0), np.arange(3)
Point = namedtuple("Point", "x y")
Kind = IntEnum("Kind", "A B")


def _named(**given):
    """A kernel's ingredients, for other values of what it names."""

    @jit.kernel
    def function(point, k=1):
        return SIZE + PAIR[0] + TABLE[k] + point.x + Point(1, 2).y + Kind.A + np.int64(2)

    inner = function.py_func if hasattr(function, "py_func") else function
    inner.__defaults__ = given.pop("defaults", inner.__defaults__)
    names = {**globals(), **given}
    return ingredients(types.FunctionType(inner.__code__, names, "function", inner.__defaults__))[0]


@pytest.mark.parametrize(
    "change",
    [
        {"SIZE": 4},
        {"SIZE": 3.0},
        {"SIZE": True},
        {"PAIR": (1, 2)},
        {"PAIR": [1].__class__ and (2, 2.0)},
        {"TABLE": np.arange(3)[::-1]},
        {"TABLE": np.arange(3, dtype=np.int32)},
        {"TABLE": np.arange(3).reshape(3, 1)},
        {"Point": namedtuple("Point", "y x")},
        {"Point": namedtuple("Point", "x y", defaults=(1,))},
        {"Kind": IntEnum("Kind", "B A")},
        {"defaults": (2,)},
    ],
    ids=str,
)
def test_all_that_a_kernel_names_counts(change):
    assert _named() == _named() != _named(**change)


def test_functions_that_change_places_count():
    """The same functions under each other's names."""

    def made(number, of):
        def inner():
            return number if of is None else of()

        return jit.piece(inner)

    def all_three(one, two, three):
        def function():
            return one() - two() * three()

        return ingredients(function)[0]

    one, two = (made(0, made(number, None)) for number in (1, 2))
    assert all_three(one, two, one) == all_three(one, two, one) != all_three(two, one, two)
    assert all_three(one, two, one) != all_three(one, two, two)


def test_functions_that_call_themselves_and_one_another_have_an_end():
    names = {"__name__": "ours"}
    exec("def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n > 0 and even(n - 1)", names)
    lines, _ = ingredients(names["even"])
    assert len(lines) == 2


def test_a_comment_and_another_line_do_not_count():
    texts = ("def f(x): return x + 1", "# told\n\n\ndef f(x):\n    return x + 1  # so")
    found = []
    for text in texts:
        names = {}
        exec(text, names)
        found.append(ingredients(names["f"])[0])
    assert found[0] == found[1]


def test_a_call_under_a_profiler_does_not_count():
    """It changes flags of the kernel's code."""

    @jit.kernel
    def add(first, second):
        return first + second

    before, flags = ingredients(add), add.py_func.__code__.co_flags
    with cProfile.Profile():
        assert add(1, 2) == 3
    ingredients_module._look.cache_clear()
    assert ingredients(add) == before and add.py_func.__code__.co_flags != flags


@pytest.mark.parametrize(
    "value", [[1.0], {1: 2}, object(), np.array([None]), RandomPackage, jit], ids=lambda v: type(v).__name__
)
def test_what_has_no_content_that_can_be_told_is_refused(value):
    given = value

    def function():
        return given

    with pytest.raises(TypeError):
        ingredients(function)


def test_the_compiled_form_of_a_plain_function_counts():
    """Those that are written as instructions of the compiler."""
    from pttt_ooc.cfr.sweep import vectors

    text = "\n".join(ingredients(vectors.not_zero)[0])
    assert "_compare" in text and "fcmp_unordered" in text and f"STRETCH = int {vectors.STRETCH}" in text


def test_a_module_gives_only_what_is_taken_from_it():
    rules = types.ModuleType("ours.rules")
    rules.SIZE, rules.OTHER = 3, 4

    def version():
        given = rules

        def function():
            return given.SIZE

        return ingredients(function)

    before = version()
    rules.OTHER = 5
    assert version() == before and before[1] == ["ours.rules"]
    rules.SIZE = 5
    assert version() != before


VERSIONS = """
import json
from importlib import import_module
from pttt_ooc import jit
found = {}
for module in ("cfr.sweep.gradient", "cfr.sweep.tree", "games.structure.orders", "games.structure.cells"):
    for name, value in vars(import_module(f"pttt_ooc.{module}")).items():
        if hasattr(value, "py_func"):
            found[name] = jit.version_of(value)
print(json.dumps(found))
"""


@pytest.mark.long
def test_an_edit_of_what_no_kernel_uses_changes_no_version_of_the_package(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "pttt_ooc", ignore=shutil.ignore_patterns("__pycache__"))

    def versions():
        command = [sys.executable, "-B", "-P", "-c", VERSIONS]
        return json.loads(subprocess.check_output(command, env={**os.environ, "PYTHONPATH": str(tmp_path)}))

    def edit(module, before, after):
        file = tmp_path / "pttt_ooc" / f"{module}.py"
        assert before in file.read_text()
        file.write_text(file.read_text().replace(before, after))

    first = versions()
    if not first:
        pytest.skip("numba is told to compile nothing")
    for module in ("errors", "compiled_code", "games/structure/orders", "cfr/sweep/engine", "games/rules/game"):
        edit(module, "from __future__ import annotations\n", "# told\nfrom __future__ import annotations\n\nNEW = 7\n")
    assert versions() == first
    edit("games/structure/timing", "WORD = 64", "WORD = 32")
    changed = {name for name, version in versions().items() if version != first[name]}
    assert "receive" in changed and not changed & {"update_regrets", "all_orders", "cut_orders"}
