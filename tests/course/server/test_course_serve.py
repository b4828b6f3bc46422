"""The processes: start, stop, death and resurrection; the commands that go with them."""

import json
import os
import signal
import socket
import subprocess
import sys
import tarfile
import time
from contextlib import suppress

import psutil
import pytest

from tests.course.server_kit import (
    GAME,
    ROOT,
    Lab,
    Served,
    Server,
    bearer,
    pttt,
    random_tensor,
    strategy_zip,
    zip_bytes,
)
from tests.kits.patience import PATIENCE, freeze, wait_until_gone


@pytest.fixture(scope="module")
def mortal(tmp_path_factory):
    """A course that tests kill, one after the other."""
    made = Server(tmp_path_factory.mktemp("mortal"))
    yield made
    made.close()


@pytest.fixture
def own(mortal):
    if mortal.process.poll() is not None:
        mortal.start()
    mortal.wait_until(lambda: mortal.get("/healthz", quiet=True))
    mortal.wait_for_verdicts(2)
    return mortal


def add_team(server, name):
    done = pttt("course", "add-team", name, "--data", server.data)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def submit(server, token, player, content, *options):
    file = server.data / f"sent-{time.monotonic_ns()}.zip"
    file.write_bytes(content)
    options = (file, "--player", player, "--server", server.url, *options)
    return pttt("submit", *options, PTTT_TOKEN=token)


@pytest.mark.slow
def test_submit_from_the_command_line(server):
    token = add_team(server, "Terminal Team")
    done = submit(server, token, 0, strategy_zip(0, 31))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"Received: {server.url}/submissions/") and lines[-2].startswith("Accepted: expl")
    assert lines[-1].startswith("0 (perfect) < ") and "(uniform play)" in lines[-1]
    again = submit(server, token, 0, strategy_zip(0, 31))
    assert again.returncode == 0 and again.stdout.startswith("Submitted before: ")
    before = server.get("/api/submissions")["total"]
    for content, words in (
        (
            zip_bytes(random_tensor(1, 31)),
            "found (107, 6), expected (189, 6) for player 0 in mini-2x3k2-abrupt. This is a file of player 1, not",
        ),
        (
            zip_bytes(random_tensor(0, 31)[1:]),
            "found (188, 6), expected (189, 6) for player 0 in mini-2x3k2-abrupt. No",
        ),
        (b"no zip at all", "Not a valid zip file"),
        (zip_bytes(b"no tensor"), "Exception parsing numpy tensor"),
        (zip_bytes(random_tensor(0, 1).astype("int8")), "Invalid dtype"),
    ):
        wrong = submit(server, token, 0, content)
        assert wrong.returncode == 1 and words in wrong.stderr and not wrong.stdout, wrong
    assert server.get("/api/submissions")["total"] == before
    fast = submit(server, token, 1, strategy_zip(1, 31), "--no-wait")
    assert fast.returncode == 0 and len(fast.stdout.splitlines()) == 1


def test_submit_tells_what_is_wrong(tmp_path):
    served, file = Served(tmp_path / "course"), tmp_path / "some.zip"
    file.write_bytes(strategy_zip(0, 1))
    there = f"http://127.0.0.1:{served.address[1]}"
    for name, server, options, words in (
        (file, there, [], "token is missing"),
        (file, there, ["--token", "1.wrong"], "not known here"),
        (file, there, ["--token", "a\u00e4"], "copy it again"),
        (file, "ftp://x", ["--token", "x"], "not the address of a course"),
        (file, "http://127.0.0.1:9", ["--token", "x"], "cannot be reached"),
        ("nowhere.zip", there, ["--token", "x"], "There is no such file"),
    ):
        done = pttt("submit", name, "--player", 0, "--server", server, *options, PTTT_TOKEN="")
        assert done.returncode == 1 and words in done.stderr and len(done.stderr.splitlines()) == 1, done
    served.close()


