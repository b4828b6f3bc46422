"""Shared by the tests of a term: courses with assignments."""

import time

from pttt_ooc.course.data.assignments import Term, set_term
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.data.term_tables import Assignment
from tests.course.server_kit import GAME, strategy_zip

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
