"""A course with a further league of bots: its own bots, dates, tournament and marks; with and without the first one."""

import re
import threading

import pytest
import yaml
from fastapi.testclient import TestClient

from pttt_ooc.course.bots import processes
from pttt_ooc.course.bots.league import League, LeagueSettings, course_of, is_there, league_directory, open_league
from pttt_ooc.course.bots.practice import PracticeWork
from pttt_ooc.course.bots.submissions import Bots
from pttt_ooc.course.bots.worker import Worker
from pttt_ooc.course.data.term_tables import Assignment, Person
from pttt_ooc.course.grades.course_file import apply, read_course_file
from pttt_ooc.course.grades.exports import lines
from pttt_ooc.course.grades.gradebook import settle
from pttt_ooc.course.people.invitations import link_to_sign_in
from pttt_ooc.course.people.people import add_staff, find_person
from pttt_ooc.course.server.app import create_app
from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.extreme.pages import tournament_reader
from pttt_ooc.site.service.pulse import Pulse
from tests.course.league_kit import GOOD, LEAGUE_PAGES, SANDBOX, LeagueCourse, now
from tests.course.server_kit import Lab, bearer, form_token, pttt
from tests.course.term_kit import HOUR, change, soon, team_number
from tests.other_games.extreme.practice_kit import bot, write_match
from tests.other_games.extreme.practice_kit import league as practice_league

COURSE = """
assignments:
- {name: strategies, kind: strategies}
- {name: bots, kind: bots}
- {name: cup, title: The cup, kind: bots, settings: {league: cup}, rule: {kind: formula, formula: marks, points: 50}}
"""

ALONE = COURSE.replace("- {name: bots, kind: bots}\n", "")
"""Of a course without a league of its own."""


class Further:
    """The further league `cup` of a course, whose worker is called by hand."""

    def __init__(self, lab, directory, **changes):
        self.lab = lab
        settings = {"time_limit": 60, "pools": (1,), "qualify": (1,), "marks": (10,), "sandbox": SANDBOX, **changes}
        self.directory = league_directory(lab.data, "cup")
        self.directory.mkdir(parents=True)
        open_league(self.directory, LeagueSettings(**settings))
        # Bots of the course itself need a league of its own.
        beside = is_there(lab.data)
        (directory / "course.yaml").write_text(COURSE if beside else ALONE)
        with lab.database.writing() as session:
            apply(session, read_course_file(directory / "course.yaml"), lab.data, "Ada")
        self.restarted()

    def restarted(self):
        self.league = League(self.directory)
        self.bots = Bots(self.league)
        self.app = create_app(self.lab.course)
        pulse = Pulse(self.league.alive)
        self.worker = Worker(self.league, self.bots, self.lab.database, pulse, threading.Event())

    def client(self, name=None):
        client = TestClient(self.app, base_url="http://course", raise_server_exceptions=False, follow_redirects=False)
        if name:
            form = {"form_token": form_token(client.get("/sign-in").text), "token": self.lab.tokens[name]}
            assert client.post("/sign-in", data=form).status_code == 303
        return client

    def post(self, name, content):
        files = {"file": ("team7.py", content)}
        return self.client().post("/api/leagues/cup/bots", headers=bearer(self.lab.tokens[name]), files=files)

    def hand_in(self, name, content):
        number = self.post(name, content).json()["number"]
        while self.worker.check_next():
            pass
        return self.client().get(f"/api/leagues/cup/bots/{number}", headers=bearer(self.lab.tokens[name])).json()


@pytest.fixture
def cup(lab, tmp_path):
    """A further league beside none: the course has no league of its own."""
    for name in ("Team A", "Team B"):
        lab.team(name)
    made = Further(lab, tmp_path, waiting_per_team=9)
    yield made
    made.bots.close()


@pytest.mark.slow
def test_the_further_league_has_its_own_bots_tournament_and_marks(cup, lab):
    told = cup.hand_in("Team A", GOOD)
    assert told["status"] == "Accepted"
    assert cup.hand_in("Team B", GOOD.replace(b"[0]", b"[-1]"))["status"] == "Accepted"
    page = cup.client("Team A").get(f"/leagues/cup/bots/{told['number']}").text
    assert "It plays." in page and "secret 4711" in page and '"/extreme' not in page
    page = cup.client("Team A").get("/leagues/cup/hand-in").text
    assert 'action="/leagues/cup/bots"' in page and "plays for you" in page and 'href="/extreme' not in page
    assert cup.client("Team B").get(f"/leagues/cup/bots/{told['number']}").status_code == 404
    arguments = ["rule", "bots", told["number"], "withdrawn", "--reason", "Not yours", "--data", lab.data]
    assert "no league of bots" in pttt("course", *arguments).stderr  # the course has none of its own
    for ruling, words in (("withdrawn", "Not yours"), ("none", "It plays.")):
        arguments[3] = ruling
        assert pttt("course", *arguments, "--of", "cup").returncode == 0
        assert words in cup.client("Team A").get(f"/leagues/cup/bots/{told['number']}").text
    assert "has not begun" in cup.client().get("/leagues/cup/standings").text

    path = cup.directory / "extreme.yaml"
    content = yaml.safe_load(path.read_text())
    path.write_text(yaml.safe_dump({**content, "begins": now(-1).isoformat()}))
    cup.bots.close()
    cup.restarted()
    assert cup.post("Team A", GOOD + b"#").status_code == 409
    cup.worker.play()
    page = cup.client("Team A").get("/leagues/cup/standings").text
    assert "All 2 matches have been played." in page and "Team B" in page
    assert 'href="/leagues/cup/standings?sort=marks"' in page and '"/extreme' not in page
    assert "hx-get" not in page  # it is over
    assert "No team has “x" in cup.client().get("/leagues/cup/standings?find=x").text
    check_replays(cup, "/leagues/cup/matches", 2)
    with lab.database.writing() as session:
        settle(session, lab.data, "test")
        found = {(one.team.name, one.assignment.name): one.points for one in lines(session)}
    assert max(found["Team A", "cup"], found["Team B", "cup"]) == 10
    assert ("Team A", "bots") not in found and found["Team A", "strategies"] is None


