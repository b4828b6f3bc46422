"""Shared by the tests of a term: courses with assignments, and an old directory."""

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from pttt_ooc.course.data.assignments import Term, set_term
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.data.term_tables import Assignment
from tests.course.server_kit import GAME, strategy_zip

OLD = Path(__file__).parent / "older_course"
OLD_TOKENS = {
    "Team A": "2.rCRbiQs-KfUvY6i9bvifA-F-evfDGuHEFjekCO47Gtk",
    "Team B": "3.OBE6DxvBlXiBt9hgXtb8oY1UCdhLxD_yvnflxgSRV2Y",
}
HOUR, DAY = 3600.0, 86400.0


def old_course(directory):
    """A course with a league, as commit 169fa50 has left it."""
    data = directory / "course"
    shutil.copytree(OLD, data, ignore=shutil.ignore_patterns("*.sql"))
    for name in ("course", "extreme"):
        with closing(sqlite3.connect(data / f"{name}.sqlite")) as database:
            database.executescript((OLD / f"{name}.sql").read_text())
    return data


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
