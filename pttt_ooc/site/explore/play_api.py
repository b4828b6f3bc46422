"""The JSON of Play, below ``/api/play``: the pages' functions for programs.

Games belong to the team of a request's token, or else to the browser's cookie, which the first game sets.  The pages
use the same cookie, so that a browser's games are the same there.  A session does not count: no page that a browser
shows can act for a team here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError

from pttt_ooc.site.explore.api import WaitOut, waiting
from pttt_ooc.site.explore.explorer import GameName
from pttt_ooc.site.explore.games import Games
from pttt_ooc.site.explore.opponents import PreparingError
from pttt_ooc.site.explore.play_schemas import (
    AttemptIn,
    BeginIn,
    GameOut,
    ListedOut,
    LobbyOut,
    OpponentOut,
    ResignIn,
    ResultsOut,
    ReviewOut,
)
from pttt_ooc.site.explore.review import review_of, step_of
from pttt_ooc.site.play import owners
from pttt_ooc.site.shell.accounts import known_bearer
from pttt_ooc.site.shell.forms import own_json
from pttt_ooc.site.shell.schemas import ErrorOut
from pttt_ooc.site.shell.shell import Account
from pttt_ooc.site.shell.throttle import Throttle

BEGUN_PER_HOUR = 2000
"""Most games begun from one address; a whole campus may share one."""


@dataclass
class Playing:
    """The state of the handlers of Play, of pages and JSON.

    Attributes
    ----------
    others
        The states of further games; this one is meant where no game is named.
    """

    games: Games
    begun: Throttle = field(default_factory=lambda: Throttle(BEGUN_PER_HOUR))
    others: Sequence[Playing] = ()

    @property
    def all(self) -> tuple[Playing, ...]:
        """The state of each game."""
        return (self, *self.others)

    def of(self, game: str) -> Playing:
        """The state of a game by its name; 404 if there is none.  Empty: this one."""
        found = self if not game else next((one for one in self.all if one.games.game.name == game), None)
        if found is None:
            raise HTTPException(404, f"There is no solution of {game!r} here.")
        return found

    def having(self, id: str) -> Playing:
        """The state of the game to which a person's game belongs; this one if there is no such game."""
        return next((one for one in self.all if one.games.store.has(id)), self)


async def _used(request: Request, game: GameName = "") -> Playing:
    playing: Playing = request.app.state.play
    if not playing.others:  # the usual case takes no thread
        return playing.of(game)
    id = request.path_params.get("id")
    return playing.of(game) if id is None else await run_in_threadpool(playing.having, id)


UsedPlaying = Annotated[Playing, Depends(_used)]
router = APIRouter(prefix="/api/play")
Known = Annotated[Account | None, Depends(known_bearer)]
Sent = TypeVar("Sent", bound=BaseModel)
Shown = Annotated[int | None, Query(ge=0, le=99, description="How many attempts were made; default: the end.")]

_NO_GAME: dict[int | str, dict[str, object]] = {
    404: {"model": ErrorOut, "description": "There is no such game of yours."},
    503: {"model": ErrorOut, "description": "The opponent cannot be asked now."},
}
_CHANGES: dict[int | str, dict[str, object]] = {
    **_NO_GAME,
    400: {"model": ErrorOut, "description": "The square cannot be attempted, or the body cannot be read."},
    409: {"model": ErrorOut, "description": "It is out of turn, or has been made already; nothing has changed."},
    422: {"model": ErrorOut, "description": "The body does not have the expected keys."},
}
_BEGINS: dict[int | str, dict[str, object]] = {
    **{status: _CHANGES[status] for status in (400, 409, 422, 503)},
    202: {"model": WaitOut, "description": "The opponent is being prepared; ask again."},
    404: {"model": ErrorOut, "description": "There is no such opponent."},
    429: {"model": ErrorOut, "description": "Too many games have been begun from your address."},
}


