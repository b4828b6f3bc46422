"""The web process of `pttt smbc serve`."""

from __future__ import annotations

import sys
from pathlib import Path

from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.service.logs import start_logging
from pttt_ooc.smbc.pages.part import part_at
from pttt_ooc.web import server
from pttt_ooc.web.application import make_application
from pttt_ooc.web.shell import Shell

TITLE = "Tic-tac-toe with secret goals"


def main() -> None:
    """Serve on SOCKET; the answerer is at ADDRESS, matches are kept in DIRECTORY.

    Arguments: ADDRESS DIRECTORY SOCKET.
    """
    start_logging("web")
    watch_parent()
    address, directory, descriptor = sys.argv[1:]
    app = make_application(Shell(TITLE, "", [part_at(Path(address), Path(directory))]))
    server.serve(app, descriptor)


if __name__ == "__main__":
    main()
