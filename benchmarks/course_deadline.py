"""The last minutes before a deadline: ``python -m benchmarks.course_deadline`` lets 200 students look at pages of a
course while 60 uploads of 40 MB begin within five minutes, most of them at the end, and a few of them too late.

Each upload must be confirmed, or refused with the sentence that says why. The results are the times of pages (median
and 95th percentile), of confirmations after the last byte, and of verdicts, with the order in which they came.  They
depend on the machine's other load; the processor time that the web process takes for a page, measured afterwards,
hardly does.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks import course_load
from benchmarks.course_load import GAME, ask
from pttt_ooc.course.data.assignments import settle_assignments
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import BASELINE
from pttt_ooc.course.data.term_tables import Assignment

PAGES = ("/", "/parts/leaderboard", "/matrix", "/submissions", "/course", "/teams/{team}", "/api/leaderboard")
PATIENCE = 900.0
_PIECE = 1 << 16  # bytes that are sent at a time
_UNCERTAIN = 0.5  # seconds around the deadline in which no upload begins


class Course(course_load.Course):
    """A course with a deadline."""

    limits = {"max_upload_mb": 200, "submissions_per_hour": 100, "connections_per_address": 1000}

    def prepare(self, database):
        settle_assignments(database, self.data)

    @property
    def web(self):
        """The number of the web process."""
        return self.pid_of("web")


def set_deadline(course, at):
    """Set the deadline, after which the course accepts no strategies; None: no deadline."""
    database = Database.of(course.data, None, course.game)
    with database.writing() as session:
        session.query(Assignment).one().due_at = at
    database.close()


def uniform_files(port):
    """The files of Uniform's strategies and their exploitabilities, by player."""
    found = {one["player"]: one for one in _submissions(port) if one["team"] == BASELINE}
    files = []
    for player in (0, 1):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", f"/submissions/{found[player]['id']}/file")
        files.append((connection.getresponse().read(), found[player]["exploitability"]))
        connection.close()
    return files


def padded(content, noise):
    """A zip with random bytes before it, in pieces: still the same zip, but a new file, as large as the noise."""
    return [os.urandom(16), noise[: max(0, len(noise) - len(content) - 16)], content]


def read_pages(port, students, pause, teams, stopping, found):
    """Students who look at pages, each with a connection that stays open, in a process of their own."""
    times, failures, lock = defaultdict(list), [], threading.Lock()

    def look(number):
        connection, draw = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE), random.Random(number)
        stopping.wait(draw.uniform(0, pause))
        while not stopping.is_set():
            path = draw.choice(PAGES)
            begun = time.perf_counter()
            try:
                connection.request("GET", path.format(team=draw.randint(2, teams + 1)))
                answer = connection.getresponse()
                answer.read()
                spent = time.perf_counter() - begun
                with lock:
                    times[path].append(spent)
                    if answer.status != 200:
                        failures.append(f"{path}: {answer.status}")
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if time.perf_counter() - begun > 0.01 and not isinstance(error, ConnectionResetError):
                    with lock:
                        failures.append(f"{path}: {error!r}")
            stopping.wait(draw.uniform(0, 2 * pause))
        connection.close()

    threads = [threading.Thread(target=look, args=(n,), daemon=True) for n in range(students)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.put((dict(times), failures))


def processor_ms(port, web, teams, times=100):
    """Processor milliseconds of the web process for each page, one request after the other."""
    connection, found = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE), {}
    for path in PAGES:
        before = _processor_seconds(web)
        for number in range(times):
            connection.request("GET", path.format(team=2 + number % teams))
            connection.getresponse().read()
        found[path] = round((_processor_seconds(web) - before) / times * 1e3, 1)
    connection.close()
    return found


