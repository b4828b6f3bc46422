"""Numbers of teams and submissions never return, and nothing is looked up by a number that could mean another."""

import sqlite3
from contextlib import closing

import pytest

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.database_rows import FORMAT
from pttt_ooc.course.data.models import Fact, Submission, Team
from pttt_ooc.course.data.names import name_key
from pttt_ooc.course.data.term_tables import Membership, Person, Rejudgement
from pttt_ooc.course.people import teams
from pttt_ooc.course.strategies.assessor import Assessor
from pttt_ooc.errors import CourseError
from tests.course.older_databases import check_format_4, make_format_1, make_format_4
from tests.course.server_kit import GAME, Lab, make_settings, pttt, random_tensor, strategy_zip
from tests.course.test_course_judging import entries, gradient_of, row, truth


def remove(lab, name):
    done = pttt("course", "remove-team", name, "--yes", "--data", lab.data)
    assert done.returncode == 0, done.stderr


def number_of(lab, name):
    with lab.database.reading() as session:
        return teams.find_team(session, name).id


def test_the_matrix_knows_nothing_of_a_removed_team(lab):
    lab.verdict(lab.team("Old"), 0, strategy_zip(0, 1, 4.0))
    remove(lab, "Old")
    number = lab.verdict(lab.team("New"), 0, strategy_zip(0, 2, 0.5))["id"]
    # As after a restart of the worker: what is on disk is all that it knows.
    lab.judge.assessor = Assessor(lab.assessor.engine, lab.storage, lab.assessor.game_value)
    lab.verdict(lab.team("Opponent"), 1, strategy_zip(1, 3))
    ((value,),) = lab.client.get("/api/matrix").json()["values"]
    assert value == pytest.approx(truth(random_tensor(0, 2, 0.5), random_tensor(1, 3)).value, abs=1e-6)
    assert number == 2 and number_of(lab, "New") == 3


def test_a_gradient_whose_number_means_another_file_is_not_used(lab):
    """Even if a number came back, as from a copy of an older day."""
    lab.verdict(lab.team("Team A"), 0, strategy_zip(0, 1))
    before = row(lab, 1)
    before.digest = "0" * 64
    assert lab.assessor.key(before) != lab.assessor.key(row(lab, 1))


def test_teams_with_the_same_file_share_a_gradient(lab):
    a, b = lab.team("Team A"), lab.team("Team B")
    lab.verdict(a, 0, strategy_zip(0, 1, 4.0))
    lab.verdict(b, 0, strategy_zip(0, 1, 4.0))
    assert len(list(lab.storage.gradients.iterdir())) == 1
    assert lab.verdict(a, 0, strategy_zip(0, 1, 0.5))["best"]
    assert gradient_of(lab, 2).is_dir() and gradient_of(lab, 3).is_dir()  # Team B still needs it
    lab.verdict(lab.team("Opponent"), 1, strategy_zip(1, 3))
    assert entries(lab)[2, 4] == pytest.approx(truth(random_tensor(0, 1, 4.0), random_tensor(1, 3)).value, abs=1e-6)


@pytest.mark.slow
def test_numbers_do_not_return_in_a_restored_copy_either(lab, tmp_path):
    lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    lab.submit(lab.team("Team B"), 0, strategy_zip(0, 1))
    remove(lab, "Team B")
    assert pttt("course", "backup", tmp_path / "copy.tar", "--data", lab.data).returncode == 0
    assert pttt("course", "restore", tmp_path / "copy.tar", "--data", tmp_path / "again").returncode == 0
    again = Lab(tmp_path / "again")
    for each in (lab, again):
        assert each.submit(each.team("Team C"), 0, strategy_zip(0, 2)) == 3
        assert number_of(each, "Team C") == 4
    again.close()


# ---------------------------------------------------------------------------------------------
# What an older version has left


def test_a_database_of_format_1_is_upgraded(tmp_path, capfd):
    data = tmp_path / "course"
    make_settings(data)
    url = f"sqlite:///{data / 'course.sqlite'}"
    make_format_1(url, ["Uniform", "Équipe", "équipe", "Team A"])
    lab = Lab(data)
    told = capfd.readouterr().err
    assert f"is upgraded from format 1 to {FORMAT}" in told and len(told.splitlines()) == 1
    with lab.database.reading() as session:
        found = {team.id: (team.name, team.token_hash) for team in session.query(Team)}
        assert found == {n: (name, f"hash {n}") for n, name in enumerate(["Uniform", "Équipe", "équipe", "Team A"], 1)}
        assert teams.find_team(session, "équipe").id == 3 and teams.find_team(session, "Équipe").id == 2
        assert teams.find_team(session, "TEAM A").id == 4 and teams.find_team(session, "ÉQUIPE").id == 2
    assert entries(lab) == {(1, 2): 0.5} and row(lab, 2).opening == [0.25, 0.75] and row(lab, 2).best
    remove(lab, "Team A")
    lab.team("Team B")
    assert number_of(lab, "Team B") == 5
    lab.close()
    Lab(data).close()
    assert not capfd.readouterr().err  # once


def test_a_course_of_format_4_is_upgraded(tmp_path, capfd):
    data = tmp_path / "course"
    make_settings(data)
    make_format_4(f"sqlite:///{data / 'course.sqlite'}")
    lab = Lab(data)
    assert f"is upgraded from format 4 to {FORMAT}" in capfd.readouterr().err
    check_format_4(lab)
    lab.close()


