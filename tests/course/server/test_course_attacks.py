"""Hostile requests: as raw bytes on a socket, and in this process where that shows the same."""

import asyncio
import errno
import logging
import os
import socket
import time
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine, text
from starlette.requests import Request

from pttt_ooc.course.data import limits, storage
from pttt_ooc.course.pages import uploads
from pttt_ooc.site.shell import forms, layers
from pttt_ooc.site.shell import throttle as throttle_module
from pttt_ooc.site.shell.arrival import Arrival
from pttt_ooc.site.shell.throttle import Throttle, network_of
from tests.course.server_kit import Lab, Served, bearer, form_token, heard, strategy_zip

GOOD = strategy_zip(0, 1)
HEAD = b'--x\r\nContent-Disposition: form-data; name="player"\r\n\r\n0\r\n'
HEAD += b'--x\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
TAIL = b"\r\n--x--\r\n"


# ---------------------------------------------------------------------------------------------
# On a socket


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    made = Served(tmp_path_factory.mktemp("attacked") / "course", connections_per_address=30)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def no_errors_in_the_log(request, caplog):
    """Nothing that a stranger sends is worth a line of the level error, or a traceback."""
    yield
    wrong = [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR or r.exc_info]
    if "may_log" not in request.fixturenames:
        assert not wrong, wrong


@pytest.fixture
def may_log():
    """For tests of what is the server's own trouble."""


def get(path=b"/", headers=b"", method=b"GET", version=b"HTTP/1.1", host=b"Host: course\r\n"):
    return b"%b %b %b\r\n%b%b\r\n" % (method, path, version, host, headers)


def post(path, headers, body):
    return get(path, headers, b"POST") + body


