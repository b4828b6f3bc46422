"""Signals that stop a process: an interrupt works at any point of the program."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.kits.patience import PATIENCE

ROOT = Path(__file__).parents[2]
PROGRAM = """
import gc, os, signal, sys, threading, time, weakref
from contextlib import contextmanager
from pttt_ooc.disk.stop_signals import interrupt_on_signals, interruptible

class Thing:
    pass

def signalled(*arguments):
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000):
        pass  # the interrupt comes here
    print("not interrupted")

@contextmanager
def process():
    stopping = threading.Event()
    interrupt_on_signals(stopping)
    try:
        yield
    finally:
        print("stopping", stopping.is_set())

{place}
try:
    with {block}():
        something()
        until = time.monotonic() + {patience}
        while True:  # a loop's condition is not in the try statement in Python 3.13 (CPython's issue 130279)
            if time.monotonic() > until:
                break
        print("goes on")
except KeyboardInterrupt:
    print("interrupted")
if "{block}" == "interruptible":
    kept = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL and sys.unraisablehook is sys.__unraisablehook__
    print("as before", kept)
"""
PLACES = {
    "a function": "something = signalled",
    "a finaliser": """
Thing.__del__ = signalled
something = Thing
""",
    "a callback": """
def something():
    thing = Thing()
    thing.seen = weakref.ref(thing, signalled)
    seen = thing.seen
    del thing.seen, thing
""",
    "a collection": """
def something():
    gc.callbacks.append(lambda phase, told: phase == "start" and signalled())
    gc.collect()
    gc.callbacks.clear()
""",
    "an object that is half made": """
class Half:
    def __init__(self):
        signalled()
        self.made = True
    def __del__(self):
        assert self.made
something = Half
""",
    "a coroutine that nobody awaits": """
async def never():
    pass
def something():
    coroutine = never()
    signalled()
""",
}


def ran(place, block):
    script = PROGRAM.format(place=place, block=block, patience=PATIENCE)
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=2 * PATIENCE)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("block, told", [("process", "stopping True"), ("interruptible", "as before True")])
@pytest.mark.parametrize("place", PLACES)
def test_a_signal_interrupts_anywhere(place, block, told):
    """Python drops errors raised in finalisers and callbacks, and reports errors of half-made objects."""
    done = ran(PLACES[place], block)
    assert sorted(done.stdout.splitlines()) == sorted(["interrupted", told]) and done.stderr == ""


def test_other_errors_that_python_drops_are_reported_as_usual():
    done = ran("Thing.__del__ = lambda self: 1 / 0\ndef something():\n    Thing()\n    signalled()", "process")
    assert "ZeroDivisionError" in done.stderr and "interrupted" in done.stdout
