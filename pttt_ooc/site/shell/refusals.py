"""Errors as sentences: JSON for programs, a piece of a page for a form, or a page."""

from __future__ import annotations

import logging
from collections.abc import Callable

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from pttt_ooc.errors import PtttError
from pttt_ooc.site.shell.accounts import account_of
from pttt_ooc.site.shell.layers import HEADERS
from pttt_ooc.site.shell.parts import Refusal
from pttt_ooc.site.shell.rendering import render, wants_part
from pttt_ooc.site.shell.shell import Shell, shell_of

log = logging.getLogger("pttt.web")
_NOT_SO = ("Nothing can be sent to this address.", "There is no page here: forms and programs send to this address.")
_BROKEN = "Something went wrong on the server; tell those who run it what you did."


def add_refusals(app: FastAPI, shell: Shell) -> None:
    """Make the application answer errors with sentences."""

    @app.exception_handler(HTTPException)
    def handle_http_error(request: Request, error: HTTPException) -> Response:
        sentence = {404: "There is no such page.", 405: _NOT_SO[request.method == "GET"]}.get(error.status_code, "")
        told = sentence if error.detail in ("Not Found", "Method Not Allowed") else error.detail
        return _response(request, Refusal(error.status_code, told, dict(error.headers or {})))

    @app.exception_handler(RequestValidationError)
    def handle_malformed(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return _response(request, Refusal(422, f"{first['loc'][-1]}: {first['msg']}."))

    kinds: set[type[Exception]] = {PtttError}
    for kind in kinds.union(*(part.caught for part in shell.parts)):
        app.add_exception_handler(kind, _explaining(shell))

    @app.exception_handler(Exception)
    def handle_unexpected(request: Request, error: Exception) -> Response:
        log.error("a request failed", exc_info=error, extra={"path": request.url.path})
        return _response(request, Refusal(500, _BROKEN, HEADERS))  # it is answered outside of all other layers


def _explaining(shell: Shell) -> Callable[[Request, Exception], Response]:
    def handle_failure(request: Request, error: Exception) -> Response:
        found = (part.explain(error) for part in shell.parts)
        refusal = next((refusal for refusal in found if refusal), None)
        if refusal is None:
            if not isinstance(error, PtttError):
                raise error
            refusal = Refusal(503, str(error))
        if refusal.status >= 500:
            log.error("refused", extra={"path": request.url.path, "error": str(error)})
        return _response(request, refusal)

    return handle_failure


def _response(request: Request, refusal: Refusal) -> Response:
    if f"{request.url.path}/".startswith("/api/"):
        return JSONResponse({"error": refusal.sentence}, refusal.status, dict(refusal.headers))
    shell, path = shell_of(request), request.url.path
    area = next((area for area in shell.areas if area.has(path)), None)
    back = next((link for link in area.links if link.target != path), shell.home) if area else shell.home
    facts = {"sentence": refusal.sentence, "status": refusal.status, "back": back}
    if wants_part(request):
        response: Response = render(request, "web/error_part.html", None, **facts)
    else:
        try:
            account = account_of(request)
        except Exception:  # the database of accounts may have failed
            account = None
        response = render(request, "web/error.html", account, **facts)
    response.status_code = refusal.status
    response.headers.update(refusal.headers)
    return response
