"""Load on a host: many matches at once by HTTP, how long answers take, and the memory of its processes.

``python -m benchmarks.host_load http://127.0.0.1:8090 pttt-abrupt --matches 50 --rounds 4`` plays on a running
``pttt lab host``; ``--process`` is its process number, if it is on this machine.  Each of the matches at once has a
thread and a connection of its own; attempts are random.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import secrets
import statistics
import threading
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

import psutil


class Player:
    """One agent with its connection."""

    def __init__(self, address: str, game: str, seed: int) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=600)
        self._game, self._rng, self._head = game, random.Random(seed), {"Content-Type": "application/json"}
        self.seconds: list[float] = []

    def ask(self, path: str, body: dict) -> dict:
        """An answer; its time is kept."""
        while True:
            begun = time.perf_counter()
            self._connection.request("POST", f"/api/host{path}", json.dumps(body), self._head)
            answer = self._connection.getresponse()
            told = json.loads(answer.read())
            if answer.status in (200, 201):
                self.seconds.append(time.perf_counter() - begun)
                return told
            if answer.status != 503:
                raise SystemExit(f"{path}: {answer.status} {told}")
            time.sleep(1)

    def sign_in(self) -> None:
        """Add an agent, and use its token."""
        token = self.ask("/agents", {"name": f"load {secrets.token_hex(6)}"})["token"]
        self._head["Authorization"] = f"Bearer {token}"

    def play(self, player: int) -> None:
        """A match at random."""
        match = self.ask("/matches", {"game": self._game, "opponent": "solution", "player": player})
        while not match["over"]:
            sent = {"made": match["made"], "square": self._rng.choice(match["legal"])}
            match = self.ask(f"/matches/{match['id']}/attempts", sent)


def measure(address: str, game: str, matches: int, rounds: int) -> tuple[list[float], float]:
    """The seconds of all answers in ascending order, and of the whole."""
    players = [Player(address, game, seed) for seed in range(matches)]
    players[0].sign_in()
    players[0].play(0)  # the opponents get ready
    players[0].play(1)
    for player in players[1:]:
        player._head = players[0]._head  # an address may add a limited number of agents
    players[0].seconds.clear()
    threads = [threading.Thread(target=lambda p=p: [p.play(n % 2) for n in range(rounds)]) for p in players]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(second for player in players for second in player.seconds), time.perf_counter() - begun


def processes(number: int) -> dict[str, psutil.Process]:
    """A process and its children, by what they are."""
    parent = psutil.Process(number)
    children = {child.cmdline()[2].rpartition(".")[2]: child for child in parent.children()}
    return {"parent": parent, **children}


def processor_seconds(found: dict[str, psutil.Process]) -> dict[str, float]:
    """What each has taken until now."""
    return {name: sum(one.cpu_times()[:2]) for name, one in found.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print one object."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("game")
    parser.add_argument("--matches", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--process", type=int)
    options = parser.parse_args(arguments)
    found = processes(options.process) if options.process else {}
    before = processor_seconds(found)
    seconds, whole = measure(options.address, options.game, options.matches, options.rounds)
    cut = statistics.quantiles(seconds, n=100)
    told = {
        "matches_at_once": options.matches,
        "matches": options.matches * options.rounds,
        "answers": len(seconds),
        "answers_per_second": round(len(seconds) / whole, 1),
        **{name: round(1000 * value, 1) for name, value in (("p50_ms", cut[49]), ("p95_ms", cut[94]))},
        "slowest_ms": round(1000 * seconds[-1], 1),
        "processor_ms_per_answer": {
            name: round(1000 * (after - before[name]) / len(seconds), 2)
            for name, after in processor_seconds(found).items()
        },
        "memory_mb": {name: round(one.memory_full_info().uss / 1e6) for name, one in found.items()},
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
