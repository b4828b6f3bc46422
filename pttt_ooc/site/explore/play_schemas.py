"""The JSON of Play: requests and answers."""

from __future__ import annotations

import datetime

from pydantic import BaseModel, ConfigDict, Field

from pttt_ooc.games.rules.play import History, replay
from pttt_ooc.site.explore.games import ListedGame
from pttt_ooc.site.explore.opponents import Opponent
from pttt_ooc.site.explore.player_view import Seat
from pttt_ooc.site.explore.results import FinishedGame, Standing
from pttt_ooc.site.explore.review import Review, ReviewStep
from pttt_ooc.site.shell.schemas import moment

_SENT = ConfigDict(strict=True, extra="forbid")


class BeginIn(BaseModel):
    """A game to begin."""

    model_config = _SENT
    opponent: str = Field(max_length=80, description="Key of one of the opponents.")
    player: int = Field(ge=0, le=1, description="Whom you play.")


class ResignIn(BaseModel):
    """The end of a game."""

    model_config = _SENT
    made: int = Field(ge=0, le=99, description="How many attempts you have made before: each is made once.")


class AttemptIn(ResignIn):
    """An attempt."""

    square: int = Field(ge=0, le=99, description="One of the squares that the game calls legal.")


class OpponentOut(BaseModel):
    """Whom you can play against."""

    key: str
    name: str
    you_play: list[int] = Field(description="As which players it can be met.")

    @classmethod
    def all_of(cls, listed: list[Opponent]) -> list[OpponentOut]:
        """Opponents with one key are one."""
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


class AttemptOut(BaseModel):
    """An own square."""

    square: int
    placed: bool = Field(description="Whether the mark was placed; else the opponent is there.")


class GameOut(BaseModel):
    """What you may know of your game: nothing else of a game under way is sent to anybody."""

    id: str
    game: str
    player: int = Field(description="Whom you play.")
    opponent: str
    opponent_key: str
    infoset: str = Field(description="What you know, as text.")
    attempts: list[AttemptOut] = Field(description="Your squares in order, those of the setup first.")
    made: int = Field(description="How many attempts you have made; the next one carries this number.")
    legal: list[int] = Field(description="Squares that you may attempt; none when the game is over.")
    over: bool = Field(description="If so, its review is there.")
    result: int | None = Field(description="Your payoff.")
    resigned: bool

    @classmethod
    def of(cls, seat: Seat) -> GameOut:
        """A seat, and nothing but a seat; of which the fields above are told."""
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
    step: StepOut

    @classmethod
    def of(cls, played: FinishedGame, review: Review, step: ReviewStep) -> ReviewOut:
        """A game that is over."""
        seat = played.seat
        told = {**vars(seat), **vars(review), "step": _step(played.history, seat.player, step)}
        return cls.model_validate(told, from_attributes=True)


def _step(whole: History, me: int, step: ReviewStep) -> StepOut:
    history = replay(whole.game, [attempt.square for attempt in whole.attempts[: step.number]])
    mine, theirs = ([s for s in range(history.game.squares) if history.placed[p] >> s & 1] for p in (me, 1 - me))
    believed = [one.probability for one in step.believed] or None
    told = {**vars(step), "mine": mine, "theirs": theirs, "believed": believed}
    return StepOut.model_validate(told, from_attributes=True)