@pytest.mark.slow
def test_teams_are_managed(server):
    def course(*arguments):
        return pttt("course", *arguments, "--data", server.data)

    token = add_team(server, "Team Q")
    assert submit(server, token, 0, strategy_zip(0, 77)).returncode == 0
    for name, words in (("team q", "already is a team"), ("uniform", "already is a team"), ("<b>", "cannot be a team")):
        done = course("add-team", name)
        assert done.returncode == 1 and words in done.stderr and not done.stdout
    fresh = course("rotate-token", "Team Q").stdout.strip()
    assert fresh != token and submit(server, token, 0, strategy_zip(0, 78)).returncode == 1
    assert submit(server, fresh, 0, strategy_zip(0, 78)).returncode == 0
    listed = [line.split()[:4] for line in course("list-teams").stdout.splitlines()]
    assert ["Team", "Q", "2", "2"] in listed and ["Uniform", "2", "2"] in [line[:3] for line in listed]
    assert course("remove-team", "Uniform", "--yes").returncode == 1
    assert course("remove-team", "Team Q", "--yes").returncode == 0
    assert course("remove-team", "Team Q", "--yes").returncode == 1
    assert "Team Q" not in json.dumps(server.get("/api/leaderboard") + [server.get("/api/matrix")])
    assert submit(server, fresh, 0, strategy_zip(0, 79)).returncode == 1
    assert course("rejudge", 1).returncode == 1


@pytest.mark.slow
def test_a_course_at_work_gets_ready_is_private_and_alone(server):
    """One test, as each process of the tests that has a part of it would start a server."""
    server.wait_until(lambda: server.events("ready"))
    lines = [json.loads(line) for line in server.logged().splitlines()]  # and each of them is JSON
    events = [line for line in lines if line.get("process") == "worker"]
    waits = [line["waits_for"] for line in events if line["event"] == "getting ready"]
    assert [words.split()[0] for words in waits] == ["its", "the", "the", "the"]
    ready = next(n for n, line in enumerate(events) if line["event"] == "ready")
    assert all(n < ready for n, line in enumerate(events) if line["event"] == "getting ready")
    server.wait_until(lambda: server.get("/healthz", quiet=True))
    assert server.get("/healthz") == {"status": "ok", "database": "ok", "worker": "ok", "disk": "ok"}
    # No file of it is for others.
    add_team(server, "Private Team")
    others = ("log.jsonl", "sent-")  # of these tests
    own = [f for f in server.data.rglob("*") if not f.name.startswith(others)]
    names = {f.name for f in own}
    assert {"uploads", "gradients", "worker.alive", "course.sqlite-wal", "course.sqlite-shm"} <= names
    assert [f for f in [server.data, *own] if f.exists() and f.stat().st_mode & 0o077] == []
    # A second server of the directory is refused.
    before = {f: f.stat().st_mtime_ns for f in server.data.glob("settings.yaml")}
    done = pttt("course", "serve", "--data", server.data, "--port", 0)
    sentence = f"The course in {server.data} is being served already (process {server.process.pid}, since "
    assert done.returncode == 1 and done.stderr.startswith(sentence) and not done.stdout
    assert done.stderr.endswith("); stop it first, or name another --data.\n") and done.stderr.count("\n") == 1
    assert before == {f: f.stat().st_mtime_ns for f in before}
    assert server.get("/healthz")["worker"] == "ok"


def test_commands_without_a_course_say_so(tmp_path):
    for command in (["add-team", "x"], ["list-teams"], ["backup", tmp_path / "x.tar"]):
        done = pttt("course", *command, "--data", tmp_path / "nothing")
        assert done.returncode == 1 and "There is no course in" in done.stderr
    assert not (tmp_path / "nothing").exists()


