"""Assignments of agents: verdicts, the wall, standings, the head-to-head, grades; two of them side by side."""

import json
import re
import threading
import time

import pytest

from pttt_ooc.course.agents import judging, queue
from pttt_ooc.course.agents.queue import next_up
from pttt_ooc.course.agents.settings import AgentSettings
from pttt_ooc.course.agents.standings import league_shares, missing
from pttt_ooc.course.data.agents_tables import Agent, AgentMatch
from pttt_ooc.course.data.queue import ATTEMPTS, GAVE_UP
from pttt_ooc.course.data.worker_process import Stopped
from pttt_ooc.course.grades.checkup import problems
from pttt_ooc.course.grades.course_file import apply, course_file, read_course_file
from pttt_ooc.course.grades.exports import lines
from pttt_ooc.course.people import teams
from pttt_ooc.errors import CourseError, PtttError
from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.extreme.bot_programs import program
from tests.course.agents_kit import COURSE, FIRST, LAST, agents_course, judged, post_agent, worker_of
from tests.course.server_kit import Lab, bearer, pttt
from tests.course.term_kit import HOUR, change, soon

ROWS = AgentSettings(game="mnk:3x3+need3", opponents=("random", "mcts:nodes=20"), games=4, opening=1, seed=3)


def judge(content, settings=ROWS, **more):
    conditions = settings.conditions
    return judging.judge(program("mine.py", content, True, "3"), settings, conditions, **more)


def counts(verdict):
    return [(one["wins"], one["draws"], one["losses"]) for one in verdict.results]


# ---------------------------------------------------------------------------------------------
# Verdicts


@pytest.mark.slow
def test_the_games_are_those_of_an_ordinary_match(tmp_path):
    """What the manual tells students: their own machine plays the same games, by another process and without walls."""
    found = judge(FIRST)
    assert found.accepted and found.slowest > 0
    (tmp_path / "mine.py").write_bytes(FIRST)
    expected = []
    for opponent in ROWS.opponents:
        match = Match(ROWS.game, (f"file:path={tmp_path / 'mine.py'}", opponent), 4, 3, "both", opening=1)
        winners = [one["winner"] for one in run(match)]
        expected.append((winners.count(0), winners.count(2), winners.count(1)))
    assert counts(found) == expected
    assert found.score == sum(wins + draws / 2 for wins, draws, _ in expected) / 8


FAULTS = {
    b"def chose(legal, state): pass": ("THREW AN EXCEPTION", "mine.py has no function choose(legal, state)"),
    b"def choose(legal, state)\n    return 1": ("NO PROGRAM IN PYTHON", "mine.py is not a program in Python"),
    b"def choose(legal, state):\n    raise ValueError('<b>')": ("THREW AN EXCEPTION", "ValueError: <b>"),
    b"def choose(legal, state):\n    return 99": (
        "INVALID MOVE",
        "Its move 99 is not legal: moves are the numbers 0 to 8",
    ),
    b"def choose(legal, state):\n    return 'a1'": (
        "INVALID MOVE",
        "It answered 'a1', which is not a move: moves are the numbers 0 to 8",
    ),
    b"taken = []\ndef choose(legal, state):\n    taken.append(legal[0])\n    return taken[0]": (
        "INVALID MOVE",
        "the square is taken",
    ),
    b"def choose(legal, state):\n    while True: pass": ("TIME OUT", "It gave no answer in 0.3 s"),
    b"def choose(legal, state):\n    open('/etc/passwd')": ("THREW AN EXCEPTION", "FileNotFoundError"),
    b"import socket\ndef choose(legal, state):\n    socket.socket()": ("THREW AN EXCEPTION", "forbidden"),
    b"import os\ndef choose(legal, state):\n    os.fork()": ("THREW AN EXCEPTION", "forbidden"),
}


