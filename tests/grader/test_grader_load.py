"""A little of what ``python -m benchmarks.grader`` does a lot of."""

import pytest

from benchmarks import grader


@pytest.mark.slow
def test_under_load_nothing_is_lost_and_every_verdict_is_right():
    figures = grader.run(team_count=8, uploads=24, flight=8, kill=False)
    assert (figures["lost"], figures["wrong"], figures["uploads"]) == (0, 0, 24)
    assert figures["reads"] > 0 and figures["median_ms"] > 0


def test_a_wrong_verdict_is_noticed():
    accepted, rejected = {"status": "Accepted", "exploitability": 0.5}, {"status": "Rejected", "note": "Invalid: x"}
    assert grader._is_right(accepted, 0.5) and grader._is_right(rejected, "Invalid")
    assert not grader._is_right(accepted, 0.4) and not grader._is_right(accepted, "Invalid")
    assert not grader._is_right(rejected, 0.5) and not grader._is_right(None, 0.5)
