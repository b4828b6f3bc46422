"""The home page of a site on this machine, with a card for each wing; opening it computes nothing."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse, HTMLResponse

from pttt_ooc.site.service.wing import Card
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.parts import Link, Part
from pttt_ooc.site.shell.rendering import render

BESIDE = (".html", ".svg", ".csv")
"""Endings of files that are served beside a page that a stage has written."""

_WRITTEN = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"


def part_of(cards: Callable[[], Sequence[Card]], directory: Path, written: Callable[[], Mapping[str, str]]) -> Part:
    """The part with the page ``/``, and ``/results/PATH``.

    Parameters
    ----------
    cards
        Returns the cards as they are now.
    directory, written
        The directory of the pages that stages have written, and what returns their paths there.  They are served with
        the pictures and tables beside them; they run no scripts.
    """
    router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

    @router.get("/")
    def home(request: Request, account: Signed) -> Response:
        return render(request, "web/home.html", account, cards=cards())

    @router.get("/results/{path:path}")
    def result(path: str) -> Response:
        folders = {page.rpartition("/")[0] for page in written()}
        file = directory / path
        if path.rpartition("/")[0] not in folders or file.suffix not in BESIDE or file.is_symlink():
            raise HTTPException(404, "There is no such page.")
        if not file.is_file():
            raise HTTPException(404, "There is no such file any more.")
        headers = {"Content-Security-Policy": _WRITTEN, "Cache-Control": "no-cache"}
        return FileResponse(file, media_type=mimetypes.guess_type(file.name)[0], headers=headers)

    return Part(
        name="home",
        directory=Path(__file__).parent / "templates",
        routers=(router,),
        links=(Link("/", "Home", also=("/results",)),),
    )
