"""The tournament's pages in a real browser: both boards and what to do next, on a laptop and on a phone."""

import re
from contextlib import suppress

import pytest

from pttt_ooc.other_games.extreme.pages.exports import parts
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.kits.browsing import (
    PLACED,
    arrived,
    assert_accessible,
    assert_board_first,
    assert_same_document,
    in_browser,
    mark_document,
    pages_of,
    press,
    request_of,
    served,
    set_sounds,
)
from tests.other_games.extreme.bot_games_kit import Texts, pages
from tests.other_games.extreme.bot_kit import FIRST
from tests.other_games.extreme.match_kit import made

sync_api = pytest.importorskip("playwright.sync_api")
OVERLAPPING = """all => {
  const pieces = all.map(one => [...one.children].map(piece => piece.getBoundingClientRect()));
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return pieces.flatMap((own, n) => pieces.slice(n + 1, n + 12).flatMap((other, m) =>
    own.some(a => other.some(b => meet(a, b))) ? [[n + 1, n + m + 2]] : []));
}"""
pytestmark = [pytest.mark.slow, in_browser]


@pytest.fixture
def match(browser, tmp_path):
    """Opens a played match: its address, and how to open a page."""
    record = made(tmp_path / "t")
    name = record.state().played[0].pairing.name
    app = make_application(Shell("Extreme TicTacToe", "", parts(str(record.directory))))
    with served(app) as url, pages_of(browser, url) as opened:
        yield f"/extreme/matches/{name}", opened


def test_a_replay_by_scrubber_by_itself_and_by_the_space_bar(match):
    address, opened = match
    page = opened(f"{address}?ply=0")
    said, scrubber = page.locator(".said"), page.get_by_label("After move", exact=True)
    last = int(scrubber.get_attribute("max"))
    mark_document(page)
    scrubber.fill("7")  # as dragging does
    sync_api.expect(said).to_contain_text(f"Move 7 of {last}")
    sync_api.expect(page).to_have_url(re.compile("ply=7$"))
    sync_api.expect(scrubber).to_be_focused()
    press(page, "ArrowRight")  # a step of the scrubber itself
    sync_api.expect(said).to_contain_text(f"Move 8 of {last}")
    page.get_by_label("Speed").select_option("4")
    page.evaluate("document.activeElement.blur()")
    press(page, " ")
    sync_api.expect(page.get_by_role("button", name="Pause")).to_be_visible()
    sync_api.expect(said).to_contain_text(re.compile(rf"Move ([1-9]\d+) of {last}"))  # a busy machine may miss one
    press(page, " ")
    sync_api.expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert page.get_by_label("Speed").input_value() == "4"
    scrubber.fill(str(last - 1))
    sync_api.expect(said).to_contain_text(f"Move {last - 1} of {last}")  # the button is put in anew
    page.get_by_role("button", name="Play").click()
    sync_api.expect(said).to_contain_text(f"Move {last} of {last}")
    sync_api.expect(page.get_by_role("button", name="Play")).to_be_disabled()
    assert_same_document(page)
    assert page.errors == []


def test_of_two_steps_the_last_one_counts(match):
    """Also if the first one is answered last."""
    address, opened = match
    page = opened(f"{address}?ply=2")
    said, held = page.locator(".said"), []
    page.route(re.compile("ply=3$"), lambda route: held.append(route))
    page.get_by_role("link", name="On →").click()
    first = request_of(page, held)
    page.get_by_role("link", name="⇤ First").click()
    sync_api.expect(said).to_contain_text("Before the first of")
    with suppress(sync_api.Error):  # the browser has given it up
        first.continue_()
    page.wait_for_timeout(300)
    assert "Before the first of" in said.inner_text() and page.url.endswith("ply=0")
    assert all(error.startswith(("htmx:afterRequest", "htmx:sendAbort")) for error in page.errors), page.errors


def test_a_replay_without_scripts_has_a_scrubber_with_a_button(match):
    address, opened = match
    page = opened(f"{address}?ply=0", java_script_enabled=False)
    page.get_by_label("After move", exact=True).fill("5")
    page.get_by_role("button", name="Go").click()
    sync_api.expect(page.locator(".said")).to_contain_text("Move 5 of")
    assert not page.locator(".film").is_visible()


