"""Clients with odd ends of lines, and clients that are still sending when their answer comes."""

import http.client
import json
import socket
import threading

import pytest
from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from pttt_ooc.site.shell import layers
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.forms import own_json
from pttt_ooc.site.shell.parts import Link, Part
from pttt_ooc.site.shell.protocol import LingeringTransport
from pttt_ooc.site.shell.server import make_server
from pttt_ooc.site.shell.shell import Shell
from tests.kits.patience import PATIENCE, wait_until

LARGE = 20_000_000  # bytes: more than the buffers of both ends hold


class Served:
    """A shell with one address that takes JSON, in a thread of this process."""

    def __init__(self, directory):
        router = APIRouter(prefix="/api")

        @router.post("/words")
        async def words(request: Request) -> dict[str, int]:
            return {"words": len(await own_json(request))}

        @router.post("/broken")
        async def broken() -> StreamingResponse:
            async def pieces():
                yield "a"
                raise OSError("broken off")

            return StreamingResponse(pieces())

        part = Part("words", directory, [router], [Link("/api/docs", "Words")])
        self.server = make_server(make_application(Shell("Title", "game", [part])), connections=40)
        self.door = self.server.config.http.args[0]
        listening = socket.create_server(("127.0.0.1", 0))
        self.address = listening.getsockname()
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]}, daemon=True)
        self.thread.start()

    def connect(self):
        return socket.create_connection(self.address, timeout=PATIENCE)

    def say(self, data):
        """All that comes back for some bytes, until the server closes the connection."""
        with self.connect() as client:
            client.sendall(data)
            return all_of(client)

    def close(self):
        self.server.should_exit = True
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()


def all_of(client):
    got = b""
    while data := client.recv(1 << 16):
        got += data
    return got


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Served(tmp_path_factory.mktemp("words"))
    yield made
    made.close()


END = b"Connection: close\r\n\r\n"
HIDDEN = b"GET /robots.txt HTTP/1.1\r\nHost: a\r\n" + END
POST = b"POST /api/words HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /robots.txt HTTP/1.1\nHost: a\r\n" + END,
        b"GET /robots.txt HTTP/1.1\r\nHost: a\n" + END,
        b"GET /robots.txt HTTP/1.1\r\nHost: a\r\n\n" + HIDDEN,
        b"GET /robots.txt HTTP/1.1\r\nHost: a\n\r\n" + HIDDEN,
        b"GET /robots.txt HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n" + END,
        b"GET /robots.txt HTTP/1.1\r\nHost: a\r\nX: a\r\n\tb\r\n" + END,
        b"GET /robots.txt HTTP/1.1\r\nHost: a\r\nX:\r\n Content-Length: 99\r\n" + END,
        CHUNKED + b"\n" + HIDDEN,
        CHUNKED + b"X: a\n\r\n" + HIDDEN,
        CHUNKED + b"X: a\r\n b\r\n\r\n" + HIDDEN,
    ],
)
def test_ambiguous_lines_are_refused(served, request_):
    answer = served.say(request_)
    assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1 ") == 1, answer


def test_correct_lines_are_read(served):
    for request in (HIDDEN, CHUNKED + b"X: a\r\nY: b\r\n\r\n" + HIDDEN, CHUNKED + b"\r\n" + HIDDEN):
        answer = served.say(request)
        assert answer.count(b"HTTP/1.1 200 ") == request.count(b"HTTP/1.1"), answer


@pytest.mark.parametrize("length", [8193, LARGE])
@pytest.mark.parametrize("chunked", [False, True])
def test_the_answer_to_too_much_json_is_read(served, length, chunked):
    """This client looks for an answer only after it has sent everything, as most do."""
    connection = http.client.HTTPConnection(*served.address, timeout=PATIENCE)
    body = b'"' + b"a" * (length - 2) + b'"'
    sent = iter([body]) if chunked else body
    connection.request("POST", "/api/words", sent, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    assert answer.status == 413 and "longer than" in json.loads(answer.read())["error"]
    connection.close()


def test_the_answer_to_a_malformed_request_is_read(served):
    with served.connect() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * LARGE)
        assert all_of(client).startswith(b"HTTP/1.1 400 ")


def test_a_client_cannot_send_for_ever(served, monkeypatch):
    monkeypatch.setattr(served.door, "reading_seconds", 0.2)
    with served.connect() as client, pytest.raises(ConnectionError):
        client.sendall(POST + b"Content-Length: %d\r\n\r\n" % 10**12)
        while True:
            client.sendall(bytes(1 << 16))
    wait_until(lambda: len(served.door) == 0)


@pytest.mark.slow
def test_a_broken_answer_ends_although_the_client_is_sending(served, monkeypatch):
    monkeypatch.setattr(served.door, "reading_seconds", 0.2)
    with served.connect() as client:
        client.sendall(POST.replace(b"words", b"broken") + b"Content-Length: 10000\r\n\r\n" + bytes(9_000))
        assert client.recv(1 << 16)
        wait_until(lambda: len(served.door) == 0)


def test_a_client_that_has_sent_everything_does_not_wait(served, monkeypatch):
    monkeypatch.setattr(served.door, "reading_seconds", 10 * PATIENCE)
    with served.connect() as client:
        client.sendall(HIDDEN)
        assert b" 200 " in all_of(client)
        wait_until(lambda: len(served.door) == 0)


def test_a_stopping_server_does_not_wait_for_senders(tmp_path, monkeypatch):
    monkeypatch.setattr(layers, "_DRAIN_PAUSE", 0.05)
    served = Served(tmp_path)
    with served.connect() as client:
        client.sendall(POST + b"Content-Length: %d\r\n\r\n" % LARGE + bytes(1 << 16))
        assert b" 413 " in client.recv(1 << 16)
        wait_until(lambda: any(c.transport.is_closing() for c in list(served.server.server_state.connections)))
        served.close()


def test_a_connection_that_is_gone_does_not_linger():
    class Gone:
        aborted = False

        def is_closing(self):
            return False

        def write_eof(self):
            raise OSError("the transport endpoint is not connected")

        def abort(self):
            self.aborted = True

    waits, gone = [], Gone()
    LingeringTransport(gone, lambda: True, lambda: waits.append(1), lambda: None).close()
    assert gone.aborted and not waits