@pytest.mark.slow
def test_a_second_worker_is_refused(server):
    command = [sys.executable, "-m", "pttt_ooc.course.server.strategy_worker", str(server.data)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    read, write = os.pipe()  # the parent's end, which stays open
    done = subprocess.run(command, stdin=read, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    os.close(read)
    os.close(write)
    assert done.returncode == 1 and "Another worker is at work" in done.stderr


@pytest.mark.slow
def test_serve_tells_what_is_wrong(server, tmp_path):
    taken = socket.create_server(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    for options, words in (
        (["--port", port, "--game", GAME], f"Cannot listen on 127.0.0.1, port {port}"),
        (["--game", "chess"], "no game called 'chess'"),
        (["--game", "dark-hex-2x5-classical", "--port", 0], "value of dark-hex-2x5-classical is not known"),
    ):
        done = pttt("course", "serve", "--data", tmp_path / f"d{words[0]}", *options)
        assert done.returncode == 1 and words in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    other = pttt("course", "serve", "--data", server.data, "--game", "mini-2x2k2-abrupt")
    assert other.returncode == 1 and f"is for {GAME}" in other.stderr
    taken.close()


def test_backup_and_restore(lab, tmp_path):
    lab.baseline()
    token = lab.team("Team Safe")
    assert lab.verdict(token, 0, strategy_zip(0, 81))["status"] == "Accepted"
    assert lab.verdict(token, 1, b"no zip")["status"] == "Rejected"
    waiting = lab.submit(token, 0, strategy_zip(0, 82))
    copy, paths = tmp_path / "copy.tar", ("/api/leaderboard", "/api/matrix", "/api/submissions", "/api/history")
    done = pttt("course", "backup", copy, "--data", lab.data)
    assert done.returncode == 0 and "5 submissions" in done.stdout, done.stderr
    done = pttt("course", "restore", copy, "--data", lab.data)
    assert done.returncode == 1 and "is not empty" in done.stderr
    assert pttt("course", "restore", copy, "--data", tmp_path / "restored").returncode == 0

    again = Lab(tmp_path / "restored")
    assert [again.client.get(path).json() for path in paths] == [lab.client.get(path).json() for path in paths]
    assert again.client.get("/api/submissions/3/file", headers=bearer(token)).content == strategy_zip(0, 81)
    assert again.course.secret != lab.course.secret
    again.run()
    assert again.client.get(f"/api/submissions/{waiting}").json()["status"] == "Accepted"
    # Matches against strategies whose gradients are not in the copy.
    assert again.verdict(token, 1, strategy_zip(1, 81))["status"] == "Accepted"
    values = again.client.get("/api/matrix").json()["values"]
    assert len(values) == 2 and all(v is not None for row in values for v in row)
    again.close()


def test_copies_that_are_none_are_refused(tmp_path):
    (tmp_path / "text.tar").write_text("nothing")
    with tarfile.open(tmp_path / "other.tar", "w") as archive:
        archive.add(__file__, "settings.yaml")
    for name in ("text.tar", "other.tar", "missing.tar"):
        done = pttt("course", "restore", tmp_path / name, "--data", tmp_path / "d")
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
        assert not (tmp_path / "d").exists() and not (tmp_path / "d.wip").exists()


# ---------------------------------------------------------------------------------------------
# Death


def assert_stops_cleanly(server, number, tell=("serve", "worker")):
    pids = [server.pid_of("web"), server.pid_of("worker")]
    before = len(server.events("stopped"))
    server.process.send_signal(number)
    assert server.process.wait(PATIENCE) == 0
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)
    assert not server.events("killed")
    assert {*tell} <= {line["process"] for line in server.events("stopped")[before:]} <= {"serve", "worker"}


@pytest.mark.long
def test_a_killed_worker_and_a_killed_web_server_lose_nothing(own):
    token = add_team(own, "Team A")
    worker, web = own.pid_of("worker"), own.pid_of("web")
    freeze(worker)
    for seed in range(3):
        assert submit(own, token, seed % 2, strategy_zip(seed % 2, seed), "--no-wait").returncode == 0
    assert own.get("/api/submissions/5")["position"] == 3
    os.kill(worker, signal.SIGKILL)
    os.kill(web, signal.SIGKILL)
    wait_until_gone(web)
    # The socket outlives the web server: this waits and is answered by its successor.
    assert submit(own, token, 1, strategy_zip(1, 9)).returncode == 0
    own.wait_for_verdicts(6)
    found = own.get("/api/submissions")["submissions"]
    assert [s["status"] for s in found] == ["Accepted"] * 6
    assert {e["child"] for e in own.events("died")} == {"web", "worker"} and own.pid_of("worker") != worker


@pytest.mark.long
def test_children_end_with_a_killed_parent(own):
    pids = [own.pid_of("web"), own.pid_of("worker")]
    own.process.kill()
    own.process.wait()
    for pid in pids:
        wait_until_gone(pid)
    own.start()  # and its place is free
    own.wait_until(lambda: own.get("/healthz", quiet=True))
    assert_stops_cleanly(own, signal.SIGINT)


@pytest.mark.long
def test_a_server_that_compiles_stops_at_once_and_leaves_no_process(tmp_path):
    cache = tmp_path / "cache"
    server = Server(tmp_path / "course", environment={"NUMBA_CACHE_DIR": str(cache), "TMPDIR": str(tmp_path)})
    server.pid_of("worker")

    def compiling():
        """The compilation and its parts, which the worker or the answerer has begun."""
        found = []
        for child in psutil.Process(server.process.pid).children(recursive=True):
            with suppress(psutil.Error):  # it has ended meanwhile
                if "pttt_ooc.pipeline.stages.kernel_calls" in child.cmdline():
                    found.append(child.pid)
        return found

    server.wait_until(compiling)
    pids = compiling()
    # If it is the answerer who compiles, then the worker may still import its modules, and has nothing to tell.
    assert_stops_cleanly(server, signal.SIGTERM, tell=["serve"])
    for pid in pids:
        wait_until_gone(pid)
    assert not list(cache.rglob("compiled-*")), "it has compiled to the end"
    assert {f.name for f in tmp_path.iterdir()} == {"cache", "course"}
    server.close()


@pytest.mark.slow
def test_the_web_process_of_the_courses_game_imports_no_numerics(tmp_path):
    script = """
import sys
from pathlib import Path
for name in ("numpy", "numba", "zarr", "matplotlib"):
    sys.modules[name] = None
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.data.settings import make_settings
from pttt_ooc.course.server.web_process import server_of
make_settings(Path(sys.argv[1]))
course = Course.open(Path(sys.argv[1]))
server_of(course)
assert course.settings.shape(0) == (14482810, 9) and course.settings.max_upload_bytes > 10**9
"""
    command = [sys.executable, "-c", script, tmp_path / "course"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


def test_the_parent_of_all_processes_imports_no_pages():
    code = "import sys, pttt_ooc.course.server.serve; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert not {"fastapi", "starlette", "jinja2", "numpy"} & set(done.stdout.split())


@pytest.mark.slow
def test_without_the_extra_all_else_works(tmp_path):
    """As after `make solve`: what the course needs beyond the package is not there."""
    script = """
import sys
for name in ("fastapi", "uvicorn", "prometheus_client", "python_multipart", "sqlalchemy"):
    sys.modules[name] = None
from pttt_ooc.cli.commands import main
main(sys.argv[1:])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PTTT_TOKEN": "x"}
    server = "http://127.0.0.1:9"
    (tmp_path / "f.zip").write_bytes(b"x")
    for arguments, code, words in (
        (["--help"], 0, "course"),
        (["submit", "f.zip", "--player", "0", "--server", server], 1, "cannot be reached"),
        (["serve"], 1, "which are not installed; install with: "),
        (["course", "list-teams"], 1, "which are not installed; install with: "),
    ):
        command = [sys.executable, "-c", script, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=PATIENCE)
        assert done.returncode == code and words in done.stdout + done.stderr, done
        assert "Traceback" not in done.stderr
    assert [f.name for f in tmp_path.iterdir()] == ["f.zip"]
