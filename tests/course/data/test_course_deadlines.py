"""Deadlines that somebody wants to bend: uploads that begin before one and end after it, on a socket.

The server's clock stands still, and a test moves it on when the server has all that was sent.
"""

import asyncio
import itertools
import select
import sqlite3
import threading
import time
from types import SimpleNamespace

import pytest

from pttt_ooc.course.bots.league import League, LeagueSettings, open_league
from pttt_ooc.course.bots.submissions import Bot
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.data.term_tables import Assignment, Report
from pttt_ooc.course.grades.course_file import apply, read_course_file
from pttt_ooc.course.pages import uploads
from pttt_ooc.course.server.bot_parts import parts_of
from pttt_ooc.site.shell import arrival
from tests.course.games_kit import OTHER
from tests.course.league_kit import GOOD as BOT
from tests.course.server_kit import Served, form_token, heard, strategy_zip
from tests.kits.patience import wait_until

SECOND = 20_000  # bytes that a sender who is slow, but not too slow, sends in a second
STRATEGY = strategy_zip(0, 1)
COURSE = f"""
assignments:
- {{name: strategies, kind: strategies}}
- {{name: bots, kind: bots}}
- {{name: report, kind: report}}
- {{name: small, kind: strategies, settings: {{game: {OTHER}}}}}
- name: rows
  kind: agents
  settings: {{game: "mnk:3x3+need3", opponents: [random], games: 2, league: 0, sandbox: false}}
"""
AGENT = b"def choose(legal, state):\n    return legal[0]\n"
WAYS = {  # address, name of the file, its content, fields before it
    "/api/submissions": ("x.zip", STRATEGY, {"player": "0"}),
    f"/api/games/{OTHER}/submissions": ("x.zip", STRATEGY, {"player": "0"}),
    "/api/extreme/bots": ("team7.py", BOT, {}),
    "/api/agents/rows": ("mine.py", AGENT, {}),
    "/api/course/reports/report": ("r.pdf", b"%PDF-1.7", {"comment": "Ours."}),
    "/submissions": ("x.zip", STRATEGY, {"player": "0"}),
    f"/games/{OTHER}": ("x.zip", STRATEGY, {"player": "0"}),
    "/extreme/bots": ("team7.py", BOT, {}),
    "/agents/rows": ("mine.py", AGENT, {}),
    "/course/reports/report": ("r.pdf", b"%PDF-1.7", {}),
}


REPORT = "/api/course/reports/report"
END = b"\r\n--x--\r\n"
NUMBERS = itertools.count()


def a_report(size):
    """A report of so many bytes, unlike all others."""
    return (b"%%PDF-1.7 %d" % next(NUMBERS)).ljust(size)


def a_file(way):
    """A file that may be sent there, unlike all others: who sends one again hears of the row that it has made."""
    return WAYS[way][1] + b"# %d\n" % next(NUMBERS)


class Clock:
    """The time of the web server's connections."""

    def __init__(self):
        self.begin, self.passed, self.heard = time.time(), 0.0, 0

    def time(self):
        return self.begin + self.passed

    def monotonic(self):
        return 1000.0 + self.passed


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    really = arrival.Arrival.come

    def come(self):
        really(self)
        made.heard += 1

    monkeypatch.setattr(arrival, "time", SimpleNamespace(time=made.time, monotonic=made.monotonic))
    monkeypatch.setattr(arrival.Arrival, "come", come)
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    directory = tmp_path_factory.mktemp("deadlines")

    def prepare(lab):
        (directory / "course.yaml").write_text(COURSE)
        open_league(lab.data, LeagueSettings(practice=False, sandbox=False, waiting_per_team=100))
        with lab.database.writing() as session:
            apply(session, read_course_file(directory / "course.yaml"), lab.data, "Ada")
        return parts_of(lab.course)

    made = Served(directory / "course", prepare, waiting_per_team=100)
    made.lab.sign_in(made.token)
    made.form = form_token(made.lab.client.get("/submissions").text)
    made.cookie = "; ".join(f"{name}={value}" for name, value in made.lab.client.cookies.items())
    yield made
    made.close()


@pytest.fixture
def due(served, clock):
    """A deadline three seconds from now, for everything; what is later, is taken as late within an hour if asked."""

    def set_dates(late=False):
        with served.lab.database.writing() as session:
            for one in session.query(Assignment):
                one.due_at = clock.begin + 3
                one.closes_at = clock.begin + 3600 if late else None

    set_dates()
    return set_dates


