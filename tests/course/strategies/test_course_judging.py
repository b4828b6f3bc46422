"""Verdicts: the figures, the standings that follow from them, and what happens when judging is broken off."""

import time

import numpy as np
import pytest
from sqlalchemy import select

from pttt_ooc.cfr.solving.evaluation import evaluate
from pttt_ooc.course.data import queue
from pttt_ooc.course.data.models import Entry, Fact, Submission
from pttt_ooc.course.data.worker_process import Stopped, Work
from pttt_ooc.course.grades.gradebook import settle_if_graded
from pttt_ooc.course.strategies import assessor, judging
from pttt_ooc.course.strategies.judging import GAVE_UP
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.pipeline.files.infosets import default_rows
from pttt_ooc.pipeline.files.tensors import tensor_from_strategy
from pttt_ooc.site.service.pulse import Pulse, read_sign
from tests.course.server_kit import GAME, VALUE, Lab, as_strategy, pttt, random_tensor, strategy_zip, zip_bytes
from tests.kits.helpers import full_index, small_engine


def truth(first, second):
    """The package's own evaluation of two tensors."""
    engine = small_engine(GAME)
    strategies = [as_strategy(player, t, index=engine.index) for player, t in enumerate((first, second))]
    return evaluate(*strategies, engine, VALUE)


def exact_tensor(player):
    """A tensor of an equilibrium."""
    from pttt_ooc.exact.double_oracle.complete_strategy import write_whole
    from tests.kits.equilibria import settled

    oracle = settled(GAME, memo_mb=4)
    index = full_index(GAME)
    into = uniform_strategy(index, player, np.float64).probabilities
    whole = write_whole(oracle.rules, oracle.plans[player], index, player, into)
    rows = default_rows(index, player)
    return np.concatenate(list(tensor_from_strategy(index, player, whole.probabilities, rows, np.float64)))


def with_value(lab):
    """The value of the game as the instructors have set it."""
    with lab.database.writing() as session:
        session.merge(Fact(name="value", value=[*lab.settings.game_value, "as the instructors have set it"]))


def row(lab, number):
    with lab.database.reading() as session:
        return session.get(Submission, number)


def gradient_of(lab, number):
    """Where the gradient of a submission is kept."""
    return lab.storage.gradients / f"{lab.assessor.key(row(lab, number))}.zarr"


def entries(lab):
    with lab.database.reading() as session:
        return {(e.first_id, e.second_id): e.value for e in session.scalars(select(Entry))}


def test_the_baseline_is_there_from_the_start(lab):
    lab.baseline()
    lab.baseline()  # and once
    board = lab.client.get("/api/leaderboard").json()
    uniform = truth(random_tensor(0, 0, 0), random_tensor(1, 0, 0))
    assert [r["team"] for r in board] == ["Uniform"] and board[0]["submissions"] == [1, 2]
    assert board[0]["exploitability"] == pytest.approx([uniform.exploitability_0, uniform.exploitability_1], abs=1e-7)
    matrix = lab.client.get("/api/matrix").json()
    assert matrix["values"] == [[pytest.approx(uniform.value, abs=1e-6)]]


def test_figures_and_matrix_equal_the_packages_own(lab):
    lab.baseline()
    names = ["Team A", "Team B", "Team C"]
    tensors = {name: (random_tensor(0, seed), random_tensor(1, seed)) for seed, name in enumerate(names)}
    for name, both in tensors.items():
        token = lab.team(name)
        for player in (0, 1):
            lab.submit(token, player, zip_bytes(both[player]))
        lab.run()
    tensors["Uniform"] = (random_tensor(0, 0, 0), random_tensor(1, 0, 0))
    board = {r["team"]: r for r in lab.client.get("/api/leaderboard").json()}
    for name, both in tensors.items():
        expected = truth(*both)
        figures = [expected.exploitability_0, expected.exploitability_1]
        assert board[name]["exploitability"] == pytest.approx(figures, abs=1e-7)
        assert board[name]["total"] == pytest.approx(expected.nashconv, abs=1e-7)
    matrix = lab.client.get("/api/matrix").json()
    assert matrix["rows"] == matrix["columns"] == [*names, "Uniform"]
    for i, first in enumerate(matrix["rows"]):
        for j, second in enumerate(matrix["columns"]):
            expected = truth(tensors[first][0], tensors[second][1]).value
            assert matrix["values"][i][j] == pytest.approx(expected, abs=1e-6)


