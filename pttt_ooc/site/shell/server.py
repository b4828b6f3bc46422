"""The server of an application; as a program, that of a local site."""

from __future__ import annotations

import json
import logging
import resource
import socket
import sys
from collections.abc import Sequence
from functools import partial

import uvicorn
from fastapi import FastAPI

from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.site.service.logs import start_logging
from pttt_ooc.site.service.wing import call_by_name
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.parts import Part
from pttt_ooc.site.shell.protocol import Connection, Door
from pttt_ooc.site.shell.shell import Shell

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


# ---------------------------------------------------------------------------------------------
# The process of a local web server


log = logging.getLogger("pttt.web")


def parts_of(calls: str, *first: object) -> list[Part]:
    """The parts that the calls in a JSON text return; each call gets the arguments `first` before its own."""
    return [part for call in json.loads(calls) for part in call_by_name(call, *first)]


def names_of(host: str) -> frozenset[str]:
    """The names of a server on this machine that listens at `host`."""
    return frozenset({"localhost", socket.gethostname().lower(), host.lower()})


def main() -> None:
    """Serve on the open socket number SOCKET until the process is stopped; the parent holds the other end of stdin.

    Arguments: SOCKET HOST TITLE SUBTITLE PARTS; see :func:`parts_of` for the last.
    """
    descriptor, host, title, subtitle, parts = sys.argv[1:]
    start_logging("web")
    watch_parent()
    try:
        app = make_application(Shell(title, subtitle, parts_of(parts), names=names_of(host)))
    except PtttError as error:
        log.error(str(error))
        sys.exit(1)
    serve(app, descriptor)


if __name__ == "__main__":
    main()
