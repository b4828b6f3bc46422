"""What the machine breaks off is tried a few times and then decided by rule; pages, /healthz and the doctor tell it."""

import json
from contextlib import closing

import pytest

from pttt_ooc.course.agents import judging
from pttt_ooc.course.agents.settings import ALIVE
from pttt_ooc.course.agents.standings import TRIES, tries_in
from pttt_ooc.course.bots import worker
from pttt_ooc.course.bots.submissions import UNCHECKED
from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.term_tables import Rejudgement
from pttt_ooc.course.grades.checkup import problems
from pttt_ooc.course.grades.rejudging import Rehearsals
from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.errors import CourseError
from pttt_ooc.other_games.extreme import broken_off
from pttt_ooc.other_games.extreme.broken_off import UnableError, drawn_by_rule
from pttt_ooc.other_games.extreme.practice_record import TRIES as PRACTICE_TRIES
from pttt_ooc.other_games.extreme.practice_record import tried_name
from pttt_ooc.other_games.extreme.walled_process import MachineError
from pttt_ooc.site.service.pulse import Pulse
from tests.course.agents_kit import FIRST, agents_course, post_agent, worker_of
from tests.course.league_kit import GOOD, LeagueCourse, now
from tests.course.server_kit import bearer
from tests.other_games.extreme import match_kit
from tests.other_games.extreme.practice_kit import bot, league


@pytest.fixture
def course(tmp_path):
    with closing(LeagueCourse(tmp_path / "course", sandbox=False)) as made:
        yield made


def ready(lab, *names):
    for name in ("worker.alive", *names):
        Pulse(lab.data / name).ready()


# ---------------------------------------------------------------------------------------------
# Agents


@pytest.fixture
def agents(lab, tmp_path, monkeypatch):
    """Two accepted agents whose match is broken off each time, on a machine that can run our own bots."""
    agents_course(lab, tmp_path)
    for team in ("Team A", "Team B"):
        assert post_agent(lab, team, FIRST).status_code == 201
    with lab.database.writing() as session:
        for row in session.query(Agent):
            row.status, row.score = "Accepted", 0.5

    def die(*_):
        raise MachineError("It was killed.")

    monkeypatch.setattr(judging, "meet", die)
    monkeypatch.setattr("pttt_ooc.course.agents.worker.check_walls_of", lambda settings: None)
    monkeypatch.setattr("pttt_ooc.course.agents.worker.program_of", lambda *_: None)
    monkeypatch.setattr(broken_off, "check_machine", lambda conditions, stopping: None)
    ready(lab, ALIVE)
    return lab


def test_a_head_to_head_that_is_broken_off_is_drawn_by_rule_in_the_end(agents):
    work = worker_of(agents)
    for failed in range(1, TRIES):
        with pytest.raises(MachineError, match=f"in try {failed} of {TRIES}: It was killed."):
            work.play_next()
        told = agents.client.get("/healthz").json()
        assert told["agents"] == "ok" and told["broken_off"] == {"agents": {"tried again": 1}}
        assert f"The games of the agents 1 and 2 were broken off {failed} times: It was killed." in doctor(agents)
    assert work.play_next() and not work.play_next()
    with agents.database.reading() as session:
        (row,) = session.query(AgentMatch)
        assert (row.wins, row.draws, row.losses, row.forfeits) == (0, 2, 0, 0)
    answer = agents.client.get("/healthz")
    assert answer.status_code == 200 and answer.json()["broken_off"] == {"agents": {"drawn by rule": 1}}
    assert "are drawn by rule, as they were broken off 3 times: It was killed. Judge one of them again" in doctor(
        agents
    )
    page = agents.client.get("/agents/rows").text
    assert "<bdi>Team A</bdi> and <bdi>Team B</bdi> again and again: by the rule they are drawn" in page


def test_where_no_agent_can_be_run_no_match_is_decided_and_healthz_says_so(agents, monkeypatch):
    def fail(*_):
        raise UnableError("This machine can run no bots now.")

    monkeypatch.setattr(broken_off, "check_machine", fail)
    for _ in range(2 * TRIES):
        with pytest.raises(UnableError):
            worker_of(agents).play_next()
    assert not tries_in(agents.data).all()
    Pulse(agents.data / ALIVE).wait_for("This machine can run no bots now.")
    answer = agents.client.get("/healthz")
    assert answer.status_code == 503 and answer.json()["agents"] == "waits for This machine can run no bots now."
    assert "No agents are judged now: This machine can run no bots now." in doctor(agents)


