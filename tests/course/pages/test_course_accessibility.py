"""Every page in every state, in a real browser, for axe-core.

The course runs in this process, so that a state is a row of its database.
"""

import time

import pytest
from fastapi import HTTPException

from pttt_ooc.course.data.agents_tables import Agent
from tests.course.games_kit import OTHER
from tests.course.pages.conftest import LONG
from tests.course.pages.test_course_beyond_axe import PAGES, choose
from tests.course.server_kit import strategy_zip
from tests.kits.browsing import LOOKS, assert_accessible, in_browser

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = in_browser
DECIDED = {
    "Ada": {
        "desk": "/course/desk",
        "desk-log": "/course/desk/log",
        "desk-team": "/course/desk/teams/2",
        "desk-submissions": "/course/desk/submissions",
        "desk-ruled": "/course/desk/submissions?state=ruled",
        "desk-nothing": "/course/desk/submissions?search=nobody",
        "desk-dry-run": "/course/desk/rejudgements/1",
        "desk-dry-run-begun": "/course/desk/rejudgements/2",
        "desk-rejudgement": "/course/desk/rejudgements/3",
        "desk-similar": "/course/desk/similar",
        "desk-game": f"/games/{OTHER}",
        "desk-agents": "/agents/rows",
        "desk-account": "/account",
    },
    "Team A": {
        "decided": "/course",
        "decided-hidden": "/submissions/4",
        "decided-agent": "/agents/rows/1",
        "decided-agent-failed": "/agents/rows/4",
        "decided-agents": "/agents/rows",
        "decided-pair": "/course/pairs/1",
        "decided-team": "/teams/2",
        "decided-account": "/account",
        "further-game": f"/games/{OTHER}",
        "further-strategy": f"/games/{OTHER}/submissions/3",
        "further-hand-in": "/leagues/cup/hand-in",
        "further-practice": "/leagues/cup/practice",
        "further-standings": "/leagues/cup/standings",
    },
    None: {
        "public-course": "/course",
        "public-sign-in": "/sign-in",
        "public-password": "/account/sign-in",
        "public-link": "/account/join#code",
    },
}
CASES = {
    **{f"empty-{name}": ("empty", None, PAGES[name]) for name in ("leaderboard", "matrix", "submissions")},
    **{f"full-{name}": ("full", None, path) for name, path in PAGES.items()},
    **{f"team-{name}": ("full", "Team A", PAGES[name]) for name in ("leaderboard", "submissions", "sign-in")},
    **{f"submission-{one}": ("full", "Team A", one) for one in ("Queued", "Evaluating", "Accepted", "Rejected")},
    **{name: ("decided", who, path) for who, paths in DECIDED.items() for name, path in paths.items()},
}
"""The course, who looks, and the address, or the status of the submission that is looked at."""

SMALL = """() => [...document.querySelectorAll('main button, main input:not([type=hidden]), main select, main summary')]
    .filter(one => one.offsetParent !== null && !one.closest('p, li'))
    .map(one => [one.outerHTML.slice(0, 120), (one.matches('[type=radio], [type=checkbox]') && one.closest('label')
        || one).getBoundingClientRect()])
    .filter(([text, box]) => box.width > 0 && (box.width < 24 || box.height < 24))
    .map(([text, box]) => `${text}: ${box.width} x ${box.height}`)"""
"""Targets below 24 x 24 pixels (WCAG 2.2, 2.5.8), which need no list of exceptions here."""


STATES = ("Queued", "Evaluating", "Accepted", "Rejected")


@pytest.mark.long_but("full-leaderboard", "empty-leaderboard", "team-submissions")
@pytest.mark.slow
@pytest.mark.long_but("-leaderboard", "team-submissions", "desk-team", "desk-sub", "-agents", "practice", "-course")
@pytest.mark.parametrize("name", CASES)
def test_pages_are_accessible(request, visit, name):
    site, who, path = CASES[name]
    lab = request.getfixturevalue(site)
    page = visit(lab, path if path.startswith("/") else f"/submissions/{lab.numbers[path]}", who)
    assert_accessible(page, name)
    assert page.errors == [] and (site != "decided" or page.evaluate(SMALL) == [])


@pytest.mark.long
@pytest.mark.parametrize("status", [401, 413, 429, 507])
def test_refused_uploads_are_accessible(full, visit, monkeypatch, status):
    """In the form, and as the page that a browser without scripts gets."""

    async def refused(*arguments):
        raise HTTPException(status, "There is a reason, and it is told in a sentence.")

    monkeypatch.setattr("pttt_ooc.course.pages.strategy_pages.from_browser", refused)
    page = visit(full, "/submissions", "No uploads")
    choose(page, strategy_zip(0, 78))
    page.get_by_role("button", name="Upload").click()
    sync_api.expect(page.locator("#told .bad")).to_contain_text("There is a reason")
    if status == 413:  # the same for all
        assert_accessible(page, "refused")
    with page.expect_navigation():
        page.evaluate("document.querySelector('form.upload').submit()")
    sync_api.expect(page.locator("main")).to_contain_text("There is a reason")
    assert_accessible(page, f"error-{status}", LOOKS[1:3])


@pytest.mark.slow
def test_a_wrong_token_is_accessible(full, visit):
    page = visit(full, "/sign-in")
    page.get_by_label("Your team’s token").fill("1.nonsense")
    page.get_by_role("button", name="Sign in").click()
    sync_api.expect(page.get_by_role("alert")).to_be_visible()
    assert_accessible(page, "sign-in-wrong")


@pytest.mark.slow
def test_a_table_alone_moves_while_agents_are_judged_and_has_nothing_to_press(decided, visit):
    page = visit(decided, f"/games/{OTHER}?alone=1")
    assert page.locator("table").count() == 2 and page.get_by_text("Team A").first.is_visible()
    page.goto("/agents/rows?alone=1")
    pressed = page.locator("button, form, details, nav, footer, .note, p.card")
    assert not any(one.is_visible() for one in pressed.all())
    teams = page.locator("#standings table").first.locator("tbody th bdi")
    sync_api.expect(teams).to_have_text(["Team A", LONG])
    with decided.database.writing() as session:
        agent = session.get(Agent, 2)
        agent.score, agent.changed_at = 0.9, time.time()
    sync_api.expect(teams).to_have_text([LONG, "Team A"])
    with decided.database.writing() as session:
        session.get(Agent, 2).score = 0.5
    assert page.locator("table").count() == 2 and not page.errors
    page.get_by_role("link", name="Score").click()
    page.wait_for_url("**/agents/rows?sort=score&alone=1")
    page.get_by_role("link", name="Score", exact=True).click()  # the arrow is not read out
    page.wait_for_url("**/agents/rows?sort=-score&alone=1")
    sync_api.expect(teams).to_have_text(["Team A", LONG])
