"""MCP over streamable HTTP, as an address of the web application, with the limits and refusals of all addresses."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from mcp.server.mcpserver import Context
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pttt_ooc.site.host.host_api import Hosting, agent_of
from pttt_ooc.site.host.mcp_tools import make_server
from pttt_ooc.site.host.tokens import HostAgent
from pttt_ooc.site.shell.forms import check_origin

ADDRESS = "/api/host/mcp"


def mcp_router(
    hosting: Hosting, largest_body: int
) -> tuple[APIRouter, Callable[[], AbstractAsyncContextManager[None]]]:
    """The address of MCP, and what has to run while the application does.

    Each request stands alone, without a session of MCP, so that clients go on after a restart of the server.
    """
    server = make_server(hosting.matches, _caller)
    made = server.streamable_http_app(
        streamable_http_path=ADDRESS,
        json_response=True,
        stateless_http=True,
        max_request_body_size=largest_body,
        host="",
    )
    [route] = made.routes
    assert isinstance(route, Route)
    router = APIRouter()
    router.routes.append(Route(ADDRESS, endpoint=_Signed(route.endpoint, hosting)))

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with server.session_manager.run():
            yield

    return router, running


class _Signed:
    """Lets requests with an agent's token through."""

    def __init__(self, app: ASGIApp, hosting: Hosting) -> None:
        self._app, self._hosting = app, hosting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        check_origin(request)
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        token = token.strip() if kind.lower() == "bearer" else ""
        request.state.agent = await run_in_threadpool(agent_of, request, self._hosting, token)
        await self._app(scope, receive, send)


def _caller(context: Context[Any, Any]) -> HostAgent:
    agent: HostAgent = context.request_context.request.state.agent
    return agent
