"""A clock that is put back or forward by a day, while a course is at work."""

import os
import time

import pytest

from pttt_ooc.course.data import queue
from pttt_ooc.course.data.models import Submission
from pttt_ooc.site.service.pulse import read_sign
from tests.course.server_kit import Lab, bearer, form_token, strategy_zip

DAY = 86400.0


class Clock:
    def __init__(self, monkeypatch):
        self.ahead, real = 0.0, time.time
        monkeypatch.setattr(time, "time", lambda: real() + self.ahead)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


@pytest.fixture
def limited(tmp_path):
    """A course that takes two submissions an hour."""
    made = Lab(tmp_path / "course", submissions_per_hour=2)
    yield made
    made.close()


def next_up(lab):
    with lab.database.reading() as session:
        return queue.next_up(session)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("jump", [-DAY, DAY])
def test_nobody_waits_a_day_for_the_next_submission(limited, clock, jump):
    token = limited.team("Team A")
    for seed in range(2):
        limited.verdict(token, 0, strategy_zip(0, seed))
    assert limited.post(token, 0, strategy_zip(0, 2)).status_code == 429
    clock.ahead = jump
    for seed in (2, 3):
        assert limited.post(token, 0, strategy_zip(0, seed)).status_code == 201
    answer = limited.post(token, 0, strategy_zip(0, 4))
    assert answer.status_code == 429 and 3590 < int(answer.headers["retry-after"]) <= 3600


@pytest.mark.parametrize("jump", [-DAY, DAY])
def test_what_failed_is_tried_again(lab, clock, monkeypatch, jump):
    def fail(*arguments):
        raise MemoryError

    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    with monkeypatch.context() as patch:
        patch.setattr(lab.assessor, "assess", fail)
        lab.judge.judge(number)
    assert next_up(lab) is None
    clock.ahead = jump
    assert next_up(lab) == number


def test_a_worker_that_died_before_the_clock_was_put_back_is_not_alive(tmp_path, clock):
    sign = tmp_path / "worker.alive"
    sign.touch()
    os.utime(sign, (time.time(),) * 2)
    assert read_sign(sign).alive
    for jump in (-DAY, DAY):
        clock.ahead = jump
        assert not read_sign(sign).alive and read_sign(sign).age == pytest.approx(DAY, abs=60)


def test_pages_show_what_changes_after_the_clock_was_put_back(lab, clock):
    token = lab.team("Team A")
    numbers = [lab.submit(token, 0, strategy_zip(0, seed)) for seed in range(2)]
    clock.ahead = -DAY
    stamp = lab.client.get("/parts/submissions").text.partition("seen=")[2].partition('"')[0]
    assert lab.client.get(f"/parts/submissions?seen={stamp}").status_code == 204
    lab.judge.judge(numbers[0])
    page = lab.client.get(f"/parts/submissions?seen={stamp}")
    assert page.status_code == 200 and "Accepted" in page.text
    for path in ("/", "/matrix", f"/submissions/{numbers[0]}", f"/teams/{2}", "/metrics", "/api/history"):
        assert lab.client.get(path).status_code == 200, path


@pytest.mark.slow_but_one
@pytest.mark.parametrize("jump", [-DAY, DAY])
def test_tokens_forms_and_sessions_outlive_a_jump(lab, clock, jump):
    token = lab.team("Team A")
    lab.sign_in(token)
    form = form_token(lab.client.get("/submissions").text)
    clock.ahead = jump
    fields = {"form_token": (None, form), "player": (None, "0"), "file": ("f.zip", strategy_zip(0, 1))}
    assert lab.client.post("/submissions", files=fields, follow_redirects=False).status_code == 303
    assert lab.post(token, 0, strategy_zip(0, 2)).status_code == 201
    with lab.database.reading() as session:
        assert session.query(Submission).count() == 2
    assert lab.client.get("/api/submissions/1/file", headers=bearer(token)).status_code == 200
