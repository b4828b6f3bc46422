"""The web process of a course, with the pages on submissions of all kinds, and the pages of wings."""

from __future__ import annotations

import logging
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.server.app import create_app
from pttt_ooc.course.server.strategy_parts import app_of
from pttt_ooc.disk.permissions import keep_private
from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.site.service.logs import start_logging
from pttt_ooc.site.shell.server import CONNECTIONS, make_server, parts_of, prepare_process

log = logging.getLogger("pttt.course.web")
MakeApp = Callable[[Course], FastAPI]


def server_of(course: Course, connections: int = CONNECTIONS, make_app: MakeApp = create_app) -> uvicorn.Server:
    """The server of a course, not yet running.

    Parameters
    ----------
    connections
        Maximum number of simultaneous connections.
    make_app
        Makes the application; the default has only the course.
    """
    settings = course.settings
    return make_server(make_app(course), connections, settings.connections_per_address, settings.trusted_proxies)


def run(data: str, descriptor: str, make_app: MakeApp) -> None:
    """Serve a course until the process is stopped.

    Parameters
    ----------
    data, descriptor
        Its directory, and the number of the open socket.
    make_app
        See :func:`server_of`.
    """
    keep_private()
    start_logging("web")
    watch_parent()
    try:
        course = Course.open(Path(data))
        course.storage.sweep_incoming()  # left by a process that was killed
        server = server_of(course, prepare_process(), make_app)
    except PtttError as error:
        log.error(str(error))
        sys.exit(1)
    server.run(sockets=[socket.socket(fileno=int(descriptor))])
    course.database.close()


def main() -> None:
    """Serve the course in directory DATA on the open socket number SOCKET; the parent holds the other end of stdin.

    Arguments: DATA SOCKET KINDS WINGS.  For the last two see
    :func:`pttt_ooc.site.shell.server.parts_of`; the calls of KINDS take the `Course` first.
    """
    data, descriptor, kinds, wings = sys.argv[1:]
    run(data, descriptor, lambda course: app_of(course, *parts_of(kinds, course), *parts_of(wings)))


if __name__ == "__main__":
    main()