def _takes(model: type[BaseModel]) -> dict[str, object]:
    """The description of a request's body."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": model.model_json_schema()}}}}


@router.get("", summary="Opponents, your games and results")
def lobby(request: Request, playing: UsedPlaying, account: Known) -> LobbyOut:
    """What the page Play shows.  Without a token or the cookie of a first game there are no games of yours."""
    games, owner = playing.games, owners.owner_of(request, account)
    return LobbyOut(
        game=games.game.name,
        opponents=OpponentOut.all_of(list(games.opponents.list_opponents())),
        under_way=[ListedOut.of(one) for one in games.list_games(owner, finished=False)] if owner else [],
        finished=[ListedOut.of(one) for one in games.list_games(owner, finished=True)] if owner else [],
        results=[ResultsOut.of(one) for one in games.standings(owner)] if owner else [],
    )


@router.post(
    "",
    summary="Begin a game",
    status_code=201,
    response_model=GameOut,
    responses=_BEGINS,
    openapi_extra=_takes(BeginIn),
)
async def begin(request: Request, playing: UsedPlaying, account: Known) -> Response:
    """Begin a game.  Without a token the answer has a cookie: send it to continue the game."""
    sent = await _read_body(request, BeginIn)
    playing.begun.check(request, "games have been begun")
    owner, cookie = owners.owner_or_new(request, account)
    try:
        seat = await run_in_threadpool(playing.games.begin, owner, sent.opponent, sent.player)
    except PreparingError as error:
        return waiting({"step": error.step, "share": error.share, "ahead": error.ahead})
    response = JSONResponse(GameOut.of(seat).model_dump(), 201, {"Location": f"{router.prefix}/{seat.id}"})
    owners.keep(request, response, cookie)
    return response


@router.get("/{id}", summary="A game", responses=_NO_GAME)
def one_game(request: Request, playing: UsedPlaying, account: Known, id: str) -> GameOut:
    """What you may know of a game of yours."""
    return GameOut.of(playing.games.seat(owners.known_owner(request, account, "game"), id))


@router.post(
    "/{id}/attempts",
    summary="Attempt a square",
    response_model=GameOut,
    responses=_CHANGES,
    openapi_extra=_takes(AttemptIn),
)
async def attempt(request: Request, playing: UsedPlaying, account: Known, id: str) -> GameOut:
    """Attempt a square; the opponent has answered in the game that comes back."""
    sent = await _read_body(request, AttemptIn)
    owner = owners.known_owner(request, account, "game")
    return GameOut.of(await run_in_threadpool(playing.games.attempt, owner, id, sent.made, sent.square))


@router.post(
    "/{id}/resignation", summary="Resign", response_model=GameOut, responses=_CHANGES, openapi_extra=_takes(ResignIn)
)
async def resign(request: Request, playing: UsedPlaying, account: Known, id: str) -> GameOut:
    """Resign, which counts as a loss."""
    sent = await _read_body(request, ResignIn)
    owner = owners.known_owner(request, account, "game")
    return GameOut.of(await run_in_threadpool(playing.games.resign, owner, id, sent.made))


@router.get(
    "/{id}/review",
    summary="A finished game",
    responses={**_NO_GAME, 409: {"model": ErrorOut, "description": "The game is not over."}},
)
def review(
    request: Request,
    playing: UsedPlaying,
    account: Known,
    id: str,
    step: Shown = None,
) -> ReviewOut:
    """All attempts of a finished game of yours, what each lost, and what could be believed before it."""
    games = playing.games
    played = games.find_finished(owners.known_owner(request, account, "game"), id)
    return ReviewOut.of(played, review_of(games.opponents, played), step_of(games.opponents, played, step))


async def _read_body(request: Request, model: type[Sent]) -> Sent:
    """The body of a program's request; 422 with a sentence if it is malformed."""
    try:
        return model.model_validate(await own_json(request))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise HTTPException(422, f"{where}: {first['msg']}.") from None
