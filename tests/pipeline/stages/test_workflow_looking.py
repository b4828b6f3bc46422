"""Looking at the workflow changes nothing, and content decides, not times."""

import json
import os
import shutil

import pytest

from pttt_ooc.disk.locks import hold
from pttt_ooc.pipeline.stages import STAGES, directories, product_check
from pttt_ooc.pipeline.stages.decisions import begin
from pttt_ooc.pipeline.stages.stage_context import LOCK
from tests.kits.disks import Disk, NoDiskError
from tests.pipeline.stages import test_workflow
from tests.pipeline.stages.test_workflow import GAME, LOCKS

finished_once, workflow = test_workflow.finished_once, test_workflow.workflow  # fixtures
OTHER = ("--config", 'solve={"algorithm":"cfr+"}', 'report={"title":"Another"}')


def state(workflow):
    """All files of the results, with times and sizes."""
    stats = {file: file.stat() for file in (workflow.directory / "data").rglob("*")}
    return {file: (stat.st_mtime_ns, stat.st_size, stat.st_ino) for file, stat in stats.items()}


@pytest.mark.long_but("arguments0")
@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["--dry-run"], ["--summary"], ["--dag"], ["--lint"], ["--unlock"], ["--report", "report.zip"]]
)
def test_looking_with_another_configuration_changes_nothing(workflow, arguments):
    (workflow.data / "opening.svg").write_text("")  # a damaged product
    for file in workflow.data.iterdir():
        os.utime(file, (2**31, 2**31))  # from a wrong clock
    before = state(workflow)
    done = workflow.run(*arguments, *OTHER)
    assert "Traceback" not in done.stderr and (done.returncode == 0 or arguments == ["--lint"]), done.stderr
    assert state(workflow) == before


@pytest.mark.slow
def test_read_only_data(workflow, tmp_path_factory):
    try:
        disk = Disk(tmp_path_factory.mktemp("disk"), 8)
    except NoDiskError:
        pytest.skip("this machine does not let us mount a small disk")
    with disk:
        shutil.move(workflow.directory / "data", disk.path / "data")
        (workflow.directory / "data").symlink_to(disk.path / "data")
        for file in workflow.data.iterdir():
            os.utime(file)
        disk.read_only()
        before = state(workflow)
        assert "Nothing to be done" in workflow.succeed()
        refusal = f"Cannot write to data/{GAME}/full: it is read-only, or not yours"
        for options in (["--dry-run"], ["--dry-run", "report"], ["--summary"], ["--report", "report.zip"], []):
            done = workflow.run(*options, *OTHER)
            assert done.returncode == (0 if options else 1) and "Traceback" not in done.stderr, done.stderr
            assert "stage solve runs again" in done.stderr or "--report" in options
            assert (refusal in done.stderr) == (options[:1] in ([], ["--dry-run"]))
            if "--dry-run" in options:
                assert f"A run would be refused: {refusal}" in done.stderr
                for stage in STAGES:
                    assert ([stage, "1"] in map(str.split, done.stdout.splitlines())) == (stage in STAGES[2:])
        assert state(workflow) == before
        disk.read_only(False)


@pytest.mark.slow
def test_a_second_run_names_the_first_and_disturbs_nothing(workflow):
    with begin([workflow.data / "export.json"], [workflow.data]):
        before = state(workflow)
        assert workflow.run("--dry-run", *OTHER).returncode == 0
        done = workflow.run(*OTHER)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert f"Another run is at work in data/{GAME}/full (process {os.getpid()}, since " in done.stderr
    assert state(workflow) == before
    with hold(workflow.data / LOCK, str):  # the run was killed, the stage was not
        before = state(workflow)
        done = workflow.run(*OTHER)
    assert done.returncode != 0 and "Another run is at work" in done.stderr
    assert {f: s for f, s in state(workflow).items() if f.name not in LOCKS} == {
        f: s for f, s in before.items() if f.name not in LOCKS
    }


@pytest.mark.slow
def test_after_a_run_no_product_is_read_again(workflow):
    """Although Snakemake gives new times to products."""
    for stage in STAGES:
        seen = json.loads((workflow.data / product_check.DIRECTORY / f"{stage}.json").read_text())
        assert {name: stamp for name, (_, stamp) in seen.items()} == {
            name: product_check.stamp(workflow.data / name) for name in workflow.manifest(stage)["products"]
        }


@pytest.mark.slow
def test_a_copy_makes_nothing_anew(workflow):
    """Neither times nor Snakemake's records are copied."""
    shutil.rmtree(workflow.directory / ".snakemake")
    for number, stage in enumerate(reversed(STAGES)):
        os.utime(directories.manifest_of(workflow.data, stage), (10**9 + number, 10**9 + number))
    for script in (workflow.directory / "workflow/scripts").iterdir():
        os.utime(script)
    assert workflow.stale() == []
    before = state(workflow)
    assert "Nothing to be done" in workflow.succeed()
    changed = {file for file, stat in state(workflow).items() if before.get(file) != stat}
    assert {file.parent.name for file in changed} <= {".verified", "full"}, "only a note that all has been read"


@pytest.mark.slow
def test_only_requested_targets_run(workflow):
    """A stale stage is not a target by itself."""
    told = workflow.succeed("--dry-run", f"data/{GAME}/full/index.json", *OTHER)
    assert "Nothing to be done" in told and "runs again" not in told
    told = workflow.succeed("--dry-run", "--until", "solve", *OTHER)
    assert "stage solve runs again" in told and "rule evaluate" not in told and "Evaluate the solution" not in told


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--forcerun", "evaluate"], ["--forcerun", f"data/{GAME}/full/evaluate.json"]])
def test_a_forced_stage_forces_later_stages(workflow, arguments):
    counted = [line.split() for line in workflow.succeed("--dry-run", *arguments).splitlines()]
    assert [stage for stage in STAGES if [stage, "1"] in counted] == ["evaluate", "export", "report"]
