"""Load on a course: ``python -m benchmarks.course_load`` starts one on the loopback, and measures how it copes.

Many teams upload at the same time, now and then a wrong file, while somebody reads the leaderboard; halfway, the
worker and then the web server are killed. All verdicts are compared with the package's own results.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.reading import read_pages
from pttt_ooc.cfr.solving.assessment import assess
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.settings import CourseSettings, settings_text
from pttt_ooc.course.people import teams
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.strategy import Strategy, uniform_strategy
from pttt_ooc.pipeline.files.infosets import default_rows
from pttt_ooc.pipeline.files.tensors import strategy_from_tensor, tensor_from_strategy

GAME = "mini-2x3k2-abrupt"
VALUE = (0.7647056, 0.764706)
WRONG_EVERY = 20
PATIENCE = 600.0  # seconds without any progress


class Files:
    """Strategies of a small game as uploads, and their true exploitabilities."""

    def __init__(self):
        self.engine = Engine.of_game(named_game(GAME), threads=1)
        self.rows = [default_rows(self.engine.index, player) for player in (0, 1)]
        self.legal = [self._uniform(player) > 0 for player in (0, 1)]

    def _uniform(self, player):
        strategy = uniform_strategy(self.engine.index, player, np.float64)
        blocks = tensor_from_strategy(self.engine.index, player, strategy.probabilities, self.rows[player], np.float64)
        return np.concatenate(list(blocks))

    def make(self, number):
        """Player, bytes and expected verdict of upload `number`: an exploitability, or a note."""
        player = number % 2
        if number % WRONG_EVERY == 7:
            return player, _zipped(np.ones((number + 1, 6))), f"Invalid tensor shape: found ({number + 1}, 6)"
        weights = np.random.default_rng(number).random(self.legal[player].shape) * self.legal[player]
        tensor = weights / weights.sum(axis=1, keepdims=True)
        index = self.engine.index
        probabilities = strategy_from_tensor(index, player, tensor, self.rows[player])
        found = assess(Strategy(index, player, probabilities), self.engine)
        return player, _zipped(tensor), found.exploitability(VALUE)


def _zipped(tensor):
    npy, out = io.BytesIO(), io.BytesIO()
    np.save(npy, tensor)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("strategy.npy", npy.getvalue())
    return out.getvalue()


class Course:
    """`pttt course serve` with teams, on a free port of the loopback."""

    limits = {"submissions_per_hour": 10_000, "waiting_per_team": 1_000}

    def __init__(self, data, count, game=GAME):
        self.data, self.game, self.log = data, game, data / "log.jsonl"
        settings = CourseSettings(game=game, game_value=VALUE if game == GAME else None, **self.limits)
        (data / "settings.yaml").write_text(settings_text(settings))
        database = Database.of(data, None, game)
        self.tokens = [teams.add_team(database, f"Team {n:03}") for n in range(count)]
        self.prepare(database)
        database.close()
        command = [sys.executable, "-m", "pttt_ooc.cli", "course", "serve", "--data", str(data), "--port", "0"]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        self.port = int(re.search(r":(\d+);", self.process.stdout.readline())[1])
        wait_until(self.is_ready)

    def prepare(self, database):
        """Add what the course needs before it is served."""

    def state(self):
        try:
            return ask(self.port, "/healthz")["status"]
        except (OSError, http.client.HTTPException, ValueError):
            return None

    def is_ready(self):
        """Whether it is healthy, and has its verdicts on uniform play."""
        if self.state() != "ok":
            return False
        uniform = ask(self.port, "/api/submissions")["submissions"]
        return [one["position"] for one in uniform] == [None, None]

    def kill(self, child):
        """SIGKILL for the web server or the worker."""
        os.kill(self.pid_of(child), signal.SIGKILL)

    def pid_of(self, child):
        """The pid of a process of the server, from the log."""
        started = [json.loads(line) for line in self.log.read_text().splitlines() if '"started"' in line]
        return [line["pid"] for line in started if line["child"] == child][-1]

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def wait_until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the course gets no further")
        time.sleep(0.1)


def ask(port, path, connection=None):
    """JSON of a page."""
    connection = connection or http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", path)
    return json.loads(connection.getresponse().read())


def upload(port, token, player, content):
    """Upload a file, again if the connection breaks, as a student would; return its number."""
    head = f'--b\r\nContent-Disposition: form-data; name="player"\r\n\r\n{player}\r\n'
    head += '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    body = head.encode() + content + b"\r\n--b--\r\n"
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "multipart/form-data; boundary=b"}
    end = time.monotonic() + PATIENCE
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("POST", "/api/submissions", body, headers)
            answer = connection.getresponse()
            record = json.loads(answer.read())
            if answer.status in (200, 201):
                return record["submission"]["id"]
            raise RuntimeError(f"{answer.status}: {record}")
        except (OSError, http.client.HTTPException):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        finally:
            connection.close()


def run(team_count=100, uploads=1000, flight=20, kill=True, pause=0.05):
    """Put the load on a new course.

    Returns
    -------
    dict of figures: ``lost``, ``wrong`` (both must be 0), ``upload_seconds``, ``seconds`` (to the last verdict),
    ``uploads_per_second``, and for the leaderboard ``reads``, ``median_ms``, ``p99_ms``, ``worst_ms``, counted without
    the seconds in which the killed web server was being replaced.
    """
    files = Files()
    uploaded = [files.make(number) for number in range(uploads)]
    with tempfile.TemporaryDirectory(prefix="course-load-") as name:
        course = Course(Path(name), team_count)
        try:
            return measured(course, uploaded, flight, kill, pause)
        finally:
            course.stop()


def measured(course, uploaded, flight, kill=False, pause=0.05):
    """Put files of :class:`Files` as load on a course that has a ``port`` and ``tokens``; returns as :func:`run`."""
    context = multiprocessing.get_context("spawn")
    stopping, queue = context.Event(), context.Queue()
    reader = context.Process(target=read_pages, args=(course.port, "/", stopping, pause, queue), daemon=True)
    reader.start()
    begun, sent, outage = time.perf_counter(), 0, (0.0, 0.0)
    lock, killed = threading.Lock(), {"worker": len(uploaded) // 3, "web": 2 * len(uploaded) // 3}

    def send(number):
        nonlocal sent, outage
        player, content, _ = uploaded[number]
        found = upload(course.port, course.tokens[number % len(course.tokens)], player, content)
        with lock:
            sent += 1
            for child, after in killed.items():
                if kill and sent == after:
                    course.kill(child)
                    if child == "web":
                        down = time.time()
                        wait_until(lambda: course.state() is not None)
                        outage = (down - 1, time.time() + 1)
        return found

    with ThreadPoolExecutor(flight) as pool:
        numbers = list(pool.map(send, range(len(uploaded))))
    upload_seconds = time.perf_counter() - begun
    found = verdicts(course.port, len(uploaded))
    seconds = time.perf_counter() - begun
    stopping.set()
    times, failures = queue.get(timeout=PATIENCE)
    reader.join()
    steady = np.array([spent for at, spent in times if not outage[0] <= at <= outage[1]]) * 1000
    wrong = sum(not is_right(found.get(n), expected) for n, (_, _, expected) in zip(numbers, uploaded, strict=True))
    return {
        "uploads": len(uploaded),
        "lost": len(set(range(len(uploaded))) - {i for i, n in enumerate(numbers) if n in found}),
        "wrong": wrong,
        "upload_seconds": round(upload_seconds, 1),
        "seconds": round(seconds, 1),
        "verdicts_per_second": round(len(uploaded) / seconds, 1),
        "reads": len(times),
        "reads_failed_in_the_outage": failures,
        "median_ms": round(float(np.median(steady)), 1),
        "p99_ms": round(float(np.percentile(steady, 99)), 1),
        "worst_ms": round(float(steady.max()), 1),
    }


def is_right(submission, expected):
    """Whether a submission has the verdict that :meth:`Files.make` expects."""
    if submission is None:
        return False
    if isinstance(expected, str):
        return submission["status"] == "Rejected" and submission["note"].startswith(expected)
    return submission["status"] == "Accepted" and abs(submission["exploitability"] - expected) < 1e-9


def verdicts(port, count):
    """All submissions by number, when all have verdicts."""
    last, since = -1, time.monotonic()
    while True:
        page = ask(port, "/api/submissions?size=100")
        found = list(page["submissions"])
        for number in range(2, page["pages"] + 1):
            found += ask(port, f"/api/submissions?size=100&page={number}")["submissions"]
        done = sum(s["position"] is None for s in found)
        if done == len(found) and done >= count + 2:
            return {s["id"]: s for s in found}
        if done != last:
            last, since = done, time.monotonic()
        if time.monotonic() - since > PATIENCE:
            raise TimeoutError(f"{len(found) - done} of {len(found)} submissions get no verdict")
        time.sleep(1)


def main():
    """Print the figures as JSON; exit with 1 if anything was lost or wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.course_load", description=__doc__.splitlines()[0])
    parser.add_argument("--teams", type=int, default=100)
    parser.add_argument("--uploads", type=int, default=1000)
    parser.add_argument("--flight", type=int, default=20)
    parser.add_argument("--no-kill", action="store_true")
    options = parser.parse_args()
    figures = run(options.teams, options.uploads, options.flight, not options.no_kill)
    print(json.dumps(figures, indent=2))
    sys.exit(bool(figures["lost"] or figures["wrong"]))


if __name__ == "__main__":
    main()
