"""The home of a site on this machine: a card for each thing that there is; looking at it computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from pydantic import TypeAdapter

from pttt_ooc.service.wing import Card
from pttt_ooc.web.accounts import Signed
from pttt_ooc.web.parts import Link, Part
from pttt_ooc.web.rendering import render

_CARDS = TypeAdapter(tuple[Card, ...])


def part_of(cards: Sequence[Card]) -> Part:
    """The part with the page `/`."""
    router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

    @router.get("/")
    def home(request: Request, account: Signed) -> Response:
        return render(request, "web/home.html", account, cards=cards)

    return Part(
        name="home", directory=Path(__file__).parent / "templates", routers=(router,), links=(Link("/", "Home"),)
    )


def parts(cards: str) -> list[Part]:
    """The part with these cards, as JSON."""
    return [part_of(_CARDS.validate_json(cards))]
