"""The verdict that a strategy would get now, without its entry into the standings."""

from __future__ import annotations

import threading
from typing import Any

from pttt_ooc.course.data.models import ACCEPTED, REJECTED, Submission
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.worker_process import Stopped
from pttt_ooc.course.strategies.assessor import Assessor
from pttt_ooc.course.strategies.validation import Refusal


def verdict_on(
    assessor: Assessor, storage: Storage, row: Submission, stopping: threading.Event | None = None
) -> dict[str, Any]:
    """The verdict that a submission would get now, as columns.

    Raises
    ------
    OSError, StoreError
        If its file is lost.
    Stopped
        If `stopping` is set.
    """

    def tell(share: float) -> None:
        if stopping is not None and stopping.is_set():
            raise Stopped

    try:
        strategy = assessor.read(storage.upload(row.file), row.player, tell)
        found = assessor.assess(strategy, tell)
    except Refusal as refusal:
        return {
            "status": REJECTED,
            "note": refusal.note[:500],
            "detail": refusal.detail[:1000],
            "exploitability": None,
        }
    figure = found.exploitability(assessor.game_value)
    return {"status": ACCEPTED, "note": "", "detail": "", "exploitability": figure}
