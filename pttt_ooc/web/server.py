"""The server of an application, in the process that it has to itself."""

from __future__ import annotations

import resource
import socket
import sys
from collections.abc import Sequence
from functools import partial

import uvicorn
from fastapi import FastAPI

from pttt_ooc.web.protocol import Connection, Door

CONNECTIONS = 1000
_OTHER_FILES = 200  # of databases, logs, libraries
_GRACE = 10  # seconds for requests under way when it is to stop
_TURN = 0.001  # seconds that a thread may keep the others from running: answers come before throughput


def make_server(
    app: FastAPI, connections: int = CONNECTIONS, per_address: int = 256, trusted_proxies: Sequence[str] = ()
) -> uvicorn.Server:
    """The server of an application, which is still to be run.

    Parameters
    ----------
    connections, per_address
        How many may be open at the same time: in all, and of one address that is no trusted proxy.
    trusted_proxies
        Addresses or networks of reverse proxies, whose ``X-Forwarded-For`` and ``X-Forwarded-Proto`` are believed.
    """
    config = uvicorn.Config(
        app,
        http=partial(Connection, Door(per_address, connections, tuple(trusted_proxies))),  # type: ignore[arg-type]
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
        server_header=False,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=list(trusted_proxies),
    )
    return uvicorn.Server(config)


def prepare_process() -> int:
    """Make this process a web server's; returns for how many connections the system lets it open files.

    Each connection may need a second file, and some files stay free.
    """
    sys.setswitchinterval(_TURN)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CONNECTIONS + _OTHER_FILES
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return max(16, (limit - _OTHER_FILES) // 2)


def serve(app: FastAPI, descriptor: str) -> None:
    """Serve an application on the open socket number `descriptor`, in a process of its own, until that is stopped."""
    make_server(app, prepare_process()).run(sockets=[socket.socket(fileno=int(descriptor))])
