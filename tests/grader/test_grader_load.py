"""A little of what ``python -m benchmarks.grader`` does a lot of."""

from types import SimpleNamespace

import pytest
from kit import GAME

from benchmarks import grader
from pttt_ooc.grader import teams
from pttt_ooc.grader.database import Database


@pytest.mark.slow
def test_under_load_nothing_is_lost_and_every_verdict_is_right(server):
    database = Database.of(server.data, None, GAME)
    tokens = [teams.add_team(database, f"Load {n}") for n in range(8)]
    database.close()
    files = grader.Files()
    made = [files.make(number) for number in range(24)]
    figures = grader.measured(SimpleNamespace(port=server.port, tokens=tokens), made, flight=8)
    assert (figures["lost"], figures["wrong"], figures["uploads"]) == (0, 0, 24)
    assert figures["reads"] > 0 and figures["median_ms"] > 0


def test_a_wrong_verdict_is_noticed():
    accepted, rejected = {"status": "Accepted", "exploitability": 0.5}, {"status": "Rejected", "note": "Invalid: x"}
    assert grader._is_right(accepted, 0.5) and grader._is_right(rejected, "Invalid")
    assert not grader._is_right(accepted, 0.4) and not grader._is_right(accepted, "Invalid")
    assert not grader._is_right(rejected, 0.5) and not grader._is_right(None, 0.5)
