"""An answerer that is stopped while it starts."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from pttt_ooc.site.service import answerer
from tests.kits.patience import PATIENCE


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    """Restores signals, and keeps this process's parent unwatched."""
    monkeypatch.setattr(answerer, "watch_parent", lambda: None)
    monkeypatch.setattr(answerer, "start_logging", lambda name: None)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def ended(make):
    with socket.create_server(("127.0.0.1", 0)) as listening, pytest.raises(SystemExit) as end:
        answerer.answer_until_stopped(str(listening.detach()), make)
    return end.value.code


def compiler_stopped():
    """As LLVM's callbacks do it: the interrupt is lost in them, and the compiler finds no code."""
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        raise RuntimeError("no compiled object yet") from None


def test_a_stop_during_compilation_is_no_error():
    assert ended(compiler_stopped) == 0


def test_an_error_of_the_compiler_is_one():
    def fails():
        raise RuntimeError("no compiled object yet")

    with socket.create_server(("127.0.0.1", 0)) as listening, pytest.raises(RuntimeError):
        answerer.answer_until_stopped(str(listening.detach()), fails)


def test_an_answerer_ends_with_the_process_that_started_it():
    """Its standard input closes then."""
    code = "import sys\nfrom contextlib import nullcontext\nfrom pttt_ooc.site.service import answerer\n"
    code += "answerer.answer_until_stopped(sys.argv[1], lambda: nullcontext(None))\n"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        command, number = [sys.executable, "-c", code], listening.fileno()
        with subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, pass_fds=[number]) as child:
            try:
                child.communicate(timeout=PATIENCE)
            finally:
                child.kill()
    assert child.returncode == 0
