"""What all tests need before they start, and places for them to write to."""

import compileall
import contextlib
import functools
import gc
import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import typer.main

import pttt_ooc
from pttt_ooc import imports
from tests.kits.browsing import ARGUMENTS, chromium, contexts, open_page, visit  # noqa: F401  (fixtures)
from tests.kits.disks import Disk, NoDiskError, in_memory_if_possible
from tests.kits.patience import PATIENCE
from tests.kits.selection import mark_cases
from tests.kits.terminals import Terminal
from tests.kits.untried import Untried

# A job in the background of a script is started with Ctrl-C ignored, and hands that down to what it starts;
# tests send that signal to programs that they start, and a person's terminal does not ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Hundreds of solves of small games ask for the fingerprint of the same sources, which takes as long as they do.
imports._code = functools.cache(imports._code)

# A thousand tests call the command in this process; Typer would make all commands anew each time, in 0.2 seconds.
typer.main.get_command = functools.cache(typer.main.get_command)

# No test cuts the power, and what a killed process has written stays: only waiting for the disk is left out.  Tests of
# files and commits check what is synchronized, and when.
os.fsync = os.fstat  # type: ignore[assignment]

# Hypothesis would have an example be slow where only the machine is busy.
hypothesis.settings.register_profile("patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("patient")


FIRST = [f"test_{name}.py" for name in ("commits", "faults", "faults_cli", "snapshots", "workflow")]
"""Most fork this process hundreds of times, which takes several times as long once it has grown; the last has the
longest tests, for one of which the other processes would wait at the end."""


@pytest.hookimpl(tryfirst=True)  # before tests are left out because of their marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The full-size game takes what time it takes; the number of kernels is known if nothing was compiled before."""
    mark_cases(items, whole=config.args == config.getini("testpaths"))
    items.sort(key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST))
    for item in items:
        if item.name == "test_the_number_that_is_shown_is_the_number_of_kernels":
            from pttt_ooc.pipeline.stages.compilation import ensure_compiled

            ensure_compiled()
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.timeout(0))


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Import all tests, each process beginning elsewhere: the asserts that one has rewritten, the others read.

    Where Python is told to write no byte code, each process would rewrite those of all tests.
    """
    worker = getattr(session.config, "workerinput", None)
    if worker is None or session.config.args != session.config.getini("testpaths"):
        return
    files = sorted(Path(__file__).parent.rglob("test_*.py"))
    begin = len(files) * int(worker["workerid"].removeprefix("gw")) // worker["workercount"]
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    for file in files[begin:] + files[:begin]:
        if str(file.parent) not in sys.path:
            sys.path.insert(0, str(file.parent))
        with contextlib.suppress(Exception, pytest.skip.Exception):  # told when it is collected
            importlib.import_module(file.stem)
    sys.dont_write_bytecode = written


def pytest_collection_finish() -> None:
    """Thousands of tests and modules stay to the end: collections of garbage and forks need not touch them."""
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """Compile once, before several processes that run tests would each do so.

    Byte code of the package is written even where Python is told to write none, as in many containers: tests start the
    package's programs hundreds of times.
    """
    config.pluginmanager.register(Untried(config))
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(pttt_ooc.__file__).parent, quiet=2)
        if getattr(config.option, "numprocesses", None):
            from pttt_ooc.pipeline.stages.compilation import ensure_compiled

            ensure_compiled()


@pytest.fixture
def in_memory(tmp_path: Path) -> Iterator[Path]:
    """A directory in memory where there is one."""
    with in_memory_if_possible(tmp_path) as directory:
        yield directory


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Disk]:
    """A file system of 1 MB of its own."""
    try:
        disk = Disk(tmp_path, 1)
    except NoDiskError:
        pytest.skip("this machine does not let us mount a small disk")
    with disk:
        yield disk


@pytest.fixture
def terminal() -> Iterator[Callable[..., Terminal]]:
    """Opens commands on pseudo-terminals."""
    opened: list[Terminal] = []

    def open_terminal(*arguments: str) -> Terminal:
        opened.append(Terminal(*arguments))
        return opened[-1]

    yield open_terminal
    for each in opened:
        each.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium; not for longer than a module, as playwright's event loop keeps others from running."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS, timeout=1000 * PATIENCE)
        sync_api.expect.set_options(timeout=1000 * PATIENCE)
        yield opened
        opened.close()
