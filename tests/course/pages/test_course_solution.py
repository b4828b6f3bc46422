"""A course beside a solved game: no page and no address shows the solution to students, unless course.yaml says so."""

import re

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.course.data.models import Fact
from pttt_ooc.course.data.term_tables import Person
from pttt_ooc.course.grades.diagnosis import notes
from pttt_ooc.course.pages.strategy_mistakes import _row
from pttt_ooc.course.pages.strategy_sources import SubmittedSources
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.course.people.people import add_staff
from pttt_ooc.course.people.teams import find_team
from pttt_ooc.course.server.strategy_parts import app_of, parts_of
from pttt_ooc.course.strategies.submissions import take_in_house
from pttt_ooc.games.rules.catalogue import named_game
from tests.course.pages.test_course_others import addresses
from tests.course.server_kit import GAME, Lab, bearer, form_token, random_tensor, strategy_zip, zip_bytes

PREPARING = {"preparing": {"step": "reading", "share": 0.5, "ahead": 0}, "infoset": "|"}
QUERIES = (
    "",
    *(f"?player={player}&first=solution&second=solution&beside=solution" for player in (0, 1)),
    *(f"?player={player}&first=uniform&second=uniform&beside=solution&first_plays=best" for player in (0, 1)),
    "?first=uniform&second=uniform&strategies=solution&opponent=solution",
)
OPPONENTS = ("solution", "reply-solution")


class Spy:
    """Stands for the answerer, and remembers what it was asked."""

    def __init__(self):
        self.questions = []

    def ask_from_thread(self, what, **facts):
        self.questions.append((what, repr(facts)))
        return PREPARING

    async def ask(self, what, **facts):
        return self.ask_from_thread(what, **facts)


@pytest.fixture(scope="module")
def beside(tmp_path_factory, solved):
    """A course with the directory of a solution, two teams, and strategies of the instructors' own."""
    place = tmp_path_factory.mktemp("beside")
    lab = Lab(place / "course", solution=str(solved), submissions_per_hour=1000)
    lab.place, lab.spy = str(solved), Spy()
    lab.app = app_of(lab.course, *parts_of(lab.course, lab.spy))
    lab.baseline()
    for name in ("Team A", "Team B"):
        lab.team(name)
    lab.own = lab.submit(lab.tokens["Team A"], 0, strategy_zip(0, 1))
    files = [place / f"pttt_pl{player}.zip" for player in (0, 1)]
    for player, file in enumerate(files):
        file.write_bytes(zip_bytes(random_tensor(player, 9), f"pttt_pl{player}.npy"))
    with lab.database.writing() as session:
        lab.house = [row.id for row in take_in_house(session, lab.storage, "Equilibrium", tuple(files), "console")]
        session.merge(Fact(name="value", value=[*lab.settings.game_value, "as the instructors have set it"]))
        lab.staff = add_staff(session, "Ada", "ada@example.org", "instructor")
    lab.run()
    lab.secret = [file.read_bytes() for file in files]
    yield lab
    lab.close()


def browser(lab, token=None):
    client = TestClient(lab.app, base_url="http://course", raise_server_exceptions=False)
    page = client.get("/sign-in")
    if token:
        client.post("/sign-in", data={"form_token": form_token(page.text), "token": token})
    client.form_token = form_token(client.get("/play").text)
    return client


def walk(lab, token):
    """All addresses, asked by the pages' forms and links and by programs: of each request its address and answer."""
    client = browser(lab, token)
    for address in sorted(addresses(lab.app) - {"POST /sign-out", "POST /sign-in"}):
        method, _, pattern = address.partition(" ")
        looks_inside = any(word in pattern for word in ("explore", "play", "mistakes"))
        for number in (lab.own, *lab.house) if "{number}" in pattern else (lab.own,):
            path = pattern.replace("{number}", str(number)).replace("{player}", "0")
            path = re.sub(r"{\w+}", lab.settings.game, path)
            program = path.startswith("/api/")
            headers = bearer(token) if program and token else {}
            if method == "GET":
                for query in QUERIES if looks_inside else QUERIES[:1]:
                    yield f"{path}{query}", client.get(f"{path}{query}", headers=headers)
                continue
            for opponent in OPPONENTS if looks_inside else OPPONENTS[:1]:
                for player in (0, 1):
                    sent = {"opponent": opponent, "player": player, "made": 0, "square": 0}
                    kind = {"json": sent} if program else {"data": {"form_token": client.form_token, **sent}}
                    yield f"{method} {path}", client.request(method, path, headers=headers, **kind)


