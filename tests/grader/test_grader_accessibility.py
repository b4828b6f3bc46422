"""Every page in every state, in a real browser: for axe-core, for the keyboard, and on narrow and wide screens.

The grader runs in this process, so that a state is a row of its database.
"""

import socket
import threading
from contextlib import contextmanager

import pytest
import uvicorn
from browsing import chromium, picture
from kit import Lab, random_tensor, strategy_zip, zip_bytes

from pttt_ooc.grader.models import Fact, Submission, Team

sync_api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no chromium (Debian: apt-get install chromium)")

LONG = "The Regret Minimisers of Room 32-144, MIT"[:40]
HEBREW = "צוות המשחקים"
MARKUP = "<img src=x onerror=alert(1)>"
UNBROKEN = "W" * 40


@contextmanager
def served(lab):
    """The application of `lab` on a port of its own, from a thread of this process."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(lab.client.app, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
        lab.close()


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A grader that has just started: no teams, no value of the game."""
    lab = Lab(tmp_path_factory.mktemp("empty") / "grader", game_value=None)
    with served(lab) as url:
        lab.url = url
        yield lab


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A grader with all kinds of teams, and submissions in all states."""
    lab = Lab(tmp_path_factory.mktemp("full") / "grader", submissions_per_hour=8)
    with lab.database.writing() as session:
        session.merge(Fact(name="value", value=[*lab.settings.game_value, "as the instructors have set it"]))
    lab.baseline()
    for name in ("Team A", LONG, UNBROKEN, HEBREW):
        lab.team(name)
    lab.team("No uploads")
    lab.team("Markup")
    with lab.database.writing() as session:
        session.query(Team).filter_by(name="Markup").one().name = MARKUP
    for seed, name in enumerate(("Team A", LONG, UNBROKEN, HEBREW, "Markup")):
        for player in (0, 1)[: 1 if name == HEBREW else 2]:
            lab.submit(lab.tokens[name], player, strategy_zip(player, seed, 1.0))
    lab.run()
    lab.submit(lab.tokens["Team A"], 0, strategy_zip(0, 31, 0.3))
    bad = random_tensor(0, 5)
    bad[17, 2] = -0.25
    lab.numbers = {"Accepted": 3, "Rejected": lab.submit(lab.tokens["Team A"], 0, zip_bytes(bad))}
    lab.run()
    for status in ("Queued", "Validating", "Evaluating"):
        lab.numbers[status] = lab.submit(lab.tokens["Team A"], 1, strategy_zip(1, 40 + len(status)))
        with lab.database.writing() as session:
            session.get(Submission, lab.numbers[status]).status = status
            session.get(Submission, lab.numbers[status]).progress = 0.4
    with served(lab) as url:
        lab.url = url
        yield lab


@pytest.fixture(scope="module")
def browser():
    from browsing import ARGUMENTS

    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def contexts(browser):
    """One window for each grader and team."""
    opened = {}

    def context(lab, name=None):
        if (lab, name) not in opened:
            opened[lab, name] = browser.new_context(base_url=lab.url, locale="en-GB", timezone_id="Asia/Tokyo")
            opened[lab, name].add_init_script(axe.Axe().axe_script)
            if name is not None:
                page = opened[lab, name].new_page()
                page.goto("/sign-in")
                page.get_by_label("Your team’s token").fill(lab.tokens[name])
                page.keyboard.press("Enter")
                page.wait_for_url("**/submissions")
                page.close()
        return opened[lab, name]

    return context


@pytest.fixture
def visit(contexts):
    """Open a page of a grader, as a team or as nobody."""
    pages = []

    def open_page(lab, path, name=None):
        page = contexts(lab, name).new_page()
        pages.append(page)
        answer = page.goto(path)
        assert answer.status == (404 if path == "/nothing" else 200)
        return page

    yield open_page
    for page in pages:
        page.close()


LOOKS = [("light", 1280, None), ("light", 390, None), ("dark", 1280, "color-contrast"), ("dark", 390, "color-contrast")]
BEST_PRACTICE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def assert_accessible(page, name):
    """No violation of axe-core's rules, light and dark, wide and on a phone; colours are all that a scheme changes."""
    told = []
    for scheme, width, rule in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        only = {"type": "rule", "values": [rule]} if rule else {"type": "tag", "values": BEST_PRACTICE}
        found = page.evaluate("only => axe.run({runOnly: only, resultTypes: ['violations']})", only)
        picture(page, f"{name}-{width}-{scheme}")
        for rule in found["violations"]:
            told += [(scheme, width, rule["id"], node["html"], node["failureSummary"]) for node in rule["nodes"]]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            told.append((scheme, width, "wider than the screen"))
    assert told == []


PAGES = {
    "leaderboard": "/",
    "matrix": "/matrix",
    "submissions": "/submissions",
    "team": "/teams/1",
    "about": "/about",
    "sign-in": "/sign-in",
    "api": "/api/docs",
    "not-found": "/nothing",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_new_grader_is_accessible(empty, visit, name):
    assert_accessible(visit(empty, PAGES[name]), f"empty-{name}")


MORE = {
    "leaderboard-0": "/?sort=0",
    "matrix-mean": "/matrix?rows=mean&columns=2",
    "team-2": "/teams/2",
    "team-long": "/teams/4",
    "team-one-player": "/teams/5",
    "submissions-rejected": "/submissions?status=Rejected&of=2",
    "submissions-none": "/submissions?status=Rejected&of=3",
}


@pytest.mark.parametrize("name", [*PAGES, *MORE])
def test_pages_are_accessible(full, visit, name):
    assert_accessible(visit(full, {**PAGES, **MORE}[name]), f"full-{name}")


@pytest.mark.parametrize("name", ["leaderboard", "matrix", "submissions", "sign-in"])
def test_pages_of_a_team_are_accessible(full, visit, name):
    assert_accessible(visit(full, PAGES[name], "Team A"), f"team-a-{name}")


@pytest.mark.parametrize("status", ["Queued", "Validating", "Evaluating", "Accepted", "Rejected"])
def test_submissions_are_accessible(full, visit, status):
    assert_accessible(visit(full, f"/submissions/{full.numbers[status]}", "Team A"), f"submission-{status}")
