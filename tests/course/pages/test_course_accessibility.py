"""Every page in every state, in a real browser, for axe-core.

The course runs in this process, so that a state is a row of its database.
"""

import time

import pytest
from fastapi import HTTPException

from pttt_ooc.course.data.agents_tables import Agent
from tests.course.games_kit import OTHER
from tests.course.pages.conftest import LONG
from tests.course.pages.test_course_beyond_axe import choose
from tests.course.server_kit import strategy_zip
from tests.kits.browsing import LOOKS, assert_accessible, in_browser

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = in_browser


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
    page.get_by_label("Your token").fill("1.nonsense")
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