class Drip:
    """An upload whose pieces a test sends; with a length of the file, or in chunks.

    Parameters
    ----------
    connection
        The socket that it comes by; None: its own.
    begun
        The beginning of the file, which is sent at once with all that is before it; None: only the head is sent.
    """

    def __init__(self, served, clock, way=REPORT, length=None, connection=None, begun=None):
        lab = served.lab
        self.course = lab.course.of_game(OTHER) if OTHER in way else lab.course
        self.clock, self.chunked, self.sent = clock, length is None, 0
        name, _, fields = WAYS[way]
        if way.startswith("/api"):
            who = f"Authorization: Bearer {served.token}"
        else:
            who, fields = f"Cookie: {served.cookie}", {"form_token": served.form, **fields}
        parts = [f'; name="{key}"\r\n\r\n{value}\r\n' for key, value in fields.items()]
        parts.append(f'; name="file"; filename="{name}"\r\n\r\n')
        self.fields = "".join("--x\r\nContent-Disposition: form-data" + part for part in parts)
        whole = f"Content-Length: {len(self.fields) + length + len(END)}" if length else "Transfer-Encoding: chunked"
        head = f"POST {way} HTTP/1.1\r\nHost: course\r\nContent-Type: multipart/form-data; boundary=x"
        self.socket = connection or served.connect()
        body = b"" if begun is None else self.fields.encode() + begun
        self.socket.sendall(f"{head}\r\n{who}\r\n{whole}\r\n\r\n".encode() + body)

    def begin(self):
        """Send the fields, up to the file's first byte, once the server expects them."""
        wait_until(lambda: len(self.course.in_flight), alive=lambda: not self.is_answered(), told=self.answer)
        self.put(self.fields.encode())

    def is_answered(self):
        return bool(select.select([self.socket], [], [], 0)[0])

    def put(self, data):
        """Send bytes of the body."""
        if data:
            self.raw(b"%x\r\n%b\r\n" % (len(data), data) if self.chunked else data)

    def raw(self, data):
        """Send bytes as they are, and wait until some of them have come to the server, whatever it does with them."""
        before = self.clock.heard
        self.socket.sendall(data)
        wait_until(lambda: self.clock.heard > before)

    def send(self, data, after=0.0):
        """Send bytes of the file when so many seconds have passed, and wait until the server has them."""
        self.clock.passed += after
        self.put(data)
        self.sent += len(data)
        wait_until(lambda: self.taken() >= self.sent or not len(self.course.in_flight))

    def taken(self):
        """Bytes of the file that the server has."""
        return max((flight.size for flight in list(self.course.in_flight._flights)), default=0)

    def end(self, after=0.0):
        """Send the end of the form when so many seconds have passed; the answer's status and text."""
        self.clock.passed += after
        self.put(END)
        if self.chunked:
            self.raw(b"0\r\n\r\n")
        return self.answer()

    def answer(self):
        """The answer's status and text; the connection ends, and nothing is in flight."""
        answer = heard(self.socket)[0]
        self.socket.close()
        wait_until(lambda: not len(self.course.in_flight))
        return int(answer.split()[1]), answer.decode()


def counts_from(served, clock):
    """The moment that counts of the latest report, in seconds of the clock."""
    with served.lab.database.reading() as session:
        return session.query(Report).order_by(Report.id.desc()).first().counts_from - clock.begin


def is_too_late(answer):
    return answer[0] == 409 and "this one is too late" in answer[1]


# ---------------------------------------------------------------------------------------------
# All ways in which a file comes


@pytest.mark.usefixtures("due")
@pytest.mark.parametrize("way", WAYS)
def test_who_drips_over_a_deadline_is_late(served, clock, way):
    """The last bytes come half a minute after the first one, and may be of work that was done meanwhile."""
    drip, content = Drip(served, clock, way), a_file(way)
    drip.begin()
    for at in range(5):
        drip.send(content[at : at + 1], after=5)
    drip.send(content[5:], after=5)
    assert is_too_late(drip.end())
    assert not list(drip.course.storage.incoming.iterdir())


