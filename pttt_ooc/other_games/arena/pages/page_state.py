"""The state of the arena's pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, cast

from fastapi import HTTPException, Request

from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.arena.pages.choices import SIZES, game_text
from pttt_ooc.site.service.wire import Client, StandIn
from pttt_ooc.site.shell.parts import state_of
from pttt_ooc.site.shell.throttle import Throttle

if TYPE_CHECKING:
    from pttt_ooc.other_games.arena.pages.game_service import GameService
    from pttt_ooc.other_games.arena.pages.match_archive import MatchArchive
    from pttt_ooc.other_games.arena.research.solvers.move_ratings import RatingCache

MOVES_PER_HOUR = 20_000
"""Maximum moves per address and hour; a whole campus may share one address."""

WATCHED = 8
"""Maximum number of games that are watched at the same time."""


class NoAnswerError(PtttError):
    """The answerer refused a question: something does not exist, or the rules forbid it."""


@dataclass
class ArenaState:
    """The state of the handlers.

    Attributes
    ----------
    service, archive, cache
        They run in the answerer's process; a NoAnswerError says why there is no answer.
    watched
        The number of games that are watched now.
    """

    service: GameService
    archive: MatchArchive
    cache: RatingCache
    moves: Throttle = field(default_factory=lambda: Throttle(MOVES_PER_HOUR))
    watched: int = 0

    @classmethod
    def of(cls, client: Client) -> ArenaState:
        """The state with the answerer of a client."""
        asked = StandIn(client, NoAnswerError)
        return cls(cast("GameService", asked), cast("MatchArchive", asked), cast("RatingCache", asked))

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


def join_moves(moves: list[int]) -> str:
    """The moves as a text, for an address or a form."""
    return ",".join(map(str, moves))


def chosen_game(fields: dict[str, str]) -> str:
    """The game in a form; 400 if there is none."""
    try:
        return game_text(fields.get("game", ""), *(_number(fields, name) for name in ("rows", "columns", "need")))
    except KeyError:
        raise HTTPException(400, "There is no such game here; choose one of the list.") from None


def _number(fields: dict[str, str], name: str) -> int:
    text = fields.get(name, str(SIZES[name]))
    if not (text.isascii() and text.isdigit() and len(text) <= 2):
        raise HTTPException(400, f"The number of {name} has to be a whole number.")
    return int(text)
