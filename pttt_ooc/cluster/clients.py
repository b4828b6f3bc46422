"""A client of Dask: for processes of its own on this machine, or for a scheduler that runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pttt_ooc.double_oracle.response_search import SubtreeRunner
from pttt_ooc.errors import PtttError
from pttt_ooc.extras import extra
from pttt_ooc.rules.game import Game

_ANSWER_SECONDS = 10  # for the scheduler to answer


@contextmanager
def open_client(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """A client, closed at the end, together with processes that it started.

    Parameters
    ----------
    workers
        Number of processes to start on this machine, with one thread each.
    scheduler
        Or the address of a scheduler, such as ``tcp://node7:8786``.

    Raises
    ------
    MissingExtraError
        If Dask is not installed.
    PtttError
        If both or neither are given, or if the scheduler does not answer.
    """
    if (workers is None) == (scheduler is None):
        raise PtttError("Give either a number of workers or the address of a scheduler, but not both.")
    with extra("cluster", "A search by several processes"):
        from distributed import Client, LocalCluster
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
    try:
        client = Client(scheduler, timeout=_ANSWER_SECONDS)
    except (OSError, ValueError) as error:
        raise PtttError(
            f"The scheduler {scheduler} does not answer within {_ANSWER_SECONDS} s; it has an address such as "
            "tcp://node7:8786, which `dask scheduler` prints."
        ) from error
    with client:
        yield client


@contextmanager
def open_runner(
    workers: int | None, scheduler: str | None, game: Game, memory_mb: float
) -> Iterator[SubtreeRunner | None]:
    """Who searches best responses: the workers of a client, see :func:`open_client`; None: threads of this process.

    Parameters
    ----------
    memory_mb
        Megabytes for each thread of a worker's process.
    """
    if workers is None and scheduler is None:
        yield None
        return
    with open_client(workers, scheduler) as client:
        from pttt_ooc.cluster.subtree_runner import DaskRunner

        yield DaskRunner(client, game, memory_mb)
