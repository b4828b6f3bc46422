"""The answerer: the process that knows numbers, and answers the web process one question after the other."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from contextlib import closing, suppress
from pathlib import Path

from pttt_ooc.disk.lives import handle_signals, interrupt_on_signals, watch_parent
from pttt_ooc.errors import ImpossibleInfosetError, PtttError
from pttt_ooc.explore.answering import Answering
from pttt_ooc.explore.wire import Message, packed, received
from pttt_ooc.grader.rights import keep_private
from pttt_ooc.questions.warm_up import warm_up
from pttt_ooc.stages.compilation import ensure_compiled
from pttt_ooc.web.logs import lines_logged, start_logging

log = logging.getLogger("pttt.explore.answerer")
_POLL = 0.2  # seconds between two looks at whether to stop
_STALLED = 2.0  # seconds after which a connection that says nothing is dropped: the others wait meanwhile
_BROKEN = "Something went wrong in the answerer; tell those who run it what you did."


def answer_all(listening: socket.socket, answering: Answering, stopping: threading.Event) -> None:
    """Answer whatever is asked, until `stopping` is set."""
    listening.settimeout(_POLL)
    while not stopping.is_set():
        with suppress(TimeoutError):
            connection, _ = listening.accept()
            with connection:
                connection.settimeout(_STALLED)
                _answer(connection, answering)


def _answer(connection: socket.socket, answering: Answering) -> None:
    try:
        question = received(connection)
        connection.sendall(packed(_answered(question, answering)))
    except (OSError, ValueError) as error:  # whoever asked has gone, or has asked nothing that can be read
        log.warning("not answered", extra={"reason": str(error)})


def _answered(question: Message, answering: Answering) -> Message:
    try:
        return answering.answer(question)
    except ImpossibleInfosetError as error:
        return {"impossible": str(error), "nearest": error.nearest}
    except PtttError as error:
        return {"refused": str(error)}
    except Exception:  # the next question may well have an answer
        log.exception("a question failed")
        return {"refused": _BROKEN}


def main() -> None:
    """Answer on the open socket number SOCKET, with profiles in DIRECTORY; the parent holds the other end of stdin.

    Arguments: DIRECTORY SOCKET GAME INDICES.
    """
    keep_private()  # strategies of teams, prepared, are as secret as their files
    start_logging("answerer")
    code = 0
    with suppress(KeyboardInterrupt):
        code = _main(threading.Event(), *sys.argv[1:])
    sys.exit(code)


def _main(stopping: threading.Event, directory: str, descriptor: str, game: str, indices: str) -> int:
    interrupt_on_signals(stopping)  # while it gets ready, which may take minutes
    watch_parent()
    with socket.socket(fileno=int(descriptor)) as listening:
        try:
            with lines_logged(log):
                ensure_compiled()
                warm_up()
            answering = Answering(Path(directory), game, Path(indices))
        except PtttError as error:
            log.error(str(error))
            return 1
        with closing(answering):
            handle_signals(stopping)
            log.info("ready")
            answer_all(listening, answering, stopping)
    return 0


if __name__ == "__main__":
    main()
