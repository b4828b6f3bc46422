"""JSON that all parts share: refusals, and times."""

from __future__ import annotations

import datetime
from typing import Any

from pydantic import BaseModel, Field


def moment(seconds: float | None) -> datetime.datetime | None:
    """The date of a time in the database."""
    return None if seconds is None else datetime.datetime.fromtimestamp(round(seconds, 3), datetime.UTC)


class ErrorOut(BaseModel):
    """Something was refused."""

    error: str = Field(description="One sentence.")


def takes(model: type[BaseModel]) -> dict[str, Any]:
    """The description of a request's body, for a handler that reads it itself."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": model.model_json_schema()}}}}
