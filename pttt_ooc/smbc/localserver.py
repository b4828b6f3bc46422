"""The web process of `pttt smbc serve`."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

from pttt_ooc.disk.lives import watch_parent
from pttt_ooc.smbc.asked import AskedBot
from pttt_ooc.smbc.matches import MATCHES, Matches
from pttt_ooc.smbc.part import part_of
from pttt_ooc.web.application import make_application
from pttt_ooc.web.logs import start_logging
from pttt_ooc.web.server import make_server, prepare_process
from pttt_ooc.web.shell import Shell
from pttt_ooc.web.wire import Client

TITLE = "Tic-tac-toe with secret goals"


def main() -> None:
    """Serve on SOCKET; the answerer is at ADDRESS, matches are kept in DIRECTORY.

    Arguments: SOCKET ADDRESS DIRECTORY.
    """
    start_logging("web")
    watch_parent()
    descriptor, address, directory = sys.argv[1:]
    bot = AskedBot(Client(Path(address)))
    app = make_application(Shell(TITLE, "", [part_of(bot, Matches(Path(directory) / MATCHES, bot))]))
    make_server(app, prepare_process()).run(sockets=[socket.socket(fileno=int(descriptor))])


if __name__ == "__main__":
    main()
