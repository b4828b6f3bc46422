"""JSON that all parts share: refusals, and times."""

from __future__ import annotations

import datetime

from pydantic import BaseModel, Field


def moment(seconds: float | None) -> datetime.datetime | None:
    """The date of a time in the database."""
    return None if seconds is None else datetime.datetime.fromtimestamp(round(seconds, 3), datetime.UTC)


class ErrorOut(BaseModel):
    """Something was refused."""

    error: str = Field(description="One sentence.")
