"""The page Explore: one infoset, what happens there, and where it leads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse

from pttt_ooc.explore import boards
from pttt_ooc.explore.address import PATH, Address
from pttt_ooc.explore.curves import run_of
from pttt_ooc.explore.explorer import UsedExplorer
from pttt_ooc.explore.inspection import Asked, Look, look
from pttt_ooc.rules.catalogue import described
from pttt_ooc.rules.game import Game
from pttt_ooc.rules.infoset_text import attempts_of
from pttt_ooc.service.wire import Message
from pttt_ooc.show.boards import attempts_sentence, unknown_support
from pttt_ooc.show.numbers import value_for
from pttt_ooc.web.accounts import Signed
from pttt_ooc.web.rendering import render, wants_part
from pttt_ooc.web.shell import Account

Shown = dict[str, Any]
router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
_IMPOSSIBLE, _FAILED = 404, 503


@router.get("/explore")
async def explore(request: Request, explorer: UsedExplorer, account: Signed, asked: Asked) -> Response:
    """One infoset."""
    view = await look(explorer, account, asked)
    page = await run_in_threadpool(_page, request, account, explorer.game, view)
    if view.impossible or view.failed:
        page.status_code = _IMPOSSIBLE if view.impossible else _FAILED
    return page


def _page(request: Request, account: Account | None, game: Game, view: Look) -> HTMLResponse:
    address = view.address
    context: Shown = {"offered": view.offered, "pair": view.pair, "other_source": view.beside, "game": game}
    context |= {"address": address, "impossible": view.impossible, "nearest": view.nearest}
    context |= {"failed": view.failed, "waiting": view.waiting, "games": _games(request)}
    context["run"] = run_of((view.latest[address.player], view.latest[address.opponent]), address)
    if not (view.impossible or view.failed):
        context |= _place(game, address)
    if view.answers:
        context |= answered(game, address, view.answers)
    return _render(request, account, **context)


def _games(request: Request) -> list[tuple[str, str, str]]:
    """Name, name for people and page of each game, if there are several."""
    explorers = request.app.state.explore.all
    games = [one.game for one in explorers]
    return [(game.name, described(game), f"{PATH}?game={game.name}") for game in games] if len(games) > 1 else []


def _render(request: Request, account: Account | None, **context: Any) -> HTMLResponse:
    """The page, or, for the page's script, only its content."""
    part = wants_part(request)
    template = "explore/parts/explore.html" if part else "explore/explore.html"
    return render(request, template, account, **context, partial=part)


# ---------------------------------------------------------------------------------------------
# Contents of a page


def _place(game: Game, address: Address) -> Shown:
    """The beginnings of an infoset, its mirror images, and the player's attempts."""
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


def answered(game: Game, address: Address, answers: Sequence[Message]) -> Shown:
    """The boards and the numbers of a page."""
    facts, believed = answers[0]["numbers"], answers[0]["beliefs"]
    classes: list[list[int]] = answers[0]["classes"]
    first = {square: one[0] for one in classes for square in one}
    ways = sorted(answers[0]["ways"], key=lambda way: not way["placed"])
    return {
        "numbers": facts,
        "facts": _facts(address, answers[0]["facts"]),
        "drawn": [_strategy(game, address, answer, classes) for answer in answers],
        "equilibria": answers[0]["equilibria"],
        "unknown_support": unknown_support(game),
        "rows": [_row(answers, one) for one in classes],
        "choices": {square: address.to(square=first[square]) for square in facts["legal"]},
        "square": first.get(address.square) if address.square is not None else None,
        "images": answers[0]["images"],
        "ways": [(way, address.to(at=way["infoset"])) for way in ways],
        "beliefs": believed,
        "belief_board": boards.belief_board(game, address.player, address.at, believed["marks"]),
        "true_boards": [
            (boards.true_board(game, address.player, mine, theirs), p) for mine, theirs, p in believed["boards"]
        ],
    }


def _strategy(
    game: Game, address: Address, answer: Message, classes: Sequence[Sequence[int]]
) -> list[boards.BoardSquare]:
    """The board of one strategy."""
    facts, played = answer["numbers"], (answer["equilibria"] or {}).get("squares", ())
    shown = facts["probabilities"], facts["action_values"]
    return boards.strategy_board(game, address.player, address.at, *shown, classes, played)


def _facts(address: Address, facts: Message) -> Shown:
    """The values of the pair of strategies for the player, from the beginning of the game."""
    return {"value": value_for(address.player, facts["value"]), "best": facts["best_responses"][address.player]}


def _row(answers: Sequence[Message], squares: Sequence[int]) -> Shown:
    """The numbers of one attempt, or of attempts that mirror each other."""
    facts = answers[0]["numbers"]
    names = ("action_values", "best_action_values", "regrets", "fails")
    row = {name: facts[name][squares[0]] for name in names}
    sums = [sum(answer["numbers"]["probabilities"][square] for square in squares) for answer in answers]
    return {"squares": squares, "probabilities": sums[0], "beside": sums[-1], **row}
