"""The JSON of Explore: ``/api/explore`` takes the parameters of the page ``/explore``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response
from fastapi.responses import JSONResponse

from pttt_ooc.explore.explorer import UsedExplorer
from pttt_ooc.explore.inspection import Asked, look
from pttt_ooc.explore.schemas import ExploreOut, ImpossibleOut, PreparingOut, WaitOut
from pttt_ooc.web.accounts import known_bearer
from pttt_ooc.web.schemas import ErrorOut
from pttt_ooc.web.shell import Account

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
