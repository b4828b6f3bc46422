"""Explore in a real browser: by mouse, by keyboard, by address; for axe-core, on narrow and wide screens."""

import random
import re
from contextlib import suppress
from urllib.parse import parse_qs, urlsplit

import pytest

from benchmarks.browsing import Wire, play, visit
from pttt_ooc.course.data.models import Fact
from pttt_ooc.course.server.strategy_parts import app_of, parts_of
from pttt_ooc.games.rules.catalogue import EXACT_VALUES
from pttt_ooc.site.explore import pages
from tests.course.server_kit import Lab, strategy_zip
from tests.kits.browsing import (
    DESKTOP,
    SCREENS,
    WIDTHS,
    assert_accessible,
    assert_board_first,
    assert_same_document,
    in_browser,
    mark_document,
    pages_of,
    patient,
    press,
    request_of,
    served,
    sign_in,
)
from tests.kits.patience import wait_until
from tests.site.explore.answerer_kit import answering, explored

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.slow, in_browser]


@pytest.fixture(scope="module")
def url(solved, prepared):
    """The pages on a local solution."""
    with answering(prepared, solved.parent.parent) as client, served(explored(client, solved)) as url:
        yield url


@pytest.fixture(scope="module")
def course(solved, prepared, tmp_path_factory):
    """A course with one team, and the number of its submission."""
    directory = tmp_path_factory.mktemp("course")
    with answering(prepared, solved.parent.parent) as client:
        lab = Lab(directory / "course", solution=str(solved))
        lab.show_solution()
        with lab.database.writing() as session:
            session.merge(Fact(name="value", value=[*lab.settings.game_value, "as the instructors have set it"]))
        lab.number = lab.submit(lab.team("Team A"), 0, strategy_zip(0, 3))
        lab.run()
        with served(app_of(lab.course, *parts_of(lab.course, client))) as lab.url:
            yield lab
        lab.close()


@pytest.mark.long
def test_from_a_submission_to_its_mistakes_and_into_explore(course, browser):
    context = patient(browser.new_context, base_url=course.url, viewport=DESKTOP)
    page = context.new_page()
    sign_in(page, course.tokens["Team A"])
    page.goto(f"/submissions/{course.number}")
    page.get_by_role("link", name="Where it loses").click()
    sync_api.expect(page.get_by_role("heading", name="The worst infosets")).to_be_visible()
    assert_accessible(page, "mistakes")
    worst = page.locator("#mistakes .numbers tbody a").first
    infoset = worst.locator("code").inner_text()
    worst.click()
    expect_at(page, infoset)
    assert f"s{course.number}" in asked(page)["first"]
    context.close()


@pytest.fixture
def open_page(browser, url):
    with pages_of(browser, url) as any_page:

        def opened(path, ready=True, **options):
            page = any_page(path, **options)
            if ready:
                if options.get("java_script_enabled", True):
                    page.locator("#board1").wait_for()
                else:
                    wait_until(lambda: page.goto(path) and page.locator("#board1").count())
            return page

        yield opened


def at(page):
    return asked(page).get("at", ["|"])[0]


def asked(page):
    """What the address asks for; the browser is asked, as playwright learns of a change only when it is talked to."""
    return parse_qs(page.evaluate("location.search")[1:])


def expect_at(page, infoset):
    """The infoset is in the address, in the field, and in the title."""
    sync_api.expect(page.locator("#at")).to_have_value(infoset)
    wait_until(lambda: at(page) == infoset, told=lambda: at(page))
    sync_api.expect(page).to_have_title(re.compile(re.escape(infoset)))
    sync_api.expect(page.locator("#board1")).to_be_visible()


def square(page, number):
    return page.locator(f'#board1 [data-square="{number}"]')


def test_by_mouse_through_a_game_and_back(open_page):
    page = open_page("/explore")
    mark_document(page)
    square(page, 5).click()
    page.get_by_role("link", name="placed", exact=True).click()
    expect_at(page, "|5*")
    square(page, 0).click()
    sync_api.expect(page.locator(".ways")).to_contain_text("Square 0 is")
    page.get_by_role("link", name="failed", exact=True).click()
    expect_at(page, "|5*0.")
    sync_api.expect(page.locator("#said")).to_contain_text("placed 5, found 0 occupied")
    page.get_by_role("link", name="Undo").click()
    expect_at(page, "|5*")
    page.locator(".steps").get_by_role("link", name="start").click()  # the first card
    expect_at(page, "|")
    for infoset in ("|5*", "|5*0."):
        page.go_back()
        expect_at(page, infoset)
    page.go_forward()
    expect_at(page, "|5*")
    page.get_by_role("link", name="Undo").click()
    expect_at(page, "|")
    for outcome, infoset in (("0 placed", "|0*"), ("4 failed", "|0*4.")):  # one click an attempt
        page.locator(f'.action a[aria-label^="{outcome}"]').click()
        expect_at(page, infoset)
    assert_same_document(page)
    assert page.errors == []


