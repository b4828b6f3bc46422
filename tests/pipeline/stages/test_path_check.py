"""Paths that Snakemake cannot work in: refused at once, also by make, before anything is installed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pttt_ooc.errors import ConfigError
from pttt_ooc.pipeline.stages.path_check import check_place

ROOT = Path(__file__).parents[3]
ODD = (
    "a b",
    "a'b",
    'a"b',
    "a$b",
    "a#b",
    "a:b",
    "a\nb",
    "a\tb",
    "a\\b",
    "a{b}",
    "a*b",
    "a?b",
    "a;b",
    "a&b",
    "a\u200bb",
    "a\udcffb",
)


@pytest.mark.parametrize("name", ODD)
def test_a_refused_character(name):
    odd = next(c for c in name if c not in "ab")
    with pytest.raises(ConfigError) as caught:
        check_place(Path("/good"), Path("/home") / name)
    sentence = str(caught.value)
    assert ({" ": "a space", "\n": "a line break", "\t": "a tab"}.get(odd) or repr(odd)) in sentence
    assert repr(f"/home/{name}") in sentence and "\n" not in sentence and sentence.endswith(".")


@pytest.mark.parametrize("name", ["plain", "été", "e\u0301te\u0301", "日本", "a+b,c@d%e=f_g-h.i", "1"])
def test_an_accepted_path(name):
    check_place(Path("/home") / name)


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_refuses_before_anything_is_made(tmp_path):
    place = tmp_path / "my course"
    modules = ("__init__", "errors", "pipeline/__init__", "pipeline/stages/__init__", "pipeline/stages/path_check")
    (place / "pttt_ooc" / "pipeline" / "stages").mkdir(parents=True)
    for part in ("Makefile", "pyproject.toml", "envs", *(f"pttt_ooc/{module}.py" for module in modules)):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, place / part)
    before = sorted(place.rglob("*"))
    for target in ("solve", "test", "serve"):
        done = subprocess.run(["make", target, f"PYTHON={sys.executable}"], cwd=place, capture_output=True, text=True)
        assert done.returncode != 0 and "does not cope with a space in a path" in done.stderr
        assert "Making" not in done.stdout and sorted(place.rglob("*")) == before


@pytest.mark.long
def test_snakemake_refuses_at_once(tmp_path):
    place = tmp_path / "my course"
    place.mkdir()
    for part in ("config.yaml", "profiles", "workflow"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, place / part)
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, env=None)
    assert done.returncode != 0 and "does not cope with a space in a path" in done.stderr
    assert "Traceback" not in done.stderr and not (place / "data").exists()


@pytest.mark.long
def test_snakemake_refuses_a_doubled_key(tmp_path):
    for part in ("profiles", "workflow"):
        copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copy(ROOT / part, tmp_path / part)
    (tmp_path / "config.yaml").write_text("solve: {alpha: 1}\nsolve: {beta: 1}\n")
    command = [sys.executable, "-m", "snakemake", "--cores", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode != 0 and "the key solve is here a second time" in done.stderr
