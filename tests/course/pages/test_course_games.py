"""A course with a second game of strategies: its own strategies, standings, dates and points; the same teams."""

import json
import re

import pytest

from pttt_ooc.course.data import game_directory as directory
from pttt_ooc.course.data.game_directory import course_of, directory_of, games_in, mirror_teams
from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.data.storage import Incoming
from pttt_ooc.course.data.term_tables import Assignment
from pttt_ooc.course.grades.checkup import problems
from pttt_ooc.course.grades.course_file import apply, course_file, read_course_file
from pttt_ooc.course.grades.decisions import Desk, disqualify
from pttt_ooc.course.grades.exports import lines
from pttt_ooc.course.grades.gradebook import history
from pttt_ooc.course.pages.intakes import strategies_of_game
from pttt_ooc.course.people import teams
from pttt_ooc.course.people.people import add_staff
from pttt_ooc.course.server import serve
from pttt_ooc.errors import PtttError
from tests.course.games_kit import COURSE, OTHER, two_games
from tests.course.server_kit import GAME, Lab, Server, bearer, form_token, pttt, random_tensor, zip_bytes
from tests.course.term_kit import DAY, HOUR, browser, change, soon, team_number, upload


@pytest.fixture
def second(lab, tmp_path):
    made = two_games(lab, tmp_path)
    yield made
    made.close()


def points(lab):
    with lab.database.reading() as session:
        return {(one.team.name, one.assignment.name): one.points for one in lines(session)}


def board(lab, path):
    return {row["team"]: row for row in lab.client.get(path).json()}


def test_both_games_have_their_own_strategies_standings_and_points(lab, second):
    lab.baseline()
    second.baseline()
    upload(lab, "Team A", 0, 1)
    told = second.verdict("Team A", 0, 1, 0.3)
    assert told["status"] == "Accepted" and told["best"] and told["url"] == f"/games/{OTHER}/submissions/{told['id']}"
    second.verdict("Team B", 0, 7, 0.3)
    first, other = board(lab, "/api/leaderboard"), board(lab, f"/api/games/{OTHER}/leaderboard")
    assert first["Team B"]["exploitability"][0] is None and other["Team B"]["exploitability"][0] is not None
    assert first["Team A"]["exploitability"][0] != other["Team A"]["exploitability"][0] == told["exploitability"]
    uniform = other["Uniform"]["exploitability"][0]
    assert uniform != first["Uniform"]["exploitability"][0]
    values = lab.client.get(f"/api/games/{OTHER}/matrix").json()
    assert sorted(values["rows"]) == ["Team A", "Team B", "Uniform"] and values["columns"] == ["Uniform"]
    page = lab.client.get(f"/games/{OTHER}?sort=0&find=team&rows=mean").text
    table = page.partition('class="standings"')[2].partition("</table>")[0]
    assert re.findall("<bdi>(.*?)<", table) == sorted(("Team A", "Team B"), key=lambda team: other[team]["ranks"][0])
    assert f'href="/games/{OTHER}?sort=1&amp;find=team&amp;rows=mean"' in table and page.count('class="v') == 3 + 11
    assert f'href="/games/{OTHER}?rows=mean&amp;columns=mean&amp;sort=0&amp;find=team"' in page
    for part in re.findall(rf'hx-get="(/games/{OTHER}/parts/[^"]*)"', page):
        seen = part.replace("&amp;", "&")
        assert lab.client.get(seen).status_code == 204 and lab.client.get(seen.partition("&seen")[0]).status_code == 200
    found = points(lab)
    assert found["Team A", "small"] == pytest.approx(
        max(0, round(10 * (uniform - told["exploitability"]) / uniform, 2)), abs=0.011
    )
    assert found["Team B", "strategies"] is None and found["Team A", "strategies"] is not None
    with lab.database.reading() as session:
        (row,) = [r for r in history(session, team_number(lab, "Team B"), 2) if r.points is not None]
    assert row.because == f"verdict on submission {2 + 2} in {OTHER}"


@pytest.mark.slow
def test_a_strategy_of_the_other_game_is_refused(second):
    told = second.verdict("Team A", 0, 1, game=GAME)
    assert told["status"] == "Rejected" and told["note"]


def test_both_games_have_dates_of_their_own(lab, second):
    change(lab, "small", due_at=soon(-HOUR))
    closed = second.post("Team A", 0, 1)
    assert closed.status_code == 409 and "too late" in closed.json()["error"]
    assert lab.post(lab.tokens["Team A"], 0, zip_bytes(random_tensor(0, 1))).status_code == 201
    change(lab, "small", due_at=soon(HOUR))
    change(lab, "strategies", opens_at=soon(DAY))
    assert second.post("Team A", 0, 1).status_code == 201
    early = lab.post(lab.tokens["Team A"], 0, zip_bytes(random_tensor(0, 2)))
    assert early.status_code == 409 and "begin at" in early.json()["error"]
    assert not list(second.course.storage.incoming.iterdir())


