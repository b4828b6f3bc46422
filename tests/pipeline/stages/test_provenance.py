"""What stages depend on: sources against what Python loads, digests, fingerprints."""

import ast
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from pttt_ooc import imports
from pttt_ooc.imports import PACKAGE, PLAIN, code_digest, dependencies
from pttt_ooc.pipeline.stages import STAGES, provenance
from pttt_ooc.pipeline.stages.provenance import fingerprint, iterate_sources, source_digest, stage_sources

# Libraries are loaded once; then each child loads one stage and tells what of the package came with it.
LOADED = """
import os, sys
import numba, numpy, pydantic, rich.status, yaml, zarr
for stage in sys.argv[1:]:
    if not os.fork():
        __import__(f"pttt_ooc.pipeline.stages.{stage}")
        print(stage, *[name for name in sys.modules if name.startswith("pttt_ooc.")], flush=True)
        os._exit(0)
    os.wait()
"""


@pytest.mark.slow
def test_sources_hold_all_that_python_loads():
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *STAGES], cwd=PACKAGE.parent, capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in lines] == list(STAGES)
    for stage, *loaded in lines:
        modules = {name.removeprefix("pttt_ooc.").replace(".", "/") for name in loaded}
        files = {f"{name}/__init__" if (PACKAGE / name).is_dir() else name for name in modules}
        # Nothing is missing, and nothing is there that is loaded by no import at all.
        assert files <= stage_sources(stage)
        more = {name for name in stage_sources(stage) - files if "templates/" not in name}
        assert more <= {"pipeline/show/__init__", "pipeline/show/pictures"}


def test_templates_are_sources_of_the_report():
    templates = {
        f"pipeline/show/templates/{file.name}" for file in (PACKAGE / "pipeline" / "show" / "templates").iterdir()
    }
    assert templates <= stage_sources("report")
    assert not templates & stage_sources("export")


@pytest.fixture
def copied_package(tmp_path, monkeypatch):
    package = tmp_path / "pttt_ooc"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(imports, "PACKAGE", package)
    return package


