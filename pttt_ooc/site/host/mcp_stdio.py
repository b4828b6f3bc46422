"""MCP on standard input and output, for one agent on this machine: its client starts this process."""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from pttt_ooc.site.host.mcp_tools import make_server
from pttt_ooc.site.host.part import matches_of
from pttt_ooc.site.service.local_server import processes_behind
from pttt_ooc.site.service.logs import start_logging
from pttt_ooc.site.service.processes import look_after
from pttt_ooc.site.service.wing import Pages


def serve(pages: Pages, name: str) -> None:
    """Serve the agent `name` until its client closes standard input; its matches are those of the host's other agents.

    Raises
    ------
    PlayError
        If the name belongs to an agent with a token, or cannot be one.
    """
    with processes_behind([pages]) as (children, parts):
        [[_, *arguments]] = json.loads(parts)
        matches = matches_of(*arguments)
        agent = matches.tokens.find_local(name)
        matches.restart_clocks(agent)
        start_logging("mcp")

        @asynccontextmanager
        async def answerers(_: Any) -> AsyncIterator[None]:
            """The processes that are asked; they begin after the SDK has taken standard output for itself."""
            stopping = threading.Event()
            thread = threading.Thread(target=look_after, args=(children, stopping))
            thread.start()
            try:
                yield
            finally:
                stopping.set()
                await anyio.to_thread.run_sync(thread.join)

        anyio.run(make_server(matches, lambda _: agent, answerers).run_stdio_async)
        matches.close()
