"""Games in this process, and the application that plays them."""

import pytest
from playkit import application, make_games


@pytest.fixture
def games(in_memory):
    made = make_games(in_memory, seed=1)
    yield made
    made.close()


@pytest.fixture
def app(games):
    return application(games)
