"""How the command begins: its names, and an interrupt while it starts."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pttt_ooc.cli import __main__, commands

ROOT = Path(__file__).parents[2]
INTERRUPTED = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "pttt_ooc.cli.commands":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from pttt_ooc.cli.__main__ import main
sys.argv = ["pttt", "--version"]
main()
"""


@pytest.mark.parametrize("ignored", [False, True])
def test_an_interrupt_while_modules_are_imported_shows_no_traceback(ignored):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
    try:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-c", INTERRUPTED], env=environment, capture_output=True, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.stderr == ""
    assert done.returncode == (0 if ignored else -signal.SIGINT) and done.stdout.startswith("pttt") == ignored


def test_afterwards_an_interrupt_is_reported(monkeypatch):
    handlers = []
    monkeypatch.setattr(commands, "main", lambda: handlers.append(signal.getsignal(signal.SIGINT)))
    before = signal.getsignal(signal.SIGINT)
    __main__.main()
    assert handlers == [before] and signal.getsignal(signal.SIGINT) == before


@pytest.mark.slow
@pytest.mark.parametrize("module", ["pttt_ooc", "pttt_ooc.cli"])
def test_python_runs_the_package_as_the_command(tmp_path, module):
    def run(*arguments):
        command, environment = [sys.executable, "-m", module, *arguments], {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)

    assert run("--help").stdout.startswith("Usage: pttt ")
    failed = run("show", "missing.zip", "|")
    assert failed.returncode == 1 and "missing.zip" in failed.stderr and "Traceback" not in failed.stderr


@pytest.mark.slow
def test_the_list_of_games_needs_no_compiler_and_counts_nothing():
    program = (
        "import sys; from pttt_ooc.cli import display; display.games(); print(*{'numba', 'numpy'} & {*sys.modules})"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert "mini-2x3k3-abrupt" in done.stdout and done.stdout.endswith("\n\n")
