"""The wing's pages through HTTP: matches, views, positions, and refusals."""

import html
import itertools
import json
import random
import re
import sqlite3
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import pytest

from pttt_ooc.other_games.smbc import match_play
from pttt_ooc.other_games.smbc.inspection import Lookouts
from pttt_ooc.other_games.smbc.oriented_position import Place
from pttt_ooc.other_games.smbc.rules import BOTH, FIRST, GOALS, SECOND, TIE
from pttt_ooc.other_games.smbc.vocabulary import end_for
from pttt_ooc.other_games.smbc.wing import MATCHES
from pttt_ooc.site.play.game_store import UNDER_WAY
from tests.kits.columns import assert_one_form_a_column
from tests.other_games.smbc.web_kit import Browser, application


@pytest.fixture(scope="module")
def served(coarse, tmp_path_factory):
    kept = tmp_path_factory.mktemp("kept")
    with application(coarse, kept, random.Random(2).random) as app:
        app.kept = kept
        yield app


@pytest.fixture
def browser_of(served):
    return lambda: Browser(served)


def version(text):
    return re.search(r'data-version="(\d+)"', text)[1]


def free(text):
    return re.findall(r'class="cell free[^"]*" name="square" value="(\d)"', text)


def row(app, id):
    with sqlite3.connect(app.kept / MATCHES) as database:
        return json.loads(database.execute("select match from matches where id = ?", (id,)).fetchone()[0])


def play_round(browser, match):
    """Play a round to its end; return the page."""
    page = browser.get(match).text
    while "The round is decided" not in page:
        answer = browser.post(f"{match}/moves", version=version(page), square=free(page)[0])
        assert answer.status_code == 303, answer.text
        page = browser.get(match).text
    return page


LINES = [
    {a, a + step, a + 2 * step}
    for step, begins in ((1, (0, 3, 6)), (3, (0, 1, 2)), (4, (0,)), (2, (2,)))
    for a in begins
]


@pytest.mark.slow
def test_a_whole_match(served, browser_of):
    browser = browser_of()
    match = browser.begin("me")
    id = match.rpartition("/")[2]
    for number in itertools.count(1):
        page = play_round(browser, match)
        kept = row(served, id)
        last = kept["rounds"][-1]
        assert len(kept["rounds"]) == number and f"goal was <strong>{GOALS[last['goals'][1]]}" in page
        assert page.count(" %</td>") % 3 == 0 and "What the bot thought" in page
        assert f'data-sound="over {len(last["squares"])}"' in page
        marks = [{*last["squares"][side::2]} for side in (0, 1)]
        made = any(line <= own for line in LINES for own in marks)
        assert ("No further move" in page) == (not made and len(last["squares"]) < 9)
        assert_explored(browser, page, last)
        if "the match, at" in page:
            break
        assert browser.post(f"{match}/rounds", version=version(page)).status_code == 303
    winner = "You have won" if kept_points(kept)[0] >= 2 else "The bot has won"
    assert winner in page
    lobby = browser.get("/smbc/play").text
    assert ("Won, " if winner.startswith("You") else "Lost, ") in lobby and "Your results" in lobby
    assert re.search(r"<td>1</td><td>[01]</td><td class=\"figure\">(100|0)\.0 %</td><td>4\d\.\d{4} %</td>", lobby)
    assert_one_form_a_column(browser.client, "/smbc/play", 3)  # results, what the bot thought, moves
    refused = browser.post(f"{match}/rounds", version=version(page))
    assert refused.status_code == 409 and "This match is over" in refused.text


def test_a_shared_match_is_seen_round_by_round_without_the_cookie(browser_of):
    browser, stranger = browser_of(), browser_of()
    match = browser.begin("me")
    page = play_round(browser, match)
    assert stranger.get(match + "/shared").status_code == 404
    if "Next round" in page:
        assert browser.get(match + "?round=1").status_code == 404  # the match is not over
        browser.post(f"{match}/rounds", version=version(page))
        browser.post(f"{match}/resignation", version=version(browser.get(match).text))
    assert browser.post(f"{match}/share").status_code == 303
    seen = [stranger.get(f"{match}/shared{which}") for which in ("", "?round=1", "?round=9")]
    assert [one.status_code for one in seen] == [200, 200, 404] and stranger.get(match).status_code == 404
    words = re.sub("<[^>]*>", "", seen[1].text.partition("<main")[2])
    assert (
        "The round is decided" in words and "The player" in words and not re.search(r"\b[Yy]ours?\b|\b[Yy]ou\b", words)
    )
    assert '/share"' not in seen[1].text.partition("<main")[2]
    assert browser.post(f"{match}/share", stop="1").status_code == 303
    assert stranger.get(match + "/shared").status_code == 404


