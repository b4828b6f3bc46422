"""What the pages of Play and their JSON work on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import HTTPException, Request

from pttt_ooc.explore.games import Games
from pttt_ooc.web.parts import state_of
from pttt_ooc.web.throttle import Throttle

BEGUN_PER_HOUR = 2000
"""How many games may be begun from one address; a whole campus may share one."""


@dataclass
class Playing:
    """What the handlers work on."""

    games: Games
    begun: Throttle = field(default_factory=lambda: Throttle(BEGUN_PER_HOUR))


UsedPlaying = Annotated[Playing, state_of("play")]


def count_beginning(request: Request, playing: Playing) -> None:
    """Count a game that is to be begun; 429 if there have been too many from the same address."""
    if playing.begun.spend(request.client.host if request.client else None) > 0:
        raise HTTPException(429, "Too many games have been begun from your address; try again in a minute.")
