"""Connections, their limits and timers, and the gate around requests; without sockets."""

import asyncio
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
import uvicorn
from uvicorn.server import ServerState

from pttt_ooc.site.shell import layers, server
from pttt_ooc.site.shell.protocol import Connection, Door

REQUEST = b"GET / HTTP/1.1\r\nHost: somebody\r\n\r\n"


class Transport:
    """The side of a connection that asyncio has, and what was done to it."""

    def __init__(self, address="10.0.0.1"):
        self.sent, self.closed, self.aborted, self.address = b"", False, False, address

    def get_extra_info(self, name, default=None):
        return {"peername": (self.address, 1234), "sockname": ("10.9.9.9", 80)}.get(name, default)

    def write(self, data):
        self.sent += data

    def close(self):
        self.closed = True

    def abort(self):
        self.closed = self.aborted = True

    def is_closing(self):
        return self.closed

    def pause_reading(self):
        pass

    resume_reading = write_eof = pause_reading


class Clock:
    """A loop whose time stands still until it is moved on."""

    def __init__(self):
        self.now, self.waiting, self.tasks = 100.0, [], []

    def time(self):
        return self.now

    def call_later(self, seconds, call, *arguments):
        timer = SimpleNamespace(at=self.now + seconds, call=lambda: call(*arguments))
        timer.cancel = lambda: timer in self.waiting and self.waiting.remove(timer)
        self.waiting.append(timer)
        return timer

    def create_task(self, coroutine, **_):
        coroutine.close()
        return Mock()

    def pass_by(self, seconds):
        self.now += seconds
        for timer in sorted((t for t in self.waiting if t.at <= self.now), key=lambda t: t.at):
            if timer in self.waiting:
                self.waiting.remove(timer)
                timer.call()


async def application(scope, receive, send):
    raise AssertionError("nobody runs it here")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def connect(clock):
    config = uvicorn.Config(application, log_config=None, ws="none", lifespan="off")

    def opened(door, address="10.0.0.1"):
        parameters = {"config": config, "server_state": ServerState(), "app_state": {}, "_loop": clock}
        connection = Connection(door, **parameters)
        connection.at = Transport(address)
        connection.connection_made(connection.at)
        clock.now += 1
        return connection

    return opened


def test_the_longest_waiting_connection_is_replaced(connect):
    door = Door(per_address=2, total=10)
    first, second, third = (connect(door) for _ in range(3))
    assert (first.at.aborted, second.at.aborted, third.at.closed) == (True, False, False) and len(door) == 2
    assert connect(door, "10.0.0.2") and not second.at.closed, "another address has its own limit"


def test_the_total_number_of_connections_is_limited(connect):
    door = Door(per_address=10, total=3)
    opened = [connect(door, f"10.0.0.{n}") for n in range(3)]
    assert len(door) == 3 and not any(one.at.closed for one in opened)
    assert not connect(door, "10.0.0.9").at.closed
    assert [one.at.aborted for one in opened] == [True, False, False] and len(door) == 3


def test_a_server_limits_connections_from_an_address_and_in_all(connect):
    door = server.make_server(None, connections=3, per_address=1, trusted_proxies=["10.0.0.9"]).config.http.args[0]
    assert (door.per_address, door.total, door.trusted) == (1, 3, ("10.0.0.9",))
    first, second, other = (connect(door, f"10.0.0.{n}") for n in (1, 1, 2))
    assert (first.at.aborted, second.at.closed, other.at.closed) == (True, False, False)


def test_a_connection_with_a_request_is_not_replaced(connect):
    door = Door(per_address=1, total=10)
    busy = connect(door)
    busy.data_received(REQUEST)
    refused = connect(door)
    assert refused.at.closed and b" 503 " in refused.at.sent and not busy.at.closed and len(door) == 1
    busy.connection_lost(None)
    assert len(door) == 0 and not connect(door).at.closed


def test_a_trusted_proxy_has_the_limit_of_all(connect):
    door = Door(per_address=1, total=3, trusted=("10.0.0.0/24", "fd00::/8"))
    opened = [connect(door) for _ in range(3)]
    assert len(door) == 3 and not any(one.at.closed for one in opened)
    strangers = [connect(Door(1, 3, ("10.0.0.0/24",)), "10.0.1.1")]
    assert len(strangers[0]._door) == 1


def test_the_head_of_a_request_has_a_time_limit(connect, clock):
    silent, half, whole = (connect(Door(9, 9, head_seconds=15.0)) for _ in range(3))
    half.data_received(REQUEST[:9])
    whole.data_received(REQUEST)
    clock.pass_by(11)
    assert not half.at.closed
    clock.pass_by(5)
    assert half.at.closed and b" 408 " in half.at.sent
    assert silent.at.closed and silent.at.sent == b"" and not whole.at.closed


