"""The course's game, from the first start of a course to verdicts.

With PTTT_SOLVED=DIR, the directory of a solution that the workflow made, its files are submitted as well.
"""

import json
import os
import threading
import time
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.people import teams
from tests.course.server_kit import Server, pttt

GAME = "pttt-abrupt"
# Twice what a quiet machine with two cores needs at most.
VERDICT, EVALUATION, MEMORY_MB = 60.0, 20.0, 3000.0


class Watch(threading.Thread):
    """Most anonymous memory of a process, in MB."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.most, self.over = pid, 0.0, threading.Event()

    def run(self):
        while not self.over.wait(0.1):
            lines = Path(f"/proc/{self.pid}/status").read_text().splitlines()
            self.most = max(self.most, int(next(x for x in lines if x.startswith("RssAnon")).split()[1]) / 1000)


@pytest.mark.full
def test_the_course_game(tmp_path, capsys):
    begun = time.monotonic()
    server = Server(tmp_path / "course", game=GAME, game_value=None, waiting_per_team=9)
    try:
        server.wait_for_verdicts(2)
        told = {"ready": time.monotonic() - begun}
        drive(server, tmp_path, told)
    finally:
        server.stop()
        server.close()
    with capsys.disabled():
        print(json.dumps(told, indent=2))
    assert max(told["evaluation"]) <= EVALUATION and max(told["verdict"]) <= VERDICT
    assert told["memory_mb"] <= MEMORY_MB


def drive(server, tmp_path, told):
    database = Database.of(server.data, None, GAME)
    tokens = [teams.add_team(database, name) for name in ("Same as Uniform", "Workflow")]
    database.close()
    uniform = server.get("/api/leaderboard")[0]
    assert [f"{x:.5f}" for x in uniform["exploitability"]] == ["0.94170", "0.29697"]
    assert f"{server.get('/api/matrix')['values'][0][0]:.5f}" == "0.31627"
    told["uniform"] = [*uniform["exploitability"], server.get("/api/matrix")["values"][0][0]]

    watch = Watch(server.pid_of("worker"))
    watch.start()
    for player in (0, 1):
        with urllib.request.urlopen(f"{server.url}/submissions/{player + 1}/file") as answer:
            (tmp_path / f"uniform{player}.zip").write_bytes(answer.read())
    submit(server, told, tmp_path / "uniform0.zip", 0, tokens[0])
    submit(server, told, in_fortran_order(tmp_path / "uniform1.zip"), 1, tokens[0])
    submit(server, told, tmp_path / "uniform0.zip", 1, tokens[0], "Invalid tensor shape: found (14482810, 9)")
    board = {row["team"]: row for row in server.get("/api/leaderboard")}
    same = board["Same as Uniform"]["exploitability"]
    assert same[0] == uniform["exploitability"][0] and abs(same[1] - uniform["exploitability"][1]) < 1e-4
    if os.environ.get("PTTT_SOLVED"):
        solved = Path(os.environ["PTTT_SOLVED"])
        for player in (0, 1):
            submit(server, told, solved / f"pttt_pl{player}.zip", player, tokens[1])
        truth = json.loads((solved / "evaluate.json").read_text())["solution"]
        row = next(row for row in server.get("/api/leaderboard") if row["team"] == "Workflow")
        assert abs(row["total"] - truth["nashconv"]) < 1e-6
        matrix = server.get("/api/matrix")
        at = matrix["rows"].index("Workflow")
        assert abs(matrix["values"][at][at] - truth["value"]) < 1e-6
        told["workflow"] = [*row["exploitability"], row["total"], matrix["values"][at][at]]
    watch.over.set()
    watch.join()
    told["memory_mb"] = watch.most
    told["gradients_mb"] = [
        sum(f.stat().st_size for f in root.rglob("*") if f.is_file()) / 1e6
        for root in sorted((server.data / "gradients").iterdir())
    ]


def submit(server, told, file, player, token, note=None):
    begun = time.monotonic()
    done = pttt("submit", file, "--player", player, "--server", server.url, PTTT_TOKEN=token)
    spent = time.monotonic() - begun
    if note is not None:
        assert done.returncode == 1 and note in done.stdout, done
        return
    assert done.returncode == 0, done
    latest = server.get("/api/submissions?size=1")["submissions"][0]
    told.setdefault("verdict", []).append(round(spent, 2))
    told.setdefault("evaluation", []).append(round(latest["evaluation_seconds"], 2))


def in_fortran_order(path):
    """The same strategy in half precision, big-endian, column by column."""
    with zipfile.ZipFile(path) as archive, archive.open(archive.namelist()[0]) as file:
        tensor = np.asfortranarray(np.load(file).astype(">f2"))
    made = path.with_name("fortran.zip")
    fast = {"compression": zipfile.ZIP_DEFLATED, "compresslevel": 1}
    with zipfile.ZipFile(made, "w", **fast) as archive, archive.open("pttt_pl1.npy", "w") as file:
        np.save(file, tensor)
    return made
