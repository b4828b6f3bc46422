"""The loop of an answerer: a process that knows numbers, and answers web processes one question after the other."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import NoReturn, Protocol

from pttt_ooc.disk.stop_signals import handle_signals, interrupt_on_signals, watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.service.logs import lines_logged, start_logging
from pttt_ooc.service.wire import Message, packed, received

log = logging.getLogger("pttt.answerer")
_POLL = 0.2  # seconds between two looks at whether to stop
_STALLED = 2.0  # seconds after which a connection that says nothing is dropped: the others wait meanwhile
_BROKEN = "Something went wrong in the answerer; tell those who run it what you did."


class Answers(Protocol):
    """What knows the answers."""

    def answer(self, question: Message) -> Message:
        """The answer to a question; a PtttError if there is none, whose sentence says why."""


class ByKind:
    """Answers questions of several kinds, each by a function of its own.

    Parameters
    ----------
    known
        The function for each kind, which a question names as ``ask``.
    """

    def __init__(self, known: Mapping[str, Callable[[Message], Message]]) -> None:
        self._known = known

    def answer(self, question: Message) -> Message:
        """The answer to a question.

        Raises
        ------
        PtttError
            If there is none; the sentence says why.
        """
        return self._known[question["ask"]](question)


def answer_until_stopped(descriptor: str, make: Callable[[], AbstractContextManager[Answers]]) -> NoReturn:
    """Get ready, and answer on the open socket number `descriptor` until the process is stopped, which this ends.

    Parameters
    ----------
    make
        Makes what knows the answers, which may take minutes.
    """
    start_logging("answerer")
    code = 0
    with suppress(KeyboardInterrupt):
        code = _answer_until(threading.Event(), descriptor, make)
    sys.exit(code)


def _answer_until(
    stopping: threading.Event, descriptor: str, make: Callable[[], AbstractContextManager[Answers]]
) -> int:
    interrupt_on_signals(stopping)  # while it gets ready
    watch_parent()
    with socket.socket(fileno=int(descriptor)) as listening, ExitStack() as stack:
        try:
            with lines_logged(log):
                answering = stack.enter_context(make())
        except PtttError as error:
            log.error(str(error))
            return 1
        except Exception:
            if stopping.is_set():  # an interrupt amid a compilation may come out of the compiler as an error of its own
                return 0
            raise
        handle_signals(stopping)
        log.info("ready")
        answer_all(listening, answering, stopping)
    return 0


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
    except PtttError as error:
        return {"refused": str(error), "details": dict(error.details)}
    except Exception:  # the next question may well have an answer
        log.exception("a question failed")
        return {"refused": _BROKEN, "details": {}}
