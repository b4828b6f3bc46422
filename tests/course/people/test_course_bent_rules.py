"""Rules of a course as games that a student wants to bend: with more teams, with fewer members, with invented people.

All is done through the web application: students in browsers, and programs with tokens.
"""

import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from pttt_ooc.course.agents.standings import playing_agents
from pttt_ooc.course.bots.practice import names_of
from pttt_ooc.course.data import queue, standings
from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import Term, set_term
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.game_directory import mirror_teams
from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.data.term_tables import Assignment, GradeRow, Invitation, LogLine, Membership, Person
from pttt_ooc.course.grades.checkup import problems
from pttt_ooc.course.grades.gradebook import compute, current
from pttt_ooc.course.pages import intakes
from pttt_ooc.course.people import invitations, teams
from pttt_ooc.course.people.people import apply_roster, find_person, read_roster
from pttt_ooc.errors import CourseError
from tests.course.server_kit import Lab, form_token, pttt, strategy_zip
from tests.course.term_kit import DAY, HOUR, change, soon, team_number

RANKS = {"kind": "rank", "points": [50, 35], "rest": 20}
STEPS = {"kind": "thresholds", "figure": "player0", "steps": [{"at_most": 2, "points": 40}]}
BEST, WORSE = (1, 1.0), (3, 4.0)  # seed and sharpness of player 0's strategy: about .48 and 1.55


class Student:
    """A student with a browser."""

    def __init__(self, lab, email, code):
        self.lab, self.email = lab, email
        app = lab.client.app
        self.client = TestClient(app, base_url="http://course", follow_redirects=False, raise_server_exceptions=False)
        self.tokens = []
        assert self.use(code).status_code == 303

    def send(self, path, **fields):
        page = self.client.get("/account").text
        token = form_token(page if "form_token" in page else self.client.get("/account/sign-in").text)
        return self.client.post(f"/account/{path}", data={"form_token": token, **fields})

    def use(self, code):
        return self.send("join", code=code, name=self.email.partition("@")[0], email=self.email)

    def page(self):
        return self.client.get("/account").text

    def make(self, name):
        """Make a team; keeps its token."""
        answer = self.send("team", name=name)
        assert answer.status_code == 200, answer.text
        self.tokens.append(re.search(r'class="secret">(\d+\.[\w-]{43})<', answer.text)[1])
        return self.tokens[-1]

    def invite(self):
        return re.search(r"#([\w-]{43})<", self.send("invite").text)[1]

    def leave(self):
        return self.send("leave")


@pytest.fixture
def course(tmp_path):
    """A course in which students make teams of at most three, and two honest teams from a roster."""
    lab = Lab(tmp_path / "course", team_changes=3)
    with lab.database.writing() as session:
        set_term(session, Term("UTC", 3, team_size=3))
        text = "team,name,email\nTeam A,Ann,ann@x.org\nTeam B,Bob,bob@x.org\n"
        lab.tokens |= dict(apply_roster(session, read_roster(text, "roster")).tokens)
    yield lab
    lab.close()


def newcomer(lab, email):
    """A student whom an instructor has let into the course by a link."""
    with lab.database.writing() as session:
        code = invitations.invite(session, "Ada")
    return Student(lab, email, code)


def known(lab, email):
    """A student of the roster."""
    with lab.database.writing() as session:
        code = invitations.link_to_sign_in(session, "Ada", find_person(session, email))
    return Student(lab, email, code)


def hand_in(lab, token, seed, sharpness=1.0, player=0, at=None, by=None):
    """Hand in by program, or by a student's browser, and judge; the number."""
    content = strategy_zip(player, seed, sharpness)
    if by is None:
        number = lab.submit(token, player, content)
    else:
        form = form_token(by.client.get("/submissions").text)
        data, files = {"form_token": form, "player": str(player)}, {"file": ("a.zip", content)}
        answer = by.client.post("/submissions", data=data, files=files)
        assert answer.status_code == 303, answer.text
        number = int(answer.headers["location"].rpartition("/")[2])
    if at is not None:
        with lab.database.writing() as session:
            session.get(Submission, number).begun_at = at
    lab.run()
    return number


