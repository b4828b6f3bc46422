"""The web process of a grader that has this wing as well."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pttt_ooc.explore import play
from pttt_ooc.explore.asked import Asked
from pttt_ooc.explore.explorer import Explorer
from pttt_ooc.explore.games import GAMES, Games
from pttt_ooc.explore.part import part_of
from pttt_ooc.explore.submitted import Submitted
from pttt_ooc.explore.wire import Client
from pttt_ooc.grader import webserver
from pttt_ooc.grader.context import Grader
from pttt_ooc.web.parts import Part


def main() -> None:
    """Serve the grader DATA on SOCKET; the answerer is at ADDRESS.

    Arguments: DATA SOCKET ADDRESS.
    """
    webserver.run(lambda grader: parts_of(grader, Client(Path(sys.argv[3]))))


def parts_of(grader: Grader, client: Client) -> Sequence[Part]:
    """The wing's parts of a grader's application."""
    submitted, game = Submitted(grader), grader.settings.rules
    games = Games(grader.storage.data / GAMES, Asked(game, client, submitted.open_to_play))
    return [part_of(Explorer(game, client, submitted)), play.part_of(games)]


if __name__ == "__main__":
    main()
