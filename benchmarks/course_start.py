"""From nothing to the first verdict: ``python -m benchmarks.course_start`` types the commands of `docs/course.md`.

They are read from the page: from its first block of commands, and from its first `course.yaml`.  As soon as there are
pages, a team hands in a uniform strategy with `pttt submit` and waits for the verdict.  The results are the seconds of
each command, the client's messages with their seconds, and the processor seconds that the server's processes had used
when the verdict came.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

import pttt_ooc

PAGE = Path(__file__).parent.parent / "docs" / "course.md"
ROSTER = "team,name,email\nTeam A,Grace Hopper,grace@example.org\nTeam B,Emmy Noether,emmy@example.org\n"


def commands_of(page):
    """The commands of the page's first block, as lists of words, and its first course.yaml."""
    block = re.search(r"### Begin\n\n```\n(.*?)```", page, re.DOTALL)[1]
    course = re.search(r"```yaml\n(.*?)```", page, re.DOTALL)[1]
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()], course


def run(place, game="pttt-abrupt", port=0):
    """Type the commands in an empty directory; returns what was measured until the first verdict."""
    commands, course = commands_of(PAGE.read_text(encoding="utf-8"))
    (place / "roster.csv").write_text(ROSTER)
    mine = pttt_ooc.Strategy.uniform(pttt_ooc.game(game), 0).save(place / "mine.zip")
    told, begun, used = {}, time.perf_counter(), 0.0
    for words in commands[:-1]:
        if words[:2] == ["course", "init"]:
            words = [*words, "--game", game]
        if words[:2] == ["course", "apply"]:
            (place / "course" / "course.yaml").write_text(re.sub(r"\n *opens: .*", "", course))  # it has begun
        told[" ".join(words[:2])], seconds = _timed(place, words)
        used += seconds
    assert "serve" in commands[-1], "the last command of the page starts the server"
    command = [sys.executable, "-m", "pttt_ooc.cli", *commands[-1], "--port", str(port)]
    with open(place / "log.jsonl", "wb") as log:
        server = subprocess.Popen(command, cwd=place, env=_environment(), stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        url = re.search(r"http://\S+:\d+", server.stdout.readline())[0]
        told["pages are there after"] = round(time.perf_counter() - begun, 1)
        told["the client tells"] = _submit(place, mine, url, begun)
        told["first verdict after"] = round(time.perf_counter() - begun, 1)
        told["processor seconds of commands"] = round(used, 1)
        told["processor seconds of the server"] = _processor_seconds(server.pid)
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
    return told


def _environment(**more):
    return {**os.environ, "PYTHONPATH": str(PAGE.parent.parent), **more}


def _timed(place, words):
    """Run a command; return its elapsed seconds and its processor seconds."""
    begun, before = time.perf_counter(), os.times()
    command = [sys.executable, "-m", "pttt_ooc.cli", *words]
    done = subprocess.run(command, cwd=place, env=_environment(), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return round(time.perf_counter() - begun, 1), used


def _submit(place, file, url, begun):
    """Hand in player 0's strategy, and wait for its verdict; each line that the client prints, with its second."""
    with open(place / "tokens.csv", encoding="utf-8") as tokens:
        token = next(csv.DictReader(tokens))["token"]
    words = ["submit", str(file), "--player", "0", "--server", url]
    command, environment = [sys.executable, "-u", "-m", "pttt_ooc.cli", *words], _environment(PTTT_TOKEN=token)
    told = []
    with subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.PIPE, text=True) as client:
        for line in client.stdout:
            told.append([round(time.perf_counter() - begun, 1), line.rstrip()])
    if client.returncode != 0:
        raise RuntimeError(f"the strategy is not accepted: {told}")
    return told


def _processor_seconds(server):
    """Processor seconds of each process of the server, by its module, including its children that have ended."""
    found = {}
    for process in [psutil.Process(server), *psutil.Process(server).children(recursive=True)]:
        words, times = process.cmdline(), process.cpu_times()
        module = words[words.index("-m") + 1] if "-m" in words else words[0]
        used = times.user + times.system + times.children_user + times.children_system
        found[module] = round(found.get(module, 0.0) + used, 1)
    return found


def main():
    """Print the results as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.course_start", description=__doc__.splitlines()[0])
    parser.add_argument("--game", default="pttt-abrupt", help="another game than the course's")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="course-start-") as name:
        load = os.getloadavg()
        told = run(Path(name), options.game)
    print(json.dumps({"load_before": [round(x, 1) for x in load], **told}, indent=2))


if __name__ == "__main__":
    main()
