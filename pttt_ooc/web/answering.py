"""The loop of an answerer: a process that knows numbers, and answers web processes one question after the other."""

from __future__ import annotations

import logging
import socket
import threading
from contextlib import suppress
from typing import Protocol

from pttt_ooc.errors import ImpossibleInfosetError, PtttError
from pttt_ooc.web.wire import Message, packed, received

log = logging.getLogger("pttt.web.answering")
_POLL = 0.2  # seconds between two looks at whether to stop
_STALLED = 2.0  # seconds after which a connection that says nothing is dropped: the others wait meanwhile
_BROKEN = "Something went wrong in the answerer; tell those who run it what you did."


class Answers(Protocol):
    """What knows the answers."""

    def answer(self, question: Message) -> Message:
        """The answer to a question; a PtttError if there is none, whose sentence says why."""


def answer_all(listening: socket.socket, answering: Answers, stopping: threading.Event) -> None:
    """Answer whatever is asked, until `stopping` is set."""
    listening.settimeout(_POLL)
    while not stopping.is_set():
        with suppress(TimeoutError):
            connection, _ = listening.accept()
            with connection:
                connection.settimeout(_STALLED)
                _answer(connection, answering)


def _answer(connection: socket.socket, answering: Answers) -> None:
    try:
        question = received(connection)
        connection.sendall(packed(_answered(question, answering)))
    except (OSError, ValueError) as error:  # whoever asked has gone, or has asked nothing that can be read
        log.warning("not answered", extra={"reason": str(error)})


def _answered(question: Message, answering: Answers) -> Message:
    try:
        return answering.answer(question)
    except ImpossibleInfosetError as error:
        return {"impossible": str(error), "nearest": error.nearest}
    except PtttError as error:
        return {"refused": str(error)}
    except Exception:  # the next question may well have an answer
        log.exception("a question failed")
        return {"refused": _BROKEN}
