"""Arguments of Snakemake that it would leave without a sentence."""

import sys
from pathlib import Path

import pytest
import yte

from pttt_ooc.cli.workflow_arguments import check_configfiles, what_stays
from tests.pipeline.stages import test_workflow
from tests.pipeline.stages.test_workflow import GAME

finished_once, workflow = test_workflow.finished_once, test_workflow.workflow  # fixtures
PROFILES = Path(__file__).parents[2] / "profiles"
LATIN = "latin.yaml is not a text file in UTF-8."
MISSING = "none.yaml cannot be read: No such file or directory."


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("latin.yaml").write_bytes("title: Größe\n".encode("latin-1"))
    Path("good.yaml").write_text("title: Größe\n", encoding="utf-8")
    Path("twice.yaml").write_text("a: 1\na: 2\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--configfile", "latin.yaml"], LATIN),
        (["-n", "--configfile=none.yaml", "all"], MISSING),
        (["--configfiles", "good.yaml", "none.yaml", "--cores", "2"], MISSING),
        (["--configfile", "twice.yaml"], "twice.yaml is not YAML (line 2, column 1): the key a is here a second time."),
    ],
)
@pytest.mark.parametrize("profile", ["default", "slurm"])
def test_an_unreadable_configfile_is_told_by_the_profiles(files, monkeypatch, arguments, sentence, profile):
    monkeypatch.setattr(sys, "argv", ["snakemake", *arguments])
    with pytest.raises(SystemExit) as end, open(PROFILES / profile / "config.yaml") as stream:
        yte.process_yaml(stream, require_use_yte=True)
    assert end.value.code == sentence


@pytest.mark.parametrize("arguments", [[], ["--configfile", "good.yaml"], ["--config", "a=none.yaml", "--configfile"]])
def test_the_profiles_are_settings_and_nothing_else(files, monkeypatch, arguments):
    check_configfiles(arguments)
    monkeypatch.setattr(sys, "argv", ["snakemake", *arguments])
    for profile in ("default", "slurm"):
        with open(PROFILES / profile / "config.yaml") as stream:
            found = yte.process_yaml(stream, require_use_yte=True)
        assert found["nolock"] is True and not [key for key in found if key.startswith("_")]


def test_what_snakemake_does_not_delete_is_told_with_the_command():
    assert what_stays(["all"], "data/a/full") == ""
    told = what_stays(["--cores", "1", "--delete-all-output"], "data/a/full")
    assert told.endswith("rm -r data/a/full") and "*.zarr" in told and "work/" in told


@pytest.mark.slow
def test_snakemake_ends_with_the_sentences(workflow):
    (workflow.directory / "latin.yaml").write_bytes("title: Größe\n".encode("latin-1"))
    done = workflow.run("--configfile", "latin.yaml")
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == LATIN and "Traceback" not in done.stderr
    told = workflow.succeed("--delete-all-output")
    assert f"rm -r data/{GAME}/full\n" in told
    left = {path.name for path in workflow.data.iterdir()}
    assert "solution.zarr" in left and "work" in left and "report.html" not in left
