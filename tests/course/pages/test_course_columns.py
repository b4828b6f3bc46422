"""Numbers in the tables of the course's pages: one form a column."""

import pytest

from tests.course.server_kit import strategy_zip
from tests.kits.columns import assert_one_form_a_column


@pytest.mark.slow
def test_pages_of_a_course(lab):
    lab.baseline()
    tokens = [lab.team(f"Team {name}") for name in "ABC"]
    for seed, token in enumerate(tokens):
        for player in (0, 1):
            lab.submit(token, player, strategy_zip(player, seed, 1.0))
    lab.run()
    lab.submit(tokens[0], 0, strategy_zip(0, 31, 0.3))
    lab.run()
    assert_one_form_a_column(lab.client, "/", 3)
