"""The process of a local web server."""

from __future__ import annotations

import json
import logging
import socket
import sys

from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.site.service.logs import start_logging
from pttt_ooc.site.service.wing import call_by_name
from pttt_ooc.site.shell import server
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.parts import Part
from pttt_ooc.site.shell.shell import Shell

log = logging.getLogger("pttt.web")


def parts_of(calls: str, *first: object) -> list[Part]:
    """The parts that calls, as JSON, return; `first` are further first arguments of each call."""
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
    server.serve(app, descriptor)


if __name__ == "__main__":
    main()
