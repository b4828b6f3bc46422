"""Who is asking, and whether the request is their own: tokens, sessions, forms, headers.

Programs send their token as a bearer header.  Browsers exchange it for a cookie that only this site gets
(``SameSite=Strict``); forms carry a second value bound to that cookie, and a request that a browser says is from
another site is refused before anything else.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from urllib.parse import parse_qsl, urlsplit

from fastapi import HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pttt_ooc.grader import sessions
from pttt_ooc.grader.context import Grader, UsedGrader
from pttt_ooc.grader.models import Team

SESSION, VISITOR = "pttt_session", "pttt_visitor"
FORM_FIELD = "form_token"
_FORM_BYTES, _FORM_SECONDS = 8192, 20.0

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityHeaders:
    """Adds :data:`HEADERS` to every response; what is not static is not kept by caches."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, sending)


# ---------------------------------------------------------------------------------------------
# Programs


def bearer(request: Request, grader: UsedGrader) -> Team:
    """The team whose token the request carries; 401 if it carries none that is known."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    team = grader.team_of_token(token.strip()) if scheme.lower() == "bearer" else None
    if team is None:
        if token:
            count_wrong_token(request, grader)
        missing = "There is no token" if not token else "The token is not known here"
        sentence = f"{missing}; send your team's as the header 'Authorization: Bearer TOKEN'."
        raise HTTPException(401, sentence, {"WWW-Authenticate": "Bearer"})
    return team


def count_wrong_token(request: Request, grader: Grader) -> None:
    """Count a token that is not known; 429 if there have been too many from the same address."""
    address = request.client.host if request.client else None
    wait = grader.wrong_tokens.spend(address)
    if wait > 0:
        sentence = f"Too many wrong tokens have come from your address; try again in {int(wait // 60) + 1} min."
        raise HTTPException(429, sentence, {"Retry-After": str(int(wait) + 1), "Connection": "close"})


# ---------------------------------------------------------------------------------------------
# Browsers


def _mac(grader: Grader, *parts: object) -> str:
    return hmac.new(grader.secret, "\n".join(map(str, parts)).encode(), hashlib.sha256).hexdigest()


def session_team(request: Request, grader: UsedGrader) -> Team | None:
    """The team that is signed in."""
    value = request.cookies.get(SESSION)
    if not value:
        return None
    with grader.database.reading() as session:
        return sessions.team_of(session, value)


async def signed_team(request: Request, grader: UsedGrader) -> Team | None:
    """As :func:`session_team`; the database is asked only for a browser that has a session."""
    return await run_in_threadpool(session_team, request, grader) if SESSION in request.cookies else None


def sign_in(request: Request, response: Response, grader: Grader, team: Team) -> None:
    """Give the browser a session, in place of the one that it has."""
    _end_session(request, grader)
    age = int(grader.settings.session_days * 86400)
    _set_cookie(request, response, SESSION, sessions.begin(grader.database, team, age), age)


def sign_out(request: Request, response: Response, grader: Grader) -> None:
    """End the browser's session: its cookie is good for nothing from now on, wherever it was copied to."""
    _end_session(request, grader)
    response.delete_cookie(SESSION, path="/", httponly=True, samesite="strict")


def _end_session(request: Request, grader: Grader) -> None:
    if value := request.cookies.get(SESSION):
        sessions.end(grader.database, value)


def _set_cookie(request: Request, response: Response, name: str, value: str, age: int | None) -> None:
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=age, path="/", httponly=True, samesite="strict", secure=secure)


def form_token(request: Request, grader: Grader, visitor: str | None = None) -> str:
    """The value that forms of this browser carry."""
    cookie = request.cookies.get(SESSION) or visitor or request.cookies.get(VISITOR, "")
    return _mac(grader, "form", cookie)


def remember_visitor(request: Request, response: Response) -> None:
    """Keep the cookie that the forms of somebody who is not signed in are bound to."""
    visitor = getattr(request.state, "visitor", None)
    if visitor:
        _set_cookie(request, response, VISITOR, visitor, None)


def visitor_of(request: Request) -> str | None:
    """A new visitor's cookie value, if the browser has neither session nor visitor's cookie."""
    if request.cookies.get(SESSION) or request.cookies.get(VISITOR):
        return None
    request.state.visitor = secrets.token_urlsafe(16)
    return str(request.state.visitor)


def check_origin(request: Request) -> None:
    """Refuse a request that a browser sends on behalf of another site."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin")
    try:
        foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    except ValueError:  # such as http://[
        foreign = True
    if foreign or site not in ("same-origin", "none"):
        raise HTTPException(403, "This form was sent from another site; open the grader's own page and send it there.")


def check_form(request: Request, grader: Grader, given: str) -> None:
    """Refuse a form that was not made for this browser."""
    has_cookie = request.cookies.get(SESSION) or request.cookies.get(VISITOR)
    if not has_cookie or not hmac.compare_digest(given.encode(), form_token(request, grader).encode()):
        raise HTTPException(403, "This form is out of date; reload the page and send it again.")


async def small_form(request: Request) -> dict[str, str]:
    """The fields of a small form; 413 if it is not small, 408 if it does not come."""
    body = b""
    try:
        async with asyncio.timeout(_FORM_SECONDS):
            async for data in request.stream():
                body += data
                if len(body) > _FORM_BYTES:
                    raise HTTPException(413, "This form is longer than any that is asked for.")
    except TimeoutError:
        raise HTTPException(408, f"The form has not come within {_FORM_SECONDS:.0f} seconds; send it again.") from None
    except ClientDisconnect:
        raise HTTPException(400, "The connection was closed.") from None
    try:
        return dict(parse_qsl(body.decode("ascii"), max_num_fields=10))
    except ValueError:
        raise HTTPException(400, "The form cannot be read.") from None