@pytest.mark.slow
def test_a_fault_in_the_check_rejects_the_file_and_says_why(lab, tmp_path):
    text = COURSE.replace("opening: 1}", "opening: 1, seconds: 0.3}")
    agents_course(lab, tmp_path, text)
    lab.course.settings = lab.course.settings.model_copy(update={"submissions_per_hour": 100})
    for content, (message, detail) in FAULTS.items():
        told = judged(lab, "Team A", content)
        assert (told["status"], told["message"], told["score"]) == ("Rejected", message, None), (content, told)
        assert detail in told["detail"], told
        assert "runner.py" not in told["detail"]
    assert lab.client.get("/api/agents/rows/standings").json() == []


@pytest.mark.long
def test_a_fault_after_the_check_loses_its_game_and_nothing_else():
    """In the check, the first square is always taken before the fourth move: no game begins at random there."""
    content = b"def choose(legal, state):\n    return 1000 if state[2] == 3 and 0 in legal else legal[0]\n"
    settings = ROWS.model_copy(update={"opening": 3, "opponents": ("random",), "games": 12})
    fine, found = judge(FIRST, settings), judge(content, settings)
    (result,) = found.results
    assert found.accepted and 0 < result["forfeits"] <= 6  # it is asked for the fourth move in every other game
    assert result["forfeit"].startswith("INVALID MOVE: It answered 1000") and fine.results[0]["forfeits"] == 0
    assert sum(counts(found)[0]) == 12 and found.score <= fine.score


@pytest.mark.long
def test_random_numbers_of_an_agent_are_the_same_again():
    content = b"import random\ndef choose(legal, state):\n    return random.choice(legal)\n"
    settings = ROWS.model_copy(update={"opponents": ("random",), "games": 8})
    first, second = judge(content, settings), judge(content, settings)
    other = judge(content, settings.model_copy(update={"seed": 4}))
    assert counts(first) == counts(second)
    assert first.score is not None and counts(other) != counts(first)  # seeds for which they differ


def test_an_agent_is_in_python_3_and_has_a_name(lab, tmp_path):
    agents_course(lab, tmp_path)
    for name in ("mine.txt", "1.py", "mine"):
        answer = post_agent(lab, "Team A", FIRST, file=name)
        assert answer.status_code == 400 and "like mine.py" in answer.json()["error"]
    assert not list(lab.storage.uploads.glob("*")) and not list(lab.storage.incoming.glob("*"))


# ---------------------------------------------------------------------------------------------
# A course


@pytest.mark.slow
def test_two_assignments_of_agents_side_by_side_with_standings_and_grades(lab, tmp_path):
    agents_course(lab, tmp_path)
    lab.team("Team C")
    a = judged(lab, "Team A", FIRST)
    b = judged(lab, "Team B", LAST)
    c = judged(lab, "Team C", FIRST + b"# the same play")
    judged(lab, "Team A", b"def choose(legal, state):\n    return -1\n")  # rejected: the first one stays
    assert "secret 4711" in b["printed"] and a["score"] == c["score"]
    again = post_agent(lab, "Team B", LAST)
    assert again.status_code == 200 and again.json()["number"] == b["number"]

    work = worker_of(lab)
    while work.play_next():
        pass
    with lab.database.reading() as session:
        met = {(m.first_id, m.second_id): (m.wins, m.draws, m.losses) for m in session.query(AgentMatch)}
    assert set(met) == {(1, 2), (1, 3), (2, 3)} and all(sum(one) == 2 for one in met.values())
    points = {n: 0.0 for n in (1, 2, 3)}
    for (x, y), (wins, draws, losses) in met.items():
        points[x] += wins + draws / 2
        points[y] += losses + draws / 2
    rows = {r["team"]: r for r in lab.client.get("/api/agents/rows/standings").json()}
    for team, told in (("Team A", a), ("Team B", b), ("Team C", c)):
        assert rows[team]["score"] == told["score"] and rows[team]["met"] == 2
        assert rows[team]["league"] == points[told["number"]] / 4
        assert rows[team]["rank"] == 1 + sum(r["score"] > told["score"] for r in rows.values())
    with lab.database.reading() as session:
        grades = {(one.team.name, one.assignment.name): one.points for one in lines(session)}
    expected = 40 * a["score"] + 10 * points[1] / 4
    assert grades["Team A", "rows"] == pytest.approx(round(expected, 2))
    assert grades["Team A", "ultimate"] is None

    # The other assignment has its own files, dates and standings.
    told = judged(lab, "Team A", FIRST, "ultimate")
    assert told["status"] == "Accepted" and told["score"] in (0, 0.25, 0.5, 0.75, 1)
    second = judged(lab, "Team A", b"def choose(legal, state):\n    return legal[len(legal) // 2]\n", "ultimate")
    (row,) = lab.client.get("/api/agents/ultimate/standings").json()
    assert row["score"] == second["score"] and row["league"] is None  # choice: last
    with lab.database.reading() as session:
        grades = {(one.team.name, one.assignment.name): one.points for one in lines(session)}
    assert grades["Team A", "ultimate"] == 5 and grades["Team A", "rows"] == pytest.approx(round(expected, 2))
    change(lab, "ultimate", due_at=soon(-HOUR))
    closed = post_agent(lab, "Team B", FIRST, "ultimate")
    assert closed.status_code == 409 and "too late" in closed.json()["error"]
    assert post_agent(lab, "Team B", FIRST).status_code == 201


