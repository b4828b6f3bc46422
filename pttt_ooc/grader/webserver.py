"""The web process."""

from __future__ import annotations

import logging
import socket
import sys
from pathlib import Path

import uvicorn

from pttt_ooc.disk.lives import watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.grader.app import create_app
from pttt_ooc.grader.context import Grader
from pttt_ooc.grader.logs import start_logging
from pttt_ooc.grader.rights import keep_private
from pttt_ooc.web.server import CONNECTIONS, make_server, prepare_process

log = logging.getLogger("pttt.grader.web")


def server_of(grader: Grader, connections: int = CONNECTIONS) -> uvicorn.Server:
    """The server of a grader, which is still to be run; with so many connections at the same time."""
    settings = grader.settings
    return make_server(create_app(grader), connections, settings.connections_per_address, settings.trusted_proxies)


def main() -> None:
    """Serve the grader in directory DATA on the open socket number SOCKET; the parent holds the other end of stdin."""
    keep_private()
    start_logging("web")
    watch_parent()
    try:
        grader = Grader.open(Path(sys.argv[1]))
    except PtttError as error:
        log.error(str(error))
        sys.exit(1)
    grader.storage.sweep_incoming()  # what a predecessor that was killed has left
    server = server_of(grader, prepare_process())
    server.run(sockets=[socket.socket(fileno=int(sys.argv[2]))])
    grader.database.close()


if __name__ == "__main__":
    main()
