"""Connections: uvicorn's HTTP/1.1, with limits on all that a client can leave unfinished.

A request's head has to arrive, and its answer has to be read, within limits of time.  The application limits the time
for bodies.  A client that is still sending when its answer is ready can still read the answer.  The number of
connections is limited, per address and in all: beyond it, a new connection replaces the one that has waited longest for
the head of a request.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import h11
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

from pttt_ooc.site.shell.arrival import ARRIVAL, Arrival
from pttt_ooc.site.shell.throttle import network_of

_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 5\r\n"
    b"Content-Length: 58\r\nConnection: close\r\n\r\nThere are too many connections; close some, or wait a bit.\n"
)


@dataclass
class Door:
    """The limits that all connections share.

    Parameters
    ----------
    per_address, total
        Most connections that are open at the same time.
    trusted
        Networks of reverse proxies, whose addresses have no limit.
    head_seconds
        Seconds for the head of a request, from the connection's beginning or the previous answer's end.
    reading_seconds
        Seconds for a client to read its answer, and to finish sending after it.
    """

    per_address: int
    total: int
    trusted: tuple[str, ...] = ()
    head_seconds: float = 15.0
    reading_seconds: float = 60.0
    _open: dict[str, dict[Connection, None]] = field(default_factory=lambda: defaultdict(dict), init=False)

    def __len__(self) -> int:
        return sum(map(len, self._open.values()))

    def enter(self, connection: Connection, address: str) -> bool:
        """Admit a connection; returns whether there is space for it."""
        mine = self._open.get(address, {})
        full = len(self) >= self.total
        if full or (len(mine) >= self.per_address and not self._is_trusted(address)):
            everybody = (c for those in self._open.values() for c in those) if full else mine
            idle = min((c for c in everybody if c.waits_for_head), key=lambda c: c.since, default=None)
            if idle is None:
                return False
            self.leave(idle, idle.address)
            idle.transport.abort()
        self._open[address][connection] = None
        return True

    def leave(self, connection: Connection, address: str) -> None:
        """Forget a connection."""
        mine = self._open.get(address, {})
        mine.pop(connection, None)
        if not mine:
            self._open.pop(address, None)

    def _is_trusted(self, address: str) -> bool:
        try:
            found = ipaddress.ip_network(address)
        except ValueError:
            return False
        networks = map(ipaddress.ip_network, self.trusted)
        return any(n.version == found.version and n.overlaps(found) for n in networks)


class Connection(H11Protocol):
    """One connection.

    Attributes
    ----------
    address
        The client's address, or its network.
    waits_for_head
        Whether it waits for the head of a request, or the rest of a head.
    since
        The time when this began, in seconds of the event loop's clock.
    """

    def __init__(self, door: Door, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.conn._receive_buffer = StrictLines()
        self._door = door
        self.address, self.waits_for_head, self.since = "unknown", False, 0.0
        self._arrival = Arrival()  # of the latest request
        self._head: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit or refuse the connection."""
        lingering = LingeringTransport(transport, self._is_being_sent_to, self._start_reading, self._read_again)
        super().connection_made(lingering)  # type: ignore[arg-type]
        self.address = network_of(self.client[0] if self.client else None)
        if not self._door.enter(self, self.address):
            transport.write(_BUSY)
            transport.close()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the door, and stop the clocks."""
        super().connection_lost(exc)
        self._door.leave(self, self.address)
        for timer in (self._head, self._reading):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Read what has arrived."""
        if not self.transport.is_closing():
            if self.conn.their_state is h11.SEND_BODY:
                self._arrival.come()
            super().data_received(data)
            self._look()

    def on_response_complete(self) -> None:
        """Begin the next request."""
        super().on_response_complete()
        self._look()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._look()

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request, end the connection, and tell the application that its client is gone."""
        begun = self.cycle is not None and not self.cycle.response_complete
        if begun:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def shutdown(self) -> None:
        """Called when the server stops."""
        if self.transport.is_closing() or self.conn.our_state is h11.ERROR:
            self.transport.abort()
        else:
            super().shutdown()

    def _is_being_sent_to(self) -> bool:
        """Whether the client may be sending a request, or something malformed."""
        return self.conn.their_state in (h11.SEND_BODY, h11.ERROR)

    # -----------------------------------------------------------------------------------------
    # Time

    def _look(self) -> None:
        """Start or stop the clocks; called after every event."""
        if self.cycle is not None and ARRIVAL not in self.cycle.scope:  # its head has just come
            cast(dict[str, Any], self.cycle.scope)[ARRIVAL] = self._arrival = Arrival()
        closing = self.transport.is_closing()
        waits = not closing and self.conn.their_state is h11.IDLE
        if waits and not self.waits_for_head:
            self.since = self.loop.time()
            self._head = self.loop.call_later(self._door.head_seconds, self._head_is_late)
        elif not waits and self._head is not None:
            self._head.cancel()
            self._head = None
        self.waits_for_head = waits
        if closing:
            self._start_reading()

    def _read_again(self) -> None:
        self._arrival.resume()

    def _head_is_late(self) -> None:
        if self.conn.trailing_data[0]:
            self.send_408_response()
        else:
            self.transport.close()
        self._look()

    def send_408_response(self) -> None:
        """Answer that the head of the request is late, and end the connection."""
        self.transport.write(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        self.transport.close()

    def pause_writing(self) -> None:
        """Called when the client does not read."""
        super().pause_writing()
        self._start_reading()

    def resume_writing(self) -> None:
        """Called when the client reads again."""
        super().resume_writing()
        if self._reading is not None and not self.transport.is_closing():
            self._reading.cancel()
            self._reading = None

    def _start_reading(self) -> None:
        if self._reading is None:
            self._reading = self.loop.call_later(self._door.reading_seconds, self.transport.abort)


# ---------------------------------------------------------------------------------------------
# Ends of lines and of connections, more strictly than uvicorn and h11


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
        Called before reading goes on.
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
