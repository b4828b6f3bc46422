"""The log of all that people with rights do.  It is append-only: the database refuses any change of a line."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.term_tables import LogLine

CONSOLE = "console"
"""The log's name for somebody who used a command on the server itself."""


def note(session: Session, by: str, what: str, **facts: Any) -> None:
    """Add a line to the log, in the transaction that makes the change."""
    session.add(LogLine(at=time.time(), by=by, what=what, facts=facts))


def lines(session: Session, limit: int | None = None) -> list[LogLine]:
    """The lines, latest first."""
    return list(session.scalars(select(LogLine).order_by(LogLine.id.desc()).limit(limit)))
