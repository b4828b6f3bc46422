"""The answerer of the arena's pages: the process that knows the games, asked one question after the other."""

from __future__ import annotations

import logging
import resource
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pttt_ooc.arena.pages.seating import Seating
from pttt_ooc.arena.pages.shelf import Shelf
from pttt_ooc.disk.lives import handle_signals, watch_parent
from pttt_ooc.web.answering import answer_all
from pttt_ooc.web.logs import start_logging
from pttt_ooc.web.wire import Message

MEMORY = 4 << 30
"""Bytes of memory that the process may have: an agent that wants more fails, and nothing else does."""

log = logging.getLogger("pttt.arena.answerer")


class Answering:
    """Answers questions about the matches below a directory.

    Parameters
    ----------
    directory
        Of matches.
    """

    def __init__(self, directory: Path) -> None:
        self._shelf, self._seating = Shelf(directory), Seating(directory)
        self._known: dict[str, Callable[[Message], Message]] = {
            "matches": lambda question: {"matches": self._shelf.matches()},
            "match": lambda question: self._shelf.match(question["name"], question["start"], question["rows"]),
            "standings": lambda question: {"standings": self._shelf.standings()},
            "position": lambda question: self._seating.position(question["game"], question["moves"]),
            "answered": lambda question: self._seating.answered(
                question["game"], question["moves"], question["agents"], question["seconds"], question["once"]
            ),
            "replay": lambda question: self._shelf.replay(question["name"], question["number"], question["ply"]),
        }

    def answer(self, question: Message) -> Message:
        """The answer to a question.

        Raises
        ------
        PtttError
            If there is none; the sentence says why.
        """
        return self._known[question["ask"]](question)


def main() -> None:
    """Answer questions about the matches below DIRECTORY on the open socket number SOCKET.

    Arguments: DIRECTORY SOCKET.
    """
    start_logging("answerer")
    stopping = threading.Event()
    directory, descriptor = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    watch_parent()
    handle_signals(stopping)
    with suppress(KeyboardInterrupt), socket.socket(fileno=int(descriptor)) as listening:
        log.info("ready")
        answer_all(listening, Answering(Path(directory)), stopping)


if __name__ == "__main__":
    main()
