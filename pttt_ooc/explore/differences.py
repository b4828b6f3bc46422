"""The page on where two strategies of one player differ most in value against the same opponent."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse

from pttt_ooc.explore.address import DIFFERENCES, Address
from pttt_ooc.explore.explorer import GameName, Key, UsedExplorer, chosen
from pttt_ooc.explore.losses import ROUNDING, loss_row
from pttt_ooc.rules.game import Game
from pttt_ooc.service.wire import Message, RefusedError
from pttt_ooc.web.accounts import Signed
from pttt_ooc.web.rendering import render, wants_part
from pttt_ooc.web.shell import Account

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)


@router.get(DIFFERENCES)
async def differences(
    request: Request,
    explorer: UsedExplorer,
    account: Signed,
    player: Annotated[int, Query(ge=0, le=1)] = 0,
    first: Key = "",
    second: Key = "",
    beside: Key = "",
    game: GameName = "",
) -> Response:
    """Where a strategy and the one beside it differ most in value."""
    if not beside:
        raise HTTPException(404, "Two strategies are compared: choose one beside the other on the page Explore.")
    offered = await explorer.offered(account)
    pair = chosen(offered, first, 0), chosen(offered, second, 1)
    mine, theirs, other = pair[player], pair[1 - player], chosen(offered, beside, player)
    address = Address(player, "|", (pair[0].key, pair[1].key), beside=other.key, game=game)
    context: dict[str, Any] = {
        "game": explorer.game,
        "address": address,
        "mine": mine,
        "theirs": theirs,
        "other": other,
    }
    strategies = {"a": mine.as_record(), "b": other.as_record(), "opponent": theirs.as_record()}
    try:
        answer = await explorer.client.ask("differences", player=player, **strategies)
    except RefusedError as error:
        page = await run_in_threadpool(_render, request, account, failed=str(error), **context)
        page.status_code = 503
        return page
    if "preparing" in answer:
        return await run_in_threadpool(_render, request, account, waiting=answer["preparing"], **context)
    return await run_in_threadpool(_render, request, account, **context, **_answered(explorer.game, answer, address))


def _render(request: Request, account: Account | None, **context: Any) -> HTMLResponse:
    template = "parts/differences.html" if wants_part(request) else "differences.html"
    return render(request, f"explore/{template}", account, **{"waiting": None, "failed": None, **context})


def _answered(game: Game, answer: Message, address: Address) -> dict[str, Any]:
    """Both values, and the infosets where they differ, with the addresses of their pages."""
    listed = [one for one in answer["infosets"] if abs(one["loss"]) > ROUNDING]
    values = {"mine": answer["best_value"] - answer["total"], "other": answer["best_value"]}
    return {"values": values, "total": answer["total"], "rows": [loss_row(game, one, address) for one in listed]}
