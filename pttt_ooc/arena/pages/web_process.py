"""The web process of `pttt arena serve`."""

from __future__ import annotations

import sys
from pathlib import Path

from pttt_ooc.arena.pages.part import part_at
from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.service.logs import start_logging
from pttt_ooc.web import server
from pttt_ooc.web.application import make_application
from pttt_ooc.web.shell import Shell

TITLE = "The arena"


def main() -> None:
    """Serve on SOCKET; the answerer is at ADDRESS.

    Arguments: ADDRESS SOCKET.
    """
    start_logging("web")
    watch_parent()
    address, descriptor = sys.argv[1:]
    app = make_application(Shell(TITLE, "", [part_at(Path(address))]))
    server.serve(app, descriptor)


if __name__ == "__main__":
    main()
