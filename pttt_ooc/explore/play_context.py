"""The state of the pages of Play and of their JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pttt_ooc.explore.games import Games
from pttt_ooc.web.parts import state_of
from pttt_ooc.web.throttle import Throttle

BEGUN_PER_HOUR = 2000
"""Most games begun from one address; a whole campus may share one."""


@dataclass
class Playing:
    """The state of the handlers."""

    games: Games
    begun: Throttle = field(default_factory=lambda: Throttle(BEGUN_PER_HOUR))


UsedPlaying = Annotated[Playing, state_of("play")]
