"""The page of a submission: what is waited for, the scale of its verdict, and what comes next; and the way of staff."""

import re

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.models import Submission
from pttt_ooc.course.people.people import add_staff
from pttt_ooc.course.server.strategy_parts import app_of
from pttt_ooc.course.strategies.figures import Mark, scale
from pttt_ooc.site.service.pulse import Sign
from tests.course.server_kit import Lab, as_strategy, form_token, random_tensor, strategy_zip, zip_bytes
from tests.course.server_kit import uniform_tensor as uniform


@pytest.fixture
def compared(lab):
    """A course with the baseline, in which team B is better than team A, and both are better than uniform play."""
    lab.baseline()
    for name in ("Team A", "Team B"):
        lab.team(name)
    by_figure = sorted((figure_of(lab, seed), seed) for seed in range(12))
    lab.seeds = [seed for _, seed in by_figure]
    lab.better, lab.worse = (
        submit(lab, name, seed) for name, seed in (("Team B", lab.seeds[0]), ("Team A", lab.seeds[1]))
    )
    return lab


def figure_of(lab, seed):
    strategy = as_strategy(0, random_tensor(0, seed))
    return lab.assessor.assess(strategy, lambda share: None).exploitability(lab.assessor.game_value)


def submit(lab, name, seed):
    number = lab.submit(lab.tokens[name], 0, strategy_zip(0, seed))
    lab.run()
    return number


def page_of(lab, number):
    return lab.client.get(f"/submissions/{number}").text


def words(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_a_scale_has_its_marks_between_its_ends():
    assert scale(0.25, 0.5, 0.0).own == Mark(50.0, "middle")
    assert scale(0.25, 0.5, 0.0).uniform == Mark(98.0, "end") and scale(0.25, 0.5, 0.0).ahead == Mark(2.0, "start")
    assert scale(1.0, 0.5, None) == type(scale(1.0, 0.5, None))(Mark(98.0, "end"), Mark(50.0, "middle"), None)
    perfect = scale(0.0, None, None)  # and not divided by zero
    assert perfect.own == Mark(2.0, "start") and perfect.uniform is None
    assert scale(-1e-9, 0.5, None).own.at == 2.0, "rounding does not leave the scale"


def test_a_verdict_says_how_good_it_is_and_what_comes_next(compared):
    with compared.database.reading() as session:
        better, worse = (session.get(Submission, n).exploitability for n in (compared.better, compared.worse))
    page = page_of(compared, compared.worse)
    label = re.search(r'class="scale"[^>]* aria-label="([^"]+)"', page)[1]
    of_uniform = f"{standings_of_uniform(compared):.3f}"
    assert label == (
        f"On a scale from 0, perfect play, to {of_uniform}, random play: this strategy has {worse:.5f}, "
        f"the next better team {better:.5f}."
    )
    told = words(page)
    assert f"Next: Team B , with {better:.5f}; that is {worse - better:.5f} less." in told
    assert "Rank 2 of 3 as player 0." in told and "0 perfect" in told and f"{of_uniform} random" in told
    best = words(page_of(compared, compared.better))
    assert "Rank 1 of 3" in best and "Next: 0, which is perfect; no other team is better." in best


def standings_of_uniform(lab):
    with lab.database.reading() as session:
        return session.query(Submission).filter_by(id=1).one().exploitability


def test_a_verdict_behind_random_play_or_behind_the_teams_own_best(compared):
    rows = uniform(0) > 0
    tensor = rows * 1e-3
    first = rows.argmax(axis=1)
    tensor[range(len(tensor)), first] = 1 - 1e-3 * (rows.sum(axis=1) - 1)  # always the first square: easy to guess
    number = compared.submit(compared.tokens["Team A"], 0, zip_bytes(tensor, "pttt_pl0.npy"))
    compared.run()
    told = words(page_of(compared, number))
    assert "Next: random play, which loses less" in told
    assert f"The team’s best is submission {compared.worse}" in told and "Rank" not in told.partition("Opening")[0]


def test_programs_get_the_same(compared):
    told = compared.client.get(f"/api/submissions/{compared.worse}").json()
    other = compared.client.get(f"/api/submissions/{compared.better}").json()
    assert (told["rank"], told["ranks"], told["ahead_team"]) == (2, 3, "Team B")
    assert told["ahead"] == other["exploitability"] and told["uniform"] == pytest.approx(standings_of_uniform(compared))
    assert other["ahead"] is None and other["ahead_team"] is None and other["waits_for"] is None


def test_a_hidden_or_later_strategy_of_others_is_not_what_comes_next(compared):
    with compared.database.reading() as session:
        mine, theirs = session.get(Submission, compared.worse), session.get(Submission, compared.better)
        until = min(mine.counts_from, theirs.counts_from) - 1
        assert standings.compare(session, mine).ahead.id == theirs.id
        assert standings.compare(session, mine, until).ahead is None
        theirs.ruling = "hidden"
        session.flush()
        assert standings.compare(session, mine).ahead is None
        session.rollback()


def test_where_it_loses_stands_right_below_the_verdict(tmp_path, solved):
    course = Lab(tmp_path / "course", solution=str(solved))
    course.client = TestClient(app_of(course.course), base_url="http://course")
    course.team("Team A")
    number = course.submit(course.tokens["Team A"], 0, strategy_zip(0, 1))
    course.run()
    page = course.client.get("/sign-in").text
    course.client.post("/sign-in", data={"form_token": form_token(page), "token": course.tokens["Team A"]})
    page = page_of(course, number)
    assert page.index('class="scale"') < page.index(f"/submissions/{number}/mistakes") < page.index('class="pairs"')
    assert page.count("/mistakes") == 1
    course.client.cookies.clear()
    assert "/mistakes" not in page_of(course, number), "only its own team"
    course.close()


@pytest.mark.parametrize(
    ("sign", "told"),
    [
        (Sign(1.0, ""), ""),
        (Sign(1.0, "the game's index, about a minute"), "The machine prepares the game's index, about a minute."),
        (Sign(1.0, "The disk is full."), "Nothing can be judged at the moment: The disk is full."),
        (
            Sign(None, ""),
            "The process that judges is not running yet; if this stays for minutes, tell the instructors.",
        ),
    ],
)
def test_who_waits_is_told_for_what(sign, told):
    assert sign.words == told


def test_page_list_and_programs_say_what_is_waited_for(lab):
    number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 1))
    lab.storage.alive.write_text("the game's index, about a minute")
    told = "The machine prepares the game's index, about a minute."
    for path in (f"/submissions/{number}", "/submissions"):
        assert told in lab.client.get(path).text.replace("&#39;", "'"), path
    assert "in the queue" not in page_of(lab, number), "the place means nothing yet"
    assert lab.client.get(f"/api/submissions/{number}").json()["waits_for"] == told
    assert lab.client.get("/api/submissions").json()["submissions"][0]["waits_for"] == told
    lab.storage.alive.write_text("")
    assert "next in the queue" in page_of(lab, number)
    assert lab.client.get(f"/api/submissions/{number}").json()["waits_for"] is None