def stayed(lab, email, team, since=None, until=None):
    """Move the times of a student's stay in a team, as if the clock had been another one."""
    with lab.database.writing() as session:
        person = find_person(session, email)
        number = session.scalar(select(Team.id).where(Team.name == team))
        (one,) = session.query(Membership).filter_by(person_id=person.id, team_id=number).order_by(Membership.id)
        one.joined_at = one.joined_at if since is None else since
        one.left_at = one.left_at if until is None else until


def grade(lab, team, assignment="strategies"):
    with lab.database.reading() as session:
        number = session.query(Assignment).filter_by(name=assignment).one().id
        return compute(session, lab.data)[team_number(lab, team), number]


def written(lab, team):
    """The grade in the history, and what led to it."""
    with lab.database.reading() as session:
        return next(
            (row.points, row.because) for (t, _), row in current(session).items() if t == team_number(lab, team)
        )


def ranks(lab):
    rows = lab.client.get("/api/leaderboard").json()
    return {row["team"]: row["ranks"][0] for row in rows if row["team"] != "Uniform"}


# ---------------------------------------------------------------------------------------------
# Making thirty teams


def test_a_student_leaves_so_many_teams_and_is_told(course):
    eve = newcomer(course, "eve@x.org")
    for n in range(3):
        eve.make(f"Eve {n}")
        assert f"You can leave a team <strong>{3 - n}</strong> more time" in eve.page()
        assert eve.leave().status_code == 303
    eve.make("Eve 3")
    assert "ask the instructors" in eve.page() and "more time" not in eve.page()
    answer = eve.leave()
    assert answer.status_code == 400 and "You have left a team 3 times, which is the limit" in answer.text
    assert eve.send("team", name="Eve 4").status_code == 403  # she is in one
    with course.database.reading() as session:
        assert session.query(Team).filter(Team.name.startswith("Eve")).count() == 4
        assert session.query(LogLine).filter_by(what="leave").count() == 3


@pytest.mark.slow
def test_a_team_that_everybody_has_left_submits_nothing_and_moves_no_rank(course):
    change(course, rule=RANKS)
    for player in (0, 1):
        hand_in(course, course.tokens["Team A"], *WORSE, player=player)
    assert (ranks(course)["Team A"], grade(course, "Team A").points) == (1, 50)
    eve = newcomer(course, "eve@x.org")
    for n in range(3):
        token = eve.make(f"Eve {n}")
        for player in (0, 1):
            hand_in(course, token, *BEST, player=player)
        assert eve.leave().status_code == 303
        assert course.post(token, 0, strategy_zip(0, 9)).status_code == 401
    assert ranks(course) == {"Team A": 1, "Team B": None, "Eve 0": None, "Eve 1": None, "Eve 2": None}
    found = grade(course, "Team A")
    assert (found.points, found.why) == (50, "rank 1 of 1")
    assert (grade(course, "Eve 0").points, grade(course, "Eve 0").why) == (0, "no rank yet")
    assert written(course, "Team A") == (50, "somebody has left a team")  # the history tells what moved it back
    assert [row["team"] for row in course.client.get("/api/leaderboard").json()[:1]] == ["Team A"]
    matrix = course.client.get("/api/matrix").json()
    assert matrix["rows"] == matrix["columns"] == ["Team A"]


def test_what_is_on_its_way_when_everybody_leaves_is_refused(course, monkeypatch):
    eve, checked = newcomer(course, "eve@x.org"), intakes.check_limits
    token = eve.make("Eve")

    def leaves_meanwhile(*arguments):
        checked(*arguments)
        assert eve.leave().status_code == 303

    monkeypatch.setattr(intakes, "check_limits", leaves_meanwhile)
    answer = course.post(token, 0, strategy_zip(0, 1))
    assert answer.status_code == 409 and "Everybody has left the team Eve" in answer.text
    with course.database.reading() as session:
        assert not session.query(Submission).count()


@pytest.mark.slow
def test_the_same_file_from_two_teams_of_one_student_counts_for_the_last_one(course):
    hand_in(course, course.tokens["Team A"], *WORSE)
    eve = newcomer(course, "eve@x.org")
    for name in ("Eve 1", "Eve 2"):
        if eve.tokens:
            eve.leave()
        hand_in(course, eve.make(name), *BEST)
    assert ranks(course) == {"Team A": 2, "Team B": None, "Eve 1": None, "Eve 2": 1}


