"""The application: the shell's own addresses, those of all parts, and the layers around them."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware

from pttt_ooc import __version__
from pttt_ooc.site.shell import accounts
from pttt_ooc.site.shell.accounts import Signed
from pttt_ooc.site.shell.layers import Gate, Measured, Metrics, SecurityHeaders
from pttt_ooc.site.shell.refusals import add_refusals
from pttt_ooc.site.shell.rendering import HERE, environments, render
from pttt_ooc.site.shell.shell import Shell


def make_application(shell: Shell) -> FastAPI:
    """The application of a shell with all its parts."""
    app = FastAPI(
        title=shell.title,
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # FastAPI's own page on the API would fetch scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # it would redirect to the host in the header Host
    )
    names = [part.name for part in shell.parts]
    if len({*names, "shell", "environments", "web"}) < len(names) + 3:
        raise ValueError(f"the names of parts have to differ, and not to be the shell's own: {names}")
    app.state.shell, app.state.environments = shell, environments(shell.parts)
    app.mount("/static/web", StaticFiles(directory=HERE / "static"))
    for part in shell.parts:
        setattr(app.state, part.name, part.state)
        if (part.directory / "static").is_dir():
            app.mount(f"/static/{part.name}", StaticFiles(directory=part.directory / "static"))
        for router in part.routers:
            app.router.routes.extend(router.routes)  # include_router would analyse each handler again
    metrics = Metrics(shell)
    _add_own(app, shell, metrics)
    add_refusals(app, shell)
    # The lengths of compressed pages could betray the token of a form if other sites' requests carried our cookies;
    # browsers send our cookies from our own pages only.
    kept = (*DEFAULT_EXCLUDED_CONTENT_TYPES, "text/plain")  # a part keeps its long texts compressed
    app.add_middleware(GZipMiddleware, minimum_size=500, compresslevel=6, exclude_content_types=kept)
    app.add_middleware(Gate, drained=shell.largest_body, proxies=shell.behind_proxy, names=shell.names)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Measured, metrics=metrics)
    return app


def _add_own(app: FastAPI, shell: Shell, metrics: Metrics) -> None:
    """Add the addresses of every application; parts come first."""
    if shell.accounts is not None:
        app.router.routes.extend(accounts.router.routes)

    def add(path: str) -> Callable[..., Callable[..., object]]:
        return app.get(path, include_in_schema=False)

    if shell.home.target != "/":

        @add("/")
        async def begin() -> Response:
            return RedirectResponse(shell.home.target, 307)

    @add("/api/docs")
    def api_page(request: Request, account: Signed) -> Response:
        return render(request, "web/api.html", account, described=request.app.openapi())

    @add("/livez")
    async def livez() -> dict[str, str]:
        """Whether the web server answers at all; if not, restart it."""
        return {"status": "ok"}

    @add("/metrics")
    def figures() -> Response:
        return PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @add("/robots.txt")
    async def robots() -> Response:
        """Keep search engines away from a course's results."""
        return PlainTextResponse("User-agent: *\nDisallow: /\n")
