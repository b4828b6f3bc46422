"""The arena's pages beside other wings' pages in one application."""

import json
import re
import signal
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import Match
from tests.kits.patience import PATIENCE, wait_until

MAIN = "from pttt_ooc.cli.commands import main; main()"


def text(url):
    """A page, or the sentence that says why there is none."""
    try:
        with urlopen(url, timeout=PATIENCE) as answer:
            return answer.read().decode()
    except HTTPError as error:
        return error.read().decode()


def serving(arguments, directory):
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=directory,
    )


def stopped(process):
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and '"died"' not in told, told
    return {line.get("child") for line in map(json.loads, told.splitlines())}


@pytest.mark.long
def test_the_arena_beside_a_course(tmp_path):
    run(Match("mnk:3x3+need3", ("random", "random"), 1), tmp_path / "arena" / "first")
    given = ["course", "serve", "--game", "mini-2x3k2-abrupt", "--data", "course", "--port", "0", "--arena", "arena"]
    with serving(given, tmp_path) as process:
        try:
            url = re.search(r"http://\S+(?=;)", process.stdout.readline())[0]
            wait_until(lambda: "first" in text(f"{url}/arena/matches"))
            page = text(f"{url}/arena/matches/replay?name=first")
            links = re.findall(r'<a href="([^"]+)"', re.search(r"<nav.*?</nav>", page, re.DOTALL)[0])
            assert {"/", "/explore", "/play", "/arena/play", "/arena/matches", "/arena/standings"} <= {*links}
            assert "There is no match" in text(f"{url}/arena/matches/one?name=other")
            wait_until(lambda: json.loads(text(f"{url}/healthz"))["worker"] == "ok")  # and is not stopped before
        finally:
            names = stopped(process)
    assert {"web", "arena answerer"} <= names


@pytest.mark.slow
def test_the_arena_alone(tmp_path):
    with serving(["web", "--arena", "made", "--no-browser"], tmp_path) as process:
        try:
            url = re.search(r"http://\S+(?=;)", process.stdout.readline())[0]
            wait_until(lambda: "There are none yet" in text(f"{url}/arena/matches"))
            assert "Ultimate tic-tac-toe" in text(url) and (tmp_path / "made").is_dir()
        finally:
            stopped(process)
