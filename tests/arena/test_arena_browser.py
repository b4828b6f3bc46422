"""The arena's pages in a real browser: by mouse, keyboard and touch; for axe-core on all screens."""

import re

import pytest
from arenapages import application
from browsing import assert_accessible, chromium, pages_of, picture, served

from pttt_ooc.arena.matches.runner import run
from pttt_ooc.arena.matches.settings import Match

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no chromium (Debian: apt-get install chromium)")


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    directory = tmp_path_factory.mktemp("arena")
    for text in ("ultimate", "extreme", "mnk:11x11+need5", "infinite:near+need4"):
        run(Match(text, ("random", "random"), 1), directory / text.partition(":")[0])
    run(Match("mnk:3x3+need3", ("random", "mcts:nodes=20"), 3), directory / "small")
    with application(directory) as app, served(app) as url:
        yield url


@pytest.fixture
def open_page(browser, url):
    with pages_of(browser, url) as opened:
        yield lambda path="/arena/matches", **options: opened(path, **{"locale": "en-GB", **options})


def test_a_replay_by_mouse_and_keyboard(open_page):
    page = open_page()
    page.get_by_role("link", name="small").click()
    page.get_by_role("link", name="Game 1").click()
    page.locator("#table").wait_for()
    page.evaluate("window.sameDocument = true")
    sync_api.expect(page.locator(".plane .cell.free")).to_have_count(0)
    sync_api.expect(page.locator(".plane .cell.legal")).to_have_count(9)
    page.get_by_role("link", name="On →").click()
    sync_api.expect(page.locator(".plane .cell.mine")).to_have_count(1)
    page.keyboard.press("ArrowRight")
    sync_api.expect(page.locator(".plane .cell.theirs")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    sync_api.expect(page.locator(".plane .cell.theirs")).to_have_count(0)
    page.get_by_role("link", name="Last").click()
    sync_api.expect(page.locator(".said")).to_have_text(re.compile("A draw.|wins."))
    page.go_back()
    sync_api.expect(page.locator(".plane .cell.mine")).to_have_count(1)
    assert page.evaluate("window.sameDocument === true") and page.errors == []


def test_a_replay_without_scripts(open_page):
    page = open_page("/arena/matches/replay?name=ultimate", java_script_enabled=False)
    for ply in range(1, 4):
        page.get_by_role("link", name="On →").click()
        assert page.locator(".plane .cell.mine, .plane .cell.theirs").count() == ply


@pytest.mark.parametrize("name", ["extreme", "infinite"])
def test_replays_are_accessible(open_page, name):
    page = open_page(f"/arena/matches/replay?name={name}&ply=30")
    picture(page, f"arena-{name}")
    assert_accessible(page, f"arena-replay-{name}")


def test_lists_are_accessible(open_page):
    page = open_page()
    assert_accessible(page, "arena-matches")
    page.goto("/arena/matches/one?name=small")
    assert_accessible(page, "arena-match")
