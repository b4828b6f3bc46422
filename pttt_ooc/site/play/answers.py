"""Answers to the forms of games, on the pages of all wings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from pttt_ooc.errors import PlayError
from pttt_ooc.site.shell.rendering import out_of_date, wants_part


async def answer(
    request: Request, change: Callable[[], Any], page: Callable[[str], Response], address: str
) -> Response:
    """The answer to a form that changes a game: the new board for the page's script, else a redirect.

    Parameters
    ----------
    change
        Changes the game; a PlayError with the status 409 says that the form came too late.
    page
        The game as it is now, or a piece of it, with a notice or an empty text.
    address
        Of the game.
    """
    try:
        await run_in_threadpool(change)
    except PlayError as error:
        if error.status != 409:
            raise
        return out_of_date(request, await run_in_threadpool(page, str(error)))
    return await run_in_threadpool(page, "") if wants_part(request) else RedirectResponse(address, 303)


async def form_again(error: Exception, page: Callable[[str], Response]) -> Response:
    """The page of a form that is refused, with the refusal beside the form.

    Parameters
    ----------
    error
        An HTTPException, a PlayError, or an error whose status is 400.
    page
        The page of the form with a refusal, and with what was typed.
    """
    status, sentence = (
        (error.status_code, error.detail)
        if isinstance(error, HTTPException)
        else (error.status if isinstance(error, PlayError) else 400, str(error))
    )
    response = await run_in_threadpool(page, sentence)
    response.status_code = status
    return response
