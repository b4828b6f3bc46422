"""Forms, and whether a form is the browser's own.

A form carries a value that is bound to a cookie which only this site gets (``SameSite=Strict``): the session's, or,
if nobody is signed in, a visitor's.  A request that a browser says is from another site is refused before anything
else.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from fastapi import HTTPException, Request, Response
from starlette.requests import ClientDisconnect

from pttt_ooc.web.shell import FORM_BYTES, Shell

SESSION, VISITOR = "pttt_session", "pttt_visitor"
FORM_FIELD = "form_token"
_FORM_SECONDS = 20.0


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int | None) -> None:
    """Give the browser a cookie for this site, which scripts cannot read; None: until the browser is closed."""
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, path="/", httponly=True, samesite="strict", secure=secure)


def new_visitor(request: Request) -> str | None:
    """A new visitor's cookie value, if the browser has neither session nor visitor's cookie."""
    if request.cookies.get(SESSION) or request.cookies.get(VISITOR):
        return None
    return secrets.token_urlsafe(16)


def form_token(request: Request, shell: Shell, visitor: str | None = None) -> str:
    """The value that forms of this browser carry."""
    cookie = request.cookies.get(SESSION) or visitor or request.cookies.get(VISITOR, "")
    return hmac.new(shell.secret, f"form\n{cookie}".encode(), hashlib.sha256).hexdigest()


async def own_form(request: Request, shell: Shell) -> dict[str, str]:
    """The fields of a small form that this browser has got from us.

    Raises
    ------
    HTTPException
        If it is another site's or out of date, or cannot be read.
    """
    check_origin(request)
    fields = await small_form(request)
    check_form(request, shell, fields.get(FORM_FIELD, ""))
    return fields


def check_origin(request: Request) -> None:
    """Refuse a request that a browser sends on behalf of another site."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin")
    try:
        foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    except ValueError:  # such as http://[
        foreign = True
    if foreign or site not in ("same-origin", "none"):
        raise HTTPException(403, "This form was sent from another site; open the page here and send it from there.")


def check_form(request: Request, shell: Shell, given: str) -> None:
    """Refuse a form that was not made for this browser."""
    has_cookie = request.cookies.get(SESSION) or request.cookies.get(VISITOR)
    if not has_cookie or not hmac.compare_digest(given.encode(), form_token(request, shell).encode()):
        raise HTTPException(403, "This form is out of date; reload the page and send it again.")


async def own_json(request: Request) -> Any:
    """The JSON value that a program has sent, if no browser sends it for another site.

    Raises
    ------
    HTTPException
        As of :func:`small_form`; 415 if it is not said to be JSON, which other sites' pages cannot say.
    """
    check_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "Send JSON, with the header 'Content-Type: application/json'.")
    try:
        return json.loads(await _small_body(request))
    except (ValueError, RecursionError):
        raise HTTPException(400, "The JSON cannot be read.") from None


async def small_form(request: Request) -> dict[str, str]:
    """The fields of a small form; 413 if it is not small, 408 if it does not come."""
    try:
        return dict(parse_qsl((await _small_body(request)).decode("ascii"), max_num_fields=10))
    except ValueError:
        raise HTTPException(400, "The form cannot be read.") from None


async def _small_body(request: Request) -> bytes:
    body = b""
    try:
        async with asyncio.timeout(_FORM_SECONDS):
            async for data in request.stream():
                body += data
                if len(body) > FORM_BYTES:
                    raise HTTPException(413, "This form is longer than any form here.")
    except TimeoutError:
        raise HTTPException(408, f"The form has not come within {_FORM_SECONDS:.0f} seconds; send it again.") from None
    except ClientDisconnect:
        raise HTTPException(400, "The connection was closed.") from None
    return body


def number(fields: Mapping[str, str], name: str, most: int, otherwise: str) -> int:
    """A number of a form, from 0 to `most`; if it is none, 400 with the sentence `otherwise`."""
    text = fields.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and int(text) <= most):
        raise HTTPException(400, otherwise)
    return int(text)