def test_a_hint_is_what_the_solution_plays_and_the_match_is_in_no_record(served, browser_of):
    browser = browser_of()
    match = browser.begin("me")
    page = browser.get(match).text
    assert 'class="p"' not in page
    assert browser.post(f"{match}/hints", version="7").status_code == 409
    assert browser.post(f"{match}/hints", version=version(page)).status_code == 303
    page = browser.get(match).text
    shown = {
        int(square): float(p) for square, p in re.findall(r'value="(\d)"[^>]*>.*?<span class="p">([\d.]+)</span>', page)
    }
    now = row(served, match.rpartition("/")[2])["rounds"][-1]
    solution = Lookouts(served.solution).solution
    strategy = solution.profiles[0, 0].strategy[:, now["goals"][0]].tolist()
    assert shown == {s: pytest.approx(p, abs=6e-4) for s, p in Place.of(solution.tree, ()).chances(strategy).items()}
    browser.post(f"{match}/moves", version=version(page), square="4")
    page = browser.get(match).text
    assert 'class="p"' not in page and '<span class="badge">hints</span>' in page
    browser.post(f"{match}/resignation", version=version(page))
    lobby = browser.get("/smbc/play").text
    assert "in no record" in lobby and "Your results" not in lobby


def assert_explored(browser, page, last):
    """The link of a finished round leads to it: the same moves, with the first player first."""
    address = html.unescape(re.search(r'href="(/smbc/explore[^"]+)"', page.partition("<main")[2])[1])
    asked = {key: values[0] for key, values in parse_qs(urlsplit(address).query).items()}
    first, second = (last["first"], 1 - last["first"])
    assert [int(asked[key]) for key in ("mine", "other")] == [last["points"][first], last["points"][second]]
    assert [int(asked[key]) for key in ("first", "second")] == [last["goals"][first], last["goals"][second]]
    assert [int(digit) for digit in asked["squares"]] == last["squares"]
    assert "The round is decided" in browser.get(address).text


def kept_points(kept):
    last = kept["rounds"][-1]
    goals = (last["goals"][last["first"]], last["goals"][1 - last["first"]])
    scored = match_play.scores(last["outcome"], goals)
    return tuple(p + s for p, s in zip(last["points"], (scored[last["first"]], scored[1 - last["first"]]), strict=True))


def test_no_answer_during_a_round_depends_on_the_bots_goal(served, browser_of):
    """The same round with each goal of the bot gives the same bytes, in all addresses that a person can ask."""
    browser = browser_of()
    match = browser.begin("me")
    page = browser.get(match).text
    browser.post(f"{match}/moves", version=version(page), square="4")
    id, sent = match.rpartition("/")[2], []
    for goal in range(3):
        content = row(served, id)
        content["rounds"][-1]["goals"][1] = goal
        with sqlite3.connect(served.kept / MATCHES) as database:
            database.execute("update matches set match = ? where id = ?", (json.dumps(content), id))
        paths = (match, "/smbc/play", f"/smbc/explore?mine=0&other=0&squares=4{content['rounds'][-1]['squares'][1]}")
        answers = [browser.get(path) for path in paths]
        part = browser.client.get(match, headers={"HX-Request": "true"})
        assert all(answer.status_code == 200 for answer in (*answers, part))
        sent.append([answer.text for answer in (*answers, part)] + [sorted(browser.client.cookies.items())])
    assert sent[0] == sent[1] == sent[2]
    assert "The bot’s goal" not in sent[0][0]


def test_a_move_counts_once_and_only_for_the_owner(browser_of):
    browser, stranger = browser_of(), browser_of()
    match = browser.begin("bot")
    page = browser.get(match).text
    square, now = free(page)[0], version(page)
    assert browser.post(f"{match}/moves", version=now, square=square).status_code == 303
    again = browser.post(f"{match}/moves", version=now, square=free(page)[1])
    assert again.status_code == 409 and "This has been done already; nothing has changed." in again.text
    later = browser.get(match).text
    assert f'data-version="{version(later)}"' in again.text and "This is the game as it is now." in again.text
    taken = browser.post(f"{match}/moves", version=version(later), square=square)
    assert taken.status_code == 409 and f"Square {square} is taken" in taken.text
    early = browser.post(f"{match}/rounds", version=version(later))
    assert early.status_code == 409 and "This round is not over yet." in early.text
    assert browser.get(match).text == later
    for path, fields in ((match, None), (f"{match}/moves", {"version": "1", "square": "0"})):
        answer = stranger.get(path) if fields is None else stranger.post(path, **fields)
        assert answer.status_code == 404 and "There is no such match of yours." in answer.text


