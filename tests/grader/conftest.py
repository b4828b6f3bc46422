"""Graders for the tests."""

import pytest
from browsing import ARGUMENTS, chromium
from kit import Lab, Server
from patience import PATIENCE

from pttt_ooc.stages.compilation import ensure_compiled


@pytest.fixture(scope="session", autouse=True)
def compiled():
    """Servers are not waited for as long as a first compilation takes."""
    ensure_compiled()


@pytest.fixture(scope="session")
def solved(tmp_path_factory):
    """The directory of a solved game; nobody writes to it."""
    from wing import solve_game

    return solve_game(tmp_path_factory.mktemp("solved"))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """Where answerers find what others have prepared."""
    return tmp_path_factory.mktemp("profiles")


@pytest.fixture
def lab(tmp_path):
    """A grader in this process, with nothing in it but the team Uniform."""
    made = Lab(tmp_path / "grader")
    yield made
    made.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A grader in processes of its own; tests that stop it make their own."""
    made = Server(tmp_path_factory.mktemp("served"))
    made.wait_for_verdicts(2)
    yield made
    made.stop()
    made.close()


@pytest.fixture(scope="module")
def browser():
    """Chromium; not for longer than a module, as playwright's event loop keeps others from running."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS, timeout=1000 * PATIENCE)
        sync_api.expect.set_options(timeout=1000 * PATIENCE)
        yield opened
        opened.close()
