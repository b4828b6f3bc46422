"""The JSON of Explore and Mistakes, and mirror images as one: numbers are the library's."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from fastapi.testclient import TestClient

from pttt_ooc.disk.numbers import decimals, probability
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.structures import engine_of
from pttt_ooc.library.questions.infoset import beliefs, following, numbers
from pttt_ooc.library.questions.mirror_merge import merge_infoset
from pttt_ooc.library.questions.profile import PreparedProfile
from tests.course.server_kit import GAME, strategy_zip
from tests.kits.patience import wait_until
from tests.site.explore.answerer_kit import answering, explored, ready, solve_game

RULES = named_game(GAME)


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    return solve_game(tmp_path_factory.mktemp("solved"), snapshot_every=2)


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """A strategy of player 0 that is not symmetric."""
    file = tmp_path_factory.mktemp("mine") / "mine.zip"
    file.write_bytes(strategy_zip(0, 7))
    return file


@pytest.fixture(scope="module")
def client(solved, tmp_path_factory):
    with answering(tmp_path_factory.mktemp("profiles"), solved.parent.parent) as made:
        yield made


@pytest.fixture(scope="module")
def pages(client, solved, mine):
    with TestClient(explored(client, solved, mine)) as made:
        yield made


@pytest.fixture(scope="module")
def profile(solved, mine):
    """Of the strategy that is not symmetric against uniform play."""
    pair = Strategy.read(str(mine), 0, RULES), Strategy.uniform(RULES, 1)
    return PreparedProfile.prepare(*pair, engine_of(RULES, "none"))


ASKED = "first=f1&second=uniform"


def told(pages, query):
    answer = ready(pages, f"/api/explore?{query}", waits='"preparing"')
    assert answer.status_code == 200, answer.text
    return answer.json()


def row(array):
    return [None if np.isnan(x) else pytest.approx(x, abs=1e-9) for x in array.tolist()]


ROWS = ("probabilities", "action_values", "best_action_values", "regrets", "fails")
SCALARS = ("value", "best_value", "own_reach", "opponent_reach", "joint_reach")


def assert_numbers(found, wanted):
    for name in ROWS:
        assert found[name] == row(getattr(wanted, name)), name
    for name in SCALARS:
        assert found[name] == pytest.approx(getattr(wanted, name), abs=1e-9), name
    assert found["legal"] == list(wanted.legal) and found["arbitrary"] == wanted.arbitrary


def assert_beliefs(found, wanted):
    assert found["marks"] == pytest.approx(wanted.marks.tolist(), abs=1e-9)
    assert found["empty"] == pytest.approx(wanted.empty.tolist(), abs=1e-9)
    boards = [(one["mine"], one["theirs"]) for one in found["boards"]]
    assert boards == [(one.mine, one.theirs) for one in wanted.boards]
    assert [one["probability"] for one in found["boards"]] == pytest.approx([b.probability for b in wanted.boards])
    assert dict(map(tuple, found["attempts"])) == pytest.approx(dict(wanted.opponent_attempts))


def assert_outcomes(found, wanted):
    assert [(one["square"], one["placed"], one["infoset"]) for one in found] == [
        (one.square, one.placed, one.infoset) for one in wanted
    ]
    for name in ("probability", "returns", "wins", "draws", "loses"):
        numbers_told = [one[name] for one in found]
        assert numbers_told == row(np.array([getattr(one, name) for one in wanted])), name


@pytest.mark.long_but("0-|-1")
@pytest.mark.slow
@pytest.mark.parametrize(("player", "infoset", "square"), [(0, "|", 1), (0, "|5*0.", 4), (1, "|0.4*", 5)])
def test_json_has_the_numbers_of_the_library(pages, profile, player, infoset, square):
    found = told(pages, f"{ASKED}&player={player}&at={infoset}&square={square}")
    assert (found["game"], found["player"], found["infoset"]) == (GAME, player, infoset)
    assert found["strategies"] == ["f1", "uniform"] and found["beside"] is None
    assert found["value"] == pytest.approx(profile.evaluation.value)
    best = (profile.evaluation.best_response_0, profile.evaluation.best_response_1)
    assert found["best_responses"] == pytest.approx(best)
    assert_numbers(found["numbers"], numbers(profile, player, infoset))
    assert_beliefs(found["beliefs"], beliefs(profile.index, profile.strategies[1 - player], player, infoset, 6))
    assert_outcomes(found["outcomes"], following(profile, player, infoset, square))
    assert (found["images"], found["merged"]) == ([infoset], False)


@pytest.mark.slow
@pytest.mark.parametrize(("player", "infoset", "square"), [(0, "|", 2), (0, "|1*", 2), (1, "|0.4*", 5)])
def test_mirror_images_are_merged(pages, profile, player, infoset, square):
    found = told(pages, f"{ASKED}&player={player}&at={infoset}&square={square}&symmetry=merged")
    wanted = merge_infoset(profile, player, infoset, square, 6)
    assert_numbers(found["numbers"], wanted.numbers)
    assert_beliefs(found["beliefs"], wanted.beliefs)
    assert_outcomes(found["outcomes"], wanted.outcomes)
    assert found["images"] == list(wanted.images) and found["merged"]
    assert found["classes"] == [list(one) for one in wanted.classes]
    if player == 0:
        assert found["numbers"]["probabilities"] != row(numbers(profile, player, infoset).probabilities)


@pytest.mark.slow
def test_the_merged_board_shows_a_class_on_its_first_square(pages, profile):
    page = ready(pages, f"/explore?{ASKED}&symmetry=merged&square=5").text
    wanted = merge_infoset(profile, 0, "|").numbers
    board = page[page.index('id="board1"') :]
    board = board[: board.index("</svg>")]
    said = re.findall(r'data-square="(\d)" aria-label="([^"]*)"', board)
    corners, middles = (sum(wanted.probabilities[list(one)]) for one in ((0, 2, 3, 5), (1, 4)))
    values = [decimals(wanted.action_values[s], 3) for s in (0, 1)]
    own = "in the support of this strategy"
    assert [label for _, label in said] == [
        f"Squares 0, 2, 3 and 5 together: probability {probability(corners)}, value {values[0]}, {own}",
        f"Squares 1 and 4 together: probability {probability(middles)}, value {values[1]}, {own}",
        *(f"Square {s}: mirrors square {first}" for s, first in ((2, 0), (3, 0), (4, 1), (5, 0))),
    ]
    assert "Square 0 is" in page and page.count('<tr><th scope="row">') >= 2
    targets = {
        int(s): parse_qs(urlsplit(unescape(a)).query)
        for a, s in re.findall(r'href="([^"]*)"[^>]*data-square="(\d)"', board)
    }
    assert {s: query["square"] for s, query in targets.items()} == {
        0: ["0"],
        1: ["1"],
        2: ["0"],
        3: ["0"],
        4: ["1"],
        5: ["0"],
    }
    assert {query["symmetry"][0] for query in targets.values()} == {"merged"}
    rows = re.findall(r'<tr[^>]*><th scope="row">([\d, ]+)</th><td>([^<]*)</td>', page)
    assert rows == [("0, 2, 3, 5", probability(corners)), ("1, 4", probability(middles))]


@pytest.mark.long
def test_json_of_a_snapshot_a_best_response_and_another_strategy(pages):
    offered = told(pages, ASKED)["offered"]
    assert [one["key"] for one in offered] == ["solution", "f1", "uniform"]
    assert [one["players"] for one in offered] == [[0, 1], [0], [0, 1]]
    assert [len(one["snapshots"]) > 3 for one in offered] == [True, False, False]
    found = told(pages, "iteration=2&second=uniform")
    assert found["iteration"] == 2 and found["numbers"] != told(pages, "second=uniform")["numbers"]
    reply = told(pages, f"{ASKED}&second_plays=best")
    assert reply["plays"] == ["average", "best"] and reply["value"] == pytest.approx(-reply["best_responses"][1])
    beside = told(pages, f"{ASKED}&beside=uniform")
    assert beside["beside"]["probabilities"] == pytest.approx([1 / 6] * 6)


def test_what_is_refused_is_json_too(pages):
    answer = pages.get("/api/explore?at=|0*0*")
    assert answer.status_code == 404
    assert answer.json()["nearest"] == "|0*" and "attempted twice" in answer.json()["error"]
    for query, status in (("first=nothing", 404), ("player=2", 422), ("symmetry=x", 422), ("iteration=3", 404)):
        answer = pages.get(f"/api/explore?{query}")
        assert answer.status_code == status and answer.json()["error"].endswith(".")
    assert pages.get("/api/explore", headers={"Authorization": "Bearer x"}).status_code == 404, "there are no accounts"


def test_progress_of_a_preparation_is_reported(pages, monkeypatch):
    waiting = {"step": "values of all infosets", "share": 0.3, "ahead": 2}
    monkeypatch.setattr("pttt_ooc.site.explore.profile_cache.Profiles.find", lambda self, pair: waiting)
    answer = pages.get(f"/api/explore?{ASKED}")
    assert (answer.status_code, answer.json()) == (202, {"preparing": waiting})
    assert answer.headers["Retry-After"] == "1"


def test_the_interface_is_described(pages):
    described = pages.get("/api/openapi.json").json()
    asked = {p["name"] for p in described["paths"]["/api/explore"]["get"]["parameters"]}
    others = {"first", "second", "first_plays", "second_plays", "symmetry", "beside", "iteration"}
    assert asked == {"game", "player", "at", "square", *others}
    assert "ExploreOut" in described["components"]["schemas"] and "Counterfactual" in pages.get("/api/docs").text


# ---------------------------------------------------------------------------------------------
# In a course


@pytest.mark.slow
def test_only_its_own_team_reads_a_submission(course):
    number = course.submit(course.tokens["Team A"], 0, strategy_zip(0, 1))
    course.run()
    tokens = {name: {"Authorization": f"Bearer {course.tokens[name]}"} for name in ("Team A", "Team B")}
    for path in (f"/api/explore?first=s{number}&second=uniform", f"/api/submissions/{number}/mistakes"):
        own = ready(course.client, path, waits='"preparing"', headers=tokens["Team A"])
        assert own.status_code == 200, own.text
        assert course.client.get(path, headers=tokens["Team B"]).status_code == 404
        assert course.client.get(path).status_code in (401, 404)
        assert course.client.get(path, headers={"Authorization": "Bearer 1.x"}).status_code == 401
    found = own.json()
    parts = found["own_mistakes"] + found["openings"] + found["remainder"]
    assert found["exploitability"] == pytest.approx(parts, abs=1e-12)
    verdict = course.client.get(f"/api/submissions/{number}").json()["exploitability"]
    assert found["exploitability"] == pytest.approx(verdict, abs=1e-6)
    losses = [one["loss"] for one in found["infosets"] if one["kind"] == "own mistake"]
    losses = [loss for loss in losses if loss > 1e-12]  # the others are rounding
    assert losses == sorted(losses, reverse=True) and len(losses) > 3
    assert sum(found["by_depth"]["own_mistakes"]) == pytest.approx(found["own_mistakes"], abs=1e-9)
    own_offers = course.client.get("/api/explore?first=uniform&second=uniform", headers=tokens["Team A"])
    if own_offers.status_code == 200:
        assert f"s{number}" in [one["key"] for one in own_offers.json()["offered"]]


@pytest.mark.slow
def test_people_can_play_against_best_responses_to_open_submissions(course):
    closed = course.submit(course.tokens["Team A"], 0, strategy_zip(0, 1))
    opened = course.submit(course.tokens["Team B"], 0, strategy_zip(0, 2))
    course.run()
    course.sign_in(course.tokens["Team B"])
    page = course.client.get(f"/submissions/{opened}").text
    token = re.search(r'name="form_token" value="(\w+)"', page)[1]
    course.client.post(f"/submissions/{opened}/play", data={"form_token": token, "open": "yes"})
    lobby = course.client.get("/play").text
    offered = re.findall(r'name="opponent" value="([^"]*)" data-sides="([\d ]*)"', lobby)
    assert offered == [
        ("solution", "0 1"),
        ("uniform", "0 1"),
        (f"s{opened}", "1"),
        ("reply-solution", "0 1"),
        ("reply-uniform", "0 1"),
        (f"reply-s{opened}", "0"),
    ]
    assert f"s{closed}" not in lobby and "Best response to Team B" in lobby
    token = re.search(r'name="form_token" value="(\w+)"', lobby)[1]
    for key, player, status in (
        (f"reply-s{closed}", "0", 404),
        (f"reply-s{opened}", "1", 404),
        ("reply-", "0", 404),
        (f"reply-s{opened}", "0", 200),
    ):
        form = {"form_token": token, "opponent": key, "player": player}

        def begun(form=form):
            return course.client.post("/play", data=form)

        wait_until(lambda: "Getting the opponent ready" not in begun().text)
        assert begun().status_code == status, key
