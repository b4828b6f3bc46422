"""Who plays: an account, or a browser that carries a secret in a cookie."""

from __future__ import annotations

import hashlib
import re
import secrets

from fastapi import Request, Response

from pttt_ooc.errors import PlayError
from pttt_ooc.web.forms import set_cookie
from pttt_ooc.web.parts import Refusal
from pttt_ooc.web.shell import Account

PLAYER = "pttt_player"
VISITORS = "visitor:"
"""How the owners begin that have no account."""

_SECONDS = 365 * 86400
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


def owner_of(request: Request, account: Account | None) -> str | None:
    """Whose games a request is about; None if the browser has neither an account nor games.

    It is ``account:NUMBER``, or ``visitor:`` with the SHA-256 of a cookie.
    What is kept of a cookie is its hash: who reads the games cannot go on with them.
    """
    if account is not None:
        return f"account:{account.id}"
    cookie = request.cookies.get(PLAYER, "")
    return _visitor(cookie) if _SECRET.fullmatch(cookie) else None


def known_owner(request: Request, account: Account | None, what: str) -> str:
    """As :func:`owner_of`; a PlayError if there is none, so that `what` ("game") cannot be the person's."""
    owner = owner_of(request, account)
    if owner is None:
        raise PlayError(f"There is no such {what} of yours.", 404)
    return owner


def owner_or_new(request: Request, account: Account | None) -> tuple[str, str | None]:
    """As :func:`owner_of`, for who begins a game; and a cookie's value to :func:`keep`, if it is a browser's first."""
    owner = owner_of(request, account)
    if owner is not None:
        return owner, None
    cookie = secrets.token_urlsafe(32)
    return _visitor(cookie), cookie


def keep(request: Request, response: Response, cookie: str | None) -> None:
    """Give a browser its cookie, if it is new."""
    if cookie is not None:
        set_cookie(request, response, PLAYER, cookie, _SECONDS)


def _visitor(cookie: str) -> str:
    return f"{VISITORS}{hashlib.sha256(cookie.encode()).hexdigest()}"


def explain(error: Exception) -> Refusal | None:
    """What is told when a game does not allow what was asked."""
    return Refusal(error.status, str(error)) if isinstance(error, PlayError) else None
