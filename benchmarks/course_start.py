"""From nothing to the first verdict: ``python -m benchmarks.course_start`` types the commands of `docs/course.md`.

They are read from the page: from its first block of commands, and from its first `course.yaml`.  Then a team hands in
the uniform strategy of the starter kit with `pttt submit`.  The results are the seconds of each command.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from urllib.request import urlopen

from benchmarks.course_load import PATIENCE, ask, wait_until

PAGE = Path(__file__).parent.parent / "docs" / "course.md"
ROSTER = "team,name,email\nTeam A,Grace Hopper,grace@example.org\nTeam B,Emmy Noether,emmy@example.org\n"


def commands_of(page):
    """The commands of the page's first block, as lists of words, and its first course.yaml."""
    block = re.search(r"### Begin\n\n```\n(.*?)```", page, re.DOTALL)[1]
    course = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1]
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()], course


def run(place, game=None, port=0):
    """Type the commands in an empty directory; returns the seconds of each, and of all until the first verdict."""
    commands, course = commands_of(PAGE.read_text(encoding="utf-8"))
    (place / "roster.csv").write_text(ROSTER)
    told, begun = {}, time.perf_counter()
    for words in commands[:-1]:
        if words[:2] == ["course", "init"] and game is not None:
            words = [*words, "--game", game]
        if words[:2] == ["course", "apply"]:
            (place / "course" / "course.yaml").write_text(re.sub(r"\n *opens: .*", "", course))  # it has begun
        told[" ".join(words[:2])] = _timed(place, words)
    assert "serve" in commands[-1], "the last command of the page starts the server"
    command = [sys.executable, "-m", "pttt_ooc.cli", *commands[-1], "--port", str(port)]
    with open(place / "log.jsonl", "wb") as log:
        server = subprocess.Popen(command, cwd=place, env=_environment(), stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        url = re.search(r"http://\S+:\d+", server.stdout.readline())[0]
        told["pages are there"] = round(time.perf_counter() - begun, 1)
        wait_until(lambda: _is_ready(url))
        told["submissions are judged"] = round(time.perf_counter() - begun, 1)
        told["submit"] = _submit(place, url)
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
    told["first verdict after"] = round(time.perf_counter() - begun, 1)
    return told


def _environment(**more):
    return {**os.environ, "PYTHONPATH": str(PAGE.parent.parent), **more}


def _timed(place, words, **environment):
    begun = time.perf_counter()
    command = [sys.executable, "-m", "pttt_ooc.cli", *words]
    done = subprocess.run(command, cwd=place, env=_environment(**environment), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
    return round(time.perf_counter() - begun, 1)


def _is_ready(url):
    try:
        return ask(int(url.rpartition(":")[2]), "/healthz")["status"] == "ok"
    except (OSError, ValueError):
        return False


def _submit(place, url):
    """Hand in the uniform strategy of player 0 of the starter kit, and wait for its verdict; the seconds."""
    with urlopen(f"{url}/starter-kit.zip", timeout=PATIENCE) as answer:
        kit = zipfile.ZipFile(io.BytesIO(answer.read()))
    name = next(name for name in kit.namelist() if name.endswith("pttt_pl0.zip"))
    (place / "mine.zip").write_bytes(kit.read(name))
    with open(place / "tokens.csv", encoding="utf-8") as file:
        token = next(csv.DictReader(file))["token"]
    return _timed(place, ["submit", "mine.zip", "--player", "0", "--server", url], PTTT_TOKEN=token)


def main():
    """Print the seconds as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.course_start", description=__doc__.splitlines()[0])
    parser.add_argument("--game", help="another game than the course's; default: pttt-abrupt")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="course-start-") as name:
        load = os.getloadavg()
        told = run(Path(name), options.game)
    print(json.dumps({"load_before": [round(x, 1) for x in load], **told}, indent=2))


if __name__ == "__main__":
    main()
