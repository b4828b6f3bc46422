"""Who plays: an account, or a browser that carries a secret in a cookie."""

from __future__ import annotations

import hashlib
import re
import secrets

from fastapi import Request, Response

from pttt_ooc.web.forms import set_cookie
from pttt_ooc.web.shell import Account

PLAYER = "pttt_player"
_SECONDS = 365 * 86400
_SECRET = re.compile(r"[A-Za-z0-9_-]{43}")


def owner_of(request: Request, account: Account | None) -> str | None:
    """Whose games a request is about; None if the browser has neither an account nor games.

    What is kept of a cookie is its hash: who reads the games cannot go on with them.
    """
    if account is not None:
        return f"account:{account.id}"
    cookie = request.cookies.get(PLAYER, "")
    return _visitor(cookie) if _SECRET.fullmatch(cookie) else None


def new_visitor() -> tuple[str, str]:
    """A cookie's value for a browser that begins its first game, and the owner that it stands for."""
    cookie = secrets.token_urlsafe(32)
    return cookie, _visitor(cookie)


def keep(request: Request, response: Response, cookie: str) -> None:
    """Give a browser its cookie."""
    set_cookie(request, response, PLAYER, cookie, _SECONDS)


def _visitor(cookie: str) -> str:
    return f"visitor:{hashlib.sha256(cookie.encode()).hexdigest()}"