def _processor_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Upload(threading.Thread):
    """An upload that begins at a given time, at the speed of a line."""

    def __init__(self, port, token, player, pieces, expected, at, bytes_per_second):
        super().__init__(daemon=True)
        self.port, self.token, self.player, self.pieces = port, token, player, pieces
        self.expected, self.at, self.speed = expected, at, bytes_per_second
        self.status, self.told, self.number, self.sent_at, self.answered_at = 0, "", None, None, None

    def run(self):
        time.sleep(max(0.0, self.at - time.time()))
        self.at = time.time()
        head = f'--b\r\nContent-Disposition: form-data; name="player"\r\n\r\n{self.player}\r\n'
        head += '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
        body = [head.encode(), *self.pieces, b"\r\n--b--\r\n"]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest("POST", "/api/submissions")
            connection.putheader("Authorization", f"Bearer {self.token}")
            connection.putheader("Content-Type", "multipart/form-data; boundary=b")
            connection.putheader("Content-Length", str(sum(map(len, body))))
            connection.endheaders()
            begun = time.monotonic()
            try:
                sent = 0
                for part in body:
                    for start in range(0, len(part), _PIECE):
                        connection.send(part[start : start + _PIECE])
                        sent += len(part[start : start + _PIECE])
                        time.sleep(max(0.0, begun + sent / self.speed - time.monotonic()))
            except (BrokenPipeError, ConnectionResetError):
                pass  # the server refused it meanwhile, and has answered
            self.sent_at = time.time()
            answer = connection.getresponse()
            told = json.loads(answer.read())
            self.status, self.told = answer.status, told.get("error", "")
            self.number = told["submission"]["id"] if answer.status in (200, 201) else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.told = repr(error)
        finally:
            self.answered_at = time.time()
            connection.close()


def run(students=200, uploads=60, late=5, megabytes=40.0, seconds=300.0, pause=5.0, megabits=20.0, game=GAME):
    """Measure the last `seconds` before a deadline.

    Parameters
    ----------
    students, pause
        How many look at pages, and the seconds between two of their looks, on average.
    uploads, late, megabytes, megabits
        How many begin in time and too late, their size, and the speed of each line.
    """
    with tempfile.TemporaryDirectory(prefix="course-deadline-") as name:
        course = Course(Path(name), uploads + late, game)
        try:
            return measured(course, students, late, megabytes * 1e6, seconds, pause, megabits * 125_000)
        finally:
            course.stop()


