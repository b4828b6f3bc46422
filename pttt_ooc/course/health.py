"""Whether a submission would be judged now."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from sqlalchemy import select

from pttt_ooc.course.context import Grader, UsedGrader
from pttt_ooc.course.storage import RESERVE
from pttt_ooc.service.pulse import read_sign

log = logging.getLogger("pttt.grader.web")
router = APIRouter(include_in_schema=False)


@router.get("/healthz")
def healthz(grader: UsedGrader) -> JSONResponse:
    """200 if a submission would be accepted and judged now, else 503 and what is not ready."""
    state: dict[str, Any] = {"database": _database(grader), "worker": _worker(grader), "disk": _disk(grader)}
    good = all(part == "ok" for part in state.values())
    return JSONResponse({"status": "ok" if good else "failed", **state}, 200 if good else 503)


def _database(grader: Grader) -> str:
    try:
        with grader.database.reading() as session:
            session.execute(select(1))
    except Exception:
        log.exception("the database cannot be read")
        return "failed"
    return "ok"


def _worker(grader: Grader) -> str:
    sign = read_sign(grader.storage.alive)
    if not sign.alive:
        return "silent"
    return f"waits for {sign.waits_for}" if sign.waits_for else "ok"


def _disk(grader: Grader) -> str:
    return "ok" if grader.storage.free_bytes() >= RESERVE else "full"
