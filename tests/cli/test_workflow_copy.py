"""`pttt lab workflow`: the workflow where there is no clone of the repository."""

import os
from pathlib import Path

import pytest

from pttt_ooc.cli import commands as cli
from pttt_ooc.cli.workflow_copy import FILES
from tests.kits import quick_snakemake

ROOT = Path(__file__).parents[2]


def files_below(place):
    parts = [place / name for name in FILES]
    files = {file for part in parts for file in [part, *part.rglob("*")] if file.is_file()}
    return {file.relative_to(place): file.read_bytes() for file in files if "__pycache__" not in file.parts}


def init(place):
    with pytest.raises(SystemExit) as end:
        cli.main(["lab", "workflow", str(place)])
    return end.value.code or 0


def test_the_workflow_is_copied_whole(tmp_path, capsys):
    place = tmp_path / "my/games"
    assert init(place) == 0
    assert f"cd {place} && snakemake" in capsys.readouterr().out
    assert files_below(place) == files_below(ROOT) and {path.name for path in place.iterdir()} == {*FILES}


@pytest.mark.slow
def test_the_copy_runs(tmp_path):
    place = tmp_path / "games"
    assert init(place) == 0
    planned = quick_snakemake.run(["--dry-run"], place, {**os.environ, "PYTHONPATH": str(ROOT)})
    assert planned.returncode == 0 and "profile profiles/default" in planned.stderr, planned.stderr
    assert "Solve by sapdcfr+" in planned.stdout + planned.stderr


@pytest.mark.parametrize("there", FILES)
def test_nothing_is_replaced(tmp_path, capsys, there):
    (tmp_path / there).write_text("mine")
    assert init(tmp_path) == 1
    assert f"{tmp_path / there} exists already" in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(there, "mine")]


def test_a_file_in_place_of_the_directory(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert init(tmp_path / "file") == 1
    assert "is a file" in capsys.readouterr().err
