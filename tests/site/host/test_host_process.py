"""The command `pttt lab host` with its processes, and the example of a client: both sides are killed, and go on."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from sqlalchemy.orm import Session

from pttt_ooc.cli.commands import main
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.site.host.match_rows import HostMatch
from pttt_ooc.site.service.sqlite import sqlite_engine
from tests.kits.patience import PATIENCE, wait_until
from tests.site.explore.answerer_kit import solve_game
from tests.site.host.host_kit import GAME

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@contextmanager
def hosting(directory):
    """The host of what is solved in `data`; yields its address, and a function that kills a child by its name."""
    words = ["lab", "host", f"data/{GAME}/full", "--no-browser"]
    command = [sys.executable, "-m", "pttt_ooc", *words]
    log = directory / "log"
    with open(log, "wb") as errors:
        process = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, stderr=errors, env=ENVIRONMENT)
    try:
        told = process.stdout.readline().decode()
        yield re.search(r"http://[\d.:]+", told)[0], lambda name: kill_child(log, name)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def kill_child(log, name):
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    started = [line["pid"] for line in lines if line["event"] == "started" and line["child"] == name]
    os.kill(started[-1], signal.SIGKILL)


def client(directory, address, count):
    words = [str(ROOT / "examples/host_client.py"), address, "walker", GAME, str(count)]
    return subprocess.Popen([sys.executable, *words], cwd=directory, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_kill_of_either_side_loses_no_match(tmp_path):
    solve_game(tmp_path / "data")
    with hosting(tmp_path) as (address, kill):
        first = client(tmp_path, address, 1000)
        for _ in range(4):
            assert first.stdout.readline().startswith("|")
        kill("web")
        for _ in range(4):  # it waits for the server, and goes on
            assert first.stdout.readline().startswith("|")
        kill("host answerer")
        first.stdout.readline()
        first.kill()
        printed = 9 + len(first.stdout.read().splitlines())
        second = client(tmp_path, address, 3)
        printed += len(second.communicate(timeout=PATIENCE)[0].splitlines())
        assert second.returncode == 0
        wait_until(lambda: urlopen(f"{address}/livez", timeout=PATIENCE).status == 200)
    with Session(sqlite_engine(f"sqlite:///{tmp_path}/data/host/host.sqlite")) as session:
        rows = session.query(HostMatch).all()
    assert all(row.ended == "played" for row in rows) and {row.owner for row in rows} == {"agent:1"}
    assert printed <= len(rows) <= printed + 1  # the kill may have come before a line was printed
    assert all(row.result == row.history(named_game(GAME)).returns[row.player] for row in rows)
    assert sum(row.estimate is None for row in rows) <= 1  # the answerer was killed then


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "There is no solution in data; name a strategy, such as uniform"),
        (("nothing",), "nothing"),
        (("uniform", "--seconds", "0"), "0"),
    ],
)
def test_the_command_refuses_before_anything_starts(tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["lab", "host", *words])
    assert end.value.code and sentence in capsys.readouterr().err and not (tmp_path / "data/host").exists()


def test_an_agent_of_a_file_becomes_an_opponent(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("low.py").write_text("def lowest(infostates, legal):\n    return (legal.cumsum(1) == 1) & legal\n")
    served = []
    monkeypatch.setattr("pttt_ooc.site.service.local_server.serve", lambda *given: served.append(given))
    for words in (["uniform"], ["low.py:lowest", "uniform"]):
        with pytest.raises(SystemExit) as end:
            main(["lab", "host", *words, "--game", GAME, "--no-browser"])
        assert not end.value.code, capsys.readouterr().err
    (([alone], *_), ([both], *_)) = served
    assert [one["key"] for one in json.loads(json.loads(alone.parts[1])[1])] == ["uniform"]
    sources = json.loads(json.loads(both.parts[1])[1])
    assert [(Path(one["name"]).name, one["players"]) for one in sources] == [
        ("low.py-lowest-0.zip", [0]),
        ("low.py-lowest-1.zip", [1]),
        ("uniform", [0, 1]),
    ]
    assert Strategy.read(sources[1]["name"], 1, named_game(GAME))["|0.2*"].tolist() == [0, 1, 0, 0, 0, 0]


def test_the_example_is_a_client_of_thirty_lines():
    code = (ROOT / "examples/host_client.py").read_text("utf-8").split('"""', 2)[2]
    assert len([line for line in code.splitlines() if line.strip()]) <= 30
