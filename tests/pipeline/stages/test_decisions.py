"""A run locks its directories before its first job; two runs share directories that both only read."""

import os
import time

import pytest

from pttt_ooc.disk.locks import hold
from pttt_ooc.errors import StoreError
from pttt_ooc.pipeline.stages.decisions import begin
from pttt_ooc.pipeline.stages.stage_context import LOCK, STRUCTURE_LOCK, errors_to


@pytest.fixture
def structure(tmp_path):
    place = tmp_path / "data/game/full"
    place.mkdir(parents=True)
    return place


def started(structure, *files):
    """A run that makes these files, with the default run and two named runs."""
    homes = [structure, structure / "runs/a", structure / "runs/b"]
    return begin([structure / file for file in files], homes)


def refused(structure, *files):
    with pytest.raises(StoreError, match=rf"^Another run is at work in .* \(process {os.getpid()}, since \d\d:\d\d\);"):
        started(structure, *files)


def test_two_runs_in_one_directory(structure):
    with started(structure, "solve.json"):
        refused(structure, "report.json")
        refused(structure, "enumerate.json")
        refused(structure, "logs/deep/file")
    started(structure, "report.json").close()


def test_runs_with_different_names_share_the_index(structure):
    with started(structure, "runs/a/solve.json"), started(structure, "solve.json"), started(structure, "runs/b/x.json"):
        refused(structure, "runs/a/report.json")


def test_a_run_that_makes_the_index_and_uses_it_does_not_wait_for_itself(structure):
    with started(structure, "index.json", "runs/a/solve.json", "runs/b/solve.json"):
        refused(structure, "runs/a/report.json")
        refused(structure, "report.json")
    with started(structure, "runs/a/solve.json", "runs/b/solve.json"), started(structure, "solve.json"):
        refused(structure, "index.json")


@pytest.mark.parametrize("stage", ["enumerate", "index"])
def test_a_run_that_makes_the_index_is_alone(structure, stage):
    with started(structure, f"{stage}.json"):
        refused(structure, "runs/a/solve.json")
    with started(structure, "runs/a/solve.json"):
        refused(structure, f"{stage}.json")
    started(structure, f"{stage}.json").close()


@pytest.mark.parametrize("lock", [LOCK, STRUCTURE_LOCK])
def test_a_stage_that_outlived_its_run(structure, lock):
    """After its run was killed."""
    with hold(structure / lock, str):
        refused(structure, "solve.json")
    with hold(structure / STRUCTURE_LOCK, str, shared=True):
        started(structure, "runs/a/solve.json").close()
        refused(structure, "index.json")


def test_a_refused_run_keeps_no_lock(structure):
    with started(structure, "runs/b/solve.json"):
        refused(structure, "runs/a/solve.json", "runs/b/solve.json")
        started(structure, "runs/a/solve.json").close()


def test_only_directories_of_the_run_are_locked(structure, tmp_path):
    with begin([tmp_path / "elsewhere/file", structure / "runs/a/file"], [structure / "runs/a"]):
        assert {path.parent for path in structure.rglob(".*lock")} == {structure / "runs/a"}
        assert not (tmp_path / "elsewhere").exists()


def test_a_directory_that_cannot_be_written_to_is_refused_before_any_lock(structure, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != structure / "runs")
    (structure / "runs").mkdir()
    with pytest.raises(StoreError, match="Cannot write to .*runs: it is read-only"):
        started(structure, "solve.json", "runs/a/solve.json")
    assert list(structure.iterdir()) == [structure / "runs"]


def test_times_in_the_future_are_corrected(structure):
    file = structure / "solve.json"
    file.touch()
    os.utime(file, (2**31, 2**31))
    started(structure, "report.json").close()
    assert file.stat().st_mtime <= time.time()


def test_locks_that_hold_only_within_one_machine_are_refused_for_jobs_on_others(structure, monkeypatch, capsys):
    monkeypatch.setattr("pttt_ooc.pipeline.stages.decisions.only_here", lambda home: "nfs, mounted with nolock")
    files = [structure / "solve.json"]
    with pytest.raises(
        StoreError, match=r"only within one machine \(nfs, mounted with nolock\), but jobs run on several"
    ):
        begin(files, [structure], elsewhere=True)
    assert capsys.readouterr().err == ""
    begin(files, [structure]).close()
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "do not use it on another machine at the same time" in told
    monkeypatch.setattr("pttt_ooc.pipeline.stages.decisions.only_here", lambda home: "")
    begin(files, [structure], elsewhere=True).close()
    assert capsys.readouterr().err == ""


def test_a_job_that_does_not_see_its_runs_lock_writes_nothing(structure, monkeypatch, capsys):
    log, files = structure / "logs/solve.log", [structure / "solve.json"]
    run = begin(files, [structure], elsewhere=True)
    monkeypatch.setattr("socket.gethostname", lambda: "node7")
    with errors_to(log):  # the lock of the run is seen from node7
        pass
    run.close()  # as if it were not
    worked = []
    with pytest.raises(SystemExit) as end, errors_to(log):
        worked.append(1)
    assert end.value.code == 1 and not worked
    told = capsys.readouterr().err
    assert f"has locked {structure}, but on node7 that lock is free" in told and told in log.read_text()