def test_of_two_clicks_the_last_one_counts(open_page):
    """Also if the first one is answered last."""
    page = open_page("/explore?at=%7C5*")
    expect_at(page, "|5*")
    held = []
    page.route(lambda url: parse_qs(urlsplit(url).query).get("at", ["|"]) == ["|"], lambda route: held.append(route))
    page.get_by_role("link", name="Undo").click()
    first = request_of(page, held)
    page.locator('.action a[aria-label^="0 placed"]').click()
    expect_at(page, "|5*0*")
    with suppress(sync_api.Error):  # the browser has given it up
        first.continue_()
    page.wait_for_timeout(300)
    expect_at(page, "|5*0*")
    assert all(error.startswith(("htmx:afterRequest", "htmx:sendAbort")) for error in page.errors), page.errors


ACTED = "key => !document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}))"


def test_by_keyboard_alone(open_page):
    page = open_page("/explore")
    mark_document(page)
    page.evaluate("document.documentElement.dataset.keys = 'off'")
    assert not any(page.evaluate(ACTED, key) for key in "5pv")
    page.evaluate("document.documentElement.dataset.keys = 'on'")
    press(page, "5")
    sync_api.expect(page.locator(".ways")).to_contain_text("Square 5 is")
    press(page, "p")
    expect_at(page, "|5*")
    square(page, 0).focus()
    press(page, "Enter")
    outcome = page.get_by_role("link", name="placed", exact=True)
    sync_api.expect(outcome).to_be_focused()  # what comes next
    press(page, "Tab")
    sync_api.expect(page.get_by_role("link", name="failed", exact=True)).to_be_focused()
    press(page, "Enter")
    expect_at(page, "|5*0.")
    sync_api.expect(page.get_by_role("heading", name="What player 0 does")).to_be_focused()
    press(page, "5")  # it is taken: nothing happens
    press(page, "Backspace")
    expect_at(page, "|5*")
    assert_same_document(page)
    assert page.errors == []


AT_ONCE = """key => new MutationObserver((changes, seen) => {
  if (!document.querySelector("[data-outcome]")) return;
  seen.disconnect();
  document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
}).observe(document.querySelector("main"), {childList: true})"""


def test_a_key_that_comes_as_soon_as_a_piece_is_renewed_loads_no_other_document(open_page):
    page = open_page("/explore")
    mark_document(page)
    page.evaluate(AT_ONCE, "p")
    press(page, "5")
    expect_at(page, "|5*")
    assert_same_document(page)


def test_by_address(open_page):
    page = open_page("/explore?player=1&at=|0.4*")
    sync_api.expect(page.locator("#said")).to_contain_text("Player 1 ○: found 0 occupied, placed 4.")
    mark_document(page)
    page.locator("#at").fill("|0.")
    page.locator("#at").press("Enter")
    expect_at(page, "|0.")
    page.locator("#at").fill("|0.0*")
    page.locator("#at").press("1")
    page.locator("#at").press("Backspace")  # keys of the field are the field's
    page.get_by_role("button", name="Go").click()
    alert = page.get_by_role("alert")
    sync_api.expect(alert).to_contain_text("square 0 is attempted twice")
    alert.get_by_role("link").click()
    expect_at(page, "|0.")
    assert_same_document(page)
    assert [error for error in page.errors if "404" not in error] == []


@pytest.mark.long
def test_strategies_and_views_are_switched_in_place(open_page):
    page = open_page("/explore?at=|0*")
    mark_document(page)
    page.locator("#settings summary").click()
    page.locator("#second").select_option("uniform")
    wait_until(lambda: asked(page).get("second") == ["uniform"])
    sync_api.expect(page.locator("#board1")).to_be_visible()  # once the pair is prepared
    assert page.locator("#settings").get_attribute("open") is not None  # it stays open while somebody chooses
    page.locator("#beside").select_option("uniform")
    sync_api.expect(page.locator("figcaption").first).to_contain_text("below: Uniform")
    page.get_by_label("the best response to player 1").check()
    sync_api.expect(page.locator("figcaption").first).to_contain_text("Best response")
    sync_api.expect(page.get_by_label("the best response to player 1")).to_be_focused()  # arrows go on from there
    page.get_by_label("player 1", exact=True).check()
    sync_api.expect(page.get_by_role("heading", name="What player 1 does")).to_be_visible()
    assert asked(page)["second"] == ["uniform"]
    assert_same_document(page)
    assert [error for error in page.errors if "404" not in error] == []


