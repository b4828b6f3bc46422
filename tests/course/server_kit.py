"""Shared by the tests of the course: strategies as files, a course without processes, and one with them."""

import hashlib
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import urllib.error
import urllib.request
import zipfile
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from fastapi.testclient import TestClient

from pttt_ooc.cli.commands import main
from pttt_ooc.course.data import queue
from pttt_ooc.course.data.assignments import set_term, term_of
from pttt_ooc.course.data.caching import Cache
from pttt_ooc.course.data.settings import CourseSettings, settings_text
from pttt_ooc.course.grades.gradebook import settle_if_graded
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.people import teams
from pttt_ooc.course.server.app import create_app
from pttt_ooc.course.server.web_process import server_of
from pttt_ooc.course.strategies.assessor import Assessor
from pttt_ooc.course.strategies.judging import Judge
from pttt_ooc.course.strategies.starter_kit import is_missing, write_kit
from pttt_ooc.course.strategies.worker import take_in_baseline
from pttt_ooc.games.structure.strategy import Strategy, uniform_strategy
from pttt_ooc.pipeline.files.infosets import default_rows
from pttt_ooc.pipeline.files.tensors import strategy_from_tensor, tensor_from_strategy
from tests.kits.helpers import full_index, small_engine
from tests.kits.patience import PATIENCE, wait_until

ROOT = Path(__file__).parent.parent.parent
GAME = "mini-2x3k2-abrupt"
VALUE = (0.7647056, 0.764706)
FEW = 10
# A process that the parent kills because it takes long to stop is a failure, but no busy machine is to cause it.
SERVE = (
    f"from pttt_ooc.site.service import processes; processes._STOP_SECONDS = {PATIENCE}; "
    "from pttt_ooc.cli.commands import main; main()"
)


@cache
def uniform_tensor(player, game=GAME):
    index = full_index(game)
    rows, strategy = default_rows(index, player), uniform_strategy(index, player, np.float64)
    tensor = np.concatenate(list(tensor_from_strategy(index, player, strategy.probabilities, rows, np.float64)))
    tensor.flags.writeable = False  # all tests of a process share it
    return tensor


def random_tensor(player, seed, sharpness=1.0, game=GAME):
    """A random strategy; with sharpness 0 the uniform one."""
    legal = uniform_tensor(player, game) > 0
    weights = np.random.default_rng([seed, player]).random(legal.shape) ** sharpness * legal
    return weights / weights.sum(axis=1, keepdims=True)


def as_strategy(player, tensor, game=GAME, index=None):
    index = index or full_index(game)
    return Strategy(index, player, strategy_from_tensor(index, player, tensor, default_rows(index, player)))


def npy_bytes(tensor):
    content = io.BytesIO()
    np.save(content, tensor)
    return content.getvalue()


def zip_bytes(content, name="pttt_pl0.npy", method=zipfile.ZIP_DEFLATED):
    """A zip of one file: of a tensor, or of bytes."""
    data, out = content if isinstance(content, bytes) else npy_bytes(content), io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        archive.writestr(zipfile.ZipInfo(name), data, method)  # always of the same date
    return out.getvalue()


def strategy_zip(player, seed, sharpness=1.0):
    return zip_bytes(random_tensor(player, seed, sharpness), f"pttt_pl{player}.npy")


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def make_settings(data, **changes):
    settings = CourseSettings(**{"game": GAME, "game_value": VALUE, "submissions_per_hour": 1000, **changes})
    data.mkdir(parents=True, exist_ok=True)
    (data / "settings.yaml").write_text(settings_text(settings))
    return settings


def rewritten(copy, file, change=lambda name, content: content, more=(), digests=True):
    """The copy of a course with other members, and their right digests.

    Parameters
    ----------
    change
        Returns other bytes of a member, by its name and bytes.
    more
        Further members, as headers without content.
    digests
        Whether there are any.
    """
    found = {}
    with tarfile.open(copy) as archive, tarfile.open(file, "w") as made:
        members = [(member, archive.extractfile(member).read()) for member in archive.getmembers()]
        for member, content in [*members[:-1], *((one, b"") for one in more), *members[-1:]]:
            content = change(member.name, content)
            if member.name == "digests.json":
                content = json.dumps(found).encode()
            found[member.name] = hashlib.blake2b(content, digest_size=32).hexdigest()
            member.size = len(content)
            if digests or member.name != "digests.json":
                made.addfile(member, io.BytesIO(content))
    return file


