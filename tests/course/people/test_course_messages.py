"""Announcements by webhook and by e-mail: only to public addresses, without foreign headers, tried again."""

import ipaddress
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pttt_ooc.course.data import settings
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.settings import CourseSettings
from pttt_ooc.course.data.term_tables import Delivery, Person
from pttt_ooc.course.grades.decisions import Desk
from pttt_ooc.course.grades.rejudging import GRADING
from pttt_ooc.course.people import post as sent
from pttt_ooc.course.people.people import add_staff, apply_roster, read_roster
from pttt_ooc.course.people.post import ATTEMPTS, Messenger, message
from pttt_ooc.course.strategies import worker
from pttt_ooc.errors import ConfigError, CourseError
from tests.course.server_kit import GAME, Lab, make_settings, pttt
from tests.course.term_kit import course
from tests.kits.patience import PATIENCE, wait_until


@pytest.mark.parametrize(
    "address, public",
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("172.31.255.255", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("240.0.0.1", False),
        ("::1", False),
        ("::", False),
        ("fe80::1", False),
        ("fd00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::a00:1", False),
        ("2002:7f00:1::", False),
        ("2001:db8::1", False),
        ("fec0::1", False),
        ("fc00::1", False),
        ("3fff::1", False),
        ("3fff:fff:ffff::1", False),
        ("2001:2::1", False),
        ("2001:10::1", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
        ("5f00::1", False),
        ("100::1", False),
        ("100:0:0:1::1", False),
        ("64:ff9b:1::808:808", False),
        ("64:ff9b::808:808", True),
        ("::8.8.8.8", False),
        ("4000::1", False),
        ("192.0.0.8", False),
        ("192.0.0.11", False),
        ("192.0.0.170", False),
        ("192.88.99.1", False),
        ("198.18.0.1", False),
        ("192.0.2.1", False),
        ("192.0.1.1", True),
        ("2001:200::1", True),
        ("2a00:1450:4001::1", True),
    ],
)
def test_only_addresses_of_the_internet_are_public(address, public):
    assert sent.is_public(ipaddress.ip_address(address)) == public


@pytest.mark.slow
@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/x",
        "file:///etc/passwd",
        "https://",
        "http://user:secret@example.org/",
        "http://example.org@127.0.0.1/",
        "http://[::1",
        "http://example.org:0/",
        "http://exa mple.org/",
        "http://example.org/\r\nX: y",
        "http://example.org\\@127.0.0.1/",
        "gopher://example.org/",
        "http://example.org:99999/",
    ],
)
def test_addresses_that_cannot_be_a_webhook(url, tmp_path):
    with pytest.raises(CourseError):
        settings.checked_url(url)
    with pytest.raises(ValueError):
        CourseSettings(game=GAME, webhooks=[url])


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "0", "2130706433", "0x7f.1", "[::ffff:10.0.0.1]"])
def test_no_request_is_made_to_an_address_that_is_not_public(host, monkeypatch):
    def never(*arguments, **options):
        raise AssertionError("a connection")

    monkeypatch.setattr(socket, "create_connection", never)
    with pytest.raises(CourseError, match="not a public address|not found"):
        sent.post(f"http://{host}:8080/hook", b"{}")