@pytest.mark.slow
def test_what_counts_is_when_the_upload_began(lab, second):
    """An upload that is whole after the deadline is taken if it began before, and refused if it began afterwards."""
    change(lab, "small", due_at=soon(-HOUR))
    with lab.database.reading() as session:
        team = session.query(Team).filter_by(name="Team A").one()
    intake = strategies_of_game(lab.course, second.course)
    for begun, taken in ((-2 * HOUR, True), (-HOUR / 2, False)):
        incoming = Incoming(second.course.storage, "x.zip", soon(begun))
        incoming.write(b"x")
        if taken:
            assert intake.take_in(team, {"player": "0"}, incoming)[1]
        else:
            with pytest.raises(PtttError, match="too late"):
                intake.take_in(team, {"player": "0"}, incoming)
    assert not list(second.course.storage.incoming.iterdir())


@pytest.mark.slow
def test_both_games_are_frozen_on_their_own(lab, second):
    worse = second.verdict("Team A", 0, 1, 3.0)
    upload(lab, "Team A", 0, 1)
    change(lab, "small", frozen_at=soon(-0.001), due_at=soon(HOUR))
    better = next(told for seed in range(2, 40) if (told := second.verdict("Team A", 0, seed, 0.3))["best"])
    assert better["exploitability"] < worse["exploitability"]
    path = f"/api/games/{OTHER}/leaderboard"
    assert board(lab, path)["Team A"]["submissions"][0] == worse["id"]
    improved = upload(lab, "Team A", 0, 58)
    assert board(lab, "/api/leaderboard")["Team A"]["submissions"][0] == improved  # the first game is not frozen
    change(lab, "small", unveiled_at=soon(-0.0005))
    assert board(lab, path)["Team A"]["submissions"][0] == better["id"]


@pytest.mark.slow
def test_the_teams_are_the_courses(lab, second):
    second.verdict("Team A", 0, 1)
    lab.team("Team C")
    assert "Team C" in board(lab, f"/api/games/{OTHER}/leaderboard")
    with second.course.database.reading() as session:
        assert all(team.token_hash is None for team in session.query(Team))
    teams.remove_team(lab.database, "Team A")
    mirror_teams(lab.database, second.course.database)
    with second.course.database.reading() as session:
        assert session.query(Submission).count() == 0
        assert {t.name for t in session.query(Team)} == {"Uniform", "Team B", "Team C"}


def test_a_renamed_team_keeps_its_strategies_of_a_further_game(lab, second):
    """Aliases are names, too; two teams may swap theirs."""
    number = second.verdict("Team A", 0, 1)["id"]

    def names():
        mirror_teams(lab.database, second.course.database)
        with lab.database.reading() as session, second.course.database.reading() as own:
            there = {team.id: (team.name, team.key) for team in own.query(Team)}
            assert there == {team.id: (team.name, team.key) for team in session.query(Team)}
            return own.get(Submission, number).team.name

    for wanted in (True, False):
        with lab.database.writing() as session:
            teams.set_aliases(session, wanted)
        assert (names() == "Team A") is not wanted
    with lab.database.writing() as session:
        one, two = (session.query(Team).filter_by(name=name).one() for name in ("Team A", "Team B"))
        swapped = (one.name, one.key), (two.name, two.key)
        one.name = one.key = "between"
        session.flush()
        two.name, two.key = swapped[0]
        session.flush()
        one.name, one.key = swapped[1]
    assert names() == "Team B"


@pytest.mark.slow
def test_the_desk_finds_strategies_of_both_games(lab, second):
    number = second.verdict("Team A", 0, 1)["id"]
    own = upload(lab, "Team A", 1, 2)
    told = json.loads(pttt("course", "submissions", "team a", "--json", "--data", lab.data).stdout)
    found = {(one["of"], one["number"], one["page"]) for one in told["submissions"]}
    assert found == {("", own, f"/submissions/{own}"), (OTHER, number, f"/games/{OTHER}/submissions/{number}")}
    with lab.database.writing() as session:
        lab.tokens["Ada"] = add_staff(session, "Ada", "ada@example.org", "instructor")
    client = browser(lab, "Ada")
    page = client.get("/course/desk/submissions").text
    assert f"strategies of {OTHER}" in page and page.count('type="checkbox" form="rejudge"') == 1
    fields = {"form_token": form_token(page), "which": "all", "dry_run": "no"}
    assert client.post("/course/desk/rejudge", data=fields).status_code == 303
    with lab.database.reading() as session, second.course.database.reading() as other:
        assert session.get(Submission, own).status == "Queued" and other.get(Submission, number).status == "Accepted"


