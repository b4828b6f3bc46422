"""The scale of a verdict on the terminal: where a strategy lies between perfect and uniform play."""

import pytest

from pttt_ooc.course.server import client

ACCEPTED = {"status": "Accepted", "player": 0, "exploitability": 0.5, "best": False, "rank": None, "detail": ""}
ACCEPTED |= {"before": None, "rank_before": None}


class Silent:
    """A course that must not be asked: the verdict has all that is told."""

    def ask(self, method, path):
        raise AssertionError(f"{method} {path}")


def told(submission):
    lines = []
    client._verdict(Silent(), submission, lines.append)
    return lines


@pytest.mark.parametrize(("player", "figure", "uniform"), [(0, 0.9417, "0.942"), (1, 0.29697, "0.297")])
def test_an_accepted_strategy_is_told_where_it_lies(player, figure, uniform):
    lines = told({**ACCEPTED, "player": player, "exploitability": 0.25, "uniform": figure})
    assert lines == ["Accepted: exploitability 0.2500000", f"0 (perfect) < 0.250 (yours) < {uniform} (uniform play)"]


@pytest.mark.parametrize("without", [{}, {"uniform": None}])
def test_without_the_baseline_the_scale_has_two_ends(without):
    assert told({**ACCEPTED, **without})[1] == "0 (perfect) < 0.500 (yours)"


def test_a_rejected_strategy_has_no_scale():
    rejected = {"status": "Rejected", "note": "Row 3 sums to 2.", "detail": ""}
    assert told(rejected) == ["Rejected: Row 3 sums to 2."]