def test_the_opening_is_the_tensors_first_row(lab):
    token = lab.team("Team A")
    for player in (0, 1):
        told = lab.verdict(token, player, strategy_zip(player, 4))
        assert told["opening"] == pytest.approx(random_tensor(player, 4)[0].tolist())


@pytest.mark.slow
def test_exact_strategies_tie_and_have_the_digits_that_they_need(tmp_path):
    """Noise ranks nobody, and no figure is negative: on pages, in verdicts, and for programs."""
    pytest.importorskip("highspy")
    lab = Lab(tmp_path / "g", game_value=(13 / 17, 13 / 17))
    with_value(lab)
    lab.baseline()
    exact = [exact_tensor(player) for player in (0, 1)]
    uniform = [random_tensor(player, 0, 0) for player in (0, 1)]
    teams = {
        "Double": exact,
        "Single": [tensor.astype(np.float32) for tensor in exact],
        "Nearly": [(1 - 3e-8) * one + 3e-8 * other for one, other in zip(exact, uniform, strict=True)],
        "Worse": [(1 - 1e-5) * one + 1e-5 * other for one, other in zip(exact, uniform, strict=True)],
    }
    for name, tensors in teams.items():
        token = lab.team(name)
        told = [lab.verdict(token, player, zip_bytes(tensor)) for player, tensor in enumerate(tensors)]
        page = lab.client.get(f"/submissions/{told[0]['id']}").text
        assert "Figures that differ by at most 1e-7 share a rank." in page
        assert {"Double": "&lt;1e-12", "Nearly": "e-8"}.get(name, "") in page and "−0.0" not in page
    board = lab.client.get("/api/leaderboard").json()
    assert {row["team"]: row["rank"] for row in board} == {
        "Double": 1,
        "Single": 1,
        "Nearly": 1,
        "Worse": 4,
        "Uniform": 5,
    }
    totals = {row["team"]: row["total"] for row in board}
    assert 0 <= totals["Double"] < 1e-12 < totals["Nearly"] < 1e-7 and 0 <= totals["Single"] < 1e-7 < totals["Worse"]
    assert all(figure >= 0 for row in board for figure in row["exploitability"])
    page = lab.client.get("/").text
    assert "Teams whose figures differ by at most 1e-7 share a rank" in page and "&lt;1e-12" in page
    lab.close()


def test_only_a_teams_best_stands(lab):
    lab.baseline()
    token = lab.team("Team A")
    tensors = [random_tensor(0, 3, s) for s in (2.0, 1.0, 0.5, 4.0)]
    figures = [lab.verdict(token, 0, zip_bytes(t))["exploitability"] for t in tensors]
    best = int(np.argmin(figures))
    board = {r["team"]: r for r in lab.client.get("/api/leaderboard").json()}
    assert board["Team A"]["exploitability"] == [figures[best], None] and board["Team A"]["rank"] is None
    assert set(entries(lab)) == {(1, 2), (3 + best, 2)}
    kept = {f.name for f in lab.storage.gradients.iterdir()}
    assert kept == {gradient_of(lab, number).name for number in (1, 2, 3 + best)}
    history = [s for s in lab.client.get("/api/history?team=Team A").json()]
    running = list(np.minimum.accumulate(figures))
    assert [s["exploitability"] for s in reversed(history)] == sorted(set(running), reverse=True)
    assert history[-1]["before"] is None and history[0]["before"] == sorted(set(running))[1]


