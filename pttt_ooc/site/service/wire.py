"""The protocol between web process and answerer: one question and one answer per connection over a Unix socket.

A message is its length, as four big-endian bytes, and then JSON.  The socket's backlog is the queue of questions: it is
bounded, and it survives a restart of the answerer.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pttt_ooc.errors import PtttError

BACKLOG = 64
"""Most questions that wait."""

_LARGEST = 1 << 22  # bytes of a message
_LENGTH = struct.Struct(">I")
_ANSWER_SECONDS = 10.0  # seconds from a question to its answer

Message = dict[str, Any]


class BusyError(PtttError):
    """The answerer is busy or restarting."""

    def __init__(self) -> None:
        super().__init__(
            "This is still getting ready, or too many questions are being asked; try again in a few seconds."
        )


class RefusedError(PtttError):
    """The answerer says why there is no answer; see :class:`~pttt_ooc.errors.PtttError` for its details."""

    def __init__(self, sentence: str, details: Mapping[str, Any]) -> None:
        super().__init__(sentence)
        self.details = details


@contextmanager
def listening() -> Iterator[tuple[socket.socket, Path]]:
    """A socket for an answerer to inherit, and its address in a directory that only this user can enter."""
    with tempfile.TemporaryDirectory(prefix="pttt-") as directory, socket.socket(socket.AF_UNIX) as made:
        path = Path(directory) / "answerer"
        made.bind(str(path))
        made.listen(BACKLOG)
        made.set_inheritable(True)
        yield made, path


class Client:
    """Asks the answerer.

    Parameters
    ----------
    path
        The address of its socket.
    seconds
        The longest wait for an answer.
    """

    def __init__(self, path: Path, seconds: float = _ANSWER_SECONDS) -> None:
        self._path, self._seconds = path, seconds

    async def ask(self, what: str, **facts: Any) -> Message:
        """The answer to a question.

        Raises
        ------
        BusyError
            If it does not arrive in time.
        RefusedError
            If there is none; the message says why.
        """
        try:
            async with asyncio.timeout(self._seconds):
                answer = await self._exchange({"ask": what, **facts})
        except (TimeoutError, OSError, asyncio.IncompleteReadError) as error:
            raise BusyError from error
        if "refused" in answer:
            raise RefusedError(answer["refused"], answer["details"])
        return answer

    def ask_from_thread(self, what: str, **facts: Any) -> Message:
        """As :meth:`ask`, from a thread of an asynchronous application."""
        from anyio import from_thread  # a process that only listens does not need anyio

        return from_thread.run(partial(self.ask, what, **facts))

    async def _exchange(self, question: Message) -> Message:
        reader, writer = await asyncio.open_unix_connection(self._path)
        try:
            writer.write(pack_message(question))
            await writer.drain()
            [length] = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
            return _unpack_message(await reader.readexactly(length))
        finally:
            writer.close()


def pack_message(message: Message) -> bytes:
    """A message as bytes."""
    data = json.dumps(message, allow_nan=False).encode()
    return _LENGTH.pack(len(data)) + data


def receive_message(connection: socket.socket) -> Message:
    """The message from a connection.

    Raises
    ------
    OSError
        If it does not arrive whole.
    ValueError
        If it is no message.
    """
    [length] = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > _LARGEST:
        raise ValueError(f"a message of {length} bytes")
    return _unpack_message(_exactly(connection, length))


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ConnectionError("the message ends early")
        data += more
    return data


def _unpack_message(data: bytes) -> Message:
    message = json.loads(data)
    if not isinstance(message, dict):
        raise ValueError("a message is an object")
    return message


# ---------------------------------------------------------------------------------------------
# An object in the process of an answerer


class StandIn:
    """Stands for an object in an answerer's process, and has its :func:`~pttt_ooc.site.service.answerer.methods`.

    Arguments and results are JSON values; methods are called from threads of an asynchronous application.

    Parameters
    ----------
    refused
        The error that a method raises with the sentence of the answerer's PtttError.
    """

    def __init__(self, client: Client, refused: type[PtttError]) -> None:
        self._client, self._refused = client, refused

    async def ask(self, name: str, *arguments: Any, **named: Any) -> Any:
        """What a method returns, asked by a coroutine: a ``Later`` holds no thread."""
        try:
            return (await self._client.ask(name, arguments=arguments, named=named))["result"]
        except RefusedError as error:
            raise self._refused(str(error)) from error

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def ask(*arguments: Any, **named: Any) -> Any:
            try:
                return self._client.ask_from_thread(name, arguments=arguments, named=named)["result"]
            except RefusedError as error:
                raise self._refused(str(error)) from error

        return ask