# ---------------------------------------------------------------------------------------------
# Keeping what opens a team


def test_who_leaves_keeps_neither_token_nor_session_nor_link(course):
    ann, friend = known(course, "ann@x.org"), newcomer(course, "flo@x.org")
    old = course.tokens["Team A"]
    course.sign_in(old)
    assert friend.use(ann.invite()).status_code == 303
    kept = ann.invite()
    assert ann.leave().status_code == 303
    assert course.post(old, 0, strategy_zip(0, 1)).status_code == 401
    assert course.client.get("/account").status_code == 401  # the session by the token
    assert "no token, since somebody has left it" in friend.page() and "Open link" not in friend.page()
    assert ann.use(kept).status_code == 400  # her own link back
    page = friend.send("token").text
    new = re.search(r'class="secret">(\d+\.[\w-]{43})<', page)[1]
    assert new not in friend.page() and "The present token stops working" in friend.page()
    hand_in(course, new, *BEST)
    page = friend.send("token").text
    assert course.post(new, 0, strategy_zip(0, 2)).status_code == 401  # each new one ends the one before
    assert ann.send("token").status_code == 403  # she is in no team
    with course.database.reading() as session:
        told = [(line.what, line.by) for line in session.scalars(select(LogLine).order_by(LogLine.id))]
        assert told[-2:] == [("rotate token", "flo@x.org")] * 2
        assert all(one.revoked_at or one.used_at for one in session.scalars(select(Invitation)))


@pytest.mark.slow
def test_a_token_alone_makes_no_new_token(course):
    course.sign_in(course.tokens["Team A"])
    token = form_token(course.client.get("/account").text)
    assert course.client.post("/account/token", data={"form_token": token}).status_code == 403
    ann = known(course, "ann@x.org")
    assert ann.client.post("/account/token", data={"form_token": "x"}).status_code == 403
    assert course.post(course.tokens["Team A"], 0, strategy_zip(0, 1)).status_code == 201


@pytest.mark.slow
def test_a_roster_that_moves_a_student_renews_the_token(course):
    moved = course.data / "roster.csv"
    moved.write_text("team,name,email\nTeam A,Ann,ann@x.org\nTeam A,Cay,cay@x.org\nTeam B,Bob,bob@x.org\n")
    assert pttt("course", "teams", moved, "--data", course.data).returncode == 0
    assert course.post(course.tokens["Team A"], 0, strategy_zip(0, 1)).status_code == 201  # nobody has left
    moved.write_text("team,name,email\nTeam B,Cay,cay@x.org\nTeam C,Bob,bob@x.org\n")
    told = pttt("course", "teams", moved, "--dry-run", "--data", course.data).stdout
    assert "~ Team A: its token ends, as somebody leaves" in told
    told = pttt("course", "teams", moved, "--data", course.data).stdout
    assert [course.post(course.tokens[one], 0, strategy_zip(0, 2)).status_code for one in ("Team A", "Team B")] == [
        *(401, 401)
    ]
    tokens = dict(re.findall(r"(?m)^(Team \w): (\d+\.[\w-]{43})$", told))
    assert sorted(tokens) == ["Team A", "Team B", "Team C"]
    assert {course.post(token, 0, strategy_zip(0, 2)).status_code for token in tokens.values()} == {201}
    moved.write_text("team,name,email\nTeam C,Cay,cay@x.org\n")  # nobody is left in Team B
    assert "Team B: " not in pttt("course", "teams", moved, "--data", course.data).stdout.replace("~ Team B: its", "")
    assert course.post(tokens["Team B"], 0, strategy_zip(0, 3)).status_code == 401
    with pytest.raises(CourseError, match="Everybody has left the team Team B"):
        teams.rotate_token(course.database, "Team B")


# ---------------------------------------------------------------------------------------------
# Invented people


