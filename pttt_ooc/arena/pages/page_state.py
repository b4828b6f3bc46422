"""The state of the arena's pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import HTTPException, Request

from pttt_ooc.arena.pages.answerer_client import AskedArena
from pttt_ooc.web.parts import state_of
from pttt_ooc.web.throttle import Throttle

MOVES_PER_HOUR = 20_000
"""Most moves per address and hour; a whole campus may share one address."""

WATCHED = 8
"""Most games that are watched at the same time."""


@dataclass
class ArenaState:
    """The state of the handlers.

    Attributes
    ----------
    watched
        The number of games that are watched now.
    """

    arena: AskedArena
    moves: Throttle = field(default_factory=lambda: Throttle(MOVES_PER_HOUR))
    watched: int = 0

    def spend(self, request: Request) -> None:
        """Count a requested move; 429 if there are too many."""
        self.moves.check(request, "moves have been asked for")


UsedState = Annotated[ArenaState, state_of("arena")]


def numbers(text: str) -> list[int]:
    """The moves in an address or a form; 400 if the text is not moves."""
    parts = text.split(",") if text else []
    if not all(part.isascii() and part.isdigit() and len(part) <= 4 for part in parts):
        raise HTTPException(400, "The moves in the address are not numbers with commas between them.")
    return [int(part) for part in parts]


def joined(moves: list[int]) -> str:
    """The moves as a text, for an address or a form."""
    return ",".join(map(str, moves))
