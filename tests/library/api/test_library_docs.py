"""Every example of the library runs and prints what it shows: docstrings, and the pages of the documentation."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import pttt_ooc
from pttt_ooc.library.api.solver_session import SolverSession
from pttt_ooc.library.api.values import Comparison, Response

ROOT = Path(__file__).parents[3]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MODULES = ["pttt_ooc", *(f"pttt_ooc.{home}" for home in pttt_ooc._HOMES)]
MODULES += ["pttt_ooc.library.eas", *(f"pttt_ooc.library.eas.{name}" for name in ("averaging", "cfr", "states"))]
PAGES = ["docs/library.md", "docs/score.md"]


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name):
    module = import_module(name)
    found = doctest.testmod(module, optionflags=FLAGS)
    assert found.failed == 0
    public = pttt_ooc._HOMES.get(name.partition(".")[2], ())
    assert found.attempted >= len(public)


def test_every_public_name_has_an_example():
    for public in (*(getattr(pttt_ooc, name) for name in pttt_ooc.__all__), SolverSession, Response, Comparison):
        assert ">>> " in public.__doc__, public


def code_of(page):
    """The examples of a page, at their line numbers."""
    lines, inside, kept = page.read_text(encoding="utf-8").splitlines(), False, []
    for line in lines:
        if re.match(r"```", line):
            inside = line.strip() == "```python"
            kept.append("")
        else:
            kept.append(line if inside else "")
    return "\n".join(kept) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_examples_of_pages(name):
    text = code_of(ROOT / name)
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert len(test.examples) > 10
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