def check_replays(cup, listed, count):
    """Matches lead to their replays, all of whose links are there, in this league; only its own team sees a print."""
    found = set(re.findall(r'href="(/leagues/cup/matches/[^"/?.]+)"', cup.client().get(listed).text))
    assert len(found) == count
    for address in found:
        pages = {name: cup.client(name).get(address).text for name in ("Team A", None)}
        plays = "<bdi>Team A</bdi>" in pages[None]
        assert [page.count("What the bot of") for page in pages.values()] == [plays, 0]
        links = set(re.findall(r'(?:href|hx-get|action)="((?:/api)?/(?:leagues|extreme)/[^"]*)"', pages[None]))
        assert {f"{address}?ply=0", f"/api{address}", f"{address}/moves.csv"} <= links
        assert {cup.client().get(link.replace("&amp;", "&")).status_code for link in links} <= {200, 307}
        assert (
            all("/leagues/cup/" in link for link in links)
            and "Before the first of" in cup.client().get(f"{address}?ply=0").text
        )


@pytest.mark.slow
def test_two_leagues_side_by_side_have_dates_of_their_own(tmp_path):
    course = LeagueCourse(tmp_path / "course")
    cup = Further(course.lab, tmp_path)
    try:
        change(course.lab, "cup", due_at=soon(-HOUR))
        assert "too late" in cup.post("Team A", GOOD).json()["error"]
        assert course.post("Team A", GOOD).status_code == 201
        change(course.lab, "bots", due_at=soon(-HOUR))
        change(course.lab, "cup", due_at=soon(HOUR))
        assert course.post("Team A", GOOD + b"#").status_code == 409
        assert cup.post("Team A", GOOD).status_code == 201
        assert len(course.bots.of_team(2)) == len(cup.bots.of_team(2)) == 1
    finally:
        cup.bots.close()
        course.close()


@pytest.mark.slow
def test_practice_of_a_further_league_is_shown_and_frozen_by_its_own_dates(cup, lab, monkeypatch):
    monkeypatch.setattr(tournament_reader, "FRESH_SECONDS", 0.0)
    client = cup.client("Team A")
    assert "No match has been played yet." in client.get("/leagues/cup/practice").text
    assert 'href="/leagues/cup/practice"' in client.get("/leagues/cup/hand-in").text
    directory, (a, b) = cup.league.practice, (f"t{team_number(lab, name)}" for name in ("Team A", "Team B"))
    write_match(directory, 1, a, b)
    write_match(directory, 2, b, "random")
    practice_league(directory, [bot(a, name="Team A"), bot(b, name="Team B"), bot("random", ours=True)])
    page = client.get("/leagues/cup/practice").text
    assert "our bot" in page and "Your bot’s latest matches" in page and '"/extreme' not in page
    assert page.count("against") == 3
    assert (
        client.get(re.search('hx-get="([^"]*/parts/practice[^"]*)"', page)[1].replace("&amp;", "&")).status_code == 204
    )
    check_replays(cup, "/leagues/cup/practice", 2)
    found = client.get("/leagues/cup/practice?sort=bot&find=team").text
    assert '<a href="/leagues/cup/practice?sort=won&amp;find=team">Won</a>' in found
    ratings = found.partition("Table of ratings")[2].partition("</table>")[0]
    assert re.findall("<bdi>(.*?)</bdi>", ratings) == ["Team A", "Team B"]

    frozen_at = soon(-60)
    with lab.database.writing() as session:
        session.add(Assignment(name="bots", title="", kind="bots", position=9, choice="best", rubric=[]))
    change(lab, "bots", frozen_at=frozen_at, unveiled_at=soon(HOUR))  # of the other league
    work = PracticeWork(cup.league, cup.bots, lab.database, None)
    work._keep_frozen()
    assert not cup.league.frozen_practice(frozen_at).exists()
    change(lab, "cup", frozen_at=frozen_at, unveiled_at=soon(HOUR))
    work._keep_frozen()
    write_match(directory, 3, a, "random")
    practice_league(directory, [bot(a, name="Team A"), bot(b, name="Team B"), bot("random", ours=True)])
    for name, count in (("Team A", 4), ("Team B", 4), (None, 2)):  # a team's own matches, and the latest ones
        page = cup.client(name).get("/leagues/cup/practice").text
        assert "are frozen" in page and page.count("against") == count, name


