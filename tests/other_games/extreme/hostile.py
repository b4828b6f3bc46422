"""A stranger's process in this one, which sends what it likes: a stream of bytes in memory."""

import json
import math
import os
import random
import struct

from pttt_ooc.other_games.extreme import bot_process
from pttt_ooc.other_games.extreme.bot_process import BotProcess, Conditions
from pttt_ooc.other_games.extreme.walled_process import Enclosed
from tests.other_games.extreme.bot_kit import bot


class StillMeter:
    """The counters of a process that takes no time, and lives."""

    processor = wait_time = staticmethod(lambda: 0.0)
    state = staticmethod(lambda: "S")
    is_ending = staticmethod(lambda: False)


class Said(Enclosed):
    """A process that has said all that it will say."""

    def __init__(self, *given, **facts):
        self._from, self._unread, self._listener, self.meter = os.memfd_create("said"), b"", None, StillMeter()
        self.heard = []

    def say(self, data):
        """Let it say bytes, and nothing else."""
        os.ftruncate(self._from, 0)
        os.pwrite(self._from, data, 0)
        os.lseek(self._from, 0, os.SEEK_SET)
        self._unread = b""

    def send(self, message, clock):
        self.heard.append(message)

    def listen(self, number):
        raise AssertionError("a number of a stranger's is taken for our runner's")

    def freeze(self):
        pass

    thaw = freeze

    def end(self):
        os.close(self._from)
        return ""


def process_that_says(monkeypatch):
    """A bot's process of this kind; it has not been loaded."""
    monkeypatch.setattr(bot_process, "Enclosed", Said)
    return BotProcess(bot(), bot().interpreters()[-1], Conditions(walls=False))


def framed(data):
    return struct.pack(">I", len(data)) + data


def framed_json(message):
    return framed(json.dumps(message).encode())


ODD = [None, True, False, 0, 1, -1, 0.5, -0.0, math.inf, -math.inf, math.nan, 10**30, 10**4000, 1 << 63, "", "x", "\0"]
ODD += ["\ud800", "x" * 5000, [], {}, [[]], [0, 0, 0], [True, 0, 0], [0.0, 0, 0], [10**4000, 0, 0], {"number": 1}]
ODD += ["ImportError: No module named 'numpy'", "[" * 900]
KEYS = ["number", "error", "move", "big", "small", "shown", "ready", "started", "listener", "printed", "code", ""]


def odd_value(draw, depth=0):
    kind = draw.random()
    if depth < 3 and kind < 0.1:
        return [odd_value(draw, depth + 1) for _ in range(draw.randrange(4))]
    if depth < 3 and kind < 0.15:
        return {draw.choice(KEYS): odd_value(draw, depth + 1) for _ in range(3)}
    return draw.choice(ODD)


def hostile_bytes(draw, number=1, keys=KEYS):
    """What a hostile process may send in place of its answer with that number."""
    kind = draw.random()
    if kind < 0.7:
        message = {key: odd_value(draw) for key in draw.sample(keys, draw.randrange(len(keys)))}
        if draw.random() < 0.8:
            message["number"] = number
        return framed_json(message)
    if kind < 0.8:  # a message that was right, but for a few bytes
        data = bytearray(framed_json({"number": number, "move": [0, 4, 4], "error": "x"}))
        for _ in range(draw.randrange(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        return bytes(data)
    if kind < 0.9:
        depth = draw.choice([10, 900, 960, 1000, 100_000])
        opens, closes = draw.choice([(b"[", b"]"), (b'{"a":', b"}")])
        begin = b'{"number":%d,"%s":' % (number, draw.choice(keys).encode())
        return framed(begin + opens * depth + closes * depth + b"}")
    begun = [b"", b"\0", b"\xff" * 4, framed(b""), framed(b"{"), b"\0\0\0\7{}", framed(b"\xff\xfe{\0}\0")]
    return draw.choice(begun) + random.Random(draw.random()).randbytes(draw.randrange(20))
