"""Courses for the tests."""

import pytest

from pttt_ooc.pipeline.stages.compilation import ensure_compiled
from pttt_ooc.site.service import sqlite
from tests.course.server_kit import Lab, Server

_create_engine, _engines = sqlite.create_engine, []


def _create_alike(url, **options):
    """An engine that shares compiled statements with others: each test has databases of its own, and asks the same."""
    engine = _create_engine(url, **options)
    if _engines:
        engine.dialect, engine._compiled_cache = _engines[0].dialect, _engines[0]._compiled_cache
    else:
        _engines.append(engine)
    return engine


sqlite.create_engine = _create_alike


@pytest.fixture(scope="session", autouse=True)
def compiled():
    """Servers are not waited for as long as a first compilation takes."""
    ensure_compiled()


@pytest.fixture(scope="session")
def solved(tmp_path_factory):
    """The directory of a solved game; nobody writes to it."""
    from tests.site.explore.answerer_kit import solve_game

    return solve_game(tmp_path_factory.mktemp("solved"))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """Where answerers find what others have prepared."""
    return tmp_path_factory.mktemp("profiles")


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """The directory of a course with all kinds, which nobody serves and no test changes."""
    from tests.course.all_kinds_kit import all_kinds

    with all_kinds(tmp_path_factory.mktemp("whole")) as made:
        pass
    return made.data


@pytest.fixture
def lab(tmp_path):
    """A course in this process, with nothing in it but the team Uniform."""
    made = Lab(tmp_path / "course")
    yield made
    made.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """A course in processes of its own; tests that stop it make their own."""
    made = Server(tmp_path_factory.mktemp("served"))
    made.wait_for_verdicts(2)
    yield made
    made.stop()
    made.close()


@pytest.fixture
def course(tmp_path, client, solved):
    """A course with two teams, and this wing beside it."""
    from fastapi.testclient import TestClient

    from pttt_ooc.course.data.models import Fact
    from pttt_ooc.course.server.strategy_parts import app_of, parts_of

    lab = Lab(tmp_path / "course", solution=str(solved))
    lab.show_solution()
    lab.client = TestClient(app_of(lab.course, *parts_of(lab.course, client)), base_url="http://course")
    with lab.database.writing() as session:
        session.merge(Fact(name="value", value=[*lab.settings.game_value, "as the instructors have set it"]))
    for name in ("Team A", "Team B"):
        lab.team(name)
    yield lab
    lab.close()
