"""Best responses by workers that are jobs of a real Slurm, started as the documents say; one is cancelled meanwhile."""

import os
import signal
import subprocess
import sys

import pytest

from pttt_ooc.cluster.clients import open_client
from pttt_ooc.cluster.subtree_runner import DaskRunner
from pttt_ooc.double_oracle import response_search
from pttt_ooc.double_oracle.oracle import DoubleOracle
from pttt_ooc.rules.catalogue import named_game
from tests.kits import slurm_cluster
from tests.kits.patience import PATIENCE, wait_until

pytest.importorskip("highspy")
pytest.importorskip("distributed", reason="needs distributed")
pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue")
pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(None in slurm_cluster.PROGRAMS.values(), reason="there is no Slurm"),
    pytest.mark.skipif(os.geteuid() != 0, reason="Slurm's daemons want to be root"),
]
GAME = named_game("mini-2x3k3-abrupt")
WORKERS = """
import sys
from dask_jobqueue import SLURMCluster

job = {"memory": "1GB", "walltime": "00:30:00", "interface": "lo", "log_directory": sys.argv[1]}
cluster = SLURMCluster(cores=1, processes=1, **job)
cluster.scale(jobs=2)
print(cluster.scheduler_address, flush=True)
input()
"""


def test_workers_that_are_jobs_find_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(response_search, "LEAST_INFOSETS", 4)
    alone = DoubleOracle(GAME)
    assert list(alone.rounds())[-1].settled
    with slurm_cluster.cluster(tmp_path / "slurm", 2_000) as cluster:
        environment = {**cluster.environment, "PYTHONPATH": os.pathsep.join(["", *sys.path])}
        command = [sys.executable, "-c", WORKERS, str(tmp_path / "logs")]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=tmp_path) as started:
            try:
                with open_client(None, started.stdout.readline().strip()) as client:
                    client.wait_for_workers(2, timeout=PATIENCE)
                    oracle = DoubleOracle(GAME, runner=DaskRunner(client, GAME, 400))
                    for _ in range(3):
                        oracle.round()
                    running = [number for number, job in cluster.jobs().items() if job["JobState"] == "RUNNING"]
                    assert len(running) == 2
                    cluster.ask("scancel", str(running[0]))
                    wait_until(lambda: cluster.jobs()[running[0]]["JobState"] == "CANCELLED")
                    assert list(oracle.rounds())[-1].settled
            finally:
                started.send_signal(signal.SIGINT)
    state, other = oracle.state(), alone.state()
    assert {name: part.tobytes() for name, part in state.items()} == {n: part.tobytes() for n, part in other.items()}
