"""Lists of infosets where something is lost: their rows, which Mistakes uses too, and the page on differences.

The page tells where two strategies of one player differ most in value against the same opponent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse

from pttt_ooc.games.rules.game import Game
from pttt_ooc.site.explore.address import DIFFERENCES, Address
from pttt_ooc.site.explore.boards import OURS, THEIRS, BoardSquare, known_board, tinted_square
from pttt_ooc.site.explore.explorer import GameName, Key, UsedExplorer, find_source
from pttt_ooc.site.service.wire import Message, RefusedError
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.rendering import render, wants_part
from pttt_ooc.site.shell.shell import Account

Record = Mapping[str, Any]
ROUNDING = 1e-12
"""Smaller losses are rounding."""

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
    offered = await explorer.list_sources(account)
    pair = find_source(offered, first, 0), find_source(offered, second, 1)
    mine, theirs, other = pair[player], pair[1 - player], find_source(offered, beside, player)
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
    return await run_in_threadpool(
        _render, request, account, **context, **_losses_context(explorer.game, answer, address)
    )


def _render(request: Request, account: Account | None, **context: Any) -> HTMLResponse:
    template = "parts/differences.html" if wants_part(request) else "differences.html"
    return render(request, f"explore/{template}", account, **{"waiting": None, "failed": None, **context})


def _losses_context(game: Game, answer: Message, address: Address) -> dict[str, Any]:
    """Both values, and the infosets where they differ, with the addresses of their pages."""
    listed = [one for one in answer["infosets"] if abs(one["loss"]) > ROUNDING]
    values = {"mine": answer["best_value"] - answer["total"], "other": answer["best_value"]}
    return {"values": values, "total": answer["total"], "rows": [loss_row(game, one, address) for one in listed]}


# ---------------------------------------------------------------------------------------------
# Rows


def loss_row(game: Game, one: Record, address: Address) -> dict[str, Any]:
    """One infoset of a list: its squares, what is lost there, and its page.

    Parameters
    ----------
    one
        A :class:`~pttt_ooc.library.questions.losses.Loss` as a record.
    address
        A page of the infoset's player with the strategies.
    """
    squares = {"worst": costliest(one), "best": better(one)}
    told = {name: None if s is None else (s, one["probabilities"][s]) for name, s in squares.items()}
    return {
        **{name: one[name] for name in ("infoset", "images", "loss", "reach")},
        "player": address.player,
        "board": _picture(game, address.player, one["infoset"], *squares.values()),
        **told,
        "address": str(address.to(at=one["infoset"])),
    }


def costliest(one: Record) -> int | None:
    """The attempt with the largest loss times probability; None if no attempt that is made loses anything."""
    costs = {s: one["probabilities"][s] * (loss or 0.0) for s, loss in enumerate(one["losses"])}
    worst = max(costs, key=lambda s: costs[s])
    return worst if costs[worst] > ROUNDING else None


def better(one: Record) -> int:
    """The attempt that loses least."""
    losses = {square: loss for square, loss in enumerate(one["losses"]) if loss is not None}
    return min(losses, key=lambda s: losses[s])


def _picture(game: Game, player: int, infoset: str, worst: int | None, best: int | None) -> list[BoardSquare]:
    tints = {square: tone for square, tone in ((worst, THEIRS), (best, OURS)) if square is not None}
    return known_board(game, player, infoset) + [tinted_square(game, square, tone) for square, tone in tints.items()]
