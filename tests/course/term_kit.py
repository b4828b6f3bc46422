"""Shared by the tests of a term: courses with assignments, their grades, commands and pages."""

import time

from fastapi.testclient import TestClient

from pttt_ooc.course.data.assignments import Term, set_term
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.data.term_tables import Assignment
from pttt_ooc.course.grades.gradebook import compute, current
from tests.course.server_kit import GAME, bearer, form_token, pttt, strategy_zip

STEPS = {
    "kind": "thresholds",
    "figure": "player0",
    "steps": [{"at_most": 0.5, "points": 40}, {"at_most": 0.6, "points": 20}, {"at_most": 2, "points": 10}],
}
HOUR, DAY = 3600.0, 86400.0


def database_of(data):
    return Database.of(data, None, GAME)


def change(lab, name="strategies", **columns):
    """Change an assignment."""
    with lab.database.writing() as session:
        found = session.query(Assignment).filter_by(name=name).one()
        for column, value in columns.items():
            setattr(found, column, value)


def set_zone(lab, timezone, late_days=0):
    with lab.database.writing() as session:
        set_term(session, Term(timezone, late_days))


def upload(lab, team, player, seed, sharpness=1.0, at=None):
    """A judged strategy whose upload began at a time; its number."""
    number = lab.submit(lab.tokens[team], player, strategy_zip(player, seed, sharpness))
    if at is not None:
        with lab.database.writing() as session:
            session.get(Submission, number).begun_at = at
    lab.run()
    return number


def team_number(lab, name):
    with lab.database.reading() as session:
        return session.query(Team).filter_by(name=name).one().id


def soon(seconds):
    return time.time() + seconds


def course(data, *arguments, code=0):
    done = pttt("course", *arguments, "--data", data)
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr


def grade(lab, team="Team A"):
    with lab.database.reading() as session:
        number = session.query(Assignment).filter_by(name="strategies").one().id
        return compute(session, lab.data)[team_number(lab, team), number]


def points(lab):
    with lab.database.reading() as session:
        return {row.team_id: row.points for row in current(session).values()}


def hand_in(lab, who, content, name="report.pdf", to="course/reports/report", **fields):
    """Hand in a report by program, or something else."""
    files = {**{key: (None, value) for key, value in fields.items()}, "file": (name, content)}
    return lab.client.post(f"/api/{to}", headers=bearer(lab.tokens[who]), files=files)


def browser(lab, who):
    """A browser in which somebody is signed in."""
    client = TestClient(lab.client.app, base_url="http://course", raise_server_exceptions=False, follow_redirects=False)
    if who == "student":
        form = {"form_token": form_token(client.get("/account/join").text), "code": lab.link}
        assert client.post("/account/join", data=form).status_code == 303
    elif who != "nobody":
        form = {"form_token": form_token(client.get("/sign-in").text), "token": lab.tokens[who]}
        assert client.post("/sign-in", data=form).status_code == 303
    return client


def form_of(client):
    page = client.get("/submissions").text if client.cookies.get("pttt_session") else client.get("/sign-in").text
    return form_token(page) if "form_token" in page else ""


def post(client, path, **fields):
    return client.post(f"/course/desk/{path}", data={"form_token": form_of(client), **fields})