def test_invented_people_make_no_teams_and_hold_no_rank(course):
    hand_in(course, course.tokens["Team A"], *WORSE)
    eve = newcomer(course, "eve@x.org")
    token = eve.make("Eve")
    puppet = Student(course, "puppet@nowhere.org", eve.invite())
    hand_in(course, token, *BEST)
    assert ranks(course)["Team A"] == 2
    assert eve.leave().status_code == 303
    assert ranks(course) == {"Team A": 1, "Team B": None, "Eve": None}
    assert "Your team takes no rank" in puppet.page()
    told = problems(course.database, course.storage)
    assert [one for one in told if "The team Eve takes no rank" in one and "pttt course invite" in one]
    hand_in(course, None, *WORSE, by=puppet)  # who may be an honest student: nothing is lost
    assert puppet.leave().status_code == 303
    page = puppet.page()
    assert "Make the team" not in page and "or make a team" not in page
    answer = puppet.send("team", name="Puppets")
    assert answer.status_code == 400 and "Only a team has let you into the course" in answer.text
    with course.database.reading() as session:
        assert session.query(Team).filter_by(name="Puppets").count() == 0


@pytest.mark.slow
def test_an_instructors_link_makes_a_guest_a_student_and_the_team_ranks_again(course):
    eve = newcomer(course, "eve@x.org")
    token = eve.make("Eve")
    honest = Student(course, "hal@x.org", eve.invite())
    change(course, rule=RANKS)
    for player in (0, 1):
        hand_in(course, token, *BEST, player=player)
    eve.leave()
    assert ranks(course)["Eve"] is None and "Your team takes no rank" in honest.page()
    assert written(course, "Eve") == (0, "somebody has left a team")
    with course.database.writing() as session:
        code = invitations.invite(session, "Ada")
    assert honest.use(code).status_code == 303
    assert (ranks(course)["Eve"], "Your team takes no rank" in honest.page()) == (1, False)
    assert written(course, "Eve") == (50, "somebody has used a link")
    honest.leave()
    assert honest.send("team", name="Hal").status_code == 200


@pytest.mark.slow
def test_a_students_link_makes_no_guest_of_a_student(course):
    ann, flo = known(course, "ann@x.org"), newcomer(course, "flo@x.org")
    assert flo.use(ann.invite()).status_code == 303
    Student(course, "gus@x.org", ann.invite())
    roster = "team,name,email\nTeam A,Gus,gus@x.org\n"
    with course.database.reading() as session:
        told = {one.email: one.guest for one in session.scalars(select(Person))}
    assert told == {"ann@x.org": False, "bob@x.org": False, "flo@x.org": False, "gus@x.org": True}
    with course.database.writing() as session:
        apply_roster(session, read_roster(roster, "roster"))
        assert not find_person(session, "gus@x.org").guest


@pytest.mark.slow
def test_guests_of_a_team_that_instructors_made_rank(course):
    token = course.team("Team C")  # of which no member was ever told
    hand_in(course, token, *BEST)
    course.sign_in(token)
    form = form_token(course.client.get("/account").text)
    link = re.search(r"#([\w-]{43})<", course.client.post("/account/invite", data={"form_token": form}).text)[1]
    guest = Student(course, "gus@x.org", link)
    assert ranks(course)["Team C"] == 1
    hand_in(course, token, 5)
    assert guest.leave().status_code == 303
    assert ranks(course)["Team C"] is None  # nobody is left
    assert course.post(token, 0, strategy_zip(0, 7)).status_code == 401


# ---------------------------------------------------------------------------------------------
# Late days


@pytest.fixture
def late(course):
    """Two assignments, due one and two hours ago, with three free late days for each student and 10 % a day."""
    due = soon(-HOUR)
    change(course, rule=STEPS, due_at=due - HOUR, closes_at=due + 9 * DAY, late_percent=10.0, late_days=3)
    with course.database.writing() as session:
        second = Assignment(name="final", title="Final", kind="strategies", position=1, choice="last", rubric=[])
        second.rule, second.due_at, second.closes_at = STEPS, due, due + 9 * DAY
        second.late_percent, second.late_days, second.opens_at = 10.0, 3, due + 4 * DAY
        session.add(second)
    course.due = due
    return course


def free(lab, team, assignment="strategies"):
    found = grade(lab, team, assignment)
    return found.days, found.spent, found.points


def left(student):
    return int(re.search(r"Your team has <strong>(-?\d+)<", student.client.get("/course").text)[1])


