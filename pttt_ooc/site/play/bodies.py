"""The JSON that all programs send and get: bodies that begin a game, attempt a square and resign; own attempts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

SENT = ConfigDict(strict=True, extra="forbid")
"""Of every body: no other keys, and no text where a number is meant."""


class BeginIn(BaseModel):
    """What is to begin."""

    model_config = SENT
    opponent: str = Field(max_length=80, description="Key of one of the opponents.")
    player: int = Field(ge=0, le=1, description="Whom you play.")


class ResignIn(BaseModel):
    """The end."""

    model_config = SENT
    made: int = Field(ge=0, le=99, description="How many attempts you have made before: each is made once.")


class AttemptIn(ResignIn):
    """An attempt; with `made` it is made once, however often it is sent."""

    square: int = Field(ge=0, le=99, description="One of the squares that are called legal.")


class OwnAttempt(BaseModel):
    """One of your attempts, or a mark that you began with."""

    square: int
    placed: bool = Field(description="Whether your mark was placed; if not, the opponent's mark is there.")
