"""What a move of Extreme TicTacToe costs besides the bot's thinking, next to processes that only exchange bytes.

Two bots that answer at once play whole matches behind walls.  A turn is everything between two moves: the referee's
question, the bot's process resumed and stopped, the boards as text in both directions, and their check.  After each
turn, a plain process receives as many bytes and sends as many back: asking another process cannot be faster.  Other
load on the machine affects both, so look at the ratio, not at the times.

    python -m benchmarks.extreme_overhead --matches 20
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import program
from pttt_ooc.other_games.extreme.match import BotMatch, play_match

ASKED, ANSWERED = 128, 1400
"""Bytes of a question and of an answer, about as in a match."""
_ECHO = f"""
import os
while os.read(0, {ASKED}):
    os.write(1, b"x" * {ANSWERED})
"""
_TELLER = """
import random, resource

class TeamTeller:
    def move(self, board, old_move, flag):
        used = resource.getrusage(resource.RUSAGE_SELF)
        print("%.6f %d %d" % (1000 * (used.ru_utime + used.ru_stime), used.ru_nvcsw, used.ru_nivcsw))
        return random.choice(board.find_valid_move_cells(old_move))
"""


class Echo:
    """A process that answers with bytes."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )

    def ask(self) -> float:
        """Seconds from a question to its answer."""
        assert self._process.stdin and self._process.stdout
        begin = time.perf_counter()
        os.write(self._process.stdin.fileno(), b"x" * ASKED)
        left = ANSWERED
        while left:
            left -= len(os.read(self._process.stdout.fileno(), left))
        return time.perf_counter() - begin

    def end(self) -> None:
        """End the process."""
        self._process.communicate()


class Turns:
    """Seconds of each turn of a match, and of an echo after it."""

    def __init__(self, echo: Echo) -> None:
        self._echo, self.turns, self.echoes = echo, list[float](), list[float]()
        self.begin = 0.0

    def watch(self, _: BotMatch) -> bool:
        """Note a turn, but not the first one of a match, which includes the start."""
        now = time.perf_counter()
        if self.begin:
            self.turns.append(now - self.begin)
            self.echoes.append(self._echo.ask())
        self.begin = time.perf_counter()
        return True


class Spent:
    """Processor milliseconds, voluntary and forced context switches for each move of a match.

    The referee's are those of this process; the bots print their own.
    """

    def __init__(self) -> None:
        self.referee: list[np.ndarray] = []

    def watch(self, _: BotMatch) -> bool:
        """Note where the referee is."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        self.referee.append(np.array((1000 * (usage.ru_utime + usage.ru_stime), usage.ru_nvcsw, usage.ru_nivcsw)))
        return True

    def of_referee(self) -> np.ndarray:
        """The referee's, for each move."""
        return np.asarray((self.referee[-1] - self.referee[0]) / (len(self.referee) - 1))

    @staticmethod
    def of_bot(printed: str) -> np.ndarray:
        """A bot's, for one of its moves, with its process's work around it."""
        rows: np.ndarray = np.array([[float(part) for part in line.split()] for line in printed.splitlines()])
        return np.asarray((rows[-1] - rows[0]) / (len(rows) - 1))


def milliseconds(seconds: list[float]) -> dict[str, float]:
    """The distribution of times."""
    of = np.percentile(np.array(seconds) * 1000, (50, 90, 99))
    return dict(zip(("p50", "p90", "p99"), (round(float(one), 3) for one in of), strict=True))


def measure(matches: int) -> dict[str, Any]:
    """Play, and return the times."""
    bot = program("teamteller.py", _TELLER.encode())
    play_match((bot, bot), Conditions())  # compiles, and reads files
    echo, found = Echo(), []
    for _ in range(matches):
        spent, turns = Spent(), Turns(echo)
        begin = time.perf_counter()
        match = play_match((bot, bot), Conditions(), spent.watch)
        seconds = time.perf_counter() - begin
        play_match((bot, bot), Conditions(), turns.watch)
        bots = np.mean([spent.of_bot(printed) for printed in match.printed], axis=0)
        found.append((match.plies, seconds, spent.of_referee(), bots, turns))
    echo.end()
    plies, times, referees, of_bots, timed = zip(*found, strict=True)
    ratios = [np.median(turns.turns) / np.median(turns.echoes) for turns in timed]
    kinds = ("processor ms", "switches by will", "forced switches")
    return {
        "load": round(os.getloadavg()[0], 1),
        "plies": round(float(np.mean(plies)), 1),
        "seconds of a match": round(float(np.median(times)), 3),
        "a move, referee": dict(zip(kinds, np.median(referees, axis=0).round(3).tolist(), strict=True)),
        "a move, bot": dict(zip(kinds, np.median(of_bots, axis=0).round(3).tolist(), strict=True)),
        "turn, ms": milliseconds([one for turns in timed for one in turns.turns]),
        "echo, ms": milliseconds([one for turns in timed for one in turns.echoes]),
        "turn / echo, quartiles of matches": [round(float(one), 1) for one in np.percentile(ratios, (25, 50, 75))],
    }


def main() -> None:
    """Measure, and print one object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.extreme_overhead", description=__doc__.split("\n")[0])
    parser.add_argument("--matches", type=int, default=20, metavar="N", help="of each kind (default: %(default)s)")
    print(json.dumps(measure(parser.parse_args().matches), indent=1))


if __name__ == "__main__":
    main()
