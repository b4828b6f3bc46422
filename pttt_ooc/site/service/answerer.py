"""The loop of an answerer, a process that answers the questions of web processes one after the other."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from pttt_ooc.disk.stop_signals import handle_signals, interrupt_on_signals, watch_parent
from pttt_ooc.errors import PtttError
from pttt_ooc.site.service.logs import lines_logged, start_logging
from pttt_ooc.site.service.wire import Message, pack_message, receive_message

log = logging.getLogger("pttt.answerer")
_STOP_CHECK_SECONDS = 0.2  # seconds between two checks whether to stop
_QUESTION_SECONDS = 2.0  # seconds for a question to arrive: the others wait meanwhile
_WAITING = threading.BoundedSemaphore(64)  # threads that wait for results
_BROKEN = "Something went wrong in the answerer; tell those who run it what you did."


@dataclass(frozen=True)
class Later:
    """A result that is worth a short wait: a thread waits for it, and other questions are answered meanwhile.

    Attributes
    ----------
    wait
        Returns when the result is there, or after a bounded time.
    result
        Returns the result as it is then.  Where too many threads wait already, it is called at once.
        Both are called in a thread of their own.
    """

    wait: Callable[[], object]
    result: Callable[[], Any]


class Answers(Protocol):
    """Answers questions."""

    def answer(self, question: Message) -> Message:
        """The answer to a question; a PtttError says why there is none."""


class AnswersByKind:
    """Answers questions of several kinds, each with its own function.

    Parameters
    ----------
    known
        The function for each kind; a question names its kind as ``ask``.
    """

    def __init__(self, known: Mapping[str, Callable[[Message], Message]]) -> None:
        self._known = known

    def answer(self, question: Message) -> Message:
        """The answer to a question.

        Raises
        ------
        PtttError
            If there is none; the message says why.
        """
        return self._known[question["ask"]](question)


def methods(*given: Callable[..., Any]) -> dict[str, Callable[[Message], Message]]:
    """The kinds of questions that :class:`~pttt_ooc.site.service.wire.StandIn` asks: the names of methods.

    A method may return a :class:`Later`.
    """

    def make_answer(method: Callable[..., Any]) -> Callable[[Message], Message]:
        return lambda question: {"result": method(*question["arguments"], **question["named"])}

    return {method.__name__: make_answer(method) for method in given}


def answer_until_stopped(descriptor: str, make: Callable[[], AbstractContextManager[Answers]]) -> NoReturn:
    """Answer on the open socket number `descriptor` until the process is stopped, then end the process.

    Parameters
    ----------
    make
        Prepares the answers, which may take minutes.
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
            if stopping.is_set():  # the compiler may turn an interrupt into an error of its own
                return 0
            raise
        handle_signals(stopping)
        log.info("ready")
        answer_all(listening, answering, stopping)
    return 0


def answer_all(listening: socket.socket, answering: Answers, stopping: threading.Event) -> None:
    """Answer all questions until `stopping` is set."""
    listening.settimeout(_STOP_CHECK_SECONDS)
    while not stopping.is_set():
        with suppress(TimeoutError):
            connection, _ = listening.accept()
            connection.settimeout(_QUESTION_SECONDS)
            _answer(connection, answering)


def _answer(connection: socket.socket, answering: Answers) -> None:
    """Answer the question of a connection, which is closed then."""
    with ExitStack() as stack:
        stack.enter_context(connection)
        try:
            question = receive_message(connection)
        except (OSError, ValueError) as error:  # the client is gone, or the question cannot be read
            _warn(error)
            return
        message = _answer_or_refuse(lambda: answering.answer(question))
        later = message.get("result")
        if not isinstance(later, Later):
            _send(connection, message)
        elif _WAITING.acquire(blocking=False):
            threading.Thread(target=_answer_later, args=(stack.pop_all(), connection, later), daemon=True).start()
        else:
            _send(connection, _answer_or_refuse(lambda: {"result": later.result()}))


def _answer_later(stack: ExitStack, connection: socket.socket, later: Later) -> None:
    def result() -> Message:
        later.wait()
        return {"result": later.result()}

    with stack:
        try:
            _send(connection, _answer_or_refuse(result))
        finally:
            _WAITING.release()


def _send(connection: socket.socket, message: Message) -> None:
    try:
        connection.sendall(pack_message(message))
    except (OSError, ValueError) as error:
        _warn(error)


def _warn(error: Exception) -> None:
    log.warning("not answered", extra={"reason": str(error)})


def _answer_or_refuse(answer: Callable[[], Message]) -> Message:
    try:
        return answer()
    except PtttError as error:
        return {"refused": str(error), "details": dict(error.details)}
    except Exception:  # the next question may well have an answer
        log.exception("a question failed")
        return {"refused": _BROKEN, "details": {}}
