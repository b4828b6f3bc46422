"""Forms, and protection against forms of other sites.

A form carries a value that is bound to a cookie that only this site gets (``SameSite=Strict``): the session's cookie,
or a visitor's.  A request that the browser marks as from another site is refused first.
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

from pttt_ooc.site.shell.shell import FORM_BYTES, Shell

SESSION, VISITOR = "pttt_session", "pttt_visitor"
FORM_FIELD = "form_token"
_FORM_SECONDS = 20.0  # seconds for a form to arrive


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int | None) -> None:
    """Set a cookie for this site, hidden from scripts; `seconds` None: until the browser is closed."""
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, path="/", httponly=True, samesite="strict", secure=secure)


def new_visitor(request: Request) -> str | None:
    """A new value for the visitor's cookie, if the browser has neither this cookie nor a session."""
    if request.cookies.get(SESSION) or request.cookies.get(VISITOR):
        return None
    return secrets.token_urlsafe(16)


def form_token(request: Request, shell: Shell, visitor: str | None = None) -> str:
    """The value that this browser's forms carry."""
    cookie = request.cookies.get(SESSION) or visitor or request.cookies.get(VISITOR, "")
    return hmac.new(shell.secret, f"form\n{cookie}".encode(), hashlib.sha256).hexdigest()


async def own_form(request: Request, shell: Shell) -> dict[str, str]:
    """The fields of a small form that was made for this browser.

    Raises
    ------
    HTTPException
        If it is from another site, out of date, or unreadable.
    """
    check_origin(request)
    fields = await small_form(request)
    check_form(request, shell, fields.get(FORM_FIELD, ""))
    return fields


def check_origin(request: Request) -> None:
    """Refuse a browser's request on behalf of another site."""
    site = request.headers.get("sec-fetch-site", "same-origin")
    origin = request.headers.get("origin")
    try:
        foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    except ValueError:  # such as http://[
        foreign = True
    if foreign or site not in ("same-origin", "none"):
        raise HTTPException(403, "This form was sent from another site; open the page here and send it from there.")


def check_form(request: Request, shell: Shell, token: str) -> None:
    """Refuse a form that was not made for this browser."""
    has_cookie = request.cookies.get(SESSION) or request.cookies.get(VISITOR)
    if not has_cookie or not hmac.compare_digest(token.encode(), form_token(request, shell).encode()):
        raise HTTPException(403, "This form is out of date; reload the page and send it again.")


async def own_json(request: Request) -> Any:
    """The JSON value of a program's request; browsers on behalf of other sites are refused.

    Raises
    ------
    HTTPException
        See :func:`small_form`; 415 unless its type is JSON, which pages of other sites cannot send.
    """
    check_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "Send JSON, with the header 'Content-Type: application/json'.")
    try:
        return json.loads(await _small_body(request))
    except (ValueError, RecursionError):
        raise HTTPException(400, "The JSON cannot be read.") from None


async def small_form(request: Request) -> dict[str, str]:
    """The fields of a small form; 400 if it is unreadable, 408 if it does not arrive, 413 if it is too long."""
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
                    raise HTTPException(413, "This form is longer than allowed.")
    except TimeoutError:
        raise HTTPException(408, f"The form has not come within {_FORM_SECONDS:.0f} seconds; send it again.") from None
    except ClientDisconnect:
        raise HTTPException(400, "The connection was closed.") from None
    return body


def number(fields: Mapping[str, str], name: str, most: int, otherwise: str) -> int:
    """A form's number from 0 to `most`; else 400 with the sentence `otherwise`."""
    text = fields.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) and int(text) <= most):
        raise HTTPException(400, otherwise)
    return int(text)