def test_a_position_alone_for_slides_is_gone_through_by_keys(match):
    address, opened = match
    page = opened(f"{address}?ply=0")
    press(page, "ArrowRight")
    sync_api.expect(page).to_have_url(re.compile("ply=1$"))
    page.get_by_role("link", name="Alone, for slides").click()
    sync_api.expect(page).to_have_url(re.compile("ply=1&alone=1$"))
    for hidden in (".top", ".steps", ".moves", "footer"):
        assert not page.locator(hidden).is_visible()
    assert_board_first(page, ".plane", ".said")
    press(page, "ArrowRight")
    sync_api.expect(page.locator(".said")).to_contain_text("Move 2 of")
    assert page.errors == []


def test_both_boards_and_the_steps_are_on_the_first_screen(match):
    address, opened = match
    page = opened(f"{address}?ply=5")
    assert_board_first(page, ".plane", ".said", ".steps")
    for width in (1280, 1060, 390):  # moves with their times and badges lie beside each other
        page.set_viewport_size({"width": width, "height": 800})
        assert page.locator(".moves li").evaluate_all(OVERLAPPING) == []
    press(page, "End")
    sync_api.expect(page.locator(".steps a[rel=next]")).to_have_count(0)
    assert_board_first(page, ".plane", ".said", ".steps")


def test_a_game_against_a_bot_shows_a_move_at_once_and_its_review_is_gone_through_by_keys(browser):
    with pages(Texts(own=FIRST)) as person, served(person.client.app) as url, pages_of(browser, url) as opened:
        page = opened("/extreme/play")
        page.get_by_role("button", name="Begin").click()
        cell = page.locator("button.cell[value='40']")
        cell.wait_for()
        page.wait_for_load_state()
        set_sounds(page, False)
        held = []
        page.route(re.compile(r"/extreme/play/\w{16}$"), lambda route: held.append(route))
        before = page.locator(".planes").inner_html()
        cell.click()
        sync_api.expect(cell).to_have_text("×")
        assert "mine" in cell.get_attribute("class")
        request_of(page, held).fulfill(status=503, body='<p class="bad">Busy.</p>', content_type="text/html")
        sync_api.expect(page.locator("#told")).to_contain_text("Busy.")
        assert page.locator(".planes").inner_html() == before
        cell.click()
        sync_api.expect(cell).to_have_text("×")
        request_of(page, held).continue_()
        page.locator("#table[data-ply='2'] button.cell.legal").first.wait_for()
        page.unroute_all()
        assert page.evaluate("heard") == []
        set_sounds(page, True)
        page.locator("button.cell.legal").first.click()
        page.locator("#table[data-ply='4'] button.cell.legal").first.wait_for()
        assert page.evaluate("heard") in ([PLACED], [PLACED, PLACED])  # the bot may answer before the page asks
        page.get_by_role("button", name="Hint").click()
        sync_api.expect(page.locator(".cell.best .p")).to_have_count(1)
        assert_board_first(page, ".plane", ".said")
        page.locator("summary", has_text="Resign").click()
        page.get_by_role("button", name="Give this game up as lost").click()
        page.get_by_role("link", name="Review").click()
        arrived(page, ".curve")
        sync_api.expect(page.locator(".said")).to_contain_text("You have resigned.")
        mark_document(page)
        press(page, "Home")
        sync_api.expect(page.locator(".said")).to_contain_text("Before move 1 of 4: you play (0, 4, 4)")
        assert page.locator(".moves [aria-current]").inner_text() == "× (0, 4, 4)"
        press(page, "ArrowRight")
        sync_api.expect(page.locator(".said")).to_contain_text("Before move 2 of 4: the bot plays (0, 3, 3)")
        assert_same_document(page)
        assert_board_first(page, ".plane", ".said", ".evaluation", ".steps")
        assert_accessible(page, "extreme-play-review")
        page.get_by_role("link", name="The game", exact=True).click()
        arrived(page, ".outcome")
        assert_accessible(page, "extreme-play-over")