def test_the_shares_of_the_head_to_head_are_of_both_sides(lab, tmp_path):
    agents_course(lab, tmp_path)
    lab.team("Team C")
    for team in ("Team A", "Team B", "Team C"):
        post_agent(lab, team, FIRST)
    with lab.database.writing() as session:
        session.add(AgentMatch(first_id=1, second_id=2, wins=3, draws=1, losses=0))
        session.add(AgentMatch(first_id=2, second_id=3, wins=1, draws=2, losses=1))
        session.flush()
        assert league_shares(session, {7: 1, 8: 2, 9: 3}) == {7: 3.5 / 4, 8: (0.5 + 2) / 8, 9: 2 / 4}
        assert missing(session, [3, 2, 1]) == (1, 3) and missing(session, [3, 2, 1], without=(1, 3)) is None


def test_the_standings_are_sorted_and_searched_and_tell_what_has_changed_in_a_day(lab, tmp_path):
    agents_course(lab, tmp_path)
    lab.team("Team C")
    for team, more in (("Team A", b""), ("Team B", b""), ("Team A", b"#"), ("Team C", b"")):
        post_agent(lab, team, FIRST + more)
    with lab.database.writing() as session:
        for number, score, hours in ((1, 0.5, 30), (2, 0.75, 30), (3, 1.0, 1)):
            agent = session.get(Agent, number)
            agent.status, agent.score, agent.begun_at = "Accepted", score, time.time() - 3600 * hours
        session.add(AgentMatch(first_id=2, second_id=3, wins=0, draws=1, losses=3))
    page = lab.client.get("/agents/rows").text
    rows = {team: row for row in page.split("<tr") for team in re.findall('scope="row".*?<bdi>(.*?)<', row)[:1]}
    assert "up 1 in 24 hours" in page.partition("</table>")[0].partition("<bdi>Team A")[0]
    assert "down 1 in 24 hours" in page.partition("<bdi>Team A")[2].partition("<bdi>Team B")[0]
    assert page.count("Scores of 2 agents: from 50.0 % to 100.0 %") == 1 and [*rows] == ["Team A", "Team B"]
    assert '<td class="v4">3.5 of 4</td>' in rows["Team A"] and '<td class="v-4">0.5 of 4</td>' in rows["Team B"]
    assert page.count('class="v') == 2 + 11  # the legend
    address = re.search(r'hx-get="(/agents/rows/parts/standings[^"]*)"', page)[1].replace("&amp;", "&")
    assert lab.client.get(address).status_code == 204
    with lab.database.writing() as session:
        moved = session.get(Agent, 4)
        moved.team_id, moved.changed_at = 3, time.time() + 1  # Team B
    renewed = lab.client.get(address)
    assert renewed.status_code == 200 and renewed.text.count("in the queue") == 1
    found = lab.client.get("/agents/rows?sort=league&find=b").text
    assert '<a href="/agents/rows?sort=score&amp;find=b">Score</a>' in found and 'aria-sort="descending"' in found
    turned = lab.client.get("/agents/rows?sort=-score").text.partition("</table>")[0]
    assert turned.index("<bdi>Team B") < turned.index("<bdi>Team A") and 'href="/agents/rows?sort=score"' in turned
    assert "<bdi>Team B" in found and "<bdi>Team A" not in found and "v-4" not in found
    change(lab, "rows", frozen_at=soon(-2 * HOUR), due_at=soon(HOUR))
    frozen = lab.client.get("/agents/rows").text
    assert "in 24 hours" not in frozen and "Scores of" not in frozen and "in the queue" not in frozen


