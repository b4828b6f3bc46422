"""Fixtures of the wing's tests."""

import pytest

from tests.other_games.smbc.coarse_match import coarse_match


@pytest.fixture(scope="session")
def coarse(tmp_path_factory, worker_id):
    """The directory of a coarsely solved match to 2; tests only read it."""
    return coarse_match(tmp_path_factory, worker_id)
