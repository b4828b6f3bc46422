"""Numbers of teams and submissions never return, and nothing is looked up by a number that could mean another."""

import pytest

from pttt_ooc.course.data.database import FORMAT, Database
from pttt_ooc.course.data.models import Fact
from pttt_ooc.course.people import teams
from pttt_ooc.course.strategies.assessor import Assessor
from tests.course.server_kit import Lab, make_settings, pttt, random_tensor, strategy_zip
from tests.course.strategies.test_course_judging import entries, gradient_of, row, truth


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
# What another version has left


def tree_of(data):
    return {file: (file.stat().st_mode, file.is_file() and file.read_bytes()) for file in data.rglob("*")}


COMMANDS = [
    ["course", "serve", "--port", 0],
    ["course", "list-teams"],
    ["course", "init", "--name", "Ada", "--email", "ada@example.org"],
    ["course", "backup", "copy.tar"],
    ["extreme", "open"],
]


@pytest.mark.parametrize("form", [FORMAT - 1, FORMAT + 1, None, str(FORMAT)])
def test_a_course_of_another_format_is_refused_and_stays_as_it_is(tmp_path, monkeypatch, form):
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "course"
    settings = make_settings(data)
    database = Database.of(data, None, settings.game)
    with database.writing() as session:
        session.get(Fact, "format").value = form
    database.close()
    before = tree_of(data)
    refusal = (
        f"course.sqlite has format {form}, and this version reads {FORMAT} only; use it with the version that wrote"
    )
    for command in [*COMMANDS[:-1], ["course", "doctor"]]:
        done = pttt(*command, "--data", data)
        assert done.returncode == 1 and refusal in (done.stderr or done.stdout), done
        assert len((done.stderr or done.stdout).splitlines()) == 1
    assert tree_of(data) == before and list(tmp_path.iterdir()) == [data]


@pytest.mark.parametrize("has_settings", [True, False])
def test_a_directory_with_the_database_of_an_older_version_is_refused_and_stays_as_it_is(
    tmp_path, monkeypatch, has_settings
):
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "course"
    make_settings(data)
    (data / "grader.sqlite").write_bytes(b"")
    if not has_settings:
        (data / "settings.yaml").unlink()
    before = tree_of(data)
    for command in [*COMMANDS, *([["course", "doctor"]] if has_settings else [])]:
        done = pttt(*command, "--data", data)
        assert done.returncode == 1 and "as it holds grader.sqlite" in (done.stderr or done.stdout), done
        assert len((done.stderr or done.stdout).splitlines()) == 1
    assert tree_of(data) == before and list(tmp_path.iterdir()) == [data]