@pytest.mark.parametrize(
    ("path", "fields", "status", "sentence"),
    [
        ("moves", {"version": "0", "square": "9"}, 400, "Choose a square of the board."),
        ("moves", {"version": "0", "square": "²"}, 400, "Choose a square of the board."),
        ("moves", {"version": "0"}, 400, "Choose a square of the board."),
        ("moves", {"version": "-1", "square": "0"}, 400, "The form does not say which move this is"),
        ("rounds", {}, 400, "The form does not say which move this is"),
        ("resignation", {"version": "7"}, 409, "This has been done already"),
    ],
)
def test_bad_forms_get_sentences(browser_of, path, fields, status, sentence):
    browser = browser_of()
    match = browser.begin("me")
    answer = browser.post(f"{match}/{path}", **fields)
    assert answer.status_code == status and sentence in answer.text


def test_a_resigned_match_is_lost(served, browser_of):
    browser = browser_of()
    match = browser.begin("chance")
    assert browser.post(f"{match}/resignation", version="0").status_code == 303
    page = browser.get(match).text
    assert "You have given this match up" in page and "The bot’s goal" not in page
    assert "given up" in browser.get("/smbc/play").text


def test_a_match_does_not_continue_against_another_solution(served, browser_of):
    browser = browser_of()
    match = browser.begin("me")
    with sqlite3.connect(served.kept / MATCHES) as database:
        database.execute("update matches set solution = 'other' where id = ?", (match.rpartition("/")[2],))
    answer = browser.post(f"{match}/moves", version="0", square="0")
    assert answer.status_code == 409 and "The solution has changed since this match began" in answer.text
    assert browser.post(f"{match}/resignation", version="0").status_code == 303
    assert "Your results" not in browser.get("/smbc/play").text


def test_the_number_of_open_matches_is_limited(browser_of):
    browser = browser_of()
    for _ in range(UNDER_WAY):
        browser.begin()
    assert browser.post("/smbc/play", first="nobody").status_code == 400
    assert browser.client.post("/smbc/play", data={"first": "me"}).status_code == 403  # a form of another site
    answer = browser.post("/smbc/play", first="me")
    assert answer.status_code == 429 and f"You have {UNDER_WAY} matches under way" in answer.text


def test_a_position_shows_the_solution(coarse, browser_of):
    page = browser_of().get("/smbc/explore?mine=1&other=0&first=2&second=1&squares=84").text
    lookouts = Lookouts(coarse)
    seen = lookouts.lookout((1, 0)).see(Place.of(lookouts.solution.tree, (8, 4)), (2, 1))
    assert "To move: the first player (×), whose goal is to lose." in page
    for move in seen.moves:
        assert f'<td class="figure">{move.average:.5f}</td>' in page
    assert "move 1" in page and "move 2" in page and f"{abs(seen.value):.6f}" in page
    first = browser_of().get("/smbc/explore?iteration=0").text
    assert first.count("0.083") == 16 and "probability 0.3333" in first
    old = browser_of().get("/smbc/explore?mine=1&first=2&at=95&iteration=0")
    assert old.status_code == 308  # squares counted from 1
    assert old.headers["location"] == "/smbc/explore?mine=1&other=0&first=2&second=0&squares=84&iteration=0"
    over = browser_of().get("/smbc/explore?squares=03142").text
    assert "The round is decided: three in a row for the first player." in over and '<a class="cell' not in over


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ("mine=2", 404, "No round begins at 2-0; scores are 0 to 1."),
        ("squares=00", 404, "Square 0 is taken"),
        ("squares=9", 404, "are not squares"),
        ("squares=031426", 404, "The round is decided; no move is left."),
        ("iteration=7", 404, "There is no snapshot of iteration 7"),
        ("first=3", 422, ""),
    ],
)
def test_positions_that_do_not_exist(browser_of, query, status, sentence):
    answer = browser_of().get(f"/smbc/explore?{query}")
    assert answer.status_code == status and sentence in answer.text


@pytest.mark.slow
def test_the_web_process_imports_no_numerics():
    program = (
        "import sys, pttt_ooc.other_games.smbc.pages.part, pttt_ooc.site.shell.server\n"
        "print([name for name in ('numpy', 'numba', 'zarr', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_end_of_a_round_is_told_to_the_one_who_sees_it():
    for first, ends in ((True, (FIRST, SECOND)), (False, (SECOND, FIRST))):
        told = [end_for(outcome, first) for outcome in (*ends, TIE, BOTH)]
        assert told == [f"{who} made three in a row" for who in ("You", "The bot", "Nobody", "You both")]
