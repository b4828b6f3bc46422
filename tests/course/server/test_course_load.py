"""A little of what ``python -m benchmarks.course_load`` does a lot of."""

from types import SimpleNamespace

import pytest

from benchmarks import course, course_deadline, course_load
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.people import teams
from tests.course.server_kit import GAME


@pytest.mark.slow
def test_under_load_nothing_is_lost_and_every_verdict_is_right(server):
    database = Database.of(server.data, None, GAME)
    tokens = [teams.add_team(database, f"Load {n}") for n in range(8)]
    database.close()
    files = course_load.Files()
    made = [files.make(number) for number in range(24)]
    figures = course_load.measured(SimpleNamespace(port=server.port, tokens=tokens), made, flight=8)
    assert (figures["lost"], figures["wrong"], figures["uploads"]) == (0, 0, 24)
    assert figures["reads"] > 0 and figures["median_ms"] > 0


@pytest.mark.slow
def test_a_course_at_work_is_measured(server):
    database = Database.of(server.data, None, GAME)
    tokens = [teams.add_team(database, f"Course {n}") for n in range(3)]
    database.close()
    pids = {child: server.pid_of(child) for child in ("web", "worker")}
    figures = course.measured(server.port, tokens, course_load.Files(), pids, seconds=1, pause=0.02, every=0.5)
    assert (figures["failures"], figures["lost"], figures["wrong"]) == ([], 0, 0) and figures["uploads"] > 0
    assert figures["requests"] == sum(one["count"] for one in figures["milliseconds"].values()) > figures["uploads"]
    assert all(0 < one["p50"] <= one["p99"] <= one["most"] for one in figures["milliseconds"].values())
    assert all(0 < one["end"] <= one["most"] for one in figures["megabytes"].values())


@pytest.mark.long
def test_a_deadline_is_measured(server):
    """Uploads that begin in time are confirmed, also after the deadline; others are told why not.

    It is long, as uploads begin half a second before and after the deadline, which a busy machine can blur.
    """
    database = Database.of(server.data, None, GAME)
    tokens = [teams.add_team(database, f"Deadline {n}") for n in range(4)]
    database.close()
    served = SimpleNamespace(port=server.port, data=server.data, game=GAME, tokens=tokens, web=server.pid_of("web"))
    try:
        figures = course_deadline.measured(served, 4, late=1, size=300_000, seconds=4, pause=0.2, speed=300_000)
    finally:
        course_deadline.set_deadline(served, None)
    wrong = ("confirmed", "begun_in_time", "begun_too_late", "other_answers", "wrong_verdicts", "page_failures")
    assert not course_deadline.failed(figures), {name: figures[name] for name in wrong}
    assert (figures["confirmed"], figures["refused_with_a_reason"]) == (3, 1) and figures["pages"] > 4
    spent = figures["processor_ms_by_page"]
    assert spent.keys() == set(course_deadline.PAGES) and all(0 < ms < 1000 for ms in spent.values())
    for change in ({"confirmed": 2}, {"refused_with_a_reason": 0}, {"wrong_verdicts": 1}, {"page_failures": ["x"]}):
        assert course_deadline.failed({**figures, **change})


def test_a_wrong_verdict_is_noticed():
    accepted, rejected = {"status": "Accepted", "exploitability": 0.5}, {"status": "Rejected", "note": "Invalid: x"}
    assert course_load.is_right(accepted, 0.5) and course_load.is_right(rejected, "Invalid")
    assert not course_load.is_right(accepted, 0.4) and not course_load.is_right(accepted, "Invalid")
    assert not course_load.is_right(rejected, 0.5) and not course_load.is_right(None, 0.5)