class Lab:
    """A course whose web application and worker are called in this process."""

    def __init__(self, data, **changes):
        self.data, self.settings = data, make_settings(data, **changes)
        self.course = Course.open(data)
        self.course.cache = Cache(0, 0)
        self.storage, self.database = self.course.storage, self.course.database
        self.stopping = threading.Event()
        value = self.settings.game_value or VALUE
        self.assessor = Assessor(small_engine(GAME), self.storage, value, self.settings.orders(data))
        # Tests of likeness have as many games as a course.
        self.judge = Judge(self.database, self.storage, self.assessor, self.stopping, settle_if_graded, games=FEW)
        self.client = TestClient(create_app(self.course), base_url="http://course", raise_server_exceptions=False)
        self.tokens = {}

    def team(self, name):
        self.tokens[name] = teams.add_team(self.database, name)
        return self.tokens[name]

    def baseline(self):
        take_in_baseline(self.database, self.storage, self.assessor)
        self.run()

    def show_solution(self, shown=True):
        with self.database.writing() as session:
            set_term(session, replace(term_of(session), show_solution=shown))

    def kit(self):
        if is_missing(self.storage, self.settings):
            orders, index = self.settings.orders(self.data), self.assessor.engine.index
            write_kit(self.storage.kit, self.settings, orders, index, self.assessor.rows)

    def post(self, token, player, content, **options):
        files = {"player": (None, str(player)), "file": ("anything.zip", content)}
        return self.client.post("/api/submissions", headers=bearer(token), files=files, **options)

    def submit(self, token, player, content):
        answer = self.post(token, player, content)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()["submission"]["id"]

    def run(self):
        """Judge all that waits."""
        with self.database.reading() as session:
            waiting = queue.waiting(session)
        for number in waiting:
            self.judge.judge(number)

    def verdict(self, token, player, content):
        number = self.submit(token, player, content)
        self.run()
        return self.client.get(f"/api/submissions/{number}").json()

    def sign_in(self, token):
        """Sign this lab's browser in."""
        page = self.client.get("/sign-in").text
        form = {"form_token": form_token(page), "token": token}
        answer = self.client.post("/sign-in", data=form, follow_redirects=False)
        assert answer.status_code == 303, answer.text

    def close(self):
        self.client.close()
        self.database.close()


class Served:
    """The web server of a course, in a thread of this process."""

    def __init__(self, data, parts=lambda lab: [], **changes):
        self.lab = Lab(data, **{"max_upload_mb": 0.1, **changes})
        self.token = self.lab.team("Team A")
        further = parts(self.lab)
        self.server = server_of(self.lab.course, 40, lambda course: create_app(course, *further))
        self.door = self.server.config.http.args[0]
        listening = socket.create_server(("127.0.0.1", 0))
        self.address = listening.getsockname()
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]}, daemon=True)
        self.thread.start()

    def connect(self):
        return socket.create_connection(self.address, timeout=30)

    def say(self, data):
        """All that comes back for some bytes, and whether the server has closed the connection."""
        with self.connect() as client:
            client.sendall(data)
            return heard(client)

    def close(self):
        self.server.should_exit = True
        self.thread.join(30)
        assert not self.thread.is_alive()
        self.lab.close()


def heard(client):
    """Answers until the connection is closed, or an answer is whole."""
    got = b""
    while True:
        try:
            data = client.recv(1 << 16)
        except ConnectionResetError:
            return got, True
        got += data
        if not data:
            return got, True
        head, blank, body = got.partition(b"\r\n\r\n")
        length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-len")]
        if blank and length and len(body) >= length[0] and b"\r\nconnection: close" not in head.lower():
            return got, False


def copied(lab, data):
    """A lab of its own with a copy of the directory of one that is closed."""
    shutil.copytree(lab.data, data)
    made = Lab(data)
    made.tokens = dict(lab.tokens)
    return made


def form_token(page):
    return re.search(r'name="form_token" value="([^"]+)"', page)[1]


class Server:
    """`pttt course serve` in a process of its own."""

    def __init__(self, data, *, port=0, environment=None, **changes):
        self.data = data
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
        make_settings(data, **changes)
        self.log = open(data / "log.jsonl", "a+b")  # noqa: SIM115
        self.start(port)

    def start(self, port=0):
        command = [sys.executable, "-c", SERVE, "course", "serve", "--data", self.data, "--port", str(port)]
        pipes = {"stdout": subprocess.PIPE, "stderr": self.log, "text": True}
        self.process = subprocess.Popen(list(map(str, command)), env=self.environment, cwd=self.data, **pipes)
        line = self.process.stdout.readline()
        assert "http://" in line, self.logged()
        self.url = re.search(r"http://\S+:\d+", line)[0]
        self.wait_until(lambda: self.get("/livez", quiet=True) is not None)

    @property
    def port(self):
        return int(self.url.rpartition(":")[2])

    def logged(self):
        return (self.data / "log.jsonl").read_text()

    def events(self, event):
        lines = [json.loads(line) for line in self.logged().splitlines() if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    def pid_of(self, child):
        return self.events_of(child)[-1]["pid"]

    def events_of(self, child):
        return [line for line in self.events("started") if line.get("child") == child]

    def get(self, path, quiet=False):
        try:
            with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
                return json.loads(answer.read())
        except (OSError, urllib.error.HTTPError):
            if quiet:
                return None
            raise

    def wait_until(self, condition):
        wait_until(condition, alive=lambda: self.process.poll() is None, told=lambda: self.logged()[-5000:])

    def wait_for_verdicts(self, count):
        def done():
            page = self.get("/api/submissions?size=100", quiet=True)
            return page and page["total"] >= count and not any(s["position"] is not None for s in page["submissions"])

        self.wait_until(done)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        self.process.stdout.close()
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def pttt(*arguments, **environment):
    """Run the command in this process."""
    out, err, before = io.StringIO(), io.StringIO(), dict(os.environ)
    os.environ.update(environment)
    try:
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as end:
            main(list(map(str, arguments)))
    finally:
        os.environ.clear()
        os.environ.update(before)
    return Done(end.value.code or 0, out.getvalue(), err.getvalue())
