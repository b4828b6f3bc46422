"""The scale of a verdict on the terminal: where a strategy lies between perfect and uniform play."""

import pytest

from pttt_ooc.course.data.models import BASELINE
from pttt_ooc.course.server import client
from pttt_ooc.errors import CourseError

ROWS = [
    {"team": "Team A", "exploitability": [0.1, 0.2]},
    {"team": BASELINE, "exploitability": [0.9417, 0.29697]},
]
ACCEPTED = {"status": "Accepted", "player": 0, "exploitability": 0.5, "best": False, "rank": None, "detail": ""}
ACCEPTED |= {"before": None, "rank_before": None}


class Server:
    """A course that answers every question with the same."""

    def __init__(self, status, answer):
        self.status, self.answer = status, answer

    def ask(self, method, path):
        assert (method, path) == ("GET", "/api/leaderboard")
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.status, self.answer


def told(server, submission):
    lines = []
    client._verdict(server, submission, lines.append)
    return lines


@pytest.mark.parametrize(("player", "uniform"), [(0, "0.942"), (1, "0.297")])
def test_an_accepted_strategy_is_told_where_it_lies(player, uniform):
    lines = told(Server(200, ROWS), {**ACCEPTED, "player": player, "exploitability": 0.25})
    assert lines == ["Accepted: exploitability 0.2500000", f"0 (perfect) < 0.250 (yours) < {uniform} (uniform play)"]


@pytest.mark.parametrize(
    "server", [Server(200, ROWS[:1]), Server(503, {}), Server(200, OSError("gone")), Server(200, CourseError("No."))]
)
def test_without_the_baseline_the_scale_has_two_ends(server):
    assert told(server, ACCEPTED)[1] == "0 (perfect) < 0.500 (yours)"


def test_a_rejected_strategy_has_no_scale():
    rejected = {"status": "Rejected", "note": "Row 3 sums to 2.", "detail": ""}
    assert told(Server(200, ROWS), rejected) == ["Rejected: Row 3 sums to 2."]