def test_a_dry_run_does_not_stop_at_what_cannot_be_judged(agents):
    def fail(row):
        raise MachineError("It was killed.")

    with agents.database.writing() as session:
        session.add(Rejudgement(kind="agents", dry_run=True, numbers=[1, 2], verdicts=[], grades=[], by="Ada", at=1.0))
    run = Rehearsals(agents.database, agents.data, "agents", fail)
    for _ in range(3):
        assert run.step()
    assert not run.step()
    with agents.database.reading() as session:
        (found,) = session.query(Rejudgement)
    assert [one["after"] for one in found.verdicts] == ["it cannot be judged: It was killed."] * 2


def doctor(lab):
    return "\n".join(problems(lab.database, lab.storage))


# ---------------------------------------------------------------------------------------------
# Bots


def test_health_is_that_of_the_league_too(course):
    client, lab = course.browser(), course.lab
    ready(lab)
    answer = client.get("/healthz")
    assert answer.status_code == 503 and answer.json()["league"] == "silent"
    course.pulse.ready()
    answer = client.get("/healthz")
    assert answer.status_code == 200 and answer.json()["league"] == "ok" and "broken_off" not in answer.json()
    course.pulse.wait_for("a wall.")
    answer = client.get("/healthz")
    assert answer.status_code == 503 and answer.json()["league"] == "waits for a wall."
    assert "No bots are checked or played now: a wall." in doctor(lab)
    atomic_write_text(lab.data / "extreme.yaml", "pools: nonsense")
    answer = client.get("/healthz")
    assert answer.status_code == 503 and answer.json()["others"] == "failed"


def test_a_match_that_is_drawn_by_rule_is_told_on_the_page_by_healthz_and_by_the_doctor(course):
    course.restarted(begins=now(-1))
    record = match_kit.begin(course.league.tournament, ["t2", "t3", "t4", "t5"])
    match_kit.play_on(record, 3)
    pairing = record.state().played[0].pairing
    for _ in range(record.tries.most):
        with pytest.raises(MachineError), record.tries.trying(pairing.name, ()):
            raise MachineError("It was killed.")
    assert f"The match {pairing.name} was broken off 4 times: It was killed." in doctor(course.lab)
    record.tries.decide(pairing.name)
    log = {**json.loads(record.log(pairing).read_text()), **drawn_by_rule(("a", "b"), ["It was killed."] * 4).as_json()}
    record.log(pairing).write_text(json.dumps(log))
    told, browser = doctor(course.lab), course.browser()
    assert f"{pairing.name} is drawn by rule, as it was broken off 4 times: It was killed. Delete " in told
    ready(course.lab, "worker.extreme")
    assert browser.get("/healthz").json()["broken_off"] == {"league": {"drawn by rule": 1}}
    page = browser.get(f"/extreme/matches/{pairing.name}").text
    assert "43 : 43, not played: drawn by rule" in page and "neither bot is to blame." in page
    assert "drawn by rule" in browser.get("/extreme/matches").text


def test_a_check_that_fails_counts_where_our_own_bots_can_play(course, monkeypatch):
    def lose(self, bot, content):
        raise CourseError("a file of this bot cannot be read.")

    number = course.post("Team A", GOOD).json()["number"]
    monkeypatch.setattr(worker.Worker, "_verdict", lose)
    monkeypatch.setattr(worker, "can_play", lambda conditions, stopping: True)
    for _ in range(3):
        with pytest.raises(CourseError):
            course.worker.check_next()
    assert not course.worker.check_next()
    one = course.browser().get(f"/api/extreme/bots/{number}", headers=bearer(course.tokens["Team A"])).json()
    assert one["message"] == UNCHECKED
    assert course.post("Team A", GOOD).status_code == 201  # the same file, again


def test_bots_that_do_not_practise_with_each_other_any_more_are_told(course):
    bots = [bot("t2", name="Team <A>"), bot("t3", name="Team B"), bot("random", ours=True)]
    record = league(course.league.practice, bots)
    assert not record.given_up() and "again and again" not in course.browser().get("/extreme/practice").text
    for _ in range(PRACTICE_TRIES):
        with pytest.raises(MachineError), record.tries.trying(tried_name(bots[:2]), ()):
            raise MachineError("It was killed.")
    course.restarted(practice=True)
    page = course.browser().get("/extreme/practice").text
    assert "<bdi>Team &lt;A&gt;</bdi> and <bdi>Team B</bdi> again and again" in page
    assert "Team <A> and Team B do not meet until one of them has a new version" in doctor(course.lab)
