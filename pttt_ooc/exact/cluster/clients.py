"""A client of Dask: for processes of its own on this machine, for jobs of Slurm, or for a running scheduler."""

from __future__ import annotations

import asyncio
import logging
import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pttt_ooc.errors import PtttError
from pttt_ooc.exact.double_oracle.response_search import SubtreeRunner
from pttt_ooc.extras import extra
from pttt_ooc.games.rules.game import Game

_ANSWER_SECONDS = 10  # for the scheduler to answer
_QUEUE_SECONDS = 7 * 86400.0  # jobs may wait in Slurm's queue
_BESIDES_MB = 600  # memory of a job besides its budget: libraries, and compiling
SLURM = "slurm"
"""In place of a scheduler's address: workers are jobs of Slurm."""


@contextmanager
def open_client(workers: int | None, scheduler: str | None, memory_mb: float = 0) -> Iterator[Any]:
    """Open a client; at the end, close it and the processes or jobs that it started.

    Parameters
    ----------
    workers
        Number of processes to start on this machine, with one thread each; or of jobs.
    scheduler
        The address of a scheduler, such as ``tcp://node7:8786``; or :data:`SLURM`: then workers are jobs.
    memory_mb
        Megabytes for each job, besides those of libraries.

    Raises
    ------
    MissingExtraError
        If Dask is not installed.
    PtttError
        If workers and an address are given, or only one of workers and Slurm; if the scheduler does not answer, or jobs
        cannot be submitted.
    """
    # Either a number of workers or an address; Slurm needs the number.
    if scheduler == SLURM and workers is None:
        raise PtttError("With the scheduler slurm, give a number of workers: as many jobs are started.")
    if scheduler != SLURM and (workers is None) == (scheduler is None):
        raise PtttError("Give either a number of workers or the address of a scheduler, but not both.")
    with extra("cluster", "A search by several processes"):
        from distributed import Client, LocalCluster
    # Each job of Slurm is a worker.
    if scheduler == SLURM:
        assert workers
        with _jobs(workers, memory_mb) as jobs, Client(jobs) as client:
            yield client
        return
    # Processes on this machine, with a scheduler of their own.
    if scheduler is None:
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                memory_limit=None,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    # A scheduler that runs already: first find out whether it answers.
    assert scheduler
    _knock(scheduler)
    with Client(scheduler) as client:
        yield client


def _knock(scheduler: str) -> None:
    """Try to reach the scheduler: a client that cannot would leave its thread behind.

    Raises
    ------
    PtttError
        If no scheduler of Dask answers there.
    """
    from distributed.core import connect

    async def call() -> None:
        (await connect(scheduler, timeout=_ANSWER_SECONDS)).abort()

    try:
        asyncio.run(call())
    except (OSError, ValueError, MemoryError) as error:  # a server of another kind may seem to announce exabytes
        raise PtttError(
            f"The scheduler {scheduler} does not answer within {_ANSWER_SECONDS} s; it has an address such as "
            "tcp://node7:8786, which `dask scheduler` prints."
        ) from error


@contextmanager
def _jobs(number: int, memory_mb: float) -> Iterator[Any]:
    """A cluster of so many jobs of Slurm, with one thread each; a job that ends is submitted again.

    Partition, account, time and network are settings of dask-jobqueue.
    """
    from dask_jobqueue.slurm import SLURMCluster

    if shutil.which("sbatch") is None:
        raise PtttError("There is no command sbatch here, by which jobs of Slurm are submitted.")
    memory = f"{math.ceil(memory_mb + _BESIDES_MB)}MB"
    with SLURMCluster(cores=1, processes=1, memory=memory, scheduler_options={"dashboard_address": ":0"}) as jobs:
        jobs.adapt(minimum=number, maximum=number)
        yield jobs


@contextmanager
def open_runner(
    workers: int | None, scheduler: str | None, game: Game, memory_mb: float
) -> Iterator[SubtreeRunner | None]:
    """The workers of a client that search best responses, see :func:`open_client`; None: threads of this process do.

    Parameters
    ----------
    workers, scheduler
        See :func:`open_client`.  Without a number of workers, Slurm is not used.
    memory_mb
        Megabytes for each thread of a worker's process.
    """
    if workers is None and scheduler in (None, SLURM):
        yield None
        return
    with open_client(workers, scheduler, memory_mb) as client:
        from pttt_ooc.exact.cluster.subtree_runner import PATIENCE_SECONDS, DaskRunner

        yield DaskRunner(client, game, memory_mb, _QUEUE_SECONDS if scheduler == SLURM else PATIENCE_SECONDS)