def test_signing_in_leads_people_with_rights_to_the_desk_which_is_in_their_menu(lab):
    with lab.database.writing() as session:
        tokens = {role: add_staff(session, role, f"{role}@example.org", role) for role in ("instructor", "assistant")}
    tokens["team"] = lab.team("Team A")
    ways = {"": "/course/desk", "/matrix": "/course/desk", "/course/desk/log": "/course/desk/log"}
    for who, token in tokens.items():
        for wanted, to in ways.items():
            lab.client.cookies.clear()
            sent = {"form_token": form_token(lab.client.get("/sign-in").text), "token": token, "to": wanted}
            answer = lab.client.post("/sign-in", data=sent, follow_redirects=False)
            assert answer.headers["location"] == (to if who != "team" else wanted or "/submissions"), (who, wanted)
        page = lab.client.get("/matrix").text
        assert ('<a href="/course/desk">Desk</a>' in page) == (who != "team")
    lab.client.cookies.clear()
    assert "Desk" not in lab.client.get("/").text


def test_the_menu_shows_the_desk_alone_as_the_page(lab):
    with lab.database.writing() as session:
        token = add_staff(session, "Ada", "ada@example.org", "instructor")
    sent = {"form_token": form_token(lab.client.get("/sign-in").text), "token": token}
    page = lab.client.post("/sign-in", data=sent).text
    assert re.findall(r'<a href="([^"]+)" aria-current="page">', page) == ["/course/desk"]
    assert '<a href="/course">Assignments</a>' in page


def test_while_standings_are_frozen_others_do_not_see_which_later_strategy_is_the_teams_best(compared):
    """Not even its number, on the page of an earlier one."""
    with compared.database.reading() as session:
        until = session.get(Submission, compared.worse).counts_from + 1e-6
    later = submit(compared, "Team A", compared.seeds[0] + 100)
    with compared.database.writing() as session:
        one = session.get(Submission, later)
        one.exploitability, one.best, one.begun_at = 0.0, True, until + 60
        session.get(Submission, compared.worse).best = False
    with compared.database.reading() as session:
        earlier = session.get(Submission, compared.worse)
        assert standings.compare(session, earlier, until, inside=True).best.id == later
        assert standings.compare(session, earlier, until).best is None, "it is the best that is public"
