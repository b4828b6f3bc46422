"""Best responses by workers that are jobs of a real Slurm; one is cancelled meanwhile, and another one comes for it."""

import os
import subprocess
import sys

import pytest

from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.exact.cluster.clients import SLURM, open_client
from pttt_ooc.exact.cluster.subtree_runner import DaskRunner
from pttt_ooc.exact.double_oracle import response_search
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.frontier import run
from pttt_ooc.pipeline.frontier.settings import FrontierConfig
from tests.kits import slurm_cluster
from tests.kits.patience import PATIENCE, wait_until
from tests.pipeline.stages.test_workflow import Workflow

pytest.importorskip("highspy")
pytest.importorskip("distributed", reason="needs distributed")
pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(None in slurm_cluster.PROGRAMS.values(), reason="there is no Slurm"),
    pytest.mark.skipif(os.geteuid() != 0, reason="Slurm's daemons want to be root"),
]
GAME = named_game("mini-2x3k3-abrupt")
MEMORY_MB = 400


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Two nodes; commands of this process ask them, and workers listen on this machine alone."""
    with slurm_cluster.cluster(tmp_path / "slurm", 8_000) as made:
        for name in ("SLURM_CONF", "PATH"):
            monkeypatch.setenv(name, made.environment[name])
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", *sys.path]))
        monkeypatch.setenv("DASK_JOBQUEUE__SLURM__INTERFACE", "lo")
        monkeypatch.setenv("DASK_JOBQUEUE__SLURM__LOG_DIRECTORY", str(tmp_path / "logs"))
        import dask

        dask.config.refresh()
        yield made


def running(cluster):
    return [number for number, job in cluster.jobs().items() if job["JobState"] == "RUNNING"]


def test_jobs_find_the_same_bits(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(response_search, "LEAST_INFOSETS", 4)
    alone = DoubleOracle(GAME)
    assert list(alone.rounds())[-1].settled
    with open_client(2, SLURM, MEMORY_MB) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        oracle = DoubleOracle(GAME, runner=DaskRunner(client, GAME, MEMORY_MB))
        for _ in range(3):
            oracle.round()
        both = running(cluster)
        assert len(both) == 2
        cluster.ask("scancel", str(both[0]))
        wait_until(lambda: cluster.jobs()[both[0]]["JobState"] == "CANCELLED")
        assert list(oracle.rounds())[-1].settled
        wait_until(lambda: len(running(cluster)) == 2)
    wait_until(lambda: not running(cluster))
    state, other = oracle.state(), alone.state()
    assert {name: part.tobytes() for name, part in state.items()} == {n: part.tobytes() for n, part in other.items()}


def test_the_profile_starts_workers(cluster, tmp_path):
    workflow = Workflow.fresh(tmp_path / "w")
    workflow.configure("frontier", game=GAME.name, workers=2, memory_mb=MEMORY_MB)
    directory = workflow.directory / "data" / "frontier" / GAME.name
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/slurm"]
    command += ["--max-threads", "1", "--slurm-status-command", "squeue"]
    command += ["--slurm-init-seconds-before-status-checks", "3", "frontier"]
    environment = {**os.environ, "PYTHONPATH": str(workflow.directory)}
    subprocess.run(command, cwd=workflow.directory, env=environment, check=True)
    names = [job["JobName"] for job in cluster.jobs().values()]
    assert names.count("dask-worker") >= 2
    run.run(FrontierConfig(game=GAME.name), tmp_path / "alone")
    one, other = (read_manifest(place / "solve.json", "solve") for place in (directory, tmp_path / "alone"))
    assert one["products"]["equilibrium.zarr"]["digest"] == other["products"]["equilibrium.zarr"]["digest"]
