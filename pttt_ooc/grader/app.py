"""The web application."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.staticfiles import StaticFiles
from sqlalchemy.exc import DBAPIError
from starlette.exceptions import HTTPException

from pttt_ooc import __version__
from pttt_ooc.errors import PtttError
from pttt_ooc.grader import api, health, pages
from pttt_ooc.grader.context import Grader
from pttt_ooc.grader.gate import Gate
from pttt_ooc.grader.metrics import Measured, Metrics
from pttt_ooc.grader.rendering import render
from pttt_ooc.grader.security import HEADERS, SecurityHeaders, session_team
from pttt_ooc.grader.storage import FullDiskError, is_full_disk
from pttt_ooc.grader.submissions import LimitError

log = logging.getLogger("pttt.grader.web")
STATIC = Path(__file__).parent / "static"


def create_app(grader: Grader) -> FastAPI:
    """The application of a grader."""
    # FastAPI's own page on the API would fetch scripts from elsewhere; ours is pages.api_page.
    app = FastAPI(
        title=grader.settings.title,
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # it would send people to whatever the header Host says
    )
    app.state.grader = grader
    metrics = Metrics(grader)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.include_router(api.router)
    app.include_router(pages.router)
    app.include_router(health.router)
    _add_metrics(app, metrics)
    _add_errors(app)
    _describe_token(app)
    app.add_middleware(Gate, drained=grader.settings.max_upload_bytes, proxies=bool(grader.settings.trusted_proxies))
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Measured, metrics=metrics)
    return app


def _add_metrics(app: FastAPI, metrics: Metrics) -> None:
    @app.get("/metrics", include_in_schema=False)
    def figures() -> Response:
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/robots.txt", include_in_schema=False)
    def robots() -> Response:
        """Search engines are to leave a course's results alone."""
        return PlainTextResponse("User-agent: *\nDisallow: /\n")


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    def refused(request: Request, error: HTTPException) -> Response:
        sentence = error.detail if error.detail != "Not Found" else "There is no such page."
        return _told(request, error.status_code, sentence, dict(error.headers or {}))

    @app.exception_handler(RequestValidationError)
    def malformed(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return _told(request, 422, f"{first['loc'][-1]}: {first['msg']}.", {})

    @app.exception_handler(LimitError)
    def limited(request: Request, error: LimitError) -> Response:
        return _told(request, 429, str(error), {"Retry-After": str(max(1, int(error.wait)))})

    @app.exception_handler(OSError)
    @app.exception_handler(DBAPIError)
    def broken(request: Request, error: Exception) -> Response:
        if not is_full_disk(error):
            raise error
        return full(request, error)

    def full(request: Request, error: Exception) -> Response:
        log.error("the disk is full", extra={"path": request.url.path, "error": str(error)})
        return _told(request, 507, str(FullDiskError()), {})

    @app.exception_handler(PtttError)
    def failed(request: Request, error: PtttError) -> Response:
        if is_full_disk(error):
            return full(request, error)
        log.error("refused", extra={"path": request.url.path, "error": str(error)})
        return _told(request, 503, str(error), {})

    @app.exception_handler(Exception)
    def unexpected(request: Request, error: Exception) -> Response:
        log.error("a request failed", exc_info=error, extra={"path": request.url.path})
        # It is answered outside of all other layers.
        return _told(request, 500, "Something went wrong on the server; tell the instructors what you did.", HEADERS)


def _told(request: Request, status: int, sentence: str, headers: dict[str, str]) -> Response:
    """An error as JSON for programs, as part of a page for a form, or as a page."""
    if request.url.path.startswith("/api"):
        return JSONResponse({"error": sentence}, status, headers)
    if request.headers.get("hx-request"):
        response: Response = render(request, "parts/error.html", None, sentence=sentence)
    else:
        try:
            team = session_team(request, request.app.state.grader)
        except Exception:  # the database may be what has failed
            team = None
        response = render(request, "error.html", team, sentence=sentence, status=status)
    response.status_code = status
    response.headers.update(headers)
    return response


def _describe_token(app: FastAPI) -> None:
    made = app.openapi

    def described() -> dict[str, Any]:
        schema = made()
        schemes = schema.setdefault("components", {}).setdefault("securitySchemes", {})
        schemes["token"] = {"type": "http", "scheme": "bearer", "description": "Your team's token."}
        return schema

    app.openapi = described  # type: ignore[method-assign]
