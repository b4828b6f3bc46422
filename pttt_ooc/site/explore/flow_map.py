"""The map of where the probability flows: a part of the page, and a page of its own for browsers without scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse

from pttt_ooc.disk.numbers import probability
from pttt_ooc.site.explore.address import MAP, Address
from pttt_ooc.site.explore.boards import PROBABILITY
from pttt_ooc.site.explore.explorer import AskedPage, UsedExplorer, chosen_pair, records
from pttt_ooc.site.service.wire import RefusedError
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.rendering import render, wants_part

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
COLUMN, HEIGHT = 96, 300
_READ = 15.0  # a lower piece has no space for its text


@dataclass(frozen=True)
class Piece:
    """A class of infosets on the map, or rare ones together; its height is its probability, followers are on its right.

    Attributes
    ----------
    x, y, height
        Its place.
    infoset, address
        One infoset of the class, and its page; empty: rare ones together.
    label
        Its last attempt; empty where there is no space.
    opacity
        The opacity of its shade.
    words
        All of this in words.
    """

    x: int
    y: float
    height: float
    infoset: str
    address: str
    label: str
    opacity: str
    words: str


@router.get(MAP)
async def flow_map(request: Request, explorer: UsedExplorer, account: Signed, asked: AskedPage) -> Response:
    """The map for a player and a pair of strategies."""
    offered = await explorer.list_sources(account)
    pair, address = chosen_pair(offered, asked)
    context: dict[str, Any] = {"address": address, "pair": pair, "failed": None, "waiting": None}
    try:
        answer = await explorer.client.ask("flow", pair=records(pair, address.replies), player=address.player)
        context |= (
            {"waiting": answer["preparing"]}
            if "preparing" in answer
            else pieces(answer["levels"], address, answer["most"])
        )
    except RefusedError as error:
        context["failed"] = str(error)
    template = "explore/parts/map.html" if wants_part(request) else "explore/map.html"
    return await run_in_threadpool(render, request, template, account, **context)


def pieces(levels: Sequence[Sequence[Mapping[str, Any]]], address: Address, most: int) -> dict[str, Any]:
    """The pieces of a map: each column is one attempt later; ``cut`` is `most` if the map ends there."""
    found: list[Piece] = []
    tops = [0.0]  # where the next follower of each piece in the previous column begins
    for column, level in enumerate(levels):
        begun = []
        for one in level:
            y, height = tops[one["parent"]], HEIGHT * one["probability"]
            tops[one["parent"]] = y + height
            begun.append(y)
            found.append(_piece(column, y, one, address))
        before = levels[column - 1] if column else ()
        found += [_rare(column, y, one) for y, one in zip(tops, before, strict=False) if one["rest"] > 0]
        tops = begun
    return {"pieces": found, "cut": most if any(one["cut"] for level in levels for one in level) else None}


def _piece(column: int, y: float, one: Mapping[str, Any], address: Address) -> Piece:
    infoset, p = one["infoset"], round(one["probability"], 12)  # sums have rounding errors
    words = f"{infoset}: {probability(p)}" + (f", {one['images']} mirror images" if one["images"] > 1 else "")
    words += ", not followed" if one["cut"] else ""
    name = f"{infoset[-2:] if column else 'start'} {probability(p)}"
    return _make_piece(column, y, p, name, words, infoset, address.place(infoset), PROBABILITY.opacity(p))


def _rare(column: int, y: float, one: Mapping[str, Any]) -> Piece:
    """What is not followed after an infoset, as one piece."""
    told = f"rarer {probability(one['rest'])}"
    return _make_piece(column, y, one["rest"], told, f"After {one['infoset']}, {told}", "", "", "1")


def _make_piece(
    column: int, y: float, p: float, name: str, words: str, infoset: str, address: str, opacity: str
) -> Piece:
    height = round(HEIGHT * p, 2)
    label = name if height >= _READ else ""
    return Piece(COLUMN * column, round(y, 2), height, infoset, address, label, opacity, words)