def test_a_lost_gradient_is_made_again(lab):
    lab.baseline()
    token = lab.team("Team A")
    lab.submit(token, 0, strategy_zip(0, 1))
    (damaged,) = gradient_of(lab, 2).glob("sequences/c/*")
    damaged.write_bytes(b"damaged")
    lab.assessor._cache.clear()
    lab.assessor._cached = 0
    lab.run()
    expected = truth(random_tensor(0, 1), random_tensor(1, 0, 0)).value
    assert entries(lab)[3, 2] == pytest.approx(expected, abs=1e-6)
    assert damaged.read_bytes() != b"damaged"


def test_gradients_on_disk_are_used(lab, monkeypatch):
    lab.baseline()
    lab.assessor._cache.clear()
    lab.assessor._cached = 0
    monkeypatch.setattr(assessor, "_CACHE_BYTES", 0)
    lab.submit(lab.team("Team A"), 1, strategy_zip(1, 1))
    read = []
    original = lab.storage.read_gradient
    monkeypatch.setattr(lab.storage, "read_gradient", lambda key: read.append(key) or original(key))
    lab.run()
    assert read == [gradient_of(lab, 1).stem] and (1, 3) in entries(lab)


# ---------------------------------------------------------------------------------------------
# Broken off


@pytest.mark.slow
def test_a_job_that_is_stopped_runs_again(lab):
    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    lab.stopping.set()
    for _ in range(5):
        with pytest.raises(Stopped):
            lab.judge.judge(number)
    stopped = row(lab, number)
    assert (stopped.status, stopped.attempts, stopped.progress) == ("Queued", 0, 0)
    lab.stopping.clear()
    lab.run()
    assert row(lab, number).status == "Accepted"


@pytest.mark.parametrize("status", ["Validating", "Evaluating"])
def test_a_job_that_was_running_when_the_machine_died_runs_again(lab, status):
    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    with lab.database.writing() as session:
        found = session.get(Submission, number)
        found.status, found.attempts, found.changed_at = status, 1, time.time()
    assert next_up(lab) == number
    lab.run()
    assert row(lab, number).status == "Accepted" and next_up(lab) is None


def next_up(lab):
    with lab.database.reading() as session:
        return queue.next_up(session)


def test_submissions_are_judged_in_order_and_failures_wait(lab, monkeypatch):
    token = lab.team("Team A")
    numbers = [lab.submit(token, 0, strategy_zip(0, seed)) for seed in range(3)]
    assert next_up(lab) == numbers[0]
    with monkeypatch.context() as patch:
        patch.setattr(lab.assessor, "assess", fail)
        lab.judge.judge(numbers[0])
    assert next_up(lab) == numbers[1]  # a failure keeps nobody waiting
    lab.judge.judge(numbers[1])
    assert next_up(lab) == numbers[2]
    lab.judge.judge(numbers[2])
    assert next_up(lab) is None
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + queue.RETRY_SECONDS + 1)
    assert next_up(lab) == numbers[0]


def fail(*arguments):
    raise MemoryError


class Clock:
    """An event whose waits take no time; `during` is called in each of them with the seconds."""

    def __init__(self, during):
        self.during, self.over = during, False

    def is_set(self):
        return self.over

    def wait(self, seconds):
        self.during(seconds)
        return self.over


def test_an_upload_is_judged_within_half_a_second_of_polling(lab):
    token, waits = lab.team("Team A"), []

    def wait(seconds):
        waits.append(seconds)
        if len(waits) == 3:
            lab.submit(token, 0, strategy_zip(0, 1))
        if len(waits) == 4:  # it has been judged in between
            assert row(lab, 1).status == "Accepted"
            clock.over = True

    clock = Clock(wait)
    Work(Pulse(lab.storage.alive), clock, 5).repeat(lab.judge.judge_next)
    assert max(waits) < 0.5


def test_a_database_that_is_away_for_a_while_stops_nobody(lab, monkeypatch):
    lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    really, waits, told = queue.next_up, [], []

    def next_up(session):
        if len(waits) < 2:
            raise OSError("the disk is away")
        return really(session)

    def wait(seconds):
        waits.append(seconds)
        told.append(read_sign(lab.storage.alive).waits_for)
        clock.over = len(waits) == 3

    monkeypatch.setattr(queue, "next_up", next_up)
    clock = Clock(wait)
    Work(Pulse(lab.storage.alive), clock, 5).repeat(lab.judge.judge_next)
    assert row(lab, 1).status == "Accepted" and waits[0] == waits[1] > waits[2]
    assert told == ["the disk is away.", "the disk is away.", ""]


