"""People clicking: ``python -m benchmarks.explore DATA`` serves a solution, and measures how long its pages take.

Each person looks at a page, waits a while, and follows one of its links, or goes to an infoset of a game played at
random.  Times are from the request to the whole answer, over the loopback, of the piece that the page's script asks
for.  They grow when other programs use the processor; the processor time of each answer does not.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlsplit

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.play import start

_COMMAND = "from pttt_ooc.cli.commands import main; main()"
_LINK = re.compile(r'<a href="(/explore[^"]*)"(?! download)')


class Served:
    """`pttt web` on a free port."""

    def __init__(self, strategies: list[str], chosen: str) -> None:
        command = [sys.executable, "-c", _COMMAND, "web", *strategies, "--no-browser"]
        self.page = f"/explore?{chosen}"
        self.preparing: dict[str, float] = {}
        self.begun = time.monotonic()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None and self.process.stderr is not None
        line = self.process.stdout.readline()
        match = re.match(r"(\S+) is at (http://\S+);", line)
        if match is None:
            sys.exit(self.process.stderr.read())
        self.game, self.address = match[1], urlsplit(match[2]).netloc
        self.pids: dict[str, int] = {}
        threading.Thread(target=self._read_log, daemon=True).start()

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            event = json.loads(line)
            if event["event"] == "started":
                self.pids[event["child"]] = event["pid"]
            elif event["level"] in ("warning", "error"):
                print(line, end="", file=sys.stderr)

    def wait(self) -> float:
        """Seconds from the start of the command to the first page with a board."""
        while "board1" not in get(self.address, self.page)[1]:
            self._watch_preparer()
            time.sleep(0.02)
        return time.monotonic() - self.begun

    def _watch_preparer(self) -> None:
        """Note memory and time of the process that prepares strategies."""
        pid = self.pids.get("explore answerer", 0)
        with suppress(OSError, TypeError):  # it does not exist, or has just ended
            for child in " ".join(file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/children")).split():
                found = {**_memory(int(child)), "processor_seconds": _processor(int(child))}
                self.preparing = {name: max(n, self.preparing.get(name, 0)) for name, n in found.items()}

    def memory(self) -> dict[str, dict[str, int]]:
        """Megabytes of each process: its own, and with pages of mapped files that the system can take back."""
        return {name: _memory(pid) for name, pid in self.pids.items()}

    def processor(self) -> dict[str, float]:
        """Seconds of processor time that each process has taken."""
        return {name: _processor(pid) for name, pid in self.pids.items()}

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def _memory(pid: int) -> dict[str, int]:
    status = Path(f"/proc/{pid}/status").read_text()
    kinds = {"own": "RssAnon", "with_mapped_files": "VmRSS"}
    return {kind: int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) // 1000 for kind, name in kinds.items()}  # type: ignore[index]


def _processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def get(address: str, path: str, connection: http.client.HTTPConnection | None = None) -> tuple[int, str]:
    """Status and text of a page."""
    client = connection or http.client.HTTPConnection(address, timeout=60)
    client.request("GET", quote(path, safe="/?&=%*."), headers={"HX-Request": "true"})
    answer = client.getresponse()
    return answer.status, answer.read().decode()


def anywhere(game: str, chosen: str, chance: random.Random) -> str:
    """The address of an infoset of a game played at random."""
    history, infosets = start(named_game(game)), []
    while history.player is not None:
        infosets.append((history.player, history.infoset(history.player)))
        history = history.step(chance.choice(history.legal()))
    player, infoset = chance.choice(infosets)
    return f"/explore?player={player}&at={infoset}&{chosen}"


def click(served: Served, seed: int, pause: float, end: float, times: list[float], wrong: list[str]) -> None:
    """One person."""
    chance, path, chosen = random.Random(seed), served.page, served.page.partition("?")[2]
    connection = http.client.HTTPConnection(served.address, timeout=60)
    time.sleep(chance.uniform(0, pause))
    while time.monotonic() < end:
        begun = time.perf_counter()
        status, page = get(served.address, path, connection)
        times.append(time.perf_counter() - begun)
        if status != 200:
            wrong.append(f"{status} {path}")
        links = [unescape(link) for link in _LINK.findall(page)]
        path = chance.choice(links) if links and chance.random() < 0.7 else anywhere(served.game, chosen, chance)
        time.sleep(chance.uniform(0, 2 * pause))


def percentile(times: list[float], share: float) -> float:
    """Milliseconds within which `share` of all answers came."""
    return round(1000 * sorted(times)[min(len(times) - 1, int(share * len(times)))], 1)


def main() -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explore", description=__doc__)
    parser.add_argument("strategies", nargs="+", help="as pttt web takes them, such as the directory of a solution")
    parser.add_argument("--chosen", default="", metavar="QUERY", help="such as 'first=f1&second=solution'")
    parser.add_argument("--people", type=int, default=20, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--pause", type=float, default=1.0, metavar="S", help="mean between clicks (default: %(default)s)"
    )
    parser.add_argument("--seconds", type=float, default=30, metavar="S", help="default: %(default)s")
    options = parser.parse_args()
    first = Served(options.strategies, options.chosen)  # prepares what is missing
    preparing = first.wait()
    first.stop()
    load = os.getloadavg()[0]
    served = Served(options.strategies, options.chosen)
    try:
        cold, starting = served.wait(), served.processor()
        times: list[float] = []
        wrong: list[str] = []
        end = time.monotonic() + options.seconds
        arguments = [(served, seed, options.pause, end, times, wrong) for seed in range(options.people)]
        people = [threading.Thread(target=click, args=each) for each in arguments]
        for person in people:
            person.start()
        for person in people:
            person.join()
        record = {
            "game": served.game,
            "people": options.people,
            "pause_seconds": options.pause,
            "load_before": round(load, 2),
            "load_after": round(os.getloadavg()[0], 2),
            "first_start_seconds": round(preparing, 2),
            "preparer": first.preparing,
            "cold_start_seconds": round(cold, 2),
            "cold_start_processor_seconds": {name: round(seconds, 2) for name, seconds in starting.items()},
            "answers": len(times),
            "answers_per_second": round(len(times) / options.seconds, 1),
            "processor_milliseconds_per_answer": {
                name: round(1000 * (seconds - starting[name]) / len(times), 2)
                for name, seconds in served.processor().items()
            },
            "milliseconds": {f"p{n}": percentile(times, n / 100) for n in (50, 90, 99, 100)},
            "wrong": wrong[:10],
            "megabytes": served.memory(),
        }
    finally:
        served.stop()
    print(json.dumps(record, indent=2))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
