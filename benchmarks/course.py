"""A course at work: ``python -m benchmarks.course`` lets 60 teams use a course on the loopback for ten minutes.

Each team looks at a page a second, over a connection that stays open as a browser's does, and submits a strategy a
minute. The results are the times of answers by kind (median and 99th percentile), and the memory of the
server's processes, shared memory divided among those that share it. All verdicts are compared with what the package
itself says.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.course_load import PATIENCE, Course, Files, is_right, upload, verdicts

PAGES = {
    "leaderboard": "/",
    "part of the leaderboard": "/parts/leaderboard",
    "matrix": "/matrix",
    "submissions": "/submissions",
    "team": "/teams/{team}",
    "JSON": "/api/leaderboard",
}


class Team:
    """One team, in a thread of its own."""

    def __init__(self, port, token, made):
        self.port, self.token, self.made = port, token, made
        self.times, self.failures, self.numbers = defaultdict(list), [], []
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)

    def work(self, seconds, pause, every):
        """Look at pages and submit until `seconds` are over."""
        begun = time.monotonic()
        time.sleep(random.uniform(0, pause))
        next_upload = begun + random.uniform(0, every)
        left = list(self.made)
        while (now := time.monotonic()) < begun + seconds:
            if left and now >= next_upload:
                self._submit(left.pop(0))
                next_upload += every
            else:
                self._look(random.choice(list(PAGES)))
            time.sleep(random.uniform(0, 2 * pause))
        self._connection.close()

    def _submit(self, made):
        player, content, expected = made
        begun = time.perf_counter()
        self.numbers.append((upload(self.port, self.token, player, content), expected))
        self.times["upload"].append(time.perf_counter() - begun)

    def _look(self, kind):
        begun = time.perf_counter()
        try:
            self._connection.request("GET", PAGES[kind].format(team=self.token.partition(".")[0]))
            answer = self._connection.getresponse()
            answer.read()
            if answer.status != 200:
                self.failures.append(f"{kind}: {answer.status}")
        except ConnectionResetError:  # it was idle for long, and was closed meanwhile: a browser opens another one
            self._connection.close()
            return
        except (OSError, http.client.HTTPException) as error:
            self.failures.append(f"{kind}: {error!r}")
            self._connection.close()
        self.times[kind].append(time.perf_counter() - begun)


class Memory:
    """Megabytes of processes, looked at every few seconds."""

    def __init__(self, pids):
        self._pids, self._over = pids, threading.Event()
        self.found = defaultdict(list)
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self):
        while not self._over.is_set():
            for name, pid in self._pids.items():
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
                self.found[name] += [int(line.split()[1]) / 1000 for line in lines if line.startswith("Pss:")]
            self._over.wait(2)

    def processor_seconds(self):
        """That each process has taken since it began."""
        ticks = {
            name: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for name, pid in self._pids.items()
        }
        return {name: (int(t[11]) + int(t[12])) / os.sysconf("SC_CLK_TCK") for name, t in ticks.items()}

    def figures(self):
        """Of each process: after a tenth of the time, the most, and at the end."""
        self._over.set()
        self._thread.join()
        return {
            name: {"early": round(found[len(found) // 10]), "most": round(max(found)), "end": round(found[-1])}
            for name, found in self.found.items()
        }


def measured(port, tokens, files, pids, seconds=600.0, pause=1.0, every=60.0):
    """Let teams, one for each token, use the course at a port; return all measurements.

    Parameters
    ----------
    files
        Of :class:`benchmarks.course_load.Files`.
    pids
        Of the server's processes, by name.
    seconds, pause, every
        For how long; from one page of a team to its next, on average; and from one submission to the next.
    """
    count = int(seconds / every) + 1
    teams = [Team(port, token, [files.make(n * count + i) for i in range(count)]) for n, token in enumerate(tokens)]
    memory, load = Memory(pids), os.getloadavg()
    threads = [threading.Thread(target=team.work, args=(seconds, pause, every), daemon=True) for team in teams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    used, spent, loads = memory.figures(), memory.processor_seconds(), [load, os.getloadavg()]
    numbers = [one for team in teams for one in team.numbers]
    found = verdicts(port, len(numbers))
    times = defaultdict(list)
    for team in teams:
        for kind, taken in team.times.items():
            times[kind] += taken
    return {
        "load_before_and_after": [[round(x, 1) for x in one] for one in loads],
        "requests": sum(map(len, times.values())),
        "failures": [failure for team in teams for failure in team.failures],
        "uploads": len(numbers),
        "lost": sum(number not in found for number, _ in numbers),
        "wrong": sum(not is_right(found.get(number), expected) for number, expected in numbers),
        "milliseconds": {kind: _times(taken) for kind, taken in sorted(times.items())},
        "processor_seconds": spent,
        "megabytes": used,
    }


def _times(taken):
    p50, p99 = np.percentile(np.array(taken) * 1000, (50, 99))
    return {"count": len(taken), "p50": round(p50, 1), "p99": round(p99, 1), "most": round(max(taken) * 1000, 1)}


def main():
    """Print the figures as JSON; exit with 1 if anything failed, or was lost or wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.course", description=__doc__.splitlines()[0])
    parser.add_argument("--teams", type=int, default=60)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="course-load-") as name:
        course = Course(Path(name), options.teams)
        try:
            pids = {child: course.pid_of(child) for child in ("web", "worker", "explore answerer")}
            figures = measured(course.port, course.tokens, Files(), pids, 60 * options.minutes)
        finally:
            course.stop()
    print(json.dumps(figures, indent=2))
    sys.exit(bool(figures["failures"] or figures["lost"] or figures["wrong"]))


if __name__ == "__main__":
    main()