def test_two_workers_by_mistake_give_one_verdict(lab):
    """As on two machines, where no lock keeps them apart: the second one ends while the first is still at work."""
    lab.baseline()
    token = lab.team("Team A")
    lab.verdict(token, 0, strategy_zip(0, 1, 4.0))
    number = lab.submit(token, 0, strategy_zip(0, 2, 0.5))
    other, assess = (
        judging.Judge(lab.database, lab.storage, lab.assessor, lab.stopping, settle_if_graded),
        lab.assessor.assess,
    )
    seen = []

    def slowly(strategy, on_progress):
        found = assess(strategy, on_progress)
        if not seen:
            seen.append(None)
            other.judge(number)
            lab.judge._tell(number, "Evaluating", 0.5)
            seen.append(row(lab, number))
        return found

    lab.assessor.assess = slowly
    try:
        lab.judge.judge(number)
    finally:
        del lab.assessor.assess
    found, expected = row(lab, number), seen[1]
    assert expected.status == "Accepted" and expected.best and expected.before is not None
    for name in ("status", "finished_at", "before", "best", "improved", "exploitability"):
        assert getattr(found, name) == getattr(expected, name), name
    assert set(entries(lab)) == {(1, 2), (number, 2)}


def test_judging_twice_does_nothing(lab):
    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    lab.run()
    before = row(lab, number)
    lab.judge.judge(number)
    lab.judge.judge(4711)
    assert row(lab, number).finished_at == before.finished_at


def test_what_fails_three_times_is_given_up_and_can_be_judged_again(lab, monkeypatch):
    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))

    with monkeypatch.context() as patch:
        patch.setattr(lab.assessor, "assess", fail)
        for _ in range(5):
            lab.judge.judge(number)
    assert (row(lab, number).status, row(lab, number).note) == ("Rejected", GAVE_UP)
    assert pttt("course", "rejudge", number, "--data", lab.data).returncode == 0
    lab.run()
    assert row(lab, number).status == "Accepted"


def test_a_file_that_kills_the_worker_is_given_up(lab):
    """Each time the worker dies the attempt has been counted, but there is no verdict."""
    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    for _ in range(judging.ATTEMPTS):
        assert lab.judge._claim(number) is not None
    lab.judge.judge(number)
    found = row(lab, number)
    assert (found.status, found.note, found.attempts) == ("Rejected", GAVE_UP, judging.ATTEMPTS)
    assert f"failed {found.attempts} times" in found.detail and found.finished_at == found.changed_at


def test_a_team_may_be_removed_while_it_is_judged(lab, monkeypatch):
    from pttt_ooc.course.people import teams

    lab.baseline()
    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    original = lab.assessor.assess

    def assess(*arguments):
        teams.remove_team(lab.database, "Team A")
        return original(*arguments)

    monkeypatch.setattr(lab.assessor, "assess", assess)
    lab.judge.judge(number)
    assert row(lab, number) is None and set(entries(lab)) == {(1, 2)}


def test_a_lost_upload_is_the_servers_fault(lab):
    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    lab.storage.upload(row(lab, number).file).unlink()
    for _ in range(3):
        lab.judge.judge(number)
    assert row(lab, number).note == GAVE_UP


def test_files_without_a_row_are_swept_after_an_hour(lab):
    import os
    import time

    lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    keep = row(lab, 1).file
    for age, name in ((0, "new-orphan.zip"), (4_000, "old-orphan.zip")):
        file = lab.storage.uploads / name
        file.write_bytes(b"x")
        os.utime(file, (time.time() - age,) * 2)
    os.utime(lab.storage.upload(keep), (0, 0))
    assert lab.storage.sweep([keep]) == 1
    assert sorted(f.name for f in lab.storage.uploads.iterdir()) == sorted([keep, "new-orphan.zip"])