@pytest.mark.slow
def test_another_team_brings_no_new_late_days(late):
    eve = newcomer(late, "eve@x.org")
    assert "Each student has 3 free late days" in eve.client.get("/course").text
    hand_in(late, eve.make("Eve 1"), *BEST, at=late.due + DAY)
    stayed(late, "eve@x.org", "Eve 1", since=late.due - DAY)
    assert (free(late, "Eve 1"), left(eve)) == ((2, 2, 40), 1)
    eve.leave()
    stayed(late, "eve@x.org", "Eve 1", until=late.due + 2 * DAY)
    token = eve.make("Eve 2")
    assert left(eve) == 1
    hand_in(late, token, *WORSE, at=late.due + 4.9 * DAY)  # for both assignments on the fifth day
    assert free(late, "Eve 2") == (5, 3, 32)  # within one assignment it is the most of both teams
    assert free(late, "Eve 2", "final") == (5, 0, 20) and left(eve) == 0


@pytest.mark.slow
def test_several_people_have_no_more_late_days_than_one(late):
    """Eve uses up hers, leaves for the second late upload, which Flo makes with fresh ones, and comes back."""
    eve, flo = newcomer(late, "eve@x.org"), newcomer(late, "flo@x.org")
    token = eve.make("Eve")
    stayed(late, "eve@x.org", "Eve", since=late.due - DAY)
    hand_in(late, token, *BEST, at=late.due + 1.5 * DAY)
    flo.use(eve.invite())
    stayed(late, "flo@x.org", "Eve", since=late.due + 2 * DAY)
    eve.leave()
    stayed(late, "eve@x.org", "Eve", until=late.due + 4.5 * DAY)
    hand_in(late, None, 4, 0.1, at=late.due + 4.9 * DAY, by=flo)
    assert free(late, "Eve") == (2, 2, 40)
    assert free(late, "Eve", "final") == (5, 1, 24)  # Flo has the grade of the first one, too: one day is left
    eve.use(flo.invite())
    with late.database.writing() as session:  # she comes back later
        session.query(Membership).filter_by(left_at=None).order_by(Membership.id.desc()).first().joined_at = (
            late.due + 5 * DAY
        )
    assert free(late, "Eve", "final") == (5, 1, 24) and left(flo) == 0


@pytest.mark.slow
def test_who_has_left_before_pays_nothing_and_who_was_there_does(late):
    """Honest people are invited and dropped; and somebody who has used up the days brings them along."""
    eve, hal = newcomer(late, "eve@x.org"), newcomer(late, "hal@x.org")
    eve.make("Eve")
    stayed(late, "eve@x.org", "Eve", since=late.due - DAY)
    hal.use(eve.invite())
    stayed(late, "hal@x.org", "Eve", since=late.due - DAY)
    hal.leave()
    stayed(late, "hal@x.org", "Eve", until=late.due + DAY)
    hand_in(late, None, *BEST, at=late.due + DAY, by=eve)  # at the moment at which he is gone
    hal.make("Hal")
    assert (left(eve), left(hal)) == (1, 3)
    stayed(late, "hal@x.org", "Eve", until=late.due + DAY + 1)
    assert (left(eve), left(hal)) == (1, 1)
    hal.leave()
    hal.use(eve.invite())
    assert left(hal) == 1


@pytest.mark.slow
def test_a_team_whose_members_nobody_has_told_has_late_days(late):
    token = late.team("Team C")
    hand_in(late, token, *BEST, at=late.due + 4.5 * DAY)
    assert free(late, "Team C") == (5, 3, 32)
    assert free(late, "Team C", "final") == (5, 0, 20)
    late.sign_in(token)
    assert "Your team has <strong>0<" in late.client.get("/course").text


# ---------------------------------------------------------------------------------------------
# Places in the queue, and how much may be handed in


def waiting(lab):
    with lab.database.reading() as session:
        return queue.waiting(session)


def test_another_team_brings_no_first_place(course):
    hand_in(course, course.tokens["Team A"], 1)
    eve = newcomer(course, "eve@x.org")
    hand_in(course, eve.make("Eve 1"), 2)
    first = course.submit(eve.tokens[-1], 0, strategy_zip(0, 3))
    eve.leave()
    token = eve.make("Eve 2")
    own = course.submit(token, 0, strategy_zip(0, 4))
    other, new = (course.submit(course.tokens[one], 0, strategy_zip(0, 5)) for one in ("Team A", "Team B"))
    assert waiting(course) == [new, other, own, first]  # never judged; longest ago; Eve's; of a team without members


