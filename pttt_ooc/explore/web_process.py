"""The web process of `pttt explore`: the pages of this wing alone, for whoever sits at this machine."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from fastapi import FastAPI

from pttt_ooc.disk.stop_signals import watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.explore import play
from pttt_ooc.explore.answerer_client import Asked
from pttt_ooc.explore.explorer import Explorer
from pttt_ooc.explore.games import Games
from pttt_ooc.explore.part import part_of
from pttt_ooc.explore.sources import Fixed, Source
from pttt_ooc.rules.catalogue import named_game
from pttt_ooc.service.logs import start_logging
from pttt_ooc.service.wire import Client
from pttt_ooc.web import server
from pttt_ooc.web.application import make_application
from pttt_ooc.web.parts import Others
from pttt_ooc.web.shell import Shell

log = logging.getLogger("pttt.explore.web")
TITLE = "Phantom Tic-Tac-Toe, explored"


def serve(game: str, descriptor: str, address: str, sources: str, kept: str, *, others: Others) -> None:
    """Serve the pages on an open socket; the answerer is at `address`.

    Parameters
    ----------
    sources
        The strategies, in JSON.
    kept
        The directory where games of people are kept.
    others
        Makes the parts beside these.
    """
    start_logging("web")
    watch_parent()
    try:
        app = _app_of(game, address, sources, kept, others)
    except PtttError as error:
        log.error(str(error))
        sys.exit(1)
    server.serve(app, descriptor)


def _app_of(game: str, address: str, sources: str, kept: str, others: Others) -> FastAPI:
    known = tuple(Source.of_record(record) for record in json.loads(sources))
    rules, client = named_game(game), Client(Path(address))
    games = Games(Path(kept), Asked(rules, client, lambda: known))
    parts = [part_of(Explorer(rules, client, Fixed(known))), play.part_of(games), *others()]
    return make_application(Shell(title=TITLE, subtitle=game, parts=parts))