@pytest.mark.slow
def test_another_teams_agent_is_as_none(lab, tmp_path):
    agents_course(lab, tmp_path)
    number = judged(lab, "Team A", FIRST)["number"]
    other = bearer(lab.tokens["Team B"])
    answers = [lab.client.get(f"/api/agents/rows/{n}", headers=other) for n in (number, 99)]
    assert [one.status_code for one in answers] == [404] * 2
    assert answers[0].json()["error"].replace(str(number), "99") == answers[1].json()["error"]
    own = bearer(lab.tokens["Team A"])
    assert lab.client.get(f"/api/agents/ultimate/{number}", headers=own).status_code == 404  # of another assignment
    assert lab.client.get("/api/agents/strategies", headers=own).status_code == 404


@pytest.mark.slow
def test_frozen_standings_stay_and_a_team_sees_its_own(lab, tmp_path):
    agents_course(lab, tmp_path, COURSE.replace('["mcts:nodes=20"], games: 2', "[random], games: 8"))
    first = judged(lab, "Team A", FIRST)
    change(lab, "rows", frozen_at=soon(-0.001), due_at=soon(HOUR), choice="last")
    second = judged(lab, "Team A", b"def choose(legal, state):\n    return 4 if 4 in legal else legal[0]\n")
    assert first["score"] != second["score"]

    def score(headers=None):
        (row,) = lab.client.get("/api/agents/rows/standings", headers=headers or {}).json()
        return row["score"]

    assert score() == score(bearer(lab.tokens["Team B"])) == first["score"]
    assert score(bearer(lab.tokens["Team A"])) == second["score"]
    change(lab, "rows", unveiled_at=soon(-0.0005))
    assert score() == second["score"]


@pytest.mark.slow
def test_the_published_pages_have_the_standings(lab, tmp_path):
    agents_course(lab, tmp_path)
    lab.baseline()
    told = judged(lab, "Team A", FIRST)
    done = pttt("course", "publish", tmp_path / "public", "--data", lab.data)
    assert done.returncode == 0, done
    (row,) = json.loads((tmp_path / "public" / "agents-rows.json").read_text())
    assert (row["team"], row["score"]) == ("Team A", told["score"])
    page = (tmp_path / "public" / "index.html").read_text()
    assert "Three in a row" in page and f"{100 * told['score']:.1f} %" in page and "secret 4711" not in page


# ---------------------------------------------------------------------------------------------
# The worker


def test_the_teams_take_turns_and_who_has_none_judged_comes_first(lab, tmp_path):
    agents_course(lab, tmp_path)
    lab.course.settings = lab.course.settings.model_copy(update={"waiting_per_team": 9})
    for team, n in [("Team A", 0), ("Team A", 1), ("Team A", 2), ("Team B", 3), ("Team B", 4)]:
        assert post_agent(lab, team, FIRST + b"#%d" % n).status_code == 201
    order = []
    for _ in range(5):
        with lab.database.writing() as session:
            found = next_up(session)
            found.status, found.changed_at = "Rejected", soon(len(order))
            order.append(found.id)
    assert order == [1, 4, 2, 5, 3]