CSS = b"/static/web/shell.css"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
FORM = b"Content-Type: multipart/form-data; boundary=x\r\n"
REQUESTS = {  # bytes, statuses, whether the connection ends
    "both lengths": (post(b"/sign-in", b"Content-Length: 5\r\n" + CHUNKED, b"0\r\n\r\n"), {400}, True),
    "both lengths, get": (get(b"/", b"Content-Length: 5\r\n" + CHUNKED) + b"0\r\n\r\n" + get(b"/secret"), {400}, True),
    "chunked in 1.0": (get(b"/", CHUNKED, version=b"HTTP/1.0"), {400}, True),
    "two lengths": (post(b"/sign-in", b"Content-Length: 5\r\nContent-Length: 6\r\n", b"xxxxxx"), {400}, True),
    "two lengths in one": (post(b"/sign-in", b"Content-Length: 5, 6\r\n", b"xxxxxx"), {400}, True),
    "negative length": (post(b"/sign-in", b"Content-Length: -1\r\n", b""), {400}, True),
    "signed length": (post(b"/sign-in", b"Content-Length: +1\r\n", b"x"), {400}, True),
    "endless length": (post(b"/sign-in", b"Content-Length: %b\r\n" % (b"9" * 30), b""), {400}, True),
    "bad chunk": (post(b"/sign-in", CHUNKED, b"zz\r\nabc\r\n"), {400}, True),
    "bad chunk later": (post(b"/sign-in", CHUNKED, b"1\r\nx\r\n-5\r\nabc\r\n"), {400}, True),
    "bad end of chunk": (post(b"/sign-in", CHUNKED, b"1\r\nxyz\r\n0\r\n\r\n"), {400}, True),
    "huge chunk": (post(b"/sign-in", CHUNKED, b"f" * 30 + b"\r\nabc"), {400}, True),
    "huge chunk extension": (post(b"/sign-in", CHUNKED, b"1;" + b"e" * 70_000), {400}, True),
    "unknown coding": (post(b"/sign-in", b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n"), {400}, True),
    "hidden coding": (post(b"/sign-in", b"Transfer-Encoding : chunked\r\n", b"0\r\n\r\n"), {400}, True),
    "no http": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", {400}, True),
    "no version": (b"GET /\r\n\r\n", {400}, True),
    "another version": (get(version=b"HTTP/9.9"), {200, 400}, None),
    "preface of http/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400}, True),
    "line feeds": (b"GET / HTTP/1.1\nHost: course\n\n", {400}, True),
    "nul in the target": (b"GET /\0 HTTP/1.1\r\nHost: course\r\n\r\n", {400}, True),
    "nul, encoded": (get(b"/%00"), {400}, True),
    "nul in static": (get(b"/static/%00"), {400}, True),
    "nul in a query": (get(b"/api/history?team=%00"), {422}, False),
    "nul in a header": (get(b"/", b"X: a\0b\r\n"), {400}, True),
    "bad percent": (get(b"/%zz%"), {404}, False),
    "bad utf-8": (get(b"/%ff%fe%c0%80"), {404}, False),
    "surrogates": (get(b"/api/history?team=%ed%a0%80"), {404}, False),
    "long path": (get(b"/" + b"a" * 10_000), {404}, False),
    "long name": (get(b"/static/" + b"a" * 5_000), {404}, False),
    "huge head": (get(b"/", b"X: " + b"a" * 100_000 + b"\r\n"), {400}, True),
    "many headers": (get(b"/", b"X: a\r\n" * 10_000), {400}, True),
    "folded header": (get(b"/", b"X: a\r\n b\r\n"), {400}, True),
    "header without name": (get(b"/", b": a\r\n"), {400}, True),
    "host missing": (get(host=b""), {400}, True),
    "two hosts": (get(host=b"Host: a\r\nHost: b\r\n"), {400}, True),
    "broken host": (get(b"/nothing", host=b"Host: [\r\n"), {400}, True),
    "host with a path": (get(b"/nothing", host=b"Host: a/b@c\r\n"), {400}, True),
    "host with a bad port": (get(b"/nothing", host=b"Host: course:http\r\n"), {400}, True),
    "absolute": (get(b"http://evil.example/"), {400}, True),
    "absolute and broken": (get(b"http://[/"), {400}, True),
    "asterisk": (get(b"*", method=b"OPTIONS"), {400}, True),
    "connect": (get(b"evil.example:443", method=b"CONNECT"), {400}, True),
    "connect to a page": (get(b"/", method=b"CONNECT"), {405}, None),
    "invented method": (get(b"/", method=b"BREW"), {405}, False),
    "trace": (get(b"/", method=b"TRACE"), {405}, False),
    "websocket": (get(b"/", b"Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n"), {200}, None),
    "http/2 upgrade": (get(b"/", b"Connection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n"), {200}, None),
    "two slashes": (get(b"//evil.example/submissions/"), {404}, False),
    "slash at the end": (get(b"/submissions/", host=b"Host: evil.example\r\n"), {404}, False),
    "slash at the end of api": (get(b"/api/leaderboard/", host=b"Host: evil.example\r\n"), {404}, False),
    "folder": (get(b"/static", host=b"Host: evil.example\r\n"), {404}, False),
    "folder's slash": (get(b"/static/"), {404}, False),
    "bad numbers": (get(b"/submissions?page=1e9&of=-1"), {422}, False),
    "huge numbers": (get(b"/api/submissions?page=" + b"9" * 5_000), {422}, False),
    "other digits": (get("/api/submissions?page=\u0665".encode().replace(b"\xd9\xa5", b"%D9%A5")), {200, 422}, False),
    "infinite": (get(b"/api/submissions?size=NaN"), {422}, False),
    "many parameters": (get(b"/?" + b"a&" * 5_000), {200}, False),
    "bad range": (get(CSS, b"Range: bytes=9-1,-,x\r\n"), {400, 416}, False),
    "many ranges": (get(CSS, b"Range: bytes=" + b"0-,1-," * 1_000 + b"2-\r\n"), {200, 206, 416}, False),
    "bad conditions": (get(CSS, b"If-Modified-Since: Sun, 99 Foo 99999 99:99:99\r\n"), {200}, False),
    "bad conditions, 2": (get(CSS, b"If-None-Match: \xff,\r\nIf-Range: \xff\r\n"), {200}, False),
    "bad type": (
        post(b"/api/submissions", b"Content-Type: \xff;=;boundary\r\nContent-Length: 0\r\n", b""),
        {401},
        False,
    ),
    "bad cookie": (get(b"/", b"Cookie: pttt_session=1.99999999999.\xe9; \xff; =; pttt_visitor=\xff\r\n"), {200}, False),
    "bad token": (get(b"/api/submissions/1/file", b"Authorization: Bearer \xff.\xff\r\n"), {401}, False),
    "bad origin": (post(b"/sign-in", b"Origin: http://[\r\nContent-Length: 0\r\n", b""), {403}, False),
    "bad origin, 2": (post(b"/sign-out", b"Origin: http://a]:b\r\nContent-Length: 0\r\n", b""), {403}, False),
    "forwarded": (get(b"/", b"X-Forwarded-For: \xff, [::\r\nX-Forwarded-Proto: javascript\r\n"), {200}, False),
    "bad form": (post(b"/sign-in", b"Content-Length: 6\r\n", b"%zz\xff=\0"), {400}, False),
    "body of a get": (get(b"/", b"Content-Length: 100\r\n") + bytes(100), {200}, False),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_hostile_requests(served, name):
    request, statuses, ends = REQUESTS[name]
    answer, closed = served.say(request)
    assert int(answer.split()[1]) in statuses, answer[:300]
    assert answer.count(b"HTTP/1.1 ") == 1 and b"evil.example" not in answer.partition(b"\r\n\r\n")[0]
    assert ends is None or closed == ends


def test_malformed_uploads_leave_nothing(served):
    opening = b"Authorization: Bearer %b\r\n" % served.token.encode() + FORM + CHUNKED
    for rest in (b"zz\r\n", b"5\r\nabcdeXX", b"-1\r\n\r\n"):
        answer, closed = served.say(post(b"/api/submissions", opening, b"%x\r\n%b\r\n" % (len(HEAD), HEAD) + rest))
        assert b" 400 " in answer and closed
    wait_until(lambda: not list(served.lab.storage.incoming.iterdir()) and not len(served.lab.course.in_flight))


def test_pipelined_requests_are_answered_in_turn(served):
    answer = b""
    with served.connect() as client:
        client.sendall(get(b"/robots.txt") * 50 + get(b"/robots.txt", b"Connection: close\r\n"))
        while data := client.recv(1 << 16):
            answer += data
    assert answer.count(b"HTTP/1.1 200") == 51


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_heads_that_do_not_come_are_not_waited_for(served, monkeypatch):
    monkeypatch.setattr(served.door, "head_seconds", 0.2)
    with served.connect() as silent, served.connect() as half, served.connect() as late:
        half.sendall(b"GET / HTTP/1.1\r\nHost: gra")
        late.sendall(get(b"/robots.txt"))
        assert b" 200 " in heard(late)[0]
        late.sendall(b"GET / HT")
        assert heard(silent) == (b"", True)
        assert b" 408 " in heard(half)[0] and b" 408 " in heard(late)[0]
    wait_until(lambda: len(served.door) == 0)


def test_half_sent_heads_give_way(served):
    """One who opens many connections and says nothing does not keep out others, even at the same address."""
    silent = [served.connect() for _ in range(60)]
    for client in silent:
        client.sendall(b"GET / HTTP/1.1\r\nHost: gra")
    for _ in range(3):
        assert b" 200 " in served.say(get(b"/robots.txt"))[0]
    assert len(served.door) <= 30
    for client in silent:
        client.close()
    wait_until(lambda: len(served.door) == 0)


def test_one_address_has_so_many_requests_at_a_time(served):
    opening = post(b"/sign-in", b"Content-Length: 100\r\n", b"x")
    slow = [served.connect() for _ in range(30)]
    try:
        for client in slow:
            client.sendall(opening)
        wait_until(lambda: sum(not c.waits_for_head for c in list(served.server.server_state.connections)) == 30)
        answer, closed = served.say(get(b"/robots.txt"))
        assert closed and (not answer or b" 503 " in answer)
    finally:
        for client in slow:
            client.close()
    wait_until(lambda: b" 200 " in served.say(get(b"/robots.txt"))[0])


def test_who_does_not_read_is_not_waited_for(served, monkeypatch):
    monkeypatch.setattr(served.door, "reading_seconds", 0.2)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(served.address)
        client.settimeout(0.2)
        try:
            while True:
                client.sendall(get(b"/static/web/htmx-2.0.11.min.js") * 10)
        except (ConnectionError, TimeoutError):
            pass
        wait_until(lambda: len(served.door) == 0)


def test_refused_uploads_are_read_within_bounds(served, monkeypatch):
    """The answer comes after the body, for clients that read only then, but not after any body, however long."""
    monkeypatch.setattr(served.door, "reading_seconds", 0.2)
    opening = get(b"/api/submissions", FORM + b"Content-Length: %d\r\n", b"POST")
    answer, closed = served.say(opening % 90_000 + bytes(90_000))
    assert b" 401 " in answer and not closed
    with served.connect() as client, pytest.raises(ConnectionError):
        client.sendall(opening % 10**12)
        while True:
            client.sendall(bytes(65_536))
    asked = get(b"/api/submissions", FORM + b"Content-Length: 90000\r\nExpect: 100-continue\r\n", b"POST")
    answer, closed = served.say(asked)  # the body would be for nothing
    assert answer.startswith(b"HTTP/1.1 401 ") and closed


# ---------------------------------------------------------------------------------------------
# Room on the disk


class Disk:
    """A small disk that holds the uploads: what is free goes down as they are written."""

    def __init__(self, lab, monkeypatch, free, reserve):
        self.lab, self.lowest, self.free = lab, free, free
        monkeypatch.setattr(limits, "RESERVE", reserve)
        monkeypatch.setattr(type(lab.storage), "free_bytes", lambda storage: self.left())

    def left(self):
        folders = (self.lab.storage.incoming, self.lab.storage.uploads)
        left = self.free - sum(f.stat().st_size for folder in folders for f in folder.iterdir())
        self.lowest = min(left, self.lowest)
        return left


async def upload(lab, token, content, length=True):
    """Status of one upload through the whole application, with a pause before each piece."""
    body = HEAD + content + TAIL
    pieces = [body[at : at + 4096] for at in range(0, len(body), 4096)]
    headers = [(b"host", b"course"), (b"content-type", b"multipart/form-data; boundary=x")]
    headers.append((b"authorization", b"Bearer " + token.encode()))
    headers.append((b"content-length", b"%d" % len(body)) if length else (b"transfer-encoding", b"chunked"))
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http"}
    scope |= {"path": "/api/submissions", "raw_path": b"/api/submissions", "query_string": b"", "root_path": ""}
    scope |= {"headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}
    statuses = []

    async def receive():
        await asyncio.sleep(0.001)
        return {"type": "http.request", "body": pieces.pop(0) if pieces else b"", "more_body": bool(pieces)}

    async def send(message):
        statuses.append(message.get("status"))

    await lab.client.app(scope, receive, send)
    return statuses[0]


def send_uploads(lab, tokens, size=40_000, length=True):
    """Statuses of uploads that are in flight at the same time."""

    async def gathered():
        return await asyncio.gather(*(upload(lab, token, os.urandom(size), length) for token in tokens))

    return asyncio.run(gathered())


@pytest.mark.parametrize("length", [True, False])
def test_uploads_in_flight_leave_the_reserve(tmp_path, monkeypatch, length):
    lab = Lab(tmp_path / "g", max_upload_mb=0.05)
    tokens = [lab.team(f"Team {n}") for n in range(8)]
    disk = Disk(lab, monkeypatch, free=400_000, reserve=200_000)
    statuses = send_uploads(lab, tokens, length=length)
    disk.left()
    assert set(statuses) == {201, 507} and statuses.count(201) >= 2
    assert disk.lowest >= 200_000
    assert not list(lab.storage.incoming.iterdir()) and not len(lab.course.in_flight)
    disk.free = 10_000_000  # what was promised to those that are done is free again
    assert send_uploads(lab, tokens[:3]) == [201] * 3
    lab.close()


def test_what_is_written_is_no_longer_promised(lab, monkeypatch):
    monkeypatch.setattr(limits, "RESERVE", 100)
    free = [200]
    monkeypatch.setattr(type(lab.storage), "free_bytes", lambda storage: free[0])
    flights = lab.course.in_flight
    with flights.begin(1, Arrival()) as first, flights.begin(2, Arrival()) as second:
        flights.promise(first, 60)
        with pytest.raises(storage.FullDiskError):
            flights.promise(second, 41)
        flights.promise(second, 40)
        second.promised = 0
        first.wrote(60)
        free[0] -= 60
        flights.promise(second, 40)
    flights.promise(limits.Flight(3, 0, Arrival()), 40)  # nothing is promised to those that have landed


def test_a_team_has_so_many_uploads_in_flight(tmp_path, monkeypatch):
    lab = Lab(tmp_path / "g", waiting_per_team=3)
    ours, others = lab.team("Team A"), lab.team("Team B")
    begun, begin = [], uploads.Incoming
    monkeypatch.setattr(uploads, "Incoming", lambda *given: begun.append(1) or begin(*given))
    statuses = send_uploads(lab, [ours] * 8 + [others])
    assert sorted(statuses[:8]) == [201] * 3 + [429] * 5 and statuses[8] == 201
    assert len(begun) == 4  # no file for those that are refused
    lab.run()
    assert send_uploads(lab, [ours] * 3) == [201] * 3
    lab.close()


def no_room(*arguments, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.slow_but_one
@pytest.mark.usefixtures("may_log")
@pytest.mark.parametrize("place", ["open", "write", "sync", "rename", "commit", "quota"])
def test_a_disk_that_fills_up_is_told(lab, monkeypatch, place):
    token = lab.team("Team A")
    with monkeypatch.context() as full:
        if place == "open":
            full.setattr(storage, "Incoming", no_room)
            full.setattr(uploads, "Incoming", no_room)
        elif place == "write":
            really = storage.Incoming.__init__

            def begin(self, *given):
                really(self, *given)
                self._file.close()
                self._file = open("/dev/full", "wb")  # noqa: SIM115

            full.setattr(storage.Incoming, "__init__", begin)
        elif place == "sync":
            full.setattr(os, "fsync", no_room)
        elif place == "rename":
            full.setattr(os, "replace", no_room)
        elif place == "quota":
            full.setattr(os, "fsync", lambda fd: (_ for _ in ()).throw(OSError(errno.EDQUOT, "quota")))
        else:
            full.setattr(type(lab.database), "writing", full_database)
        answer = lab.post(token, 0, os.urandom(30_000))
        assert (answer.status_code, answer.json()["error"]) == (507, "The course's disk is full; tell the instructors.")
    assert not list(lab.storage.incoming.iterdir()) and not list(lab.storage.uploads.iterdir())
    assert lab.post(token, 0, GOOD).status_code == 201


def full_database(*arguments):
    """Raise what SQLite and SQLAlchemy raise when a table does not fit."""
    with create_engine("sqlite://").connect() as connection:
        connection.execute(text("PRAGMA max_page_count = 1"))
        connection.execute(text("CREATE TABLE t (x)"))


def test_what_a_killed_web_server_was_receiving_is_deleted(lab):
    writing = storage.Incoming(lab.storage)
    writing.write(b"still coming")
    left = lab.storage.incoming / "left.zip"
    left.write_bytes(b"x" * 1000)
    assert lab.storage.sweep_incoming() == 1
    assert [f.name for f in lab.storage.incoming.iterdir()] == [writing.name]
    writing.keep()
    assert lab.storage.upload(writing.name).read_bytes() == b"still coming"


# ---------------------------------------------------------------------------------------------
# Forms


def test_all_of_a_body_counts(tmp_path):
    lab = Lab(tmp_path / "g", max_upload_mb=0.1)
    token = lab.team("Team A")
    headers = {**bearer(token), "Content-Type": "multipart/form-data; boundary=x"}

    def send(*parts):
        sent = []

        def pieces():
            for part in parts:
                for at in range(0, len(part), 5000):
                    sent.append(part[at : at + 5000])
                    yield sent[-1]

        return lab.client.post("/api/submissions", content=pieces(), headers=headers).status_code

    whole = HEAD + GOOD + TAIL
    assert send(whole, bytes(500_000)) == 413
    assert send(b"\r\n" * 250_000, whole) in (400, 413)
    assert send(whole.replace(b"--x\r\n", b"--x" + b" " * 500_000 + b"\r\n", 1)) in (400, 413)
    assert not list(lab.storage.incoming.iterdir()) and not list(lab.storage.uploads.iterdir())
    assert send(whole, b"\r\n") == 201
    lab.close()


async def never():
    await asyncio.sleep(60)


def a_request(pieces, **headers):
    async def receive():
        return {"type": "http.request", "body": pieces.pop(0), "more_body": True} if pieces else await never()

    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": named}, receive)


def test_small_forms_have_little_time(monkeypatch):
    monkeypatch.setattr(forms, "_FORM_SECONDS", 0.05)
    with pytest.raises(Exception, match="has not come within"):
        asyncio.run(forms.small_form(a_request([b"token="])))


def test_a_body_that_stalls_after_the_answer_ends_the_connection(lab, monkeypatch):
    monkeypatch.setattr(layers, "_DRAIN_PAUSE", 0.05)
    sent = []

    async def receive():
        return await never()

    async def send(message):
        sent.append(message)

    scope = a_request([]).scope | {"path": "/api/submissions", "http_version": "1.1", "query_string": b""}
    scope["headers"] = [(b"host", b"course"), (b"content-length", b"5000")]
    asyncio.run(lab.client.app(scope, receive, send))
    assert sent[0]["status"] == 401 and (b"connection", b"close") in sent[0]["headers"]


# ---------------------------------------------------------------------------------------------
# Tokens


def guess(lab, token, address="10.1.2.3"):
    lab.client._transport.client = (address, 50_000)
    return lab.client.get("/api/submissions/1/file", headers=bearer(token))


@pytest.mark.slow
def test_wrong_tokens_are_throttled_and_right_ones_pass(tmp_path):
    lab = Lab(tmp_path / "g", wrong_tokens_per_hour=5)
    token = lab.team("Team A")
    lab.baseline()
    answers = [guess(lab, "2.wrong") for _ in range(7)]
    assert [a.status_code for a in answers] == [401] * 5 + [429] * 2
    assert "wrong tokens" in answers[-1].json()["error"] and 600 < int(answers[-1].headers["retry-after"]) <= 721
    # Others at the same address, and the team that was guessed at, are not shut out.
    assert guess(lab, token).status_code == 200
    assert guess(lab, "2.wrong", "10.1.2.4").status_code == 401
    lab.client._transport.client = ("10.1.2.3", 50_000)
    form = {"form_token": form_token(lab.client.get("/sign-in").text), "token": "2.x"}
    assert lab.client.post("/sign-in", data=form).status_code == 429
    assert lab.client.get("/api/submissions/1/file").status_code == 200  # none is not a guess
    lab.sign_in(token)
    lab.close()


def test_throttles_leak_and_do_not_grow(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(throttle_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    throttle = Throttle(60)
    assert [throttle.spend("10.0.0.1") for _ in range(61)] == [0.0] * 60 + [60.0]
    now[0] += 59
    assert throttle.spend("10.0.0.1") == pytest.approx(1)
    now[0] += 2
    assert throttle.spend("10.0.0.1") == 0 and throttle.spend("10.0.0.1") > 0
    for n in range(20_000):
        throttle.spend(f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}")
    assert len(throttle) == 10_000  # the first ones are forgotten, the last one is not
    throttle.spend(f"10.0.{19_999 >> 8}.{19_999 & 255}")
    assert len(throttle) == 10_000


@pytest.mark.parametrize(
    "address, network",
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8::1:2:3", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("x" * 1000, "unknown"),
        ("", "unknown"),
        (None, "unknown"),
    ],
)
def test_addresses_and_their_networks(address, network):
    assert network_of(address) == network


@pytest.mark.parametrize("trusted, counted", [((), 1), (("127.0.0.0/8",), 3)])
def test_forwarded_addresses_count_only_behind_a_trusted_proxy(tmp_path, trusted, counted):
    served = Served(tmp_path / "g", trusted_proxies=trusted)
    for n in range(3):
        headers = b"Authorization: Bearer 2.x\r\nX-Forwarded-For: 192.0.2.%d\r\n" % n
        assert b" 401 " in served.say(get(b"/api/submissions/1/file", headers))[0]
    assert len(served.server.config.app.state.shell.wrong_tokens) == counted
    served.close()


# ---------------------------------------------------------------------------------------------
# The rest


@pytest.mark.slow
def test_figures_do_not_grow_with_what_strangers_send(lab):
    def lines():
        return len(lab.client.get("/metrics").text.splitlines())

    def probe(n):
        lab.client.request(f"BREW{n}", "/")
        lab.client.request("GET", f"/nothing/{n}")
        lab.client.request(f"M{n}", f"/api/submissions/{n}")
        lab.client.get(f"/static/{n}")

    probe(0)
    lines()
    before = lines()
    for n in range(1, 20):
        probe(n)
    assert lines() == before


def test_head_is_get_without_the_body(lab, monkeypatch):
    lab.baseline()
    now = time.time()
    monkeypatch.setattr(
        "pttt_ooc.course.pages.strategy_pages.time", SimpleNamespace(time=lambda: now)
    )  # charts end now
    for path in ("/", "/matrix", "/submissions/1", "/api/leaderboard", CSS.decode(), "/healthz", "/robots.txt"):
        plain = {"Accept-Encoding": "identity"}
        head, full = lab.client.head(path, headers=plain), lab.client.get(path, headers=plain)
        assert head.status_code == full.status_code and head.content == b"", path
        assert head.headers["content-type"] == full.headers["content-type"]
        assert int(head.headers["content-length"]) == len(full.content), path
    path = "/submissions/1/file"
    size = len(lab.client.get(path).content)

    async def read(*arguments, **options):
        raise AssertionError("the file is read")

    monkeypatch.setattr("anyio.open_file", read)
    head = lab.client.head(path, headers={"Range": "bytes=0-1"})
    assert head.status_code == 200 and int(head.headers["content-length"]) == size
    assert lab.client.head("/nothing").status_code == 404 and lab.client.head("/sign-out").status_code == 405


def test_robots_are_told_to_stay_away(lab):
    answer = lab.client.get("/robots.txt")
    assert answer.status_code == 200 and answer.text == "User-agent: *\nDisallow: /\n"


@pytest.mark.usefixtures("may_log")
def test_errors_of_the_server_have_the_headers_that_protect(lab, monkeypatch):
    monkeypatch.setattr(type(lab.course), "game_value", lambda self: 1 / 0)
    answer = lab.client.get("/about")
    assert answer.status_code == 500 and "default-src 'none'" in answer.headers["content-security-policy"]
    assert "ZeroDivision" not in answer.text