def test_without_scripts(open_page):
    page = open_page("/explore", java_script_enabled=False)
    square(page, 5).click()
    page.get_by_role("link", name="placed", exact=True).click()
    page.wait_for_url("**first=solution&second=solution&at=|5*")
    page.get_by_role("link", name="Value", exact=True).click()
    page.wait_for_url("**layer=value&at=|5*")
    page.locator("#at").fill("|5*0.")
    page.get_by_role("button", name="Go").click()
    sync_api.expect(page.locator("#said")).to_contain_text("placed 5, found 0 occupied")
    sync_api.expect(page.locator("#board1")).to_be_visible()


def test_the_waiting_page_is_accessible_and_shows_progress(open_page, monkeypatch):
    waiting = {"step": "values of all infosets", "share": 0.3, "ahead": 2}
    monkeypatch.setattr("pttt_ooc.site.explore.profile_cache.Profiles.find", lambda self, pair: waiting)
    page = open_page("/explore?at=|0*", ready=False)
    sync_api.expect(page.locator(".card")).to_contain_text("Values of all infosets, behind 2 others")
    assert_accessible(page, "explore-waiting")
    monkeypatch.undo()
    sync_api.expect(page.locator("#board1")).to_be_visible()  # it renews itself


@pytest.mark.long
def test_the_list_of_differences_renews_itself_is_accessible_and_leads_to_both_boards(open_page):
    page = open_page("/explore/differences?player=0&first=solution&second=uniform&beside=uniform", ready=False)
    sync_api.expect(page.get_by_role("heading", name="Where that comes from")).to_be_visible()
    assert_accessible(page, "differences")
    page.locator("#differences .numbers a").first.click()
    sync_api.expect(page.locator("figcaption").first).to_contain_text("below: Uniform")
    page.get_by_role("link", name="Where these two differ most in value").click()
    sync_api.expect(page.get_by_role("heading", name="Where that comes from")).to_be_visible()
    assert page.errors == []


def test_layers_are_switched_by_letters_and_stay_while_somebody_walks_on(open_page):
    page = open_page("/explore?at=|0*")
    mark_document(page)
    for key, layer in (("v", "value"), ("l", "belief"), ("r", "regret"), ("s", "support"), ("o", None)):
        press(page, key)
        wait_until(lambda layer=layer: asked(page).get("layer", [None]) == [layer])
        shown = page.locator(".layers [aria-current]")
        sync_api.expect(shown).to_have_text(re.compile(layer or "probability", re.IGNORECASE))
    press(page, "v")
    sync_api.expect(page.locator(".layers [aria-current]")).to_have_text("Value")
    press(page, "n")
    wait_until(lambda: asked(page).get("bare") == ["1"] and asked(page).get("layer") == ["value"])
    assert page.locator("#board1 .p").count() == 0 and page.locator("#board1 .shade, #board1 .hollow").count() == 5
    square(page, 5).click(position={"x": 30, "y": 30})
    sync_api.expect(page.locator('[data-outcome="placed"]')).to_be_visible()
    press(page, "p")
    wait_until(lambda: at(page) == "|0*5*")
    assert asked(page)["layer"] == ["value"] and asked(page)["bare"] == ["1"]
    page.locator("#at").fill("|5*")
    page.locator("#at").press("Enter")
    wait_until(lambda: at(page) == "|5*")
    assert asked(page)["layer"] == ["value"] and asked(page)["bare"] == ["1"]
    assert_same_document(page)
    assert page.errors == []


def test_the_map_is_walked_by_clicking_and_stays(open_page):
    page = open_page("/explore?first=uniform&second=uniform", viewport={"width": 1280, "height": 1400})
    mark_document(page)
    pieces = page.locator(".map a")
    sync_api.expect(pieces.first).to_have_attribute("aria-current", "true")
    page.locator(".map").evaluate("map => { map.kept = true; }")
    infoset = pieces.nth(1).get_attribute("data-infoset")
    pieces.nth(1).click()
    wait_until(lambda: at(page) == infoset)
    sync_api.expect(pieces.nth(1)).to_have_attribute("aria-current", "true")
    assert page.locator(".map").evaluate("map => map.kept === true") and page.locator(".map").count() == 1
    assert_same_document(page)
    assert page.errors == []


