"""An answerer that is stopped while it gets ready."""

import logging
import os
import signal
import socket
import subprocess
import sys

import pytest
from patience import PATIENCE

from pttt_ooc.web import answering


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    """Signals as before, and nobody who watches this process's parent."""
    monkeypatch.setattr(answering, "watch_parent", lambda: None)
    monkeypatch.setattr(answering, "start_logging", lambda name: None)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def ended(make):
    with socket.create_server(("127.0.0.1", 0)) as listening, pytest.raises(SystemExit) as end:
        answering.answer_until_stopped(str(listening.detach()), make, logging.getLogger("test"))
    return end.value.code


def compiler_stopped():
    """As LLVM's callbacks do it: the interrupt is lost in them, and the compiler finds no code."""
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        raise RuntimeError("no compiled object yet") from None


def test_a_stop_amid_a_compilation_is_no_error():
    assert ended(compiler_stopped) == 0


def test_an_error_of_the_compiler_is_one():
    def fails():
        raise RuntimeError("no compiled object yet")

    with socket.create_server(("127.0.0.1", 0)) as listening, pytest.raises(RuntimeError):
        answering.answer_until_stopped(str(listening.detach()), fails, logging.getLogger("test"))


def test_an_answerer_ends_with_the_process_that_started_it():
    """Its standard input closes then."""
    code = "import logging, sys\nfrom contextlib import nullcontext\nfrom pttt_ooc.web import answering\n"
    code += "answering.answer_until_stopped(sys.argv[1], lambda: nullcontext(None), logging.getLogger('pttt'))\n"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        command, number = [sys.executable, "-c", code], listening.fileno()
        with subprocess.Popen([*command, str(number)], stdin=subprocess.PIPE, pass_fds=[number]) as answerer:
            try:
                answerer.communicate(timeout=PATIENCE)
            finally:
                answerer.kill()
    assert answerer.returncode == 0
