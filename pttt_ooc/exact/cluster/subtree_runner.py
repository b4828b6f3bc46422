"""One round's subtrees as tasks of Dask.

Both plans are sent to all workers once a round.  When a worker dies, Dask gives its task to another.  If a round's
plans are lost with the workers that had them, they are sent again, with the tasks that are not done.  The result does
not depend on which worker found what.
"""

from __future__ import annotations

import queue
import time
import uuid
from concurrent.futures import CancelledError
from typing import Any

from pttt_ooc.errors import PtttError
from pttt_ooc.exact.cluster.subtree_worker import RoundPlans, get_ready, program_version, search_subtrees
from pttt_ooc.exact.double_oracle.lazy_response import Subtree
from pttt_ooc.exact.double_oracle.response_search import ResponseSearch
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.games.rules.game import Game

_SHARES = 4  # tasks for each thread of a worker, from what is ready at once: some take longer than others
_LOOK_SECONDS = 2.0  # between two looks at workers while nothing arrives
PATIENCE_SECONDS = 120.0
"""How long to wait without any worker."""
_MOST_LOSSES = 5  # of a round's plans, one after the other

Batch = list[tuple[ResponseSearch, Subtree]]


class DaskRunner:
    """Searches subtrees with the workers of a client.

    Parameters
    ----------
    client
        The client, see :mod:`pttt_ooc.exact.cluster.clients`.
    game
        The rules.
    memory_mb
        Megabytes for each thread of a worker's process.
    patience_seconds
        How long to wait without any worker.

    Attributes
    ----------
    sent, received, tasks
        Bytes of plans to one worker, bytes of all results, and number of tasks, in the last round.

    Raises
    ------
    PtttError
        If there is no worker, or one has another version of the program.
    """

    def __init__(self, client: Any, game: Game, memory_mb: float, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._patience_seconds = patience_seconds
        self._client, self._game, self._memory_mb = client, game, memory_mb
        self._run, self._number = uuid.uuid4().hex, 0
        self.sent = self.received = self.tasks = 0
        self._wait_for_workers()
        try:
            client.run(get_ready, game, program_version())
        except ImportError as error:
            raise PtttError(
                f"A worker cannot import this program ({error}); install the same on all machines."
            ) from error

    def run(self, plans: Plans, searches: tuple[ResponseSearch, ResponseSearch]) -> None:
        """Search subtrees until both responses are known.

        Raises
        ------
        PtttError
            If no worker comes back, or if tasks kill workers.
        """
        self._number += 1
        given = RoundPlans(self._run, self._number, self._game, plans, self._memory_mb, program_version())
        self.sent, self.received, self.tasks = sum(part.nbytes for plan in plans for part in plan), 0, 0
        left: Batch = []
        try:
            for _ in range(_MOST_LOSSES):
                left = self._attempt(given, searches, left)
                if not left:
                    return
                self._wait_for_workers()
        except OSError as error:
            raise PtttError(
                f"The scheduler is gone ({error}); with --state, the same command goes on from the last saved round."
            ) from error
        raise PtttError(f"The plans of a round were lost {_MOST_LOSSES} times with the workers that had them.")

    def _attempt(self, given: RoundPlans, searches: tuple[ResponseSearch, ResponseSearch], left: Batch) -> Batch:
        """Send plans and tasks; returns the subtrees that are left when the plans are lost."""
        scattered = self._scatter(given)
        arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        pending: dict[Any, Batch] = {}
        self._submit(scattered, left, pending, arrived)
        while True:
            self._submit(scattered, _take_ready(searches), pending, arrived)
            if not pending:
                return []
            try:
                future = arrived.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                self._wait_for_workers()
                continue
            batch = pending.pop(future)
            try:
                found = future.result()
            except CancelledError:
                for other in pending:
                    other.cancel()
                return [*batch, *(part for parts in pending.values() for part in parts)]
            except _killed_worker() as error:
                raise PtttError(
                    f"Workers died of a task ({error}): probably of their memory; give them more, or a smaller "
                    "--memory-mb."
                ) from error
            for (search, subtree), one in zip(batch, found, strict=True):
                self.received += sum(part.nbytes for part in one.steps)
                search.put(subtree, one)

    def _submit(self, scattered: Any, ready: Batch, pending: dict[Any, Batch], arrived: Any) -> None:
        """Make tasks of what is ready."""
        if not ready:
            return
        threads = sum(self._client.nthreads().values()) or 1
        size = -(-len(ready) // (_SHARES * threads))
        for batch in (ready[k : k + size] for k in range(0, len(ready), size)):
            subtrees = [subtree for _, subtree in batch]
            future = self._client.submit(search_subtrees, scattered, subtrees, pure=False)
            pending[future] = batch
            self.tasks += 1
            future.add_done_callback(arrived.put)

    def _scatter(self, given: RoundPlans) -> Any:
        for _ in range(_MOST_LOSSES):
            try:
                return self._client.scatter(given, broadcast=True, hash=False)
            except (TimeoutError, OSError, KeyError):  # a worker has left meanwhile
                self._wait_for_workers()
        raise PtttError("The plans of a round could not be sent to the workers.")

    def _wait_for_workers(self) -> None:
        until = time.monotonic() + self._patience_seconds
        while not self._client.nthreads():
            if time.monotonic() > until:
                raise PtttError(
                    f"The scheduler at {self._client.scheduler.address} has had no worker for "
                    f"{self._patience_seconds:.0f} s; start some, as in `dask worker ADDRESS`."
                )
            time.sleep(0.1)


def _take_ready(searches: tuple[ResponseSearch, ResponseSearch]) -> Batch:
    """Take what is ready."""
    taken = [(search, subtree) for search in searches for subtree in search.ready]
    for search in searches:
        search.ready.clear()
    return taken


def _killed_worker() -> Any:
    from distributed import KilledWorker

    return KilledWorker