def test_the_last_cards_of_a_long_path_and_a_long_fraction_are_seen_on_a_phone(open_page, monkeypatch):
    monkeypatch.setattr(pages, "exact_value", lambda game: EXACT_VALUES["pttt-abrupt"])
    page = open_page("/explore?at=|0*4.2.3*&first=uniform&second=uniform")
    page.set_viewport_size({"width": 320, "height": 640})
    page.reload()
    page.locator("#board1").wait_for()
    last, box = page.locator(".steps [aria-current]").bounding_box(), page.locator(".steps").bounding_box()
    assert last["x"] >= box["x"] and last["x"] + last["width"] <= box["x"] + box["width"] + 1
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size(DESKTOP)
    page.goto("/explore?at=|0*0*0*0*0*0*0*0*")  # as long as the longest of nine squares
    assert page.locator("#at").evaluate("field => field.scrollWidth <= field.clientWidth")


def test_what_an_infoset_is_can_be_read_without_scripts(open_page):
    page = open_page("/explore?at=|0*", java_script_enabled=False)
    assert page.locator("#infoset-term").is_hidden()
    page.get_by_role("button", name="What an infoset is").click()
    sync_api.expect(page.locator("#infoset-term")).to_contain_text("placed 0, found 4 occupied")


BOARDS = {"start": "/explore", "chosen": "/explore?at=|0*&square=3", "beside": "/explore?at=|0*&beside=uniform"}


@pytest.mark.parametrize("columns, rows", [(3, 3), (2, 4)])
@pytest.mark.parametrize("name, next_step", [("start", ".hint"), ("chosen", ".ways a[data-outcome]")])
def test_the_board_and_what_to_do_next_are_on_the_first_screen(open_page, name, next_step, columns, rows):
    page = open_page(BOARDS[name])
    frame = f"-2 -2 {100 * columns + 4} {100 * rows + 4}"
    page.locator("#board1").evaluate("(board, frame) => board.setAttribute('viewBox', frame)", frame)
    assert_board_first(page, "#board1", "#said", next_step, screens=(*SCREENS, (1280, 640)))
    for height in (800, 640):  # and it is as large as there is room
        page.set_viewport_size({"width": 1280, "height": height})
        box = page.locator("#board1").bounding_box()
        assert height - 64 < box["y"] + box["height"] <= height
    assert page.locator("#settings").get_attribute("open") is None


@pytest.mark.long
@pytest.mark.parametrize("name", ["start", "beside"])
def test_other_boards_are_on_the_first_screen(open_page, name):
    page = open_page(BOARDS[name])
    assert_board_first(page, ".does .board", "#said", ".hint")


def test_little_is_sent_and_nothing_moves_while_a_page_loads(open_page, browser, url):
    open_page("/explore?at=|0*")  # once the strategies are prepared
    context = patient(browser.new_context, base_url=url, viewport=DESKTOP)
    page = context.new_page()
    wire = Wire(page)
    first = visit(page, wire, "/explore?at=|0*&square=3", "#board1")
    assert 20_000 < first["bytes"] <= 100_000 and first["layout_shift"] < 0.02
    after = visit(page, wire, "/explore?at=|5*&square=0", "#board1")
    assert 500 < after["bytes"] <= 8000 and after["layout_shift"] < 0.02
    assert after["first_paint_milliseconds"] > 0
    times = play(page, random.Random(1), 7)
    assert 7 <= len(times) <= 8 and min(times) > 0 and 500 < wire.taken() / len(times) <= 8000
    context.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_squares_can_be_hit_with_a_finger(open_page, width):
    page = open_page("/explore")
    page.set_viewport_size({"width": width, "height": 800})
    boxes = [one.bounding_box() for one in page.locator("#board1 [data-square]").all()]
    assert len(boxes) == 6 and min(min(box["width"], box["height"]) for box in boxes) >= 44


def test_reduced_motion_stops_animations(open_page):
    page = open_page("/explore?at=|0*&square=3", reduced_motion="reduce")
    style = "getComputedStyle(e)"
    moves = f"{style}.transitionDuration !== '0s' || {style}.animationName !== 'none'"
    moving = f"[...document.querySelectorAll('*')].filter(e => {moves}).length"
    assert page.evaluate(moving) == 0


def test_screen_readers_hear_the_board(open_page):
    page = open_page("/explore?at=|0*&first=uniform&second=uniform")
    board = page.get_by_role("group", name="Board of player 0, Uniform")
    assert board.get_by_role("link", name=re.compile(r"^Square 5: probability 0\.2000, value")).count() == 1
    assert board.get_by_role("img", name="Square 0: own mark").count() == 1
    believed = page.get_by_role("img", name=re.compile("Probability of a mark of player 1"))
    assert "square 5: 0.1667" in believed.get_attribute("aria-label").lower()
