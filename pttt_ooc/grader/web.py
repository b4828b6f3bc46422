"""The web process."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from pathlib import Path

import uvicorn

from pttt_ooc.errors import PtttError
from pttt_ooc.grader.app import create_app
from pttt_ooc.grader.context import Grader
from pttt_ooc.grader.lives import watch_parent
from pttt_ooc.grader.logs import start_logging
from pttt_ooc.grader.rights import keep_private

log = logging.getLogger("pttt.grader.web")
_GRACE = 10  # seconds for requests under way when it is to stop

_TURN = 0.001  # seconds that a thread may keep the others from running: answers come before throughput


def main() -> None:
    """Serve the grader in directory DATA on the open socket number SOCKET; the parent holds the other end of stdin."""
    keep_private()
    start_logging("web")
    sys.setswitchinterval(_TURN)
    stopping = threading.Event()
    watch_parent(stopping)
    try:
        grader = Grader.open(Path(sys.argv[1]))
    except PtttError as error:
        log.error(str(error))
        sys.exit(1)
    config = uvicorn.Config(
        create_app(grader), log_config=None, access_log=False, timeout_graceful_shutdown=_GRACE, server_header=False
    )
    server = uvicorn.Server(config)

    def stop_with_parent() -> None:
        stopping.wait()
        server.should_exit = True

    threading.Thread(target=stop_with_parent, daemon=True).start()
    server.run(sockets=[socket.socket(fileno=int(sys.argv[2]))])
    grader.database.close()


if __name__ == "__main__":
    main()
