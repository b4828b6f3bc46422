"""The server of an application, in a process of its own."""

from __future__ import annotations

import resource
import socket
import sys
from collections.abc import Sequence
from functools import partial

import uvicorn
from fastapi import FastAPI

from pttt_ooc.site.shell.protocol import Connection, Door

CONNECTIONS = 1000
_OTHER_FILES = 200  # open files of databases, logs, libraries
_STOP_SECONDS = 10  # seconds for open requests when the server stops
_THREAD_SWITCH_SECONDS = 0.001  # seconds after which a thread lets others run: answers before throughput


def make_server(
    app: FastAPI, connections: int = CONNECTIONS, per_address: int = 256, trusted_proxies: Sequence[str] = ()
) -> uvicorn.Server:
    """The server of an application, not yet running.

    Parameters
    ----------
    connections, per_address
        Most connections at the same time: in all, and from one address that is no trusted proxy.
    trusted_proxies
        Addresses or networks of reverse proxies, whose ``X-Forwarded-For`` and ``X-Forwarded-Proto`` are trusted.
    """
    config = uvicorn.Config(
        app,
        http=partial(Connection, Door(per_address, connections, tuple(trusted_proxies))),  # type: ignore[arg-type]
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
        server_header=False,
        proxy_headers=bool(trusted_proxies),
        forwarded_allow_ips=list(trusted_proxies),
    )
    return uvicorn.Server(config)


def prepare_process() -> int:
    """Prepare this process for a web server; returns the number of connections for which it may open files.

    Each connection may need a second file, and some files are kept free.
    """
    sys.setswitchinterval(_THREAD_SWITCH_SECONDS)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CONNECTIONS + _OTHER_FILES
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return max(16, (limit - _OTHER_FILES) // 2)


def serve(app: FastAPI, descriptor: str) -> None:
    """Serve an application on the open socket number `descriptor` until the process is stopped."""
    make_server(app, prepare_process()).run(sockets=[socket.socket(fileno=int(descriptor))])
