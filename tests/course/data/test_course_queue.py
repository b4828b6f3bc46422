"""The order of judgement: teams take turns, and the limit of a day."""

import random
import time

import pytest

from pttt_ooc.course.data import queue
from pttt_ooc.course.data.models import BASELINE, Submission, Team
from pttt_ooc.course.grades.rejudging import begin_again
from tests.course.server_kit import Lab, strategy_zip


def add(session, team, status="Queued", **columns):
    number = session.query(Submission).count() + 1
    made = Submission(id=number, team_id=team, player=0, file=f"{number}.zip", digest=str(number), size=1)
    made.received_at = made.changed_at = 1.0
    made.status, made.started_at, made.finished_at, made.exploitability, made.best_response = (
        status,
        None,
        None,
        None,
        None,
    )
    made.before = made.opening = made.evaluation_seconds = made.begun_at = None
    for name, value in columns.items():
        setattr(made, name, value)
    session.add(made)
    session.flush()
    return number


@pytest.fixture
def teams(lab):
    """Four teams; of the first two something was judged, of the second one longer ago."""
    lab.numbers = []
    for name in "ABCD":
        lab.team(f"Team {name}")
        lab.numbers.append(int(lab.tokens[f"Team {name}"].partition(".")[0]))
    with lab.database.writing() as session:
        add(session, lab.numbers[0], "Accepted", started_at=200.0, attempts=1)
        add(session, lab.numbers[1], "Accepted", started_at=100.0, attempts=1)
    return lab


def waiting(lab):
    with lab.database.reading() as session:
        return queue.waiting(session)


def test_teams_take_turns_and_who_has_nothing_judged_comes_first(teams):
    a, b, c, d = teams.numbers
    with teams.database.writing() as session:
        of_a = [add(session, a) for _ in range(3)]
        of_b = [add(session, b) for _ in range(2)]
        of_d, of_c = [add(session, d) for _ in range(2)], [add(session, c)]
    assert waiting(teams) == [of_d[0], of_c[0], of_b[0], of_a[0], of_d[1], of_b[1], of_a[1], of_a[2]]
    with teams.database.writing() as session:  # under judgement comes first, whoever it is
        session.get(Submission, of_a[2]).status = "Evaluating"
    assert waiting(teams)[0] == of_a[2]
    with teams.database.reading() as session:
        places = queue.positions(session)
    assert places[of_a[2]] == 0 and [places[n] for n in waiting(teams)[1:]] == list(range(1, 8))


@pytest.mark.slow
def test_what_is_judged_again_comes_after_all_others(teams):
    a, b, *_ = teams.numbers
    with teams.database.writing() as session:
        begin_again(session, [1, 2], "Ada")
        of_a = [add(session, a) for _ in range(2)]
    assert waiting(teams) == [*of_a, 2, 1]
    with teams.database.reading() as session:
        assert queue.next_up(session) == of_a[0]


@pytest.mark.slow
def test_no_team_waits_longer_than_a_turn_of_all(teams):
    """Whatever is in the queue: between two judgements of a team, each team that waits is served at least once."""
    chance, clock = random.Random(4), 1000.0
    for _ in range(5):
        with teams.database.writing() as session:
            for _ in range(chance.randrange(5, 12)):
                add(session, chance.choice(teams.numbers))
        since = {team: set() for team in teams.numbers}
        while found := waiting(teams):
            clock += 1
            with teams.database.writing() as session:
                row = session.get(Submission, found[0])
                others = {session.get(Submission, number).team_id for number in found} - {row.team_id}
                since[row.team_id] = others  # who has waited since this team was served
                for team in teams.numbers:
                    since[team].discard(row.team_id)
                left = [session.get(Submission, number).team_id for number in found[1:]]
                row.status, row.started_at, row.attempts = "Accepted", clock, 1
            again = waiting(teams)
            if again and left:
                with teams.database.reading() as session:
                    following = session.get(Submission, again[0]).team_id
                assert not since[following] & set(left), (following, since, left)


@pytest.mark.slow
def test_a_day_has_a_limit(tmp_path, monkeypatch):
    lab = Lab(tmp_path / "course", submissions_per_day=2, waiting_per_team=9)
    token = lab.team("Team A")
    for seed in (1, 2):
        lab.submit(token, 0, strategy_zip(0, seed))
    answer = lab.post(token, 0, strategy_zip(0, 3))
    assert answer.status_code == 429
    assert "has made 2 submissions within 24 hours, which is the limit; the next one can be made in 24 h" in answer.text
    assert 86300 < int(answer.headers["retry-after"]) <= 86400
    lab.sign_in(token)
    page = lab.client.get("/submissions").text
    assert "<strong>0</strong> of 2 a day" in page and "can be made in 24 h" in page
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86401)
    lab.submit(token, 0, strategy_zip(0, 3))
    assert lab.client.get("/api").json()["submissions_per_day"] == 2
    lab.close()


def test_the_baseline_is_judged_before_all_others(teams):
    """Without it nobody can be given a rank, though its strategies come later than the first uploads."""
    a, _, c, _ = teams.numbers
    with teams.database.writing() as session:
        baseline = session.query(Team).filter_by(name=BASELINE).one().id
        of_c, of_a = add(session, c), add(session, a)
        of_uniform = [add(session, baseline) for _ in range(2)]
    assert waiting(teams) == [*of_uniform, of_c, of_a]
    with teams.database.writing() as session:  # what is judged already is not broken off
        session.get(Submission, of_c).status = "Evaluating"
    assert waiting(teams) == [of_c, *of_uniform, of_a]