@pytest.mark.slow
def test_strategies_of_a_further_game_are_hidden_and_withdrawn(lab, second):
    second.baseline()
    worse, better = second.verdict("Team A", 0, 1), second.verdict("Team A", 0, 4, 0.1)
    assert better["exploitability"] < worse["exploitability"]
    path = f"/api/games/{OTHER}/leaderboard"

    def decide(ruling):
        arguments = ["rule", "strategies", better["id"], ruling, "--of", OTHER, "--reason", "The file of others"]
        done = pttt("course", *arguments, "--data", lab.data)
        assert done.returncode == 0, done
        own = lab.client.get("/api/course/grades", headers=bearer(lab.tokens["Team A"])).json()["assignments"]
        (counts,) = (one["grade"]["submissions"]["player 0"] for one in own if one["name"] == "small")
        return board(lab, path)["Team A"]["submissions"][0], counts

    assert decide("none") == (better["id"], better["id"])
    assert decide("hidden") == (worse["id"], better["id"])
    assert browser(lab, "Team A").get(f"/games/{OTHER}").text.count('class="badge">hidden') == 1
    assert decide("withdrawn") == (worse["id"], worse["id"])
    page = browser(lab, "Team A").get(f"/games/{OTHER}/submissions/{better['id']}").text
    assert "does not count. The file of others" in page
    upload(lab, "Team A", 0, 2)
    own = browser(lab, "Team A").get(f"/submissions/{better['id']}").text
    assert "The file of others" not in own  # the number of another strategy, in the course's own game
    assert decide("none") == (better["id"], better["id"])
    done = pttt("course", "rule", "strategies", 1, "hidden", "--of", "chess", "--reason", "x", "--data", lab.data)
    assert "No assignment of strategies has a further game or league 'chess'" in done.stderr


@pytest.mark.slow
def test_a_disqualified_team_leaves_the_standings_of_that_game_only(lab, second, tmp_path):
    second.baseline()
    for team in ("Team A", "Team B"):
        second.verdict(team, 0, len(team) + ord(team[-1]))
        upload(lab, team, 0, ord(team[-1]))

    def standing(path):
        return {team for team, row in board(lab, path).items() if row["submissions"][0] is not None} - {"Uniform"}

    def decide(assignment, holds=True):
        with lab.database.writing() as session:
            disqualify(session, lab.data, "Ada", "Team A", assignment, "Code of others", holds)

    here, there = "/api/leaderboard", f"/api/games/{OTHER}/leaderboard"
    decide("small")
    assert (standing(here), standing(there)) == ({"Team A", "Team B"}, {"Team B"})
    decide("strategies")
    assert standing(here) == standing(there) == {"Team B"}
    decide("small", False)
    assert (standing(here), standing(there)) == ({"Team B"}, {"Team A", "Team B"})
    decide("small")
    lab.baseline()
    assert pttt("course", "publish", tmp_path / "public", "--data", lab.data).returncode == 0
    (found,) = (tmp_path / "public").glob(f"*{OTHER}*.json")
    rows = {row["team"]: row["submissions"][0] for row in json.loads(found.read_text())}
    assert rows["Team A"] is None and rows["Team B"] is not None


@pytest.mark.slow
def test_another_teams_submission_is_as_none(lab, second):
    number = second.verdict("Team A", 0, 1)["id"]
    for path in ("", "/part", "/file"):
        answers = [
            lab.client.get(f"/api/games/{OTHER}/submissions/{n}", headers=bearer(lab.tokens["Team B"]))
            for n in (number, 99)
        ]
        assert [one.status_code for one in answers] == [404, 404], path
    unknown = lab.client.get("/api/games/mini-2x2k2-abrupt/leaderboard")
    assert unknown.status_code == 404 and not directory_of(lab.data, "mini-2x2k2-abrupt").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "words"),
    {
        f"{{game: {GAME}}}": "the course's own game",
        "{game: chess}": "chess",
        "{games: 3}": "games",
        "{game: dark-hex-5x5-classical}": "dark-hex-5x5-classical",
    }.items(),
)
def test_a_further_game_that_cannot_be_is_refused(lab, tmp_path, settings, words):
    file = tmp_path / "course.yaml"
    file.write_text(f"assignments: [{{name: small, kind: strategies, settings: {settings}}}]")
    with pytest.raises(PtttError, match=words), lab.database.writing() as session:
        apply(session, read_course_file(file), lab.data, "Ada")


