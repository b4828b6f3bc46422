"""The pages for signing in by OpenID Connect: to the university, and back."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from pttt_ooc.course.data.settings import secret_of
from pttt_ooc.course.pages.account_pages import begin
from pttt_ooc.course.pages.context import Course, UsedCourse
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.errors import CourseError
from pttt_ooc.site.shell.rendering import render

if TYPE_CHECKING:  # Authlib is imported where somebody signs in by it
    from pttt_ooc.course.people.openid import Flow, Provider

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/account/openid")
COOKIE = "pttt_openid"
_PATH = "/account/openid"


@router.get("")
def leave(request: Request, course: UsedCourse, account: Allowed) -> Response:
    """Send the browser to the university."""
    from pttt_ooc.course.people.openid import SECONDS, Flow

    provider, flow = _provider(request, course), Flow.begin()
    try:
        address = provider.address(flow, _back(request))
    except CourseError as error:
        raise HTTPException(502, str(error)) from None
    response = RedirectResponse(address, 303)
    secure = request.url.scheme == "https"
    # Lax: the browser comes back from another site, and would not send a stricter cookie then.
    response.set_cookie(
        COOKIE, _seal_flow(course, flow), max_age=int(SECONDS), path=_PATH, httponly=True, samesite="lax", secure=secure
    )
    return response


@router.get("/callback")
def come_back(
    request: Request, course: UsedCourse, account: Allowed, code: str = "", state: str = "", error: str = ""
) -> Response:
    """Sign in the person whom the university names.

    The page leads on by itself: browsers add the new cookie to requests from this site, not to those from another.
    """
    from pttt_ooc.course.people.openid import person_of

    flow = _unseal_flow(course, request.cookies.get(COOKIE, ""))
    if flow is None or not hmac.compare_digest(flow.state.encode(), state.encode()):
        raise HTTPException(400, "This sign-in was not begun in this browser, or took too long; start again.")
    if error or not code:
        raise HTTPException(400, "The university has not signed you in; start again.")
    provider = _provider(request, course)
    try:
        identity = provider.identity(flow, _back(request), code)
        with course.database.writing() as session:
            person = person_of(session, identity)
    except CourseError as problem:
        raise HTTPException(403, str(problem)) from None
    signed = begin(request, course, person)
    page = render(request, "course/openid.html", None, team=None, to=signed.headers["location"])
    for name, value in signed.headers.items():
        if name == "set-cookie":
            page.headers.append(name, value)
    page.delete_cookie(COOKIE, path=_PATH, httponly=True, samesite="lax")
    return page


def _back(request: Request) -> str:
    return f"{str(request.base_url).rstrip('/')}{_PATH}/callback"


def _provider(request: Request, course: Course) -> Provider:
    settings = course.settings
    if settings.openid_issuer is None:
        raise HTTPException(404, "Nobody can sign in by OpenID Connect here.")
    from pttt_ooc.course.people.openid import Provider

    known: Provider | None = getattr(request.app.state, "openid_provider", None)
    if known is None:
        secret = secret_of(settings, course.storage.data)
        known = request.app.state.openid_provider = Provider(settings.openid_issuer, settings.openid_client, secret)
    return known


# ---------------------------------------------------------------------------------------------
# What the browser keeps meanwhile: sealed, so that only this server can make it, and for a while


def _seal_flow(course: Course, flow: Flow) -> str:
    from pttt_ooc.course.people.openid import SECONDS

    content = quote(json.dumps([flow.state, flow.nonce, flow.verifier, time.time() + SECONDS]), safe="")
    return f"{content}.{_seal(course, content)}"


def _unseal_flow(course: Course, value: str) -> Flow | None:
    from pttt_ooc.course.people.openid import Flow

    content, _, seal = value.rpartition(".")
    if not hmac.compare_digest(seal.encode(), _seal(course, content).encode()):
        return None
    state, nonce, verifier, until = json.loads(unquote(content))
    return Flow(state, nonce, verifier) if time.time() < until else None


def _seal(course: Course, content: str) -> str:
    return hmac.new(course.secret, f"openid\n{content}".encode(), hashlib.sha256).hexdigest()