def edit(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.long_but("late", "match", "finally", "(")
@pytest.mark.parametrize(
    "line",
    [
        "import pttt_ooc.new",
        "import os, pttt_ooc.new",
        "from pttt_ooc import (\n    new,\n)",
        "from pttt_ooc \\\n    import new",
        "from pttt_ooc import new",
        "from pttt_ooc.new import something",
        "def late():\n    from pttt_ooc.new import something",
        "if TYPE_CHECKING:\n    import pttt_ooc.new as other",
        "if True:\n    pass\nelse:\n    import pttt_ooc.new",
        "try:\n    pass\nexcept OSError:\n    import pttt_ooc.new",
        "try:\n    pass\nfinally:\n    import pttt_ooc.new",
        "match 1:\n    case 1:\n        import pttt_ooc.new",
    ],
)
def test_every_form_of_an_import_counts(copied_package, line):
    (copied_package / "new.py").write_text("from pttt_ooc.inner.part import name\n")
    (copied_package / "inner").mkdir()
    (copied_package / "inner" / "__init__.py").write_text("")
    (copied_package / "inner" / "part.py").write_text("from pttt_ooc.games.structure import counts\n")
    before = stage_sources("index")
    edit(copied_package / "games" / "structure" / "cells.py", "from __future__", f"{line}\nfrom __future__")
    assert stage_sources("index") - before == {"new", "inner/__init__", "inner/part", "games/structure/counts"}


@pytest.mark.slow
def test_a_quick_look_at_imports_finds_what_the_whole_text_has(monkeypatch):
    texts = [file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py")]
    quick = [imports._names_in(text) for text in texts]
    monkeypatch.setattr(imports, "_IMPORT", SimpleNamespace(findall=lambda text: ["no Python"]))
    assert quick == [imports._names_in.__wrapped__(text) for text in texts] and len(set(quick)) > 100


def test_an_import_that_cannot_be_followed_is_no_silence(copied_package):
    edit(
        copied_package / "games" / "structure" / "cells.py",
        "from __future__",
        "from .views import Pairs\nfrom __future__",
    )
    with pytest.raises(ValueError, match="relative import"):
        stage_sources("index")


def test_digests_see_edits(copied_package):
    before = {stage: source_digest(stage) for stage in STAGES}
    file = copied_package / "cfr" / "solving" / "regret.py"
    file.write_text(file.read_text() + "\n# A comment.\n")
    changed = {stage for stage in STAGES if source_digest(stage) != before[stage]}
    assert changed == {"solve"}


def test_an_edit_of_code_behind_the_iterates_changes_the_fingerprint(copied_package):
    regret, found = copied_package / "cfr" / "solving" / "regret.py", [fingerprint({"game": "g"})]
    regret.write_text("# A comment.\n" + regret.read_text() + "\n\n\n")
    assert fingerprint({"game": "g"}) == found[0]
    for name in sorted(iterate_sources()):
        file = copied_package / f"{name}.py"
        file.write_text(file.read_text() + "\nADDED = 1\n")
        found.append(fingerprint({"game": "g"}))
    assert len(found) == len(set(found)) > 10


def test_docstrings_do_not_change_the_fingerprint(copied_package):
    before, file = fingerprint({}), copied_package / "cfr" / "solving" / "solve_run.py"
    edit(file, '"""The run of', '"""This is the run of')  # of the module
    edit(file, '"""The result of a solve.', '"""The end of a solve.')  # of a class
    edit(file, '"""Solve, or continue a solve', '"""Continue a solve, or solve')  # of a function
    assert fingerprint({}) == before
    edit(file, 'else "max_minutes"', 'else "max_minute"')  # a text that does something
    assert fingerprint({}) != before


def test_what_the_fingerprint_leaves_out_knows_nothing_of_numbers():
    numerical = {
        "cfr/sweep/gradient",
        "cfr/sweep/tree",
        "cfr/sweep/engine",
        "games/structure/timing",
        "games/structure/symmetry",
    }
    assert numerical | {"cfr/solving/regret", "cfr/solving/evaluation"} <= iterate_sources()
    plain = {name for name in dependencies("cfr/solving/solve_run") if name.startswith(PLAIN)}
    assert {"config", "disk/commits", "disk/memory", "errors"} <= plain
    for name in plain:
        rules = {f"games/rules/{name}" for name in ("__init__", "catalogue", "connections", "game")}
        assert dependencies(name) <= plain | rules | {"games/__init__"}, name


def test_fingerprint_depends_on_every_fact(monkeypatch):
    facts = {"game": "g", "precision": "float32"}
    assert fingerprint(facts) == fingerprint(dict(reversed(facts.items())))
    others = [facts, {**facts, "precision": "float64"}, {"game": "g"}]
    before = {fingerprint(other) for other in others}
    assert len(before) == 3
    monkeypatch.setattr(provenance, "FORMAT_VERSION", provenance.FORMAT_VERSION + 1)
    assert fingerprint(facts) not in before


@pytest.mark.slow
def test_the_version_of_python_does_not_change_the_fingerprint(copied_package, monkeypatch):
    """The syntax trees of later versions have further fields, which are empty: `type_params` of functions, for one."""
    monkeypatch.setattr(imports, "_code", imports._code.__wrapped__)  # the tests keep what it has written
    before, parse = fingerprint({}), ast.parse

    def later(text):
        tree = parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                node._fields, node.type_params = (*node._fields, "type_params"), []
        return tree

    monkeypatch.setattr(ast, "parse", later)
    assert fingerprint({}) == before
    monkeypatch.setattr(ast, "parse", lambda text: parse(text.replace("1", "2")))
    assert fingerprint({}) != before


def test_code_digests_tell_modules_apart():
    assert len({code_digest(["errors"]), code_digest(["config"]), code_digest(["errors", "config"])}) == 3
    assert code_digest(["config", "errors"]) == code_digest(["errors", "config"])