def test_a_copy_of_format_1_is_restored(tmp_path, monkeypatch):
    data = tmp_path / "course"
    make_settings(data)
    url = f"sqlite:///{data / 'course.sqlite'}"
    make_format_1(url, ["Uniform", "Team A"])
    (data / "uploads").mkdir()
    for number in (1, 2):
        (data / "uploads" / f"file{number}.zip").write_bytes(b"x")
    # As the older version wrote it: of the tables as they were.
    with monkeypatch.context() as patch:
        patch.setattr(Database, "_upgrade", lambda self, session, form: None)
        assert pttt("course", "backup", tmp_path / "copy.tar", "--data", data).returncode == 0
    done = pttt("course", "restore", tmp_path / "copy.tar", "--data", tmp_path / "again")
    assert done.returncode == 0, done.stderr
    database = Database.of(tmp_path / "again", None, GAME)
    with database.reading() as session:
        assert {team.name: team.key for team in session.query(Team)} == {n: name_key(n) for n in ("Uniform", "Team A")}
    database.close()


@pytest.mark.parametrize("form", [0, 2, FORMAT + 1, None, "3"])
def test_a_database_of_a_format_that_no_release_had_is_refused(tmp_path, form):
    url = f"sqlite:///{tmp_path / 'course.sqlite'}"
    database = Database(url, GAME)
    with database.writing() as session:
        session.get(Fact, "format").value = form
    database.close()
    with pytest.raises(CourseError, match=f"has format {form}, but this version reads 1, 3, 4, 5, 6"):
        Database(url, GAME)


def test_a_failed_upgrade_changes_nothing(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'course.sqlite'}"
    make_format_1(url, ["Uniform", "Team A"])

    def fail(*arguments):
        raise OSError("killed in between")

    with monkeypatch.context() as patch:
        patch.setattr("pttt_ooc.course.data.database.write_rows", fail)
        with pytest.raises(OSError):
            Database(url, GAME)
    database = Database(url, GAME)
    with database.reading() as session:
        assert {team.name for team in session.query(Team)} == {"Uniform", "Team A"}
    database.close()


@pytest.mark.slow
def test_a_database_of_format_4_keeps_its_rows(tmp_path, capfd):
    """As it was before rulings: without their columns and tables."""
    url = f"sqlite:///{tmp_path / 'course.sqlite'}"
    database = Database(url, GAME)
    with database.writing() as session:
        session.add(Team(id=7, name="Team A", key="team a", token_hash="x", created_at=1.0))
        session.flush()
        columns = {"team_id": 7, "player": 0, "file": "f.zip", "digest": "d", "size": 1, "received_at": 1.0}
        session.add(Submission(id=9, changed_at=1.0, status="Accepted", exploitability=0.5, best=True, **columns))
        session.get(Fact, "format").value = 4
    database.close()
    with closing(sqlite3.connect(tmp_path / "course.sqlite")) as old:
        for table in ("rulings", "disqualifications", "rejudgements", "likenesses", "pairs", "deliveries"):
            old.execute(f"DROP TABLE {table}")
        for table, column in (("submissions", "ruling"), ("reports", "ruling"), ("teams", "house")):
            old.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        old.commit()
    database = Database(url, GAME)
    assert f"is upgraded from format 4 to {FORMAT}" in capfd.readouterr().err
    with database.reading() as session:
        row, team = session.get(Submission, 9), session.get(Team, 7)
        assert (row.ruling, row.best, team.house, team.own_name) == ("", True, False, "Team A")
        assert [one.id for one in standings.public_bests(session)[0].values()] == [9]
    database.close()


def test_what_format_5_judged_again_were_strategies(tmp_path, capfd):
    url = f"sqlite:///{tmp_path / 'course.sqlite'}"
    database = Database(url, GAME)
    with database.writing() as session:
        session.add(Rejudgement(at=1.0, by="Ada", dry_run=True, numbers=[3], verdicts=[], grades=[]))
        session.get(Fact, "format").value = 5
    database.close()
    with closing(sqlite3.connect(tmp_path / "course.sqlite")) as old:
        old.execute("ALTER TABLE rejudgements DROP COLUMN kind")
        old.commit()
    database = Database(url, GAME)
    assert f"is upgraded from format 5 to {FORMAT}" in capfd.readouterr().err
    with database.reading() as session:
        (row,) = session.query(Rejudgement)
        assert (row.id, row.kind, row.numbers) == (1, "strategies", [3])
    database.close()


def test_a_team_that_everybody_had_left_has_no_token_any_more(tmp_path):
    url = f"sqlite:///{tmp_path / 'course.sqlite'}"
    database = Database(url, GAME)
    tokens = [teams.add_team(database, name) for name in ("Left", "Half left", "Untold")]
    with database.writing() as session:
        session.get(Fact, "format").value = 6
        for person, (team, left_at) in enumerate([(1, 5.0), (2, 5.0), (2, None)], 1):
            session.add(Person(key=f"{person}@x.org", email="", name="", role="student", created_at=1.0))
            session.flush()
            session.add(Membership(person_id=person, team_id=team, joined_at=2.0, left_at=left_at))
    database.close()
    with closing(sqlite3.connect(tmp_path / "course.sqlite")) as old:
        old.execute("ALTER TABLE people DROP COLUMN guest")
        old.execute("ALTER TABLE invitations DROP COLUMN of_team")
        old.commit()
    database = Database(url, GAME)
    with database.reading() as session:
        assert [team and team.id for team in (teams.authenticate(session, one) for one in tokens)] == [None, 2, 3]
        assert not any(person.guest for person in session.query(Person))
        assert session.query(Membership).count() == 3
    database.close()
