"""The JSON of Explore and of Mistakes: answers, with their documentation.

``/api/explore`` takes the parameters of the page ``/explore``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from pttt_ooc.site.explore.address import MERGED
from pttt_ooc.site.explore.explorer import Asked, Look, UsedExplorer, look
from pttt_ooc.site.explore.sources import Source
from pttt_ooc.site.service.wire import Message
from pttt_ooc.site.shell.accounts import known_bearer
from pttt_ooc.site.shell.schemas import ErrorOut
from pttt_ooc.site.shell.shell import Account

Row = list[float | None]


class PreparingOut(BaseModel):
    """The answer is being prepared; ask again in a second."""

    step: str = Field(description="What is being done.")
    share: float = Field(description="Share of the work that is done, 0 to 1.")
    ahead: int = Field(description="How many other preparations come first.")


class WaitOut(BaseModel):
    """The answer is not ready yet."""

    preparing: PreparingOut


class ImpossibleOut(BaseModel):
    """No such infoset, strategy or iteration."""

    error: str = Field(description="One sentence.")
    nearest: str | None = Field(default=None, description="The nearest infoset that is possible.")


class SnapshotOut(BaseModel):
    """The strategies of a run after an earlier iteration."""

    iteration: int
    nashconv: float


class StrategyOut(BaseModel):
    """A strategy that may be looked at."""

    key: str = Field(description="For the parameters first, second and beside.")
    label: str
    players: list[int] = Field(description="Whose strategies it has.")
    snapshots: list[SnapshotOut] = Field(
        description="For the parameter iteration; the last one is the strategy itself."
    )

    @classmethod
    def of(cls, source: Source) -> StrategyOut:
        """A source."""
        snapshots = [{"iteration": one.iteration, "nashconv": one.gap} for one in source.snapshots]
        return cls.model_validate({**vars(source), "snapshots": snapshots})


class NumbersOut(BaseModel):
    """What the player's strategy does; a list has an entry for each square, null where there is no number.

    Values are expected payoffs of the player, given that the infoset is reached.
    """

    legal: list[int]
    probabilities: Row
    value: float | None
    action_values: Row = Field(description="If the player continues with the strategy after the attempt.")
    best_value: float | None = Field(description="If the player continues with the best response.")
    best_action_values: Row
    regrets: Row = Field(description="Counterfactual.")
    fails: Row = Field(description="Probability that the attempt fails.")
    own_reach: float
    opponent_reach: float = Field(description="Counterfactual: of all histories together.")
    joint_reach: float = Field(description="Probability that a game reaches the infoset.")
    arbitrary: bool = Field(description="Whether no game reaches the infoset.")


class BoardOut(BaseModel):
    """A possible true board."""

    mine: int = Field(description="Bit mask of the player's marks: bit s for square s.")
    theirs: int
    probability: float


class BeliefsOut(BaseModel):
    """What the player knows of the board, given the opponent's strategy."""

    marks: Row = Field(description="Probability of a mark of the opponent, for each square.")
    empty: Row = Field(description="Probability that it is empty.")
    boards: list[BoardOut] = Field(description="The likeliest ones.")
    attempts: list[tuple[int, float]] = Field(description="How many attempts the opponent has made, and how likely.")
    arbitrary: bool = Field(
        description="Whether the opponent never lets a game reach the infoset: all histories count equally, or, of a "
        "game whose infosets are not listed, nothing is known."
    )


class OutcomeOut(BaseModel):
    """What the chosen attempt leads to."""

    square: int
    placed: bool
    probability: float | None
    infoset: str
    decides: bool = Field(description="Whether the player can come to another decision there.")
    returns: float | None = Field(description="Probability of that, given this outcome.")
    wins: float | None
    draws: float | None
    loses: float | None


class EquilibriaOut(BaseModel):
    """What some equilibrium plays at the infoset."""

    met: bool = Field(description="Whether some pair of equilibrium strategies brings a game there.")
    squares: list[int] = Field(description="The squares that some equilibrium strategy attempts there.")