def test_a_league_that_is_not_there_is_not_found(cup, lab, tmp_path):
    for path in ("/leagues/other/hand-in", "/api/leagues/other/bots", "/leagues/..%2f/hand-in", "/extreme/hand-in"):
        assert cup.client().get(path, headers=bearer(lab.tokens["Team A"])).status_code == 404
    file = tmp_path / "other.yaml"
    file.write_text(ALONE.replace("league: cup", "league: other"))
    with pytest.raises(PtttError, match="pttt extreme open --league other"), lab.database.writing() as session:
        apply(session, read_course_file(file), lab.data, "Ada")


@pytest.mark.slow
def test_the_command_makes_a_further_league_with_a_worker(lab, cup):
    done = pttt("extreme", "open", "--league", "spring", "--data", lab.data)
    assert done.returncode == 0 and (lab.data / "leagues" / "spring" / "extreme.yaml").is_file()
    assert "small letters" in pttt("extreme", "open", "--league", "../x", "--data", lab.data).stderr
    assert not (lab.data / "extreme.yaml").exists()
    worker, analyst = processes.further_workers(lab.data, lab.database)  # no assignment names the other one
    assert worker == ("league cup", "pttt_ooc.course.bots.worker", str(cup.directory))
    assert analyst[:2] == ("analyst cup", "pttt_ooc.other_games.extreme.analyst")
    assert analyst[2:] == (str(cup.league.tournament), str(cup.league.practice))
    assert course_of(cup.directory) == lab.data.resolve() and course_of(lab.data) == lab.data
    assert cup.league.settings.practice and not cup.league.settings.games and cup.league.name == "cup"


@pytest.mark.slow
def test_a_copy_has_the_further_league(cup, lab, tmp_path):
    cup.post("Team A", GOOD)
    assert pttt("course", "backup", tmp_path / "copy.tar", "--data", lab.data).returncode == 0
    done = pttt("course", "restore", tmp_path / "copy.tar", "--data", tmp_path / "restored")
    assert done.returncode == 0, done
    copy = Lab(tmp_path / "restored")
    bots = Bots(League(league_directory(copy.data, "cup")))
    assert [bot.file for bot in bots.of_team(2)] == ["team7.py"]
    bots.close()
    copy.close()


@pytest.mark.slow
@pytest.mark.parametrize("who", ["nobody", "student", "Team A", "Team B", "instructor"])
def test_every_cell_of_the_rights_of_a_further_league(cup, lab, who):
    (further,) = (part for part in cup.app.state.shell.parts if part.name == "leagues")
    assert {route.path for router in further.routers for route in router.routes} == set(LEAGUE_PAGES)
    number = cup.post("Team A", GOOD).json()["number"]
    with lab.database.writing() as session:
        lab.tokens["instructor"] = add_staff(session, "Ada", "ada@example.org", "instructor")
        session.add(Person(key="s@x.org", email="s@x.org", name="Sue", role="student", created_at=0.0))
        session.flush()
        code = link_to_sign_in(session, "Ada", find_person(session, "s@x.org"))
    client = cup.client(who if who in lab.tokens else None)
    if who == "student":
        form = {"form_token": form_token(client.get("/account/join").text), "code": code}
        assert client.post("/account/join", data=form).status_code == 303
    token = form_token(client.get("/account/join").text)
    headers = bearer(lab.tokens[who]) if who in lab.tokens else {}
    is_team = who.startswith("Team")
    for address, rule in LEAGUE_PAGES.items():
        path = address.replace("{league}", "cup").replace("{number}", str(number)).replace("{table}", "matches")
        path = re.sub("{(name|key)}", "t2", path)
        program = path.startswith("/api/")
        files = {"form_token": (None, token), "file": ("team7.py", GOOD + path.encode())}
        if rule in ("post", "teams"):
            code = client.post(path, files=files, headers=headers if program else {}).status_code
            refused = 403 if who in ("student", "instructor") and not (program and who == "student") else 401
            assert code == ((201 if program else 303) if is_team else refused), (who, "POST", path)
        if rule == "post":
            continue
        code = client.get(path, headers=headers if program else {}).status_code
        if rule == "everybody":
            expected = 307 if path.endswith(("/cup", "/matches")) else 200  # to the standings, to practice
        elif rule == "begun":
            expected = 404
        elif program and not is_team:
            expected = 403 if who == "instructor" else 401
        else:
            expected = 200 if who == "Team A" or rule == "teams" else 404
        assert code == expected, (who, "GET", path)
