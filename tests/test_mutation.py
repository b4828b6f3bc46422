"""Mutants, and the tests that judge them: `make mutate`."""

import ast
import subprocess

import pytest

from tests.mutation import forking, mutants, mutation

MUTATED = """
def f(a, b=1):
    # a comment, and a letter of two bytes: ä
    if "ä" and a < b:
        g(a, b)
        raise ValueError(f"{a + b}")
    return a + 2 if not b else True
"""


def test_mutants_are_small_changes():
    found = mutants.mutants("m", MUTATED)
    names = {mutant.name(MUTATED) for mutant in found}
    assert {
        "m: def f(a, b=1): => def f(a, b=(2)):",
        'm: if "ä" and a < b: => if "ä" and (a <= b):',
        'm: if "ä" and a < b: => if "ä" and (a >= b):',
        "m: if \"ä\" and a < b: => if ('ä' or a < b):",
        "m: if \"ä\" and a < b: => if (not ('ä' and a < b)):",
        "m: g(a, b) => pass",
        "m: g(a, b) => (g(b, a))",
        'm: raise ValueError(f"{a + b}") => pass',
        "m: return a + 2 if not b else True => return (a - 2) if not b else True",
        "m: return a + 2 if not b else True => return a + 2 if (b) else True",
        "m: return a + 2 if not b else True => return a + 2 if not b else (False)",
    } <= names
    assert not any("a - b" in name for name in names), "messages are not mutated"
    for mutant in found:
        ast.parse(mutant.applied(MUTATED))
    assert mutants.sample("m", MUTATED, 3, 5) == mutants.sample("m", MUTATED, 8, 5)[:3]


@pytest.mark.slow
def test_a_mutant_is_killed_by_a_test_that_fails_with_it_alone(tmp_path, monkeypatch):
    """Slow tests, and files behind the first, too; a test that always fails is told, and hides nothing behind it."""
    files = {
        "pttt_ooc/__init__.py": "",
        "pttt_ooc/site/shell/__init__.py": "",
        "pttt_ooc/pipeline/stages/compilation.py": "",
        "pttt_ooc/site/shell/some.py": "A = 1\nB = 1\nC = 1\nD = 1\nE = [1][0]\n",
        "tests/test_web_first.py": (
            "import pytest\nfrom pttt_ooc.site.shell import some\n"
            "def test_broken(): assert False\n"
            "def test_quick(): assert some.A == 1\n"
            "@pytest.mark.slow\ndef test_slow(): assert some.B == 1\n"
        ),
        "tests/test_web_second.py": (
            "import subprocess, sys\nfrom pttt_ooc.site.shell.some import D\nfrom pttt_ooc.site.shell import some\n"
            "def test_other_process():\n"
            "    code = 'from pttt_ooc.site.shell.some import C; raise SystemExit(C - 1)'\n"
            "    assert subprocess.run([sys.executable, '-c', code]).returncode == 0\n"
        ),
        "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["slow", "full", "long"]\naddopts = ["-ra"]\n',
    }
    for name, text in files.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "root", check=True)
    monkeypatch.setattr(mutation, "ROOT", tmp_path / "root")
    monkeypatch.setattr(forking.ForkServer, "libraries", ["pytest"])
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_timeout")
    tree = mutation.Tree(tmp_path / "data" / "tree")

    def judged(line, before, after):
        start = (line, files["pttt_ooc/site/shell/some.py"].splitlines()[line - 1].index(before))
        return tree.judge(mutants.Mutant("site/shell/some", start, (line, start[1] + len(before)), before, after))

    assert judged(1, "1", "2") == "tests/test_web_first.py::test_quick"
    assert judged(2, "1", "2") == "tests/test_web_first.py::test_slow"
    assert judged(3, "1", "2") == "tests/test_web_second.py::test_other_process"
    assert judged(4, "1", "2") == ""
    assert "tests/test_web_first.py" in judged(5, "[0]", "[1]"), "the tests cannot begin"
    assert (tree.place / "pttt_ooc/site/shell/some.py").read_text() == files["pttt_ooc/site/shell/some.py"]


def test_every_module_of_the_core_has_tests_for_its_mutants():
    for module, tests in mutation.TESTS.items():
        assert (mutation.ROOT / "pttt_ooc" / f"{module}.py").exists()
        assert all((mutation.ROOT / "tests" / step.split()[0]).exists() for step in tests)
    assert mutation.KERNELS.issubset(mutation.TESTS)


def test_mutants_without_consequence_are_not_counted(monkeypatch):
    rows = [{"module": "m", "start": [n, 0], "name": f"m: {n}", "killed_by": "t" * (n > 2)} for n in range(6)]
    monkeypatch.setattr(mutation, "equivalents", lambda: {"m: 0": "It is the same."})
    told = mutation.summary(rows).splitlines()
    assert told[0].split() == ["m", "3", "of", "5", "killed", "60%"]
    assert told[-2:] == ["m.py:1: 1", "m.py:2: 2"]