def asked_of_solution(lab):
    return {what for what, facts in lab.spy.questions if lab.place in facts}


@pytest.mark.slow
@pytest.mark.parametrize("who", ["Team A", "Team B", None])
def test_no_address_shows_students_the_solution(beside, who):
    beside.show_solution(False)
    beside.spy.questions.clear()
    for path, answer in walk(beside, beside.tokens[who] if who else None):
        assert answer.status_code < 500 or answer.status_code == 503, (path, answer.text)
        assert not any(secret in answer.content for secret in beside.secret), path
        if "text" in answer.headers.get("content-type", "") or "json" in answer.headers.get("content-type", ""):
            assert not any(word in answer.text for word in (beside.place, ">Solution<", '"solution"')), path
    # It is only what a team's own strategy is measured against.
    assert asked_of_solution(beside) == ({"mistakes"} if who == "Team A" else set())


@pytest.mark.slow
def test_the_walk_finds_the_solution_where_it_is_shown(beside):
    """Otherwise the test before would show nothing: `show_solution: true` takes effect at once."""
    beside.show_solution(True)
    beside.spy.questions.clear()
    shown = [path for path, answer in walk(beside, beside.tokens["Team B"]) if ">Solution<" in answer.text]
    assert {path.partition("?")[0] for path in shown} >= {"/explore", "/play"}
    assert {"infoset", "facts"} <= asked_of_solution(beside)
    beside.show_solution(False)


@pytest.mark.slow
def test_people_with_rights_see_the_solution(beside):
    beside.show_solution(False)
    client = browser(beside, beside.staff)
    assert client.get("/explore?first=solution&second=solution").status_code == 200
    assert browser(beside, beside.tokens["Team B"]).get("/explore?first=solution").status_code == 404


@pytest.mark.slow
def test_doctor_and_desk_say_whether_students_see_it(beside):
    desk = browser(beside, beside.staff)
    for shown, words in ((False, "Students do not see the solution in"), (True, "Students see the solution in")):
        beside.show_solution(shown)
        assert [note.startswith(words) and "show_solution" in note for note in notes(beside.data)] == [True]
        assert words in desk.get("/course/desk").text
    beside.show_solution(False)


def test_students_are_offered_the_solution_only_where_it_is_shown(tmp_path, solved):
    lab = Lab(tmp_path / "course", solution=str(solved))
    lab.team("Team A")
    with lab.database.reading() as session:
        accounts = [None, find_team(session, "Team A"), Staff(Person(id=1, name="Ada", role="instructor"))]
    for shown in (False, True):
        sources = SubmittedSources(lab.course, lambda shown=shown: shown)
        offered = [[one.key for one in sources.list_sources(account)] for account in accounts]
        students = ["solution", "uniform"] if shown else ["uniform"]
        assert offered == [students, students, ["solution", "uniform"]]
        assert [one.key for one in sources.open_to_play()] == students and sources.hidden != shown
    lab.close()


def test_where_it_loses_shows_no_probabilities_of_the_solution():
    """At an opening, what is played is the solution's: only what the opponent should do is told."""
    one = {
        "kind": "opening",
        "player": 1,
        "infoset": "|",
        "images": 1,
        "loss": 0.1,
        "reach": 1.0,
        "probabilities": [0.25, 0.75, 0.0, 0.0, 0.0, 0.0],
        "losses": [0.1, 0.0, 0.2, 0.2, 0.2, 0.2],
    }
    sums = {"own_mistakes": 0.1, "openings": 0.1}
    rules = named_game(GAME)
    open_row, hidden = (_row(rules, sums, one, "s1", 0, "", hide) for hide in (False, True))
    assert open_row["worst"] == (0, 0.25) and open_row["best"] == (1, 0.75) and "solution" in open_row["address"]
    assert hidden["worst"] is None and hidden["best"] == (1, None) and "solution" not in hidden["address"]
    own = _row(rules, sums, {**one, "kind": "own mistake", "player": 0}, "s1", 0, "", True)
    assert own["worst"] == (0, 0.25) and own["best"] == (1, 0.75)