@pytest.mark.usefixtures("due")
@pytest.mark.parametrize("way", WAYS)
def test_what_comes_at_once_is_in_time_to_the_last_second(served, clock, way):
    content = a_file(way)
    drip = Drip(served, clock, way, len(content))
    clock.passed = 3.0
    drip.begin()
    drip.send(content)
    assert drip.end()[0] == (201 if way.startswith("/api") else 303)


# ---------------------------------------------------------------------------------------------
# Games with time: what each of them gains


@pytest.mark.parametrize("speed, moved", [(SECOND, 0.0), (2 * SECOND, 0.0), (SECOND // 2, 2.0)])
@pytest.mark.parametrize("chunked", [True, False])
def test_20_kb_a_second_are_enough_and_who_is_slower_began_later(served, clock, due, speed, moved, chunked):
    due(late=True)
    content = a_report(4 * speed)
    drip = Drip(served, clock, length=None if chunked else len(content))
    drip.begin()
    for n in range(4):
        drip.send(content[n * speed : (n + 1) * speed], after=n > 0)
    assert drip.end(after=1)[0] == 201
    assert counts_from(served, clock) == pytest.approx(moved)


@pytest.mark.parametrize("chunked", [True, False])
@pytest.mark.parametrize("at_first", [0, 1, 49_999, 50_000])
def test_nothing_is_gained_by_bytes_that_are_held_back(served, clock, due, at_first, chunked):
    """Be it the whole file, all but its first byte, its last byte, or the mark of its end."""
    due(late=True)
    content = a_report(50_000)
    drip = Drip(served, clock, length=None if chunked else len(content))
    drip.begin()
    drip.send(content[:at_first])
    clock.passed += 30
    drip.send(content[at_first:])
    assert drip.end()[0] == 201
    assert counts_from(served, clock) == pytest.approx(30 - at_first / SECOND)


def test_nothing_is_gained_by_bytes_around_the_file(served, clock, due):
    """Extensions of chunks, and what follows the form, keep the connection busy, but say nothing about the file."""
    due(late=True)
    drip = Drip(served, clock)
    clock.passed += 4
    drip.begin()
    drip.send(a_report(100))
    drip.raw(b"1;")
    for _ in range(9):
        drip.raw(b"e")
        clock.passed += 1
    drip.raw(b"\r\n\r\r\n")
    drip.put(END[1:])
    for _ in range(9):
        drip.put(b"\r\n")
        clock.passed += 1
    drip.raw(b"0\r\n\r\n")
    assert drip.answer()[0] == 201
    assert counts_from(served, clock) == pytest.approx(4 + 9 + 9, abs=0.01)


def test_much_padding_gains_ten_minutes(served, clock, due):
    """A file that comes at 20 kB/s for longer counts from ten minutes before its end."""
    due(late=True)
    content = a_report(650 * SECOND)
    drip = Drip(served, clock, length=len(content))
    drip.begin()
    for at in range(0, len(content), 50 * SECOND):
        drip.send(content[at : at + 50 * SECOND], after=50 * (at > 0))
    assert drip.end(after=50)[0] == 201
    assert counts_from(served, clock) == pytest.approx(50)


@pytest.mark.usefixtures("due")
def test_nothing_is_gained_by_many_connections(served, clock):
    """Four uploads that begin in time, of which the last one is sent to its end, and the others are given up."""
    drips, content = [], a_file("/api/submissions")
    for n in range(4):
        drips.append(Drip(served, clock, "/api/submissions"))
        wait_until(lambda n=n: len(served.lab.course.in_flight) == n + 1)
        drips[-1].begin()
        drips[-1].put(content[:2])
    for given_up in drips[:3]:
        given_up.socket.close()
    wait_until(lambda: len(served.lab.course.in_flight) == 1)
    drips[3].sent = 2
    drips[3].send(content[2:], after=20)
    assert is_too_late(drips[3].end())


@pytest.mark.usefixtures("due")
@pytest.mark.parametrize(
    "way, table",
    [("/api/submissions", Submission), ("/api/extreme/bots", Bot), ("/api/agents/rows", Agent), (REPORT, Report)],
)
def test_nothing_is_gained_by_a_file_that_is_sent_again(served, clock, way, table):
    """In time or late, it makes no row, and the first one counts from when it came."""

    def send(until):
        drip = Drip(served, clock, way, len(content))
        drip.begin()
        clock.passed = until
        drip.send(content)
        status = drip.end()[0]
        league = League(served.lab.data)
        with sqlite3.connect(league.database if table is Bot else served.lab.data / "course.sqlite") as database:
            return status, database.execute(f"SELECT id, begun_at FROM {table.__tablename__} ORDER BY id").fetchall()

    content = a_file(way)
    status, rows = send(0.0)
    assert status == 201 and rows[-1][1] == clock.begin
    assert send(2.0) == (200, rows)
    assert send(30.0) == (409 if table is Bot else 200, rows)


# ---------------------------------------------------------------------------------------------
# A busy server


@pytest.fixture
def busy(monkeypatch):
    """The server has no thread that looks at the next upload, until it is set free."""
    free, really = threading.Event(), uploads.run_in_threadpool

    async def held(*called):
        while not free.is_set():
            await asyncio.sleep(0.01)
        return await really(*called)

    monkeypatch.setattr(uploads, "run_in_threadpool", held)
    yield free
    free.set()


def test_who_sends_at_once_is_in_time_however_long_the_server_takes(served, clock, due, busy):
    due(late=True)
    content = a_report(300_000)  # more than the server reads before it looks at it
    drip = Drip(served, clock, length=len(content))
    drip.begin()
    sending = threading.Thread(target=drip.put, args=(content + END,))
    sending.start()
    wait_until(lambda: is_paused(served))
    clock.passed += 30
    busy.set()
    assert drip.answer()[0] == 201
    sending.join()
    assert counts_from(served, clock) == 0


def is_paused(served):
    """Whether the server reads nothing from one of its connections."""
    return any(one.flow.read_paused for one in list(served.server.server_state.connections))


def test_nothing_is_gained_while_the_server_is_busy(served, clock, due, busy):
    """It notes when bytes come, though nobody looks at them yet."""
    due(late=True)
    content = a_report(100)
    drip = Drip(served, clock)
    drip.begin()
    drip.put(content[:50])
    clock.passed += 30
    drip.put(content[50:])
    busy.set()
    assert drip.end()[0] == 201
    assert counts_from(served, clock) == pytest.approx(30, abs=0.01)


def test_a_server_that_is_kept_busy_gains_ten_minutes_too(served, clock, due, busy):
    due(late=True)
    content = a_report(300_000)
    drip = Drip(served, clock, length=len(content))
    drip.begin()
    drip.put(content[:100_000])
    wait_until(lambda: is_paused(served))
    clock.passed += 650
    busy.set()
    drip.sent = 100_000
    drip.send(content[100_000:])
    assert drip.end()[0] == 201
    assert counts_from(served, clock) == pytest.approx(50)


def test_nothing_is_gained_by_pipelining(served, clock, due, busy):
    """The second request is sent before the deadline, but its turn comes when the first one is answered."""
    due(late=True)
    first = Drip(served, clock, "/api/submissions", length=len(STRATEGY))
    first.begin()
    first.put(STRATEGY + END)
    content = a_report(100)
    # The server reads no further once it has a second head: what is sent apart from that would not come.
    second = Drip(served, clock, length=100, connection=first.socket, begun=content[:50])
    wait_until(lambda: is_paused(served))
    clock.passed += 30
    busy.set()
    assert b" 20" in heard(first.socket)[0][:20]
    second.put(content[50:])
    assert second.end()[0] == 201
    assert counts_from(served, clock) == pytest.approx(30, abs=0.01)


# ---------------------------------------------------------------------------------------------
# What is too slow


def test_who_is_too_slow_is_ended(served, clock):
    """A minute, and a second for each 20 kB that have come; not for those that could still come."""
    drip = Drip(served, clock)
    drip.begin()
    drip.send(bytes(SECOND))
    for _ in range(7):
        drip.send(b"x", after=10)
    status, told = drip.answer()
    assert status == 408 and "20,006 bytes of the file have come in 70 seconds, which is too slow" in told


def test_an_upload_has_an_hour(served, clock, monkeypatch):
    """However fast it is; the test lets it have 100 seconds."""
    assert uploads._WHOLE_SECONDS == 3600
    monkeypatch.setattr(uploads, "_WHOLE_SECONDS", 100.0)
    drip = Drip(served, clock)
    drip.begin()
    for after in (0, 99, 2):
        drip.send(bytes(80 * SECOND), after=after)
    assert drip.answer()[0] == 408