def measured(course, students, late, size, seconds, pause, speed):
    """Put the load on a course with ``port``, ``data``, ``game``, ``tokens`` and ``web``, a pid; return the figures."""
    uniform, load = uniform_files(course.port), os.getloadavg()
    context = multiprocessing.get_context("spawn")
    stopping, queue = context.Event(), context.Queue()
    halves = [students // 2, students - students // 2]
    readers = [
        context.Process(
            target=read_pages, args=(course.port, half, pause, len(course.tokens), stopping, queue), daemon=True
        )
        for half in halves
    ]
    for reader in readers:
        reader.start()
    due = time.time() + seconds
    set_deadline(course, due)
    draw = random.Random(1)
    begins = [due - _UNCERTAIN - (seconds - _UNCERTAIN - 1) * draw.betavariate(1, 3) for _ in course.tokens[late:]]
    begins += [due + _UNCERTAIN + draw.uniform(0, 5) for _ in range(late)]
    sent, noise = [], memoryview(os.urandom(int(size)))
    for n, (token, at) in enumerate(zip(course.tokens, begins, strict=True)):
        content, figure = uniform[n % 2]
        sent.append(Upload(course.port, token, n % 2, padded(content, noise), figure, at, speed))
    for one in sent:
        one.start()
    for one in sent:
        one.join()
    times, failures = _until_judged(course, stopping, queue, readers)
    rows = {one["id"]: one for one in _submissions(course.port)}
    return {
        "load_before_and_after": [[round(x, 1) for x in one] for one in (load, os.getloadavg())],
        **figures_of(sent, rows, due, times, failures),
        "processor_ms_by_page": processor_ms(course.port, course.web, len(course.tokens)),
    }


def _until_judged(course, stopping, queue, readers):
    """Wait for the last verdict; the times and failures of pages until then."""
    last, since = -1, time.monotonic()
    while True:
        waiting = sum(one["position"] is not None for one in _submissions(course.port))
        if not waiting:
            break
        if waiting != last:
            last, since = waiting, time.monotonic()
        if time.monotonic() - since > PATIENCE:
            raise TimeoutError(f"{waiting} uploads get no verdict")
        time.sleep(1)
    stopping.set()
    found = [queue.get(timeout=PATIENCE) for _ in readers]
    for reader in readers:
        reader.join()
    times = defaultdict(list)
    for part, _ in found:
        for path, spent in part.items():
            times[path] += spent
    return times, [failure for _, failures in found for failure in failures]


def _submissions(port):
    page = ask(port, "/api/submissions?size=100")
    found = list(page["submissions"])
    for number in range(2, page["pages"] + 1):
        found += ask(port, f"/api/submissions?size=100&page={number}")["submissions"]
    return found


def figures_of(sent, rows, due, times, failures):
    """What was measured, and what went wrong."""
    in_time = [one for one in sent if one.at <= due]
    too_late = [one for one in sent if one.at > due]
    confirmed = [one for one in in_time if one.status in (200, 201)]
    judged = sorted((rows[one.number] for one in confirmed if one.number in rows), key=lambda row: row["id"])
    finished = [_seconds(row["finished_at"]) for row in judged]
    pages = [spent for found in times.values() for spent in found]
    received = [one.answered_at - one.sent_at for one in confirmed]
    wrong = sum(
        one.number not in rows
        or rows[one.number]["status"] != "Accepted"
        or abs(rows[one.number]["exploitability"] - one.expected) > 1e-9
        for one in confirmed
    )
    return {
        "pages": len(pages),
        "page_ms": {"p50": _ms(pages, 50), "p95": _ms(pages, 95), "p99": _ms(pages, 99), "most": _ms(pages, 100)},
        "page_ms_p95_by_page": {path: _ms(found, 95) for path, found in sorted(times.items())},
        "page_failures": failures,
        "begun_in_time": len(in_time),
        "confirmed": len(confirmed),
        "confirmed_after_the_deadline": sum(one.answered_at > due for one in confirmed),
        "confirmation_s": {
            "p50": _ms(received, 50) / 1e3,
            "p95": _ms(received, 95) / 1e3,
            "most": _ms(received, 100) / 1e3,
        },
        "begun_too_late": len(too_late),
        "refused_with_a_reason": sum(one.status == 409 and "had to begin by" in one.told for one in too_late),
        "other_answers": sorted({f"{one.status}: {one.told[:80]}" for one in in_time if one not in confirmed}),
        "wrong_verdicts": wrong,
        "verdicts_in_the_order_of_arrival": finished == sorted(finished),
        "last_verdict_s_after_the_deadline": round(max(finished, default=due) - due, 1),
    }


def _seconds(at):
    from datetime import datetime

    return at if isinstance(at, int | float) else datetime.fromisoformat(at).timestamp()


def _ms(found, percent):
    return round(float(np.percentile(np.array(found or [0.0]) * 1000, percent)), 1)


def failed(figures):
    """Whether an upload got the wrong answer, or a verdict was wrong."""
    return bool(
        figures["confirmed"] != figures["begun_in_time"]
        or figures["refused_with_a_reason"] != figures["begun_too_late"]
        or figures["wrong_verdicts"]
        or figures["page_failures"]
    )


def main():
    """Print the figures as JSON; exit with 1 if anything was lost, wrong or without a reason."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.course_deadline", description="Load at a deadline.")
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--uploads", type=int, default=60)
    parser.add_argument("--megabytes", type=float, default=40.0)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--megabits", type=float, default=20.0, help="speed of each line, in Mbit/s")
    parser.add_argument("--game", default=GAME, help="pttt-abrupt: the course's, whose verdicts take seconds")
    options = parser.parse_args()
    figures = run(
        options.students,
        options.uploads,
        megabytes=options.megabytes,
        seconds=60 * options.minutes,
        megabits=options.megabits,
        game=options.game,
    )
    print(json.dumps(figures, indent=2))
    sys.exit(failed(figures))


if __name__ == "__main__":
    main()
