"""The page Explore: one infoset, what happens there, and the ways on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse

from pttt_ooc.explore import boards
from pttt_ooc.explore.address import AVERAGE, BEST, Address
from pttt_ooc.explore.explorer import Explorer, Key, UsedExplorer, chosen
from pttt_ooc.explore.sources import Source
from pttt_ooc.explore.wire import ImpossibleError, Message, RefusedError
from pttt_ooc.rules.game import Game
from pttt_ooc.show.boards import attempts_sentence
from pttt_ooc.show.numbers import value_for
from pttt_ooc.show.pictures import attempts_of
from pttt_ooc.web.accounts import Signed
from pttt_ooc.web.rendering import render, wants_part
from pttt_ooc.web.shell import Account

Shown = dict[str, Any]
router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
_IMPOSSIBLE, _FAILED = 404, 503


@router.get("/explore")
async def explore(
    request: Request,
    explorer: UsedExplorer,
    account: Signed,
    player: Annotated[int, Query(ge=0, le=1)] = 0,
    at: Annotated[str, Query(max_length=200)] = "|",
    first: Key = "",
    second: Key = "",
    show: Annotated[str, Query(pattern=f"^({AVERAGE}|{BEST})$")] = AVERAGE,
    beside: Key = "",
    square: Annotated[int | None, Query(ge=0, le=9)] = None,
) -> Response:
    """One infoset."""
    offered = await explorer.offered(account)
    pair = chosen(offered, first, 0), chosen(offered, second, 1)
    other = chosen(offered, beside, player) if beside else None
    address = Address(player, at, (pair[0].key, pair[1].key), show, beside, square)
    shown: Shown = {"offered": offered, "pair": pair, "other_source": other, "game": explorer.game}
    try:
        answers = await _answers(explorer, address, pair, other)
    except ImpossibleError as error:
        nearest = None if error.nearest is None else address.to(at=error.nearest)
        page = await _page(request, account, address=address, impossible=str(error), nearest=nearest, **shown)
        page.status_code = _IMPOSSIBLE
        return page
    except RefusedError as error:
        page = await _page(request, account, address=address, failed=str(error), **shown)
        page.status_code = _FAILED
        return page
    address = Address(player, answers[0]["infoset"], address.strategies, show, beside, square)
    shown |= {"address": address, **_place(explorer.game, address)}
    waiting = [answer["preparing"] for answer in answers if "preparing" in answer]
    if waiting:
        return await _page(request, account, waiting=waiting[0], **shown)
    return await run_in_threadpool(_answered, request, account, explorer.game, address, answers, shown)


async def _answers(
    explorer: Explorer, address: Address, pair: tuple[Source, Source], other: Source | None
) -> Sequence[Message]:
    """The answers for the pair of strategies and for the one beside it."""
    pairs = [pair]
    if other is not None:
        pairs.append((other, pair[1]) if address.player == 0 else (pair[0], other))
    facts = {"player": address.player, "infoset": address.at, "square": address.square}
    asked = [
        explorer.client.ask("infoset", pair=[one.as_record() for one in strategies], **facts) for strategies in pairs
    ]
    return await asyncio.gather(*asked)


async def _page(request: Request, account: Account | None, **shown: Any) -> HTMLResponse:
    return await run_in_threadpool(_render, request, account, **shown)


def _render(request: Request, account: Account | None, **shown: Any) -> HTMLResponse:
    """The page, or, if the page's own script asks for it, only what is in it."""
    part = wants_part(request)
    template = "explore/parts/explore.html" if part else "explore/explore.html"
    nothing = {"waiting": None, "impossible": None, "failed": None}
    return render(request, template, account, **{**nothing, "partial": part, **shown})


# ---------------------------------------------------------------------------------------------
# What a page shows


def _place(game: Game, address: Address) -> Shown:
    """Where the infoset is: its beginnings, its mirror images, and what the player has done."""
    setup = len(game.setup[address.player])
    attempts = attempts_of(address.at)
    steps = []
    for n in range(setup, len(attempts) + 1):
        label = "start" if n == setup else address.at[2 * n - 1 : 2 * n + 1]
        steps.append((label, address.to(at=address.at[: 2 * n + 1])))
    return {
        "steps": steps,
        "back": steps[-2][1] if len(steps) > 1 else None,
        "done": attempts_sentence(address.at, setup),
        "mirrored": [(text, address.to(at=text)) for text in boards.mirror_images(game, address.at)],
        "turned": address.to(player=address.opponent, at="|"),
    }


def _answered(
    request: Request, account: Account | None, game: Game, address: Address, answers: Sequence[Message], shown: Shown
) -> HTMLResponse:
    told, believed = answers[0]["numbers"], answers[0]["beliefs"]
    drawn = [_strategy(game, address, answer["numbers"]) for answer in answers]
    legal = told["legal"]
    square = address.square if address.square in legal else None
    ways = sorted(answers[0]["ways"], key=lambda way: not way["placed"])
    return _render(
        request,
        account,
        **shown,
        numbers=told,
        facts=_facts(address, answers[0]["facts"]),
        drawn=drawn,
        rows=[_row(answers, one) for one in legal],
        choices={s: address.to(square=s) for s in legal},
        square=square,
        ways=[(way, address.to(at=way["infoset"])) for way in ways],
        beliefs=believed,
        belief_board=boards.belief_board(game, address.player, address.at, believed["marks"]),
        true_boards=[
            (boards.true_board(game, address.player, mine, theirs), p) for mine, theirs, p in believed["boards"]
        ],
    )


def _strategy(game: Game, address: Address, told: Message) -> list[boards.Cell]:
    """The board of one strategy, or of its player's best response."""
    if address.show == BEST:
        values = told["best_action_values"]
        return boards.strategy_board(game, address.player, address.at, boards.best_attempt(values), values)
    return boards.strategy_board(game, address.player, address.at, told["probabilities"], told["action_values"])


def _facts(address: Address, facts: Message) -> Shown:
    """What the pair of strategies is worth to the player, from the beginning of the game."""
    return {"value": value_for(address.player, facts["value"]), "best": facts["best_responses"][address.player]}


def _row(answers: Sequence[Message], square: int) -> Shown:
    """The numbers of one attempt."""
    told = answers[0]["numbers"]
    names = ("probabilities", "action_values", "best_action_values", "regrets", "fails")
    row = {name: told[name][square] for name in names}
    if len(answers) > 1:
        row["beside"] = answers[1]["numbers"]["probabilities"][square]
    return {"square": square, **row}
