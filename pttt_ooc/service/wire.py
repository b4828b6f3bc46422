"""How the web process speaks to the answerer: one question and one answer for each connection over a Unix socket.

A message is its length, four bytes with the highest first, and then JSON.  The queue of questions is the socket's own
backlog: it is bounded, and it outlives an answerer that has to be started again.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pttt_ooc.errors import PtttError

BACKLOG = 64
"""Questions that wait at most."""

_LARGEST = 1 << 22  # bytes of a message
_LENGTH = struct.Struct(">I")
_SECONDS = 10.0  # from a question to its answer

Message = dict[str, Any]


class BusyError(PtttError):
    """The answerer has too much to do, or is just being started again."""

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
    """A socket for an answerer, which it inherits, with its address, in a directory that only this user can enter."""
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
        Address of its socket.
    seconds
        How long an answer is waited for.
    """

    def __init__(self, path: Path, seconds: float = _SECONDS) -> None:
        self._path, self._seconds = path, seconds

    async def ask(self, what: str, **facts: Any) -> Message:
        """The answer to a question.

        Raises
        ------
        BusyError
            If it does not come in time.
        RefusedError
            If the answerer says why there is none.
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
        """The same, for a thread of an asynchronous application."""
        from anyio import from_thread  # the processes that only listen need no web server

        return from_thread.run(partial(self.ask, what, **facts))

    async def _exchange(self, question: Message) -> Message:
        reader, writer = await asyncio.open_unix_connection(self._path)
        try:
            writer.write(packed(question))
            await writer.drain()
            [length] = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
            return _unpacked(await reader.readexactly(length))
        finally:
            writer.close()


def packed(message: Message) -> bytes:
    """A message as bytes."""
    data = json.dumps(message, allow_nan=False).encode()
    return _LENGTH.pack(len(data)) + data


def received(connection: socket.socket) -> Message:
    """The message that comes over a connection.

    Raises
    ------
    OSError
        If it does not come whole.
    ValueError
        If it is none.
    """
    [length] = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > _LARGEST:
        raise ValueError(f"a message of {length} bytes")
    return _unpacked(_exactly(connection, length))


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ConnectionError("the message ends early")
        data += more
    return data


def _unpacked(data: bytes) -> Message:
    message = json.loads(data)
    if not isinstance(message, dict):
        raise ValueError("a message is an object")
    return message
