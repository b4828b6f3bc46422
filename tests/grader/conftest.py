"""Graders for the tests."""

import pytest
from kit import Lab, Server

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
