"""A team's strategies for both players, looked at together: their own value, and what both can lose."""

from __future__ import annotations

import logging
import threading

from sqlalchemy import select
from sqlalchemy.orm import Session, aliased

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import ACCEPTED, Submission
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Pair
from pttt_ooc.course.data.worker_process import Stopped
from pttt_ooc.course.strategies.assessor import Assessor
from pttt_ooc.course.strategies.validation import Refusal
from pttt_ooc.errors import StoreError

log = logging.getLogger("pttt.course.worker")


class PairValues:
    """Computes the values of pairs, whenever the worker's queue is empty.

    Parameters
    ----------
    stopping
        When it is set, the work is broken off, and begun again by the next worker.
    """

    def __init__(self, database: Database, storage: Storage, assessor: Assessor, stopping: threading.Event) -> None:
        self._database, self._storage, self._assessor, self._stopping = database, storage, assessor, stopping
        self._failed: set[int] = set()

    def step(self) -> bool:
        """Compute the value of the oldest pair without one whose strategies are accepted; whether there was one.

        Raises
        ------
        Stopped
            If `stopping` is set.
        """
        with self._database.reading() as session:
            found = next((one for one in _waiting(session) if one.id not in self._failed), None)
            both = [session.get(Submission, n) for n in (found.first_id, found.second_id)] if found else []
        if found is None or both[0] is None or both[1] is None:
            return False

        def tell(share: float) -> None:
            if self._stopping.is_set():
                raise Stopped

        try:
            strategy = self._assessor.read(self._storage.upload(both[0].file), 0, tell)
            value = self._assessor.value(self._assessor.assess(strategy, tell), both[1])
        except (Refusal, OSError, StoreError):
            log.exception("no value of a pair", extra={"pair": found.id})
            self._failed.add(found.id)  # until the next start
            return True
        with self._database.writing() as session:
            row = session.get(Pair, found.id)
            if row is not None:
                row.value = value
        return True


def _waiting(session: Session) -> list[Pair]:
    first, second = aliased(Submission), aliased(Submission)
    query = select(Pair).join(first, first.id == Pair.first_id).join(second, second.id == Pair.second_id)
    query = query.where(Pair.value.is_(None), first.status == ACCEPTED, second.status == ACCEPTED)
    return list(session.scalars(query.order_by(Pair.id)))
