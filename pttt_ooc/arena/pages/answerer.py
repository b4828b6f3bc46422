"""The answerer of the arena's pages: the process that knows the games, asked one question after the other."""

from __future__ import annotations

import logging
import resource
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from pttt_ooc.arena.pages.game_service import Seating
from pttt_ooc.arena.pages.match_archive import Shelf
from pttt_ooc.service.answerer import ByKind, answer_until_stopped
from pttt_ooc.service.wire import Message

MEMORY = 4 << 30
"""Bytes of memory that the process may have: an agent that wants more fails, and nothing else does."""

log = logging.getLogger("pttt.arena.answerer")


class Answering(ByKind):
    """Answers questions about the matches below a directory.

    Parameters
    ----------
    directory
        Of matches.
    """

    def __init__(self, directory: Path) -> None:
        self._shelf, self._seating = Shelf(directory), Seating(directory)
        known: dict[str, Callable[[Message], Message]] = {
            "matches": lambda question: {"matches": self._shelf.matches()},
            "match": lambda question: self._shelf.match(question["name"], question["start"], question["rows"]),
            "standings": lambda question: {"standings": self._shelf.standings()},
            "position": lambda question: self._seating.position(question["game"], question["moves"]),
            "answered": lambda question: self._seating.answered(
                question["game"], question["moves"], question["agents"], question["seconds"], question["once"]
            ),
            "replay": lambda question: self._shelf.replay(question["name"], question["number"], question["ply"]),
        }
        super().__init__(known)


def main() -> None:
    """Answer questions about the matches below DIRECTORY on the open socket number SOCKET.

    Arguments: DIRECTORY SOCKET.
    """
    directory, descriptor = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    answer_until_stopped(descriptor, lambda: nullcontext(Answering(Path(directory))), log)


if __name__ == "__main__":
    main()