def test_what_breaks_off_goes_back_and_is_given_up_in_the_end(lab, tmp_path, monkeypatch):
    agents_course(lab, tmp_path)
    assert post_agent(lab, "Team A", FIRST).status_code == 201
    stopping = threading.Event()
    work = worker_of(lab, stopping)

    def stopped(*_):
        raise Stopped

    def broken(*_):
        raise PtttError("no memory")

    def state():
        with lab.database.reading() as session:
            row = session.get(Agent, 1)
            return row.status, row.attempts, row.message

    monkeypatch.setattr(work, "_outcome", stopped)
    with pytest.raises(Stopped):
        work.judge_next()
    assert state() == ("Queued", 0, "")
    monkeypatch.setattr(work, "_outcome", broken)
    monkeypatch.setattr(queue, "RETRY_SECONDS", 0.0)
    for attempt in range(1, ATTEMPTS + 1):
        with pytest.raises(PtttError):
            work.judge_next()
        assert state() == ("Queued", attempt, "")
    assert not work.judge_next() and state() == ("Rejected", ATTEMPTS, GAVE_UP)
    assert any("could not judge agent 1" in one for one in problems(lab.database, lab.storage))
    assert post_agent(lab, "Team A", FIRST).status_code == 201  # the same file, again


def test_limits_are_those_of_the_assignment(lab, tmp_path):
    agents_course(lab, tmp_path)
    lab.course.settings = lab.course.settings.model_copy(update={"waiting_per_team": 1})
    assert post_agent(lab, "Team A", FIRST).status_code == 201
    answer = post_agent(lab, "Team A", LAST)
    assert answer.status_code == 429 and "still wait for a verdict" in answer.json()["error"]
    assert post_agent(lab, "Team A", b"#" * 256_001 + FIRST, "ultimate").status_code == 429
    assert post_agent(lab, "Team B", b"#" * 256_001 + FIRST).status_code == 413


# ---------------------------------------------------------------------------------------------
# The file of a course, copies


REFUSED = {
    'game: "chess"': "a game of the arena",
    'game: "mnk:3x3+need9"': "9 in a row is not possible",
    "opponents: [engine]": "different agents of the arena",
    "opponents: [random, random]": "different agents of the arena",
    'opponents: ["mcts:time=1"]': "plays by a clock",
    'opponents: ["alphabeta:deep=1"]': "has no option",
    "games: 3": "multiple of 2",
    "sekonds: 3": "sekonds",
}


@pytest.mark.parametrize("setting", REFUSED)
def test_settings_that_cannot_be_are_refused_with_a_sentence(tmp_path, setting):
    file = tmp_path / "course.yaml"
    file.write_text(f"assignments: [{{name: rows, kind: agents, settings: {{{setting}}}}}]")
    with pytest.raises(PtttError, match=REFUSED[setting]):
        read_course_file(file)
    file.write_text("assignments: [{name: rows, kind: report, settings: {games: 2}}]")
    with pytest.raises(CourseError, match="report have no settings"):
        read_course_file(file)


def test_a_course_file_with_agents_is_read_as_it_is_written(lab, tmp_path):
    agents_course(lab, tmp_path)
    post_agent(lab, "Team A", FIRST)
    with lab.database.writing() as session:
        written = course_file(session)
        assert apply(session, written, lab.data, "Ada") == []
        assert written.assignments[1].settings["games"] == 2
        with pytest.raises(CourseError, match="cannot be removed"):
            apply(session, written.model_copy(update={"assignments": written.assignments[:1]}), lab.data, "Ada")


def test_a_copy_has_the_agents_and_a_removed_team_leaves_none(lab, tmp_path):
    agents_course(lab, tmp_path)
    for team in ("Team A", "Team B"):
        post_agent(lab, team, FIRST)
    with lab.database.writing() as session:
        session.add(AgentMatch(first_id=1, second_id=2, wins=1, draws=0, losses=1))
    assert pttt("course", "backup", tmp_path / "copy.tar", "--data", lab.data).returncode == 0
    restored = tmp_path / "restored"
    assert pttt("course", "restore", tmp_path / "copy.tar", "--data", restored).returncode == 0
    copy = Lab(restored)
    with copy.database.reading() as session:
        rows = session.query(Agent).all()
        assert [row.given for row in rows] == ["mine.py"] * 2 and session.query(AgentMatch).count() == 1
        assert all((copy.storage.uploads / row.file).read_bytes() == FIRST for row in rows)
    copy.close()
    files = teams.remove_team(lab.database, lab.data, "Team A")
    with lab.database.reading() as session:
        assert session.query(Agent).count() == 1 and session.query(AgentMatch).count() == 0
    assert files == [lab.storage.upload(rows[0].file)]
