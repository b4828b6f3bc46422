"""Owners of games, which are accounts, and browsers with a secret in a cookie; and the answers to their forms."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from pttt_ooc.errors import PlayError
from pttt_ooc.site.shell.forms import set_cookie
from pttt_ooc.site.shell.parts import Refusal
from pttt_ooc.site.shell.rendering import out_of_date, wants_part
from pttt_ooc.site.shell.shell import Account

PLAYER = "pttt_player"
VISITORS = "visitor:"
"""The beginning of owners without an account."""

_COOKIE_SECONDS = 365 * 86400  # seconds until a browser forgets its cookie
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


def owner_of(request: Request, account: Account | None) -> str | None:
    """The owner of a request's games; None if the browser has neither an account nor games.

    It is ``account:NUMBER``, or ``visitor:`` with the SHA-256 of a cookie.
    Only the hash of a cookie is stored: a reader of the database cannot continue the games.
    """
    if account is not None:
        return f"account:{account.id}"
    cookie = request.cookies.get(PLAYER, "")
    return _visitor(cookie) if _SECRET.fullmatch(cookie) else None


def known_owner(request: Request, account: Account | None, what: str) -> str:
    """Like :func:`owner_of`; without an owner, a PlayError says that there is no such `what` ("game")."""
    owner = owner_of(request, account)
    if owner is None:
        raise PlayError(f"There is no such {what} of yours.", 404)
    return owner


def owner_or_new(request: Request, account: Account | None) -> tuple[str, str | None]:
    """The owner of a new game; and, for a browser's first game, the cookie's value to :func:`keep`."""
    owner = owner_of(request, account)
    if owner is not None:
        return owner, None
    cookie = secrets.token_urlsafe(32)
    return _visitor(cookie), cookie


def keep(request: Request, response: Response, cookie: str | None) -> None:
    """Set a browser's cookie, if it is new."""
    if cookie is not None:
        set_cookie(request, response, PLAYER, cookie, _COOKIE_SECONDS)


def _visitor(cookie: str) -> str:
    return f"{VISITORS}{hashlib.sha256(cookie.encode()).hexdigest()}"


def explain(error: Exception) -> Refusal | None:
    """The refusal for a PlayError; else None."""
    return Refusal(error.status, str(error)) if isinstance(error, PlayError) else None


# ---------------------------------------------------------------------------------------------
# Answers to forms


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
        The address of the game.
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