def test_a_client_that_does_not_read_has_a_time_limit_which_reading_renews(connect, clock):
    reads, does_not = (connect(Door(9, 9, head_seconds=1e9, reading_seconds=60.0)) for _ in range(2))
    for one in (reads, does_not):
        one.data_received(REQUEST)
        one.pause_writing()
    clock.pass_by(59)
    reads.resume_writing()
    clock.pass_by(2)
    assert does_not.at.aborted and not reads.at.closed
    reads.pause_writing()
    clock.pass_by(59)
    assert not reads.at.closed, "it has all its time again"
    clock.pass_by(2)
    assert reads.at.aborted


def test_a_closed_connection_leaves_no_timer(connect, clock):
    waits, stuck = (connect(Door(9, 9)) for _ in range(2))
    stuck.data_received(REQUEST)
    stuck.pause_writing()
    assert len(clock.waiting) == 2
    for one in (waits, stuck):
        one.connection_lost(OSError())
    assert clock.waiting == []
    assert not waits._door._open, "nor its address"


def test_the_application_hears_of_a_malformed_body(connect):
    """Amid a request: its body is not what the head says."""
    connection = connect(Door(9, 9))
    connection.data_received(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert not connection.cycle.disconnected and not connection.cycle.message_event.is_set()
    connection.data_received(b"no chunk\r\n")
    assert connection.cycle.disconnected and connection.cycle.message_event.is_set()
    assert b" 400 " in connection.at.sent


# ---------------------------------------------------------------------------------------------
# Proxies that are not named in the settings


@pytest.mark.parametrize(
    ("proxies", "client", "headers", "warnings"),
    [
        (False, ("127.0.0.1", 5), [(b"x-forwarded-for", b"10.1.1.1")], 1),
        (False, ("::1", 5), [(b"x-forwarded-for", b"10.1.1.1")], 1),
        (False, ("10.2.2.2", 5), [(b"x-forwarded-for", b"10.1.1.1")], 0),  # anybody may send the header
        (False, None, [(b"x-forwarded-for", b"10.1.1.1")], 0),
        (False, ("127.0.0.1", 5), [], 0),
        (True, ("127.0.0.1", 5), [(b"x-forwarded-for", b"10.1.1.1")], 0),
    ],
)
def test_an_untrusted_proxy_is_reported_once(caplog, proxies, client, headers, warnings):
    async def answers(scope, receive, send):
        pass

    scope = {"type": "http", "http_version": "1.1", "method": "GET", "path": "/", "client": client, "headers": headers}
    made = layers.Gate(answers, 100, proxies)
    for _ in range(2):
        asyncio.run(made(scope, None, None))
    assert [record.getMessage() for record in caplog.records] == [
        "a proxy sends X-Forwarded-For, but is not among the trusted proxies"
    ] * warnings


# ---------------------------------------------------------------------------------------------
# Bodies that nobody has read


def answered(parts, status, expect=None, drained=100):
    """The answer's headers and how much of the body was read, if the application does not read it."""
    scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": "/", "client": None}
    scope["headers"] = [(b"host", b"x"), (b"transfer-encoding", b"chunked")]
    if expect:
        scope["headers"].append((b"expect", expect))
    left, sent = list(parts), []

    async def receive():
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message):
        sent.append(message)

    async def early(scope, receive, send):
        await send({"type": "http.response.start", "status": status, "headers": []})

    asyncio.run(layers.Gate(early, drained, True)(scope, receive, send))
    return dict(sent[0]["headers"]), len(parts) - len(left)


def test_the_rest_of_a_body_is_read_before_an_early_answer():
    assert answered([b"x" * 30] * 3, 403) == ({}, 3)
    assert answered([b"x" * 30] * 9, 403) == ({b"connection": b"close"}, 4)  # no more than about 100 bytes
    assert answered([b"x" * 50, b"x" * 50, b""], 403) == ({}, 3)  # 100 bytes are read, and that they are all
    assert answered([b"x" * 50, b"x" * 51, b""], 403) == ({b"connection": b"close"}, 2)


def test_a_late_body_gets_no_second_wait():
    assert answered([b"x"] * 3, 408) == ({b"connection": b"close"}, 0)
    assert answered([b"x"] * 3, 409) == ({}, 3)


def test_a_body_that_waits_for_permission_is_never_sent():
    assert answered([b"x"] * 3, 403, b"100-Continue") == ({b"connection": b"close"}, 0)


@pytest.mark.parametrize(
    ("limits", "connections", "raised"),
    [
        ((1024, 1024), 412, []),
        ((1024, 5000), 1000, [(2200, 5000)]),
        ((1024, -1), 1000, [(2200, -1)]),
        ((-1, -1), 1000, []),
        ((64, 100), 16, [(100, 100)]),
    ],
)
def test_as_many_connections_as_the_system_lets_a_process_open_files_for(monkeypatch, limits, connections, raised):
    """Two files for each, and 200 for all else; 16 connections at least."""
    told = []
    kinds = {"RLIMIT_NOFILE": "files", "RLIM_INFINITY": -1}
    calls = {"getrlimit": {"files": limits}.get, "setrlimit": lambda kind, both: told.append(both)}
    monkeypatch.setattr(server, "resource", SimpleNamespace(**kinds, **calls))
    monkeypatch.setattr(server.sys, "setswitchinterval", lambda seconds: None)
    assert server.prepare_process() == connections and told == raised
