"""What stages depend on: the table of sources against real imports, digests, fingerprints."""

import ast
import shutil

import pytest

from pttt_ooc import provenance
from pttt_ooc.provenance import ITERATES, PACKAGE, SOURCES, code_digest, fingerprint, source_digest, source_file
from pttt_ooc.stages import STAGES


def imported(name):
    """Modules of the package that a module imports, wherever in its text the imports are."""
    found = set()
    for node in ast.walk(ast.parse(source_file(name).read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("pttt_ooc"):
            base = node.module.replace(".", "/").removeprefix("pttt_ooc").removeprefix("/")
            inner = {f"{base}/{alias.name}".lstrip("/") for alias in node.names}
            inner = {i for i in inner if source_file(i).exists()}
            found |= inner or {base}
        elif isinstance(node, ast.Import):
            found |= {a.name[9:].replace(".", "/") for a in node.names if a.name.startswith("pttt_ooc.")}
    if "/" in name:
        found.add(f"{name.split('/')[0]}/__init__")
    return {f"{m}/__init__" if (PACKAGE / m).is_dir() and m else m for m in found} - {""}


def closure(name):
    done, waiting = set(), [name]
    while waiting:
        module = waiting.pop()
        if module not in done:
            done.add(module)
            waiting += imported(module)
    return done


@pytest.mark.parametrize("stage", STAGES)
def test_table_of_sources_is_what_is_imported(stage):
    modules = {name for name in SOURCES[stage] if source_file(name).suffix == ".py"}
    assert modules == closure(f"stages/{stage}")
    assert len(SOURCES[stage]) == len(set(SOURCES[stage]))


def test_all_sources_exist():
    assert SOURCES.keys() == set(STAGES)
    for names in SOURCES.values():
        assert all(source_file(name).is_file() for name in names)


def test_iterates_are_among_the_sources_of_solve():
    assert set(ITERATES) <= set(SOURCES["solve"])


def test_templates_are_sources_of_the_report():
    templates = {f"templates/{file.name}" for file in (PACKAGE / "templates").iterdir()}
    assert templates == {name for name in SOURCES["report"] if name.startswith("templates/")}


@pytest.fixture
def copied_package(tmp_path, monkeypatch):
    package = tmp_path / "pttt_ooc"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(provenance, "PACKAGE", package)
    return package


def test_digests_see_edits(copied_package):
    before = {stage: source_digest(stage) for stage in STAGES}
    code = code_digest()
    file = copied_package / "regret.py"
    file.write_text(file.read_text() + "\n# A comment.\n")
    changed = {stage for stage in STAGES if source_digest(stage) != before[stage]}
    assert changed == {stage for stage in STAGES if "regret" in SOURCES[stage]} >= {"solve"}
    assert "index" not in changed
    assert code_digest() == code, "a comment does not change the iterates"
    file.write_text(file.read_text().replace("2.3", "2.4"))
    assert code_digest() != code


def test_fingerprint_depends_on_every_fact():
    facts = {"game": "g", "precision": "float32"}
    assert fingerprint(facts) == fingerprint(dict(reversed(facts.items())))
    assert len({fingerprint(facts), fingerprint({**facts, "precision": "float64"}), fingerprint({"game": "g"})}) == 3