def test_one_address_that_is_not_public_is_enough_and_the_name_is_looked_up_once(monkeypatch):
    looked, connected = [], []

    def looks(host, port, **options):
        looked.append(host)
        first = "8.8.8.8" if len(looked) == 1 else "127.0.0.1"  # rebinding
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (first, port))]

    def connects(address, timeout):
        connected.append(address)
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "getaddrinfo", looks)
    monkeypatch.setattr(socket, "create_connection", connects)
    with pytest.raises(CourseError, match="cannot be reached: Connection refused"):
        sent.post("http://hooks.example.org/x", b"{}")
    assert (looked, connected) == (["hooks.example.org"], [("8.8.8.8", 80)])
    both = [(socket.AF_INET, 1, 6, "", (one, 80)) for one in ("8.8.8.8", "10.1.1.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *arguments, **options: both)
    with pytest.raises(CourseError, match="leads to 10.1.1.1"):
        sent.post("http://hooks.example.org/x", b"{}")
    assert len(connected) == 1


class Hook(BaseHTTPRequestHandler):
    """Takes webhooks; answers as its server says."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.taken.append((self.path, body))
        self.server.gate.wait(PATIENCE)
        self.send_response(self.server.status)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def hook(monkeypatch):
    """A receiver on this machine, which counts as public here."""
    monkeypatch.setattr(sent, "is_public", lambda address: True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    server.taken, server.status, server.gate = [], 200, threading.Event()
    server.gate.set()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.gate.set()
    server.shutdown()
    server.server_close()


class Post:
    """A mail server with the least that smtplib needs: one thread, one connection after the other."""

    def __init__(self, refuses=""):
        self.messages, self.refuses = [], refuses
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listening.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb", 0) as file:
                self._talk(file)

    def _talk(self, file):
        def say(text):
            file.write(text.encode() + b"\r\n")

        say("220 here")
        to = []
        while line := file.readline():
            word = line.decode().strip()
            verb = word.upper().split(":")[0].split(" ")[0]
            if verb == "RCPT":
                refused = self.refuses and self.refuses in word
                to = to if refused else [*to, word[8:].strip("<>")]
                say("550 unknown" if refused else "250 ok")
            elif verb == "DATA":
                say("354 go on")
                text = []
                while (part := file.readline()) != b".\r\n":
                    text.append(part)
                self.messages.append((to, b"".join(text).decode()))
                to = []
                say("250 taken")
            elif verb == "QUIT":
                say("221 bye")
                return
            else:
                say("250 ok")

    def close(self):
        self.listening.close()


@pytest.fixture
def post():
    made = Post()
    yield made
    made.close()


@pytest.fixture
def lab(tmp_path):
    made = Lab(tmp_path / "course")
    with made.database.writing() as session:
        apply_roster(session, read_roster("team,name,email\nTeam A,Al,al@example.org\nTeam B,Bo,bo@example.org\n", "r"))
        add_staff(session, "Ada", "ada@example.org", "instructor")
    yield made
    made.close()


def announce(lab, title="The viva", text="Room 3\non Monday", **settings):
    lab.settings = make_settings(lab.data, **settings)
    with lab.database.writing() as session:
        Desk(session, lab.data, "Ada").announce(title, text)
    return Messenger(lab.database, lab.settings, lab.stopping)


def told(lab):
    return json.loads(course(lab.data, "deliveries", "--json"))


@pytest.mark.slow
def test_an_announcement_reaches_a_webhook_and_a_redirect_is_not_followed(lab, hook):
    url = f"http://127.0.0.1:{hook.server_port}/hook?key=4711"
    sender = announce(lab, title="Ä 'quoted'", webhooks=[url])
    assert sender.send_due() == 1 and sender.send_due() == 0
    ((path, body),) = hook.taken
    found = json.loads(body)
    assert path == "/hook?key=4711" and found["text"] == found["content"] == "Ä 'quoted'\nRoom 3\non Monday"
    assert told(lab)[0]["state"] == "sent" and "4711" not in json.dumps(told(lab))
    hook.status = 302
    sender = announce(lab, webhooks=[url])
    sender.send_due()
    assert len(hook.taken) == 2 and "answers with status 302" in told(lab)[0]["trouble"]


@pytest.mark.slow
def test_what_is_not_taken_is_tried_again_and_then_told(lab, hook, monkeypatch):
    hook.status = 500
    sender, now, waits = announce(lab, webhooks=[f"http://127.0.0.1:{hook.server_port}/"]), time.time() + 1, 0.0
    for attempt in range(1, ATTEMPTS + 1):
        monkeypatch.setattr(sent.time, "time", lambda at=now + waits: at)
        assert sender.send_due() == 1 and len(hook.taken) == attempt
        assert sender.send_due() == 0
        waits += sent.FIRST_PAUSE * 4 ** (attempt - 1)
    assert sender.send_due() == 0
    assert told(lab)[0]["state"] == "given up" and waits - 256 * 60 < 90 * 60
    assert (
        "has not reached 127.0.0.1: 127.0.0.1 answers with status 500"
        in pttt("course", "doctor", "--data", lab.data).stdout
    )


def test_a_webhook_that_points_inside_gets_nothing(lab, monkeypatch):
    sender = announce(lab, webhooks=["http://127.0.0.1:9/hook"])
    sender.send_due()
    assert "not a public address; nothing is sent there" in told(lab)[0]["trouble"]


@pytest.mark.slow
def test_an_announcement_reaches_each_person_by_an_e_mail_of_its_own(lab, post):
    sender = announce(lab, smtp=f"smtp://127.0.0.1:{post.port}", mail_from="course@example.org")
    assert sender.send_due() == 3
    assert sorted(to for (to,), _ in post.messages) == ["ada@example.org", "al@example.org", "bo@example.org"]
    for (to,), text in post.messages:
        assert f"To: {to}\r\n" in text and "Subject: [Phantom Tic-Tac-Toe Challenge] The viva\r\n" in text
        assert "From: course@example.org" in text and "Room 3\r\non Monday" in text
        assert sum(address in text for address in ("ada@", "al@", "bo@")) == 1
    assert {one["state"] for one in told(lab)} == {"sent"}


def test_no_header_comes_from_a_title_or_an_address(lab, post):
    hostile = "Hello\r\nBcc: all@example.org\r\n\r\nBuy"
    sender = announce(
        lab,
        title=hostile,
        text="\r\n.\r\nRCPT TO:<x@y.z>\r\n",
        mail_from="course@example.org",
        smtp=f"smtp://127.0.0.1:{post.port}",
    )
    with lab.database.writing() as session:  # as no roster would let it in
        session.query(Delivery).first().target = "x@example.org\nBcc: all@example.org"
    sender.send_due()
    assert len(post.messages) == 2 and all("\nBcc:" not in text for _, text in post.messages)
    assert all(len(to) == 1 for to, _ in post.messages)
    assert any("cannot be written" in one["trouble"] for one in told(lab))
    for wrong in ("a\nb", "a\rb", "a\x00b", "a\u2028b"):
        with pytest.raises(CourseError, match="cannot be written"):
            message("course@example.org", "al@example.org", wrong, "text")
    for wrong in ("", "al", "a@b\nBcc: c@d.e", "a@b, c@d.e", "<a@b>", "a@b\r\n"):
        with pytest.raises(CourseError, match="cannot be written"):
            message("course@example.org", wrong, "title", "text")


@pytest.mark.slow
def test_a_recipient_who_is_refused_keeps_nobody_else_waiting(lab):
    refusing = Post(refuses="al@")
    sender = announce(lab, smtp=f"smtp://127.0.0.1:{refusing.port}", mail_from="course@example.org")
    sender.send_due()
    states = {one["target"]: one["state"] for one in told(lab)}
    assert states == {"ada@example.org": "sent", "al@example.org": "waiting", "bo@example.org": "sent"}
    refusing.close()


@pytest.mark.slow
def test_a_password_is_not_sent_without_encryption(lab, post):
    sender = announce(lab, smtp=f"smtp://me:secret@127.0.0.1:{post.port}", mail_from="course@example.org")
    sender.send_due()
    assert not post.messages and all("offers no encryption" in one["trouble"] for one in told(lab))
    assert "secret" not in json.dumps(told(lab))


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"smtp": "mail.example.org"},
        {"smtp": "smtp://mail.example.org"},  # no sender
        {"smtp": "http://mail.example.org", "mail_from": "a@b.c"},
        {"smtp": "smtp://mail.example.org", "mail_from": "a@b.c\nBcc: d@e.f"},
        {"webhooks": "https://example.org"},
    ],
)
def test_settings_that_are_refused(settings):
    with pytest.raises((ValueError, ConfigError)):
        CourseSettings(game=GAME, **settings)


@pytest.mark.slow
def test_without_settings_nothing_is_sent_and_people_who_left_get_nothing(lab, post):
    announce(lab)
    assert told(lab) == [] and "Nothing was to be sent." in course(lab.data, "deliveries")
    with lab.database.writing() as session:
        session.query(Person).filter_by(email="ada@example.org").one().removed_at = 1.0
        apply_roster(session, read_roster("team,name,email\nTeam B,Al,al@example.org\n", "r"))
    announce(lab, smtp=f"smtp://127.0.0.1:{post.port}", mail_from="course@example.org")
    assert [one["target"] for one in told(lab)] == ["bo@example.org", "al@example.org"]


# ---------------------------------------------------------------------------------------------
# The end of the thread


def alive():
    return [thread for thread in threading.enumerate() if thread.name == "messenger"]


@pytest.fixture
def joining(monkeypatch):
    """An event that is set when somebody waits for the messenger's thread to end."""
    begun, join = threading.Event(), threading.Thread.join

    def joins(self, timeout=None):
        if self.name == "messenger":
            begun.set()
        join(self, timeout)

    monkeypatch.setattr(threading.Thread, "join", joins)
    return begun


def test_a_message_that_is_being_sent_is_finished_before_the_end(lab, hook, joining):
    hook.gate.clear()
    announce(lab, webhooks=[f"http://127.0.0.1:{hook.server_port}/"])
    threading.Thread(target=lambda: (joining.wait(PATIENCE), hook.gate.set()), daemon=True).start()
    with sent.sending(lab.database, lab.settings, lab.stopping):
        wait_until(lambda: hook.taken)
    assert lab.stopping.is_set() and not alive() and told(lab)[0]["state"] == "sent"


def test_a_receiver_that_never_answers_keeps_no_server_from_its_end(lab, hook, monkeypatch, caplog):
    hook.gate.clear()
    announce(lab, webhooks=[f"http://127.0.0.1:{hook.server_port}/"])
    monkeypatch.setattr(sent, "_LAST_SECONDS", 0.01)
    with sent.sending(lab.database, lab.settings, lab.stopping):
        wait_until(lambda: hook.taken)
    assert "sent again later" in caplog.text and told(lab)[0]["state"] == "waiting"
    hook.gate.set()
    for thread in alive():
        thread.join(PATIENCE)
    assert told(lab)[0]["state"] == "sent"


def test_the_worker_waits_for_the_messenger_before_it_closes_the_database(lab, monkeypatch, joining):
    lab.baseline()
    close, ended, at_close = Database.close, [], []

    def send_due(self):
        self._stopping.set()
        joining.wait(PATIENCE)
        ended.append(1)
        return 0

    monkeypatch.setattr(sent.Messenger, "send_due", send_due)
    monkeypatch.setattr(worker, "handle_signals", lambda stopping: None)
    monkeypatch.setattr(Database, "close", lambda self: (at_close.append(len(alive())), close(self)))
    worker.run(lab.data, lab.stopping, GRADING)
    assert ended and at_close == [0] and not alive()