class ExploreOut(BaseModel):
    """An infoset: what the page Explore shows at the same address."""

    game: str
    player: int
    infoset: str
    strategies: tuple[str, str] = Field(description="Keys of player 0's and of player 1's strategy.")
    iteration: int | None = Field(description="Of the run that they come from; null: its last one.")
    plays: tuple[str, str] = Field(description="Of each player: average (their strategy), or best (a best response).")
    merged: bool = Field(description="Whether the infoset is merged with its mirror images.")
    images: list[str] = Field(description="What the numbers describe: the infoset, or all its mirror images.")
    classes: list[list[int]] = Field(description="Legal squares; if merged, those together that mirror each other.")
    value: float = Field(description="Of the whole game for player 0.")
    best_responses: tuple[float | None, float | None] = Field(
        description="What each player's best response gets; null on boards where it is not searched."
    )
    numbers: NumbersOut
    beside: NumbersOut | None = Field(description="The same for the strategy beside it.")
    beliefs: BeliefsOut
    outcomes: list[OutcomeOut] = Field(description="Of the square that was chosen.")
    offered: list[StrategyOut] = Field(description="All strategies that you may look at.")
    equilibria: EquilibriaOut | None = Field(description="null if it is not known: `pttt lab equilibria` finds it.")

    @classmethod
    def of(cls, game: str, view: Look) -> ExploreOut:
        """The JSON of a look that has answers."""
        answer, address = view.answers[0], view.address
        own = {
            "game": game,
            "player": address.player,
            "infoset": address.at,
            "strategies": address.strategies,
            "iteration": address.iteration,
            "plays": address.plays,
            "merged": address.symmetry == MERGED,
            "beside": view.answers[1]["numbers"] if view.beside else None,
            "beliefs": _beliefs(answer["beliefs"]),
            "outcomes": answer["ways"],
            "offered": [StrategyOut.of(source) for source in view.offered],
        }
        return cls.model_validate({**answer, **answer["facts"], **own})


def _beliefs(record: Message) -> BeliefsOut:
    boards = [BoardOut(mine=mine, theirs=theirs, probability=p) for mine, theirs, p in record["boards"]]
    return BeliefsOut(**{**record, "boards": boards})


class MistakeOut(BaseModel):
    """An infoset at which something is lost, with its mirror images."""

    kind: str = Field(description="own mistake, or opening.")
    player: int = Field(description="Whose infoset it is.")
    infoset: str
    images: int = Field(description="How many mirror images it has, itself included.")
    loss: float = Field(description="At all of them together.")


class MistakesOut(BaseModel):
    """Where a submission loses: what the page Mistakes shows."""

    submission: int
    player: int
    exploitability: float = Field(description="The sum of own_mistakes, openings and remainder.")
    own_mistakes: float
    openings: float
    remainder: float
    by_opening: Mapping[str, Mapping[str, float]] = Field(description="Of own_mistakes and openings: infoset, loss.")
    by_depth: Mapping[str, list[float]] = Field(description="Of own_mistakes and openings: by number of attempts.")
    infosets: list[MistakeOut] = Field(description="The worst of both sums.")

    @classmethod
    def of(cls, submission: int, player: int, answer: Message) -> MistakesOut:
        """The JSON of the answerer's answer."""
        return cls.model_validate({**answer, "submission": submission, "player": player})


router = APIRouter(prefix="/api")
Known = Annotated[Account | None, Depends(known_bearer)]

_OTHERS: dict[int | str, dict[str, object]] = {
    202: {"model": WaitOut, "description": "It is being prepared; ask again."},
    404: {"model": ImpossibleOut, "description": "There is no such infoset, strategy or iteration."},
    503: {"model": ErrorOut, "description": "The strategies cannot be asked now."},
}


@router.get("/explore", summary="An infoset", response_model=ExploreOut, responses=_OTHERS)
async def explore(explorer: UsedExplorer, account: Known, asked: Asked) -> ExploreOut | Response:
    """Everything that the page Explore shows at the same address.

    With a token, the accepted submissions of your own team can be looked at too.
    """
    view = await look(explorer, account, asked)
    if view.impossible:
        nearest = view.nearest.at if view.nearest else None
        return JSONResponse(ImpossibleOut(error=view.impossible, nearest=nearest).model_dump(), 404)
    if view.failed:
        return JSONResponse({"error": view.failed}, 503)
    return waiting(view.waiting) if view.waiting else ExploreOut.of(explorer.game.name, view)


def waiting(progress: dict[str, object]) -> Response:
    """The answer while something is being prepared."""
    return JSONResponse(
        WaitOut(preparing=PreparingOut.model_validate(progress)).model_dump(), 202, {"Retry-After": "1"}
    )
