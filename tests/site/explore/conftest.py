"""Games in this process, and the application that plays them; and courses, beside which others run."""

import pytest

from tests.course.conftest import compiled, course, lab, prepared, server, solved  # noqa: F401  (fixtures)
from tests.site.explore.play_kit import application, make_games


@pytest.fixture
def games(in_memory):
    made = make_games(in_memory, seed=1)
    yield made
    made.close()


@pytest.fixture
def app(games):
    return application(games)
