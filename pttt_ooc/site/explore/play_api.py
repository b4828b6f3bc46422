"""The JSON of Play, below ``/api/play``: the pages' functions for programs.

Games belong to the team of a request's token, or else to the browser's cookie, which the first game sets.  The pages
use the same cookie, so that a browser's games are the same there.  A session does not count, so that no page in a
browser can act for a team here.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from pttt_ooc.games.rules.play import History, replay
from pttt_ooc.site.explore.api import WaitOut, waiting
from pttt_ooc.site.explore.explorer import GameName
from pttt_ooc.site.explore.game_store import Games, ListedGame
from pttt_ooc.site.explore.opponents import Opponent, PreparingError
from pttt_ooc.site.explore.player_view import Seat
from pttt_ooc.site.explore.results import FinishedGame, Standing
from pttt_ooc.site.explore.review import Review, ReviewStep, perfect_payoff, review_of, step_of
from pttt_ooc.site.play import owners
from pttt_ooc.site.play.bodies import AttemptIn, BeginIn, OwnAttempt, ResignIn
from pttt_ooc.site.shell.accounts import known_bearer
from pttt_ooc.site.shell.forms import read_body
from pttt_ooc.site.shell.schemas import ErrorOut, moment, takes
from pttt_ooc.site.shell.shell import Account
from pttt_ooc.site.shell.throttle import Throttle


class OpponentOut(BaseModel):
    """Whom you can play against."""

    key: str
    name: str
    you_play: list[int] = Field(description="As which players it can be met.")

    @classmethod
    def all_of(cls, listed: list[Opponent]) -> list[OpponentOut]:
        """The opponents, one for each key."""
        found: dict[str, OpponentOut] = {}
        for one in listed:
            found.setdefault(one.key, cls(key=one.key, name=one.name, you_play=[])).you_play.append(1 - one.player)
        return [one.model_copy(update={"you_play": sorted(one.you_play)}) for one in found.values()]


class ListedOut(BaseModel):
    """One of your games."""

    id: str
    opponent: str
    player: int = Field(description="Whom you play.")
    started_at: datetime.datetime | None
    made: int = Field(description="How many attempts you have made.")
    result: int | None = Field(description="Your payoff; null while the game goes on.")
    resigned: bool
    helped: bool = Field(description="Whether it is in no record: it has hints, or is played on from another game.")

    @classmethod
    def of(cls, listed: ListedGame) -> ListedOut:
        """A game of the list."""
        return cls.model_validate({**vars(listed), "started_at": moment(listed.started_at)})


class ExpectationOut(BaseModel):
    """An exact expected payoff."""

    who: str
    value: float


class ResultsOut(BaseModel):
    """Your finished games against one opponent, as one player."""

    opponent: str
    player: int = Field(description="Whom you played.")
    wins: int
    draws: int
    losses: int
    mean: float
    error: float | None = Field(description="Standard error of the mean.")
    expectations: list[ExpectationOut] = Field(description="What others would get in your place, on average.")

    @classmethod
    def of(cls, standing: Standing) -> ResultsOut:
        """The results against one opponent."""
        tally, opponent = standing.tally, standing.tally.opponent
        told = {"opponent": opponent.name, "player": 1 - opponent.player, "mean": tally.mean, "error": tally.error}
        told |= {"expectations": standing.expectations}
        return cls.model_validate({**vars(tally), **told}, from_attributes=True)


class LobbyOut(BaseModel):
    """What the page Play shows."""

    game: str
    opponents: list[OpponentOut]
    under_way: list[ListedOut] = Field(description="Your games, the latest first.")
    finished: list[ListedOut] = Field(description="Your latest ones.")
    results: list[ResultsOut]


class GameOut(BaseModel):
    """What you may know of your game: while it goes on, only this is sent."""

    id: str
    game: str
    player: int = Field(description="Whom you play.")
    opponent: str
    opponent_key: str
    infoset: str = Field(description="What you know, as text.")
    attempts: list[OwnAttempt] = Field(description="Your squares in order, those of the setup first.")
    made: int = Field(description="How many attempts you have made; the next one carries this number.")
    legal: list[int] = Field(description="Squares that you may attempt; none when the game is over.")
    over: bool = Field(description="If so, its review is there.")
    result: int | None = Field(description="Your payoff.")
    resigned: bool

    @classmethod
    def of(cls, seat: Seat) -> GameOut:
        """The JSON of a seat, which knows nothing more of the game."""
        attempts = [{"square": square, "placed": placed} for square, placed in seat.attempts]
        told = {"game": seat.game.name, "opponent_key": seat.key, "attempts": attempts, "over": seat.over}
        return cls.model_validate({**vars(seat), **told})


class MoveOut(BaseModel):
    """One attempt of a finished game."""

    number: int = Field(description="From 1, over both players.")
    mine: bool
    player: int
    square: int
    placed: bool
    loss: float | None = Field(description="What your attempt lost in value; null for the opponent's.")
    value: float | None = Field(description="The value before your attempt, if you go on as well as possible.")


class ChoiceOut(BaseModel):
    """A square that you could attempt."""

    square: int
    value: float | None = Field(description="Your expected payoff, if you then go on with the best response.")
    fails: float | None = Field(description="Probability that the attempt fails.")
    best: bool
    chosen: bool


class StepOut(BaseModel):
    """The moment before one attempt, or the end of the game."""

    number: int = Field(description="How many attempts were made before.")
    move: MoveOut | None = Field(description="The attempt that was then made; null at the end.")
    infoset: str = Field(description="What its player knew; at the end, what you knew.")
    mine: list[int] = Field(description="Squares with your marks, on the true board.")
    theirs: list[int] = Field(description="Squares with the opponent's marks.")
    believed: list[float] | None = Field(description="Probability of the opponent's mark on each square, if you chose.")
    choices: list[ChoiceOut]
    probability: float | None = Field(description="The probability with which the opponent chose this attempt.")


class ReviewOut(BaseModel):
    """A finished game."""

    id: str
    player: int
    opponent: str
    result: int
    resigned: bool
    moves: list[MoveOut]
    lost: float | None = Field(description="What your attempts lost in value, together.")
    why: str = Field(description="Why nothing is said about values, if so.")
    perfect: float | None = Field(
        description="What perfect play would average in your place against a perfect opponent; null: not proven."
    )
    step: StepOut

    @classmethod
    def of(cls, played: FinishedGame, review: Review, step: ReviewStep) -> ReviewOut:
        """A game that is over."""
        seat = played.seat
        told = {
            **vars(seat),
            **vars(review),
            "perfect": perfect_payoff(seat.game, seat.player),
            "step": _step(played.history, seat.player, step),
        }
        return cls.model_validate(told, from_attributes=True)


def _step(whole: History, me: int, step: ReviewStep) -> StepOut:
    history = replay(whole.game, [attempt.square for attempt in whole.attempts[: step.number]])
    mine, theirs = ([s for s in range(history.game.squares) if history.placed[p] >> s & 1] for p in (me, 1 - me))
    believed = [one.probability for one in step.believed] or None
    told = {**vars(step), "mine": mine, "theirs": theirs, "believed": believed}
    return StepOut.model_validate(told, from_attributes=True)


# ---------------------------------------------------------------------------------------------
# Addresses


BEGUN_PER_HOUR = 2000
"""Most games begun from one address; a whole campus may share one."""


@dataclass
class Playing:
    """The state of the handlers of Play, of pages and JSON.

    Attributes
    ----------
    others
        The states of further games; this one is the default.
    """

    games: Games
    begun: Throttle = field(default_factory=lambda: Throttle(BEGUN_PER_HOUR))
    others: Sequence[Playing] = ()

    @property
    def all(self) -> tuple[Playing, ...]:
        """The state of each game."""
        return (self, *self.others)

    def of(self, game: str) -> Playing:
        """The state of a game by its name, this one if it is empty; 404 if there is none."""
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


@router.get("", summary="Opponents, your games and results")
def lobby(request: Request, playing: UsedPlaying, account: Known) -> LobbyOut:
    """What the page Play shows.  Without a token or the cookie of a first game, it lists no games of yours."""
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
    openapi_extra=takes(BeginIn),
)
async def begin(request: Request, playing: UsedPlaying, account: Known) -> Response:
    """Begin a game.  Without a token the answer has a cookie: send it to continue the game."""
    sent = await read_body(request, BeginIn)
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
    openapi_extra=takes(AttemptIn),
)
async def attempt(request: Request, playing: UsedPlaying, account: Known, id: str) -> GameOut:
    """Attempt a square; the answer is the game after the opponent's reply."""
    sent = await read_body(request, AttemptIn)
    owner = owners.known_owner(request, account, "game")
    return GameOut.of(await run_in_threadpool(playing.games.attempt, owner, id, sent.made, sent.square))


@router.post(
    "/{id}/resignation", summary="Resign", response_model=GameOut, responses=_CHANGES, openapi_extra=takes(ResignIn)
)
async def resign(request: Request, playing: UsedPlaying, account: Known, id: str) -> GameOut:
    """Resign, which counts as a loss."""
    sent = await read_body(request, ResignIn)
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
    """All attempts of a finished game of yours, what each lost, and what you could believe before it."""
    games = playing.games
    played = games.find_finished(owners.known_owner(request, account, "game"), id)
    return ReviewOut.of(played, review_of(games.opponents, played), step_of(games.opponents, played, step))
