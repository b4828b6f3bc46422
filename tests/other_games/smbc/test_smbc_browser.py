"""The wing's pages in a real browser: by mouse, keyboard and touch; for axe-core on all screens."""

import random
import re

import pytest

from tests.kits.browsing import (
    OVER,
    PLACED,
    arrived,
    assert_board_first,
    assert_same_document,
    in_browser,
    mark_document,
    picture,
    press,
    served,
    set_sounds,
)
from tests.other_games.smbc.web_kit import application

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.slow, in_browser]
START = "/smbc/play"


@pytest.fixture(scope="module")
def url(coarse, tmp_path_factory):
    with application(coarse, tmp_path_factory.mktemp("kept"), random.Random(4).random) as app, served(app) as url:
        yield url


def begin(page, first="you"):
    page.get_by_label(first, exact=True).check()
    page.get_by_role("button", name="Begin").click()
    arrived(page, "#table")


def changed(page, act):
    """Do something, and wait until the table has another version."""
    before = page.locator("#table").get_attribute("data-version")
    act()
    page.locator(f'#table:not([data-version="{before}"])').wait_for()


def play_out(page, take, go_on):
    """Play a match to its end; return the number of rounds."""
    rounds = 1
    while not page.locator(".outcome").count():
        if page.locator("button.next").count():
            sync_api.expect(page.get_by_text("The bot’s goal was")).to_be_visible()
            changed(page, go_on)
            rounds += 1
        else:
            assert page.get_by_text("The bot’s goal").count() == 0
            changed(page, lambda: take(page.locator("button.cell.free").first))
    return rounds


def test_the_board_the_goal_and_the_score_are_on_the_first_screen(open_page):
    page = open_page()
    begin(page)
    assert_board_first(page, ".grid", ".said", ".goal")
    assert "You 0 : 0 the bot" in page.locator(".said").inner_text()
    while not page.locator("button.next").count():
        changed(page, lambda: page.locator("button.cell.free").first.click())
    assert_board_first(page, ".grid", ".said", "button.next")
    page.goto("/smbc/explore?squares=4")
    assert_board_first(page, ".grid", ".said")


def test_a_whole_match_by_keyboard(open_page):
    page = open_page()
    press(page, "Tab")
    while page.evaluate("document.activeElement.textContent") != "Begin":
        press(page, "Tab")
    press(page, "Enter")
    arrived(page, "#table")
    mark_document(page)

    def go_on():
        page.locator("button.next").focus()
        press(page, "Enter")

    rounds = play_out(page, lambda cell: press(page, cell.get_attribute("data-key")), go_on)
    for key, number in (("Home", 1), ("ArrowRight", 2), ("End", rounds)):
        press(page, key)
        sync_api.expect(page.get_by_text(f"Round {number} of {rounds}")).to_be_visible()
    assert_same_document(page)
    assert page.errors == []
    sync_api.expect(page.get_by_text("What the bot thought your goal was")).to_be_visible()
    picture(page, "smbc-match-over")


def test_a_whole_match_by_mouse(open_page):
    page = open_page()
    begin(page, "the bot")
    assert page.locator("button.cell.theirs").count() == 1
    set_sounds(page, False)
    changed(page, page.locator("button.cell.free").first.click)
    assert page.evaluate("heard") == []  # nobody has switched sounds on
    set_sounds(page, True)
    made = []

    def take(cell):
        made.append(cell.get_attribute("value"))
        cell.click()

    rounds = play_out(page, take, lambda: page.locator("button.next").click())
    heard = page.evaluate("heard")
    for tone in OVER:  # a tone for each of my moves, and the three of an end for the last one of a round
        assert heard.count(tone) == (len(made) if tone == PLACED else rounds)
    assert len(heard) == len(made) + 2 * rounds
    page.get_by_role("link", name="Another match").click()
    row = page.locator("table.results tbody tr")
    sync_api.expect(row).to_have_count(1)
    assert re.fullmatch(r"[45]\d\.\d{4} %", row.locator("td").nth(3).inner_text()) and page.errors == []


def test_a_whole_match_by_touch_on_a_phone(open_page):
    page = open_page(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page.get_by_label("you", exact=True).tap()
    page.get_by_role("button", name="Begin").tap()
    arrived(page, "#table")
    cell = page.locator("button.cell").first.bounding_box()
    assert min(cell["width"], cell["height"]) >= 44  # a finger's width
    play_out(page, lambda cell: cell.tap(), lambda: page.locator("button.next").tap())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") and page.errors == []


def test_a_match_without_scripts(open_page):
    page = open_page(java_script_enabled=False)
    begin(page)
    changed(page, page.locator("button.cell.free").first.click)
    page.wait_for_load_state()
    page.get_by_text("Give up").click()
    page.get_by_role("button", name="Give this match up").click()
    sync_api.expect(page.locator(".outcome")).to_contain_text("You have given this match up")


def test_exploring(open_page):
    page = open_page("/smbc/explore")
    page.locator('a.cell[aria-label^="Square 4,"]').click()
    sync_api.expect(page.locator(".said")).to_contain_text("To move: the second player (○)")
    page.locator('a.cell[aria-label^="Square 8,"]').focus()
    press(page, "Enter")
    sync_api.expect(page.locator(".said")).to_contain_text("To move: the first player (×)")
    page.locator(".settings summary").click()
    page.get_by_label("First player’s goal").select_option("tie")
    page.get_by_label("Second player’s points").select_option("1")
    page.get_by_role("button", name="Show").click()
    sync_api.expect(page.locator(".said")).to_contain_text("whose goal is to tie")
    assert "other=1" in page.url and "squares=48" in page.url
    page.locator(".settings summary").click()
    page.get_by_role("link", name="10", exact=True).click()
    sync_api.expect(page.locator(".settings summary")).to_contain_text("iteration 10")
    page.get_by_role("link", name="Undo").click()
    sync_api.expect(page.locator(".said")).to_contain_text("To move: the second player (○)")
    page.go_back()
    sync_api.expect(page.locator(".said")).to_contain_text("To move: the first player (×)")
    assert page.errors == []
