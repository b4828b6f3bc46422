"""The web process."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn

from pttt_ooc.disk.lives import watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.grader.app import create_app
from pttt_ooc.grader.context import Grader
from pttt_ooc.grader.rights import keep_private
from pttt_ooc.web.logs import start_logging
from pttt_ooc.web.parts import Part
from pttt_ooc.web.server import CONNECTIONS, make_server, prepare_process

log = logging.getLogger("pttt.grader.web")


def server_of(grader: Grader, connections: int = CONNECTIONS, others: Sequence[Part] = ()) -> uvicorn.Server:
    """The server of a grader, which is still to be run.

    Parameters
    ----------
    connections
        How many there may be at the same time.
    others
        Parts of the application beside the grader.
    """
    settings = grader.settings
    return make_server(
        create_app(grader, *others), connections, settings.connections_per_address, settings.trusted_proxies
    )


def run(make_others: Callable[[Grader], Sequence[Part]] = lambda grader: ()) -> None:
    """Serve the grader in directory DATA on the open socket number SOCKET; the parent holds the other end of stdin.

    Parameters
    ----------
    make_others
        Makes the parts of the application beside the grader.
    """
    keep_private()
    start_logging("web")
    watch_parent()
    try:
        grader = Grader.open(Path(sys.argv[1]))
    except PtttError as error:
        log.error(str(error))
        sys.exit(1)
    grader.storage.sweep_incoming()  # what a predecessor that was killed has left
    server = server_of(grader, prepare_process(), make_others(grader))
    server.run(sockets=[socket.socket(fileno=int(sys.argv[2]))])
    grader.database.close()


if __name__ == "__main__":
    run()
