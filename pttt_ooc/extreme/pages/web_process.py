"""The web process of `pttt extreme serve`."""

from __future__ import annotations

import sys
from pathlib import Path

from fastapi import FastAPI

from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.extreme.pages import exports
from pttt_ooc.extreme.pages.part import part_of
from pttt_ooc.extreme.pages.tournament_reader import Shown
from pttt_ooc.service.logs import start_logging
from pttt_ooc.web import server
from pttt_ooc.web.application import make_application
from pttt_ooc.web.shell import Shell

TITLE = "Extreme TicTacToe"


def app_of(directory: Path) -> FastAPI:
    """The application of a tournament in a directory."""
    return make_application(Shell(TITLE, "", [part_of(Shown(directory), exports.router, everything=True)]))


def main() -> None:
    """Serve on SOCKET the tournament in DIRECTORY.

    Arguments: DIRECTORY SOCKET.
    """
    start_logging("web")
    watch_parent()
    directory, descriptor = sys.argv[1:]
    server.serve(app_of(Path(directory)), descriptor)


if __name__ == "__main__":
    main()
