"""The web process."""

from __future__ import annotations

import logging
import resource
import socket
import sys
from functools import partial
from pathlib import Path

import uvicorn

from pttt_ooc.errors import PtttError
from pttt_ooc.grader.app import create_app
from pttt_ooc.grader.context import Grader
from pttt_ooc.grader.lives import watch_parent
from pttt_ooc.grader.logs import start_logging
from pttt_ooc.grader.protocol import Connection, Door
from pttt_ooc.grader.rights import keep_private

log = logging.getLogger("pttt.grader.web")
_GRACE = 10  # seconds for requests under way when it is to stop
_CONNECTIONS = 1000
_OTHER_FILES = 200  # of databases, logs, libraries
_TURN = 0.001  # seconds that a thread may keep the others from running: answers come before throughput


def make_server(grader: Grader, connections: int = _CONNECTIONS) -> uvicorn.Server:
    """The server of a grader, which is still to be run; with so many connections at the same time."""
    settings = grader.settings
    door = Door(settings.connections_per_address, connections, settings.trusted_proxies)
    config = uvicorn.Config(
        create_app(grader),
        http=partial(Connection, door),  # type: ignore[arg-type]  # called as the class would be
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_GRACE,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
    )
    return uvicorn.Server(config)


def _room_for_connections() -> int:
    """Connections for which the system lets this process open files: each may need a second one, others stay free."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * _CONNECTIONS + _OTHER_FILES
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    return max(16, (limit - _OTHER_FILES) // 2)


def main() -> None:
    """Serve the grader in directory DATA on the open socket number SOCKET; the parent holds the other end of stdin."""
    keep_private()
    start_logging("web")
    sys.setswitchinterval(_TURN)
    watch_parent()
    try:
        grader = Grader.open(Path(sys.argv[1]))
    except PtttError as error:
        log.error(str(error))
        sys.exit(1)
    grader.storage.sweep_incoming()  # what a predecessor that was killed has left
    server = make_server(grader, _room_for_connections())
    server.run(sockets=[socket.socket(fileno=int(sys.argv[2]))])
    grader.database.close()


if __name__ == "__main__":
    main()