@pytest.mark.slow
def test_who_was_judged_after_somebody_left_is_not_judged_for_him(course):
    ann = known(course, "ann@x.org")
    assert ann.leave().status_code == 303
    flo = newcomer(course, "flo@x.org")
    with course.database.writing() as session:
        team = session.query(Team).filter_by(name="Team A").one()
        code = invitations.invite(session, "Ada", team)
    flo.use(code)
    hand_in(course, None, 1, by=flo)  # by Team A, in which Ann is no more
    mine = course.submit(ann.make("Ann"), 0, strategy_zip(0, 2))
    again = course.submit(re.search(r"(\d+\.[\w-]{43})<", flo.send("token").text)[1], 0, strategy_zip(0, 3))
    other = course.submit(course.tokens["Team B"], 0, strategy_zip(0, 4))
    assert waiting(course) == [mine, other, again]


@pytest.mark.slow
def test_another_team_brings_no_new_files_an_hour(tmp_path):
    lab = Lab(tmp_path / "course", submissions_per_hour=3)
    with lab.database.writing() as session:
        set_term(session, Term("UTC", 0, team_size=2))
    eve, hal = newcomer(lab, "eve@x.org"), newcomer(lab, "hal@x.org")
    token = eve.make("Eve 1")
    hand_in(lab, token, 1)
    hal.use(eve.invite())
    hand_in(lab, token, 2)
    hal.leave()
    kept = re.search(r"(\d+\.[\w-]{43})<", eve.send("token").text)[1]
    hand_in(lab, kept, 3)
    eve.leave()
    assert lab.post(eve.make("Eve 2"), 0, strategy_zip(0, 4)).status_code == 429
    assert "<strong>0</strong> of 3 submissions an hour" in eve.client.get("/submissions").text
    token = hal.make("Hal")  # of three files he was there for one
    assert [lab.post(token, 0, strategy_zip(0, seed)).status_code for seed in (5, 6, 7)] == [201, 201, 429]
    lab.close()


# ---------------------------------------------------------------------------------------------
# Beside the course's own game


@pytest.mark.slow
def test_a_team_that_everybody_has_left_is_in_no_other_standings(course, tmp_path):
    with course.database.writing() as session:
        session.add(Assignment(name="agents", title="", kind="agents", position=1, choice="best", rubric=[]))
    own = Database(f"sqlite:///{tmp_path / 'own.sqlite'}", "pttt-2x4k3-abrupt")
    eve = newcomer(course, "eve@x.org")
    eve.make("Eve")
    here = {name: team_number(course, name) for name in ("Team A", "Eve")}
    with course.database.writing() as session:
        agents = session.query(Assignment).filter_by(name="agents").one()
        for name, number in here.items():
            made = {"team_id": number, "assignment_id": agents.id, "file": name, "given": "", "digest": "", "size": 1}
            session.add(Agent(**made, received_at=1.0, changed_at=1.0, status="Accepted", score=0.5))
    mirror_teams(course.database, own)
    with own.writing() as session:
        for name, number in here.items():
            made = {"team_id": number, "player": 0, "file": name, "digest": name, "size": 1, "received_at": 1.0}
            session.add(Submission(**made, changed_at=1.0, status="Accepted", exploitability=0.5, best=True))

    def shown():
        mirror_teams(course.database, own)
        with course.database.reading() as session, own.reading() as further:
            bests = set(standings.public_bests(further)[0])
            named = session.query(Assignment).filter_by(name="agents").one()
            return (
                bests,
                set(playing_agents(session, course.data, named)),
                set(names_of(course.database)) & set(here.values()),
            )

    assert shown() == (set(here.values()),) * 3
    eve.leave()
    assert shown() == ({here["Team A"]},) * 3
    own.close()


@pytest.mark.slow
def test_grades_without_a_rule_are_not_written_when_teams_change(course):
    eve = newcomer(course, "eve@x.org")
    eve.make("Eve")
    eve.leave()
    with course.database.reading() as session:
        assert not session.query(GradeRow).count() and session.query(LogLine).count()
