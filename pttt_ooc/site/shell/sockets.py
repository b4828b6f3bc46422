"""Ends of lines and of connections, more strictly than uvicorn and h11."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import h11
from h11._receivebuffer import ReceiveBuffer

_ODD_END = re.compile(rb"(?<!\r)\n|\n[ \t]")


class StrictLines(ReceiveBuffer):
    """Received data, in which lines of heads and trailers have to end with CRLF, and each has to be a whole field.

    h11 also accepts a line feed alone, and fields that continue in the next line.  A proxy may read these differently,
    and see other requests than this server: RFC 9112, sections 2.2 and 5.2.
    """

    def __init__(self) -> None:
        super().__init__()
        self._taken = bytearray()

    def _extract(self, count: int) -> bytearray:
        self._taken = super()._extract(count)
        return self._taken

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines before the first blank line, once it has arrived; RemoteProtocolError if a line ends wrongly."""
        lines = super().maybe_extract_lines()
        if lines is not None and _ODD_END.search(self._taken):
            raise h11.RemoteProtocolError("a line ends with a line feed alone, or goes on in the next line")
        return lines


class LingeringTransport:
    """A transport that closes without losing the last answer to a client that is still sending.

    Closing a socket with unread data resets the connection, and after a reset the client's system discards what the
    client has not read.  So only our half is closed, and data is discarded until the client closes its half, or the
    connection is aborted.

    Parameters
    ----------
    is_being_sent_to
        Whether the client may still be sending.
    linger
        Called when only our half is closed; it has to end the wait.
    resume
        Called before it is read from again.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        is_being_sent_to: Callable[[], bool],
        linger: Callable[[], None],
        resume: Callable[[], None],
    ) -> None:
        self._transport, self._is_being_sent_to, self._linger = transport, is_being_sent_to, linger
        self._resume, self._lingers = resume, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Whether nothing is written or read any more; data that arrives while it lingers is discarded."""
        return self._lingers or self._transport.is_closing()

    def resume_reading(self) -> None:
        """Read again, after a pause."""
        self._resume()
        self._transport.resume_reading()

    def close(self) -> None:
        """Close the connection when all is written and the client has stopped sending."""
        if self.is_closing() or not self._is_being_sent_to():
            self._transport.close()
            return
        self._lingers = True
        try:
            self._transport.write_eof()
        except OSError:  # it is gone already
            self._transport.abort()
            return
        self._transport.resume_reading()
        self._linger()
