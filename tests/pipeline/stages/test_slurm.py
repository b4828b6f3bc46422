"""The workflow on a real Slurm of two nodes: resources of its jobs, and resuming after the scheduler ended them."""

import json
import os
import subprocess
import sys

import pytest

from pttt_ooc.disk.contents import content_digest
from tests.kits import slurm_cluster
from tests.kits.patience import wait_until
from tests.pipeline.stages.test_workflow import ENDLESS, GAME, Workflow

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(None in slurm_cluster.PROGRAMS.values(), reason="there is no Slurm"),
    pytest.mark.skipif(os.geteuid() != 0, reason="Slurm's daemons want to be root"),
]
SOLVE = {**ENDLESS, "max_iterations": 10_000, "commit_seconds": 1}
SWEEP = {"games": [GAME], "algorithms": ["cfr+"], "precisions": ["float32", "float64"]}
RUNS = [f"sweep-cfr+-{precision}" for precision in SWEEP["precisions"]]
BESIDES_MB = 600  # memory of a job besides the budget, as in the Snakefile
OURS = ("--workflow-profile", "profiles/slurm", "--max-threads", str(slurm_cluster.CPUS))
OURS += ("--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "3")  # no database here


def swept(place):
    workflow = Workflow.fresh(place)
    workflow.configure("solve", **SOLVE)
    workflow.configure("sweep", **SWEEP)
    return workflow


def begun(workflow, cluster, *arguments):
    """A running Snakemake, with its output in a file."""
    with open(workflow.directory / "told.txt", "ab") as told:
        command = [sys.executable, "-m", "snakemake", *OURS, *arguments, "sweep"]
        environment = {**cluster.environment, "PYTHONPATH": str(workflow.directory)}
        return subprocess.Popen(command, cwd=workflow.directory, env=environment, stdout=told, stderr=told)


def solving(cluster, state=("RUNNING",)):
    """Numbers of the jobs of the rule solve; their comment names the rule."""
    return {
        number: job
        for number, job in cluster.jobs().items()
        if job["Comment"].startswith("rule_solve") and job["JobState"] in state
    }


def iterations(workflow):
    """Saved iterations of each run that has begun."""
    files = workflow.data.glob("runs/*/work/*/CURRENT.json")
    return {file.parts[-4]: json.loads(file.read_text())["iteration"] for file in files}


def solutions(workflow):
    return {run: content_digest(workflow.data / "runs" / run / "solution.zarr") for run in RUNS}


@pytest.fixture
def cluster(tmp_path):
    with slurm_cluster.cluster(tmp_path / "cluster", 4000, "OverMemoryKill") as made:
        yield made


def test_jobs_on_two_nodes_resume_after_the_scheduler_ended_them(cluster, tmp_path):
    workflow = swept(tmp_path / "w")

    # Too little memory for a job, though enough for the budget: the scheduler ends it, and nothing else is lost.
    snakemake = begun(workflow, cluster, "--set-resources", "solve:mem_mb=100", "--retries", "0")
    assert snakemake.wait() != 0
    killed = solving(cluster, ("FAILED", "OUT_OF_MEMORY", "CANCELLED"))
    assert killed and all("mem=100M" in job["TRES"] for job in killed.values())
    assert any("memory limit" in file.read_text() for file in cluster.here.glob("slurmd-*.log"))
    assert (workflow.data / "index.json").exists() and not list(workflow.data.glob("runs/*/solve.json"))

    # Both runs at once, each on a node of its own; one of them is cancelled.
    snakemake = begun(workflow, cluster)
    told = workflow.directory / "told.txt"
    try:
        wait_until(
            lambda: (
                len(solving(cluster)) == 2 and len(iterations(workflow)) == 2 and min(iterations(workflow).values()) > 5
            ),
            alive=lambda: snakemake.poll() is None,
            told=told.read_text,
        )
        first = solving(cluster)
        assert {job["NodeList"] for job in first.values()} == set(slurm_cluster.NODES)
        for job in first.values():
            assert f"cpu={slurm_cluster.CPUS},mem={512 + BESIDES_MB}M" in job["TRES"]
        victim = min(first)
        cluster.ask("scancel", str(victim))
        assert snakemake.wait(timeout=1800) == 0, told.read_text()
    finally:
        snakemake.kill()
    assert cluster.jobs()[victim]["JobState"] == "CANCELLED"
    assert len(solving(cluster, ("COMPLETED",))) == 2
    logs = [(workflow.data / "runs" / run / "logs/solve.log").read_text() for run in RUNS]
    assert sum("Continuing from iteration" in text for text in logs) == 1

    # The same bits as on one machine without a stop.
    alone = swept(tmp_path / "alone")
    alone.succeed("sweep")
    assert solutions(workflow) == solutions(alone)
    threads = {workflow.data / "runs" / run / "solve.json" for run in RUNS}
    assert all('"threads": 2' in file.read_text() for file in threads)