@pytest.mark.slow
def test_the_game_of_an_assignment_with_grades_stays(lab, second, tmp_path):
    second.baseline()
    second.verdict("Team A", 0, 1)
    with lab.database.writing() as session:
        assert apply(session, course_file(session), lab.data, "Ada") == []
    other = tmp_path / "other.yaml"
    other.write_text(COURSE.replace(OTHER, "mini-3x2k2-abrupt"))
    with pytest.raises(PtttError, match="cannot change its game"), lab.database.writing() as session:
        apply(session, read_course_file(other), lab.data, "Ada")


@pytest.mark.slow
def test_a_pick_is_of_the_game_of_its_assignment(lab, second):
    change(lab, "small", choice="pick")
    numbers = [second.verdict("Team A", 0, seed)["id"] for seed in (1, 2)]
    with lab.database.writing() as session:
        Desk(session, lab.data, "Ada").pick("Team A", "small", numbers[0])
        small = session.query(Assignment).filter_by(name="small").one()
    with lab.database.reading() as session:
        row = next(one for one in lines(session) if one.team.name == "Team A" and one.assignment.id == small.id)
    assert row.facts["submissions"] == {"player 0": numbers[0]}


@pytest.mark.slow
def test_a_copy_has_both_games(lab, second, tmp_path):
    second.baseline()
    told = second.verdict("Team A", 0, 1)
    assert pttt("course", "backup", tmp_path / "copy.tar", "--data", lab.data).returncode == 0
    assert [one.name for one in tmp_path.glob("copy*")] == ["copy.tar"]
    done = pttt("course", "restore", tmp_path / "copy.tar", "--data", tmp_path / "restored")
    assert done.returncode == 0, done
    assert games_in(tmp_path / "restored") == [OTHER]
    copy = Lab(tmp_path / "restored")
    found = board(copy, f"/api/games/{OTHER}/leaderboard")["Team A"]
    assert found["exploitability"][0] == told["exploitability"]
    copy.course.of_game(OTHER).database.close()
    copy.close()


@pytest.mark.slow
def test_the_doctor_looks_after_both_games(lab, second):
    assert any(f"No worker judges {OTHER}" in one for one in problems(lab.database, lab.storage))
    second.course.storage.alive.touch()
    second.post("Team A", 0, 1)
    (file,) = second.course.storage.uploads.iterdir()
    file.unlink()
    assert any(
        one.startswith(f"In {OTHER}: The file of submission 1 is lost") for one in problems(lab.database, lab.storage)
    )


@pytest.mark.slow
def test_the_published_pages_have_both_leaderboards(lab, second, tmp_path):
    told = second.verdict("Team A", 0, 1)
    assert pttt("course", "publish", tmp_path / "public", "--data", lab.data).returncode == 0
    rows = json.loads((tmp_path / "public" / f"leaderboard-{OTHER}.json").read_text())
    assert {row["team"]: row["exploitability"][0] for row in rows}["Team A"] == told["exploitability"]
    change(lab, "small", frozen_at=soon(-1), due_at=soon(HOUR))
    assert "are frozen" in pttt("course", "publish", tmp_path / "public", "--data", lab.data).stderr


@pytest.mark.slow
def test_a_directory_knows_whether_it_is_a_further_game(lab, second):
    assert course_of(lab.data) is None and course_of(second.data) == lab.data.resolve()
    assert directory.course_database(lab.data) is None
    ((name, module, place),) = serve.game_workers(lab.data, lab.database)
    assert (name, module, place) == (f"worker of {OTHER}", "pttt_ooc.course.server.strategy_worker", str(second.data))


@pytest.mark.long
def test_one_command_serves_both_games(tmp_path):
    lab = Lab(tmp_path / "course")
    second = two_games(lab, tmp_path)
    answer = second.post("Team A", 0, 1)
    token = lab.tokens["Team A"]
    second.close()
    lab.close()
    server = Server(tmp_path / "course")
    try:

        def verdict():
            import urllib.request

            request = urllib.request.Request(
                f"{server.url}/api/games/{OTHER}/submissions/{answer.json()['id']}", headers=bearer(token)
            )
            with urllib.request.urlopen(request) as found:
                return json.loads(found.read())["status"] == "Accepted"

        server.wait_until(verdict)
        server.wait_until(lambda: server.get(f"/api/games/{OTHER}/matrix")["columns"] == ["Uniform"])
        assert server.stop() == 0
    finally:
        server.close()
