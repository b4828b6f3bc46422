"""The web process of `pttt explore`: the pages of this wing alone, for whoever sits at this machine."""

from __future__ import annotations

import json
import logging
import socket
import sys
from pathlib import Path

from pttt_ooc.disk.lives import watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.explore import play
from pttt_ooc.explore.asked import Asked
from pttt_ooc.explore.explorer import Explorer
from pttt_ooc.explore.games import Games
from pttt_ooc.explore.part import part_of
from pttt_ooc.explore.sources import Fixed, Source
from pttt_ooc.explore.wire import Client
from pttt_ooc.rules.catalogue import named_game
from pttt_ooc.web.application import make_application
from pttt_ooc.web.logs import start_logging
from pttt_ooc.web.server import make_server, prepare_process
from pttt_ooc.web.shell import Shell

log = logging.getLogger("pttt.explore.web")
TITLE = "Phantom Tic-Tac-Toe, explored"


def main() -> None:
    """Serve GAME on SOCKET; the answerer is at ADDRESS, SOURCES are JSON.

    Arguments: GAME SOCKET ADDRESS SOURCES GAMES; what people play is kept in the directory GAMES.
    """
    start_logging("web")
    watch_parent()
    try:
        _serve(*sys.argv[1:])
    except PtttError as error:
        log.error(str(error))
        sys.exit(1)


def _serve(game: str, descriptor: str, address: str, sources: str, kept: str) -> None:
    known = tuple(Source.of_record(record) for record in json.loads(sources))
    rules, client = named_game(game), Client(Path(address))
    games = Games(Path(kept), Asked(rules, client, lambda: known))
    parts = [part_of(Explorer(rules, client, Fixed(known))), play.part_of(games)]
    app = make_application(Shell(title=TITLE, subtitle=game, parts=parts))
    make_server(app, prepare_process()).run(sockets=[socket.socket(fileno=int(descriptor))])


if __name__ == "__main__":
    main()
