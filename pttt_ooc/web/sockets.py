"""What uvicorn and h11 take too lightly: how lines end, and how a connection ends."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import h11
from h11._receivebuffer import ReceiveBuffer

_ODD_END = re.compile(rb"(?<!\r)\n|\n[ \t]")


class StrictLines(ReceiveBuffer):
    """What has come over a connection; the lines of heads and trailers end with CRLF, and each is a field of its own.

    h11 also takes a line feed alone, and fields that go on in the next line.  A proxy may read these otherwise, and see
    other requests than this server: RFC 9112, sections 2.2 and 5.2.
    """

    def __init__(self) -> None:
        super().__init__()
        self._taken = bytearray()

    def _extract(self, count: int) -> bytearray:
        self._taken = super()._extract(count)
        return self._taken

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines up to the first blank one, once that is there; RemoteProtocolError if one ends otherwise."""
        lines = super().maybe_extract_lines()
        if lines is not None and _ODD_END.search(self._taken):
            raise h11.RemoteProtocolError("a line ends with a line feed alone, or goes on in the next line")
        return lines


class LingeringTransport:
    """A transport whose end does not take the last answer away from a client that is still sending.

    A socket that is closed while something unread is in it resets the connection, and a reset makes the client's system
    throw away what the client has not read.  So only our half is closed, and what comes is thrown away, until the
    client closes its half, or somebody aborts the connection.

    Parameters
    ----------
    is_being_sent_to
        Whether the client may still be sending.
    linger
        Called when only our half is closed; has to see to it that the wait ends.
    """

    def __init__(
        self, transport: asyncio.Transport, is_being_sent_to: Callable[[], bool], linger: Callable[[], None]
    ) -> None:
        self._transport, self._is_being_sent_to, self._linger = transport, is_being_sent_to, linger
        self._lingers = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        """Whether nothing is written or read any more; what comes while it lingers is for nobody."""
        return self._lingers or self._transport.is_closing()

    def close(self) -> None:
        """Close the connection once all is written and, if the client is still sending, once that has ended."""
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
