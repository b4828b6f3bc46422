"""Games in a real browser: by keyboard, by mouse, by touch; gone through again; for axe-core on all screens."""

import re

import pytest

from pttt_ooc.site.explore import play_pages
from pttt_ooc.site.explore.explorer import Explorer
from pttt_ooc.site.explore.game_store import Games
from pttt_ooc.site.explore.local_sources import local_sources
from pttt_ooc.site.explore.opponents import AskedOpponents
from pttt_ooc.site.explore.part import part_of
from pttt_ooc.site.explore.sources import FixedSources
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.kits.browsing import (
    FAILED,
    OVER,
    PLACED,
    SPY,
    arrived,
    assert_accessible,
    assert_board_first,
    assert_same_document,
    in_browser,
    mark_document,
    picture,
    press,
    request_of,
    served,
    set_sounds,
)
from tests.kits.patience import wait_until
from tests.site.explore.answerer_kit import answering

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.slow, in_browser]
START = "/play"


@pytest.fixture(scope="module")
def url(solved, prepared, tmp_path_factory):
    """Explore and Play on a local solution."""
    rules, sources = local_sources([str(solved)], None)
    kept = tmp_path_factory.mktemp("kept")
    with answering(prepared, solved.parent.parent) as client:
        games = Games(kept, AskedOpponents(rules, client, lambda: sources))
        parts = [part_of(Explorer(rules, client, FixedSources(tuple(sources)))), play_pages.part_of(games)]
        with served(make_application(Shell("Explored", rules.name, parts))) as url:
            yield url
        games.close()


def begin(page, player=0, opponent=None):
    if opponent:
        page.get_by_label(opponent, exact=True).check()
    page.get_by_label(f"player {player}").check()
    page.get_by_role("button", name="Begin").click()
    arrived(page, "#table[data-made]")


def play_out(page, attempt):
    """Attempt free squares until the game is over; returns how many there were."""
    count = 0
    while not page.locator(".review").count():
        table = page.locator(f'#table[data-made="{count}"]')
        attempt(table.locator("button.cell.free").first)
        count += 1
        table.wait_for(state="detached")
        page.locator(".review, .table").wait_for()
    return count


def go_through(page):
    """Step back from the end to the first attempt; returns what each step was."""
    found = []
    while page.locator(".steps [rel=prev]").count():
        found.append(step_back(page, lambda: press(page, "ArrowLeft")))
    return found


def step_back(page, act):
    """Do what leads one step back, and wait for the whole page of that step; returns what the step was."""
    before = page.locator("#at").inner_text()
    act()
    sync_api.expect(page.locator("#at")).not_to_have_text(before)
    page.wait_for_load_state()
    return page.locator("#choice").inner_text()


def test_a_whole_game_by_keyboard_only(open_page):
    page = open_page()
    press(page, "Tab")
    while page.evaluate("document.activeElement.textContent") != "Begin":
        press(page, "Tab")
    press(page, "Enter")
    arrived(page, "#table[data-made]")
    mark_document(page)
    count = play_out(page, lambda cell: press(page, cell.get_attribute("value")))
    assert_same_document(page)
    sync_api.expect(page.locator("#table")).to_be_focused()
    sync_api.expect(page.locator(".outcome")).to_contain_text("in expected payoff together")
    steps = go_through(page)
    assert sum("you at" in step for step in steps) == count
    press(page, "End")
    sync_api.expect(page.locator("#at")).to_have_text("At the end.")
    press(page, "Home")
    sync_api.expect(page.locator("#at")).to_contain_text("Before attempt 1 of")
    assert "Before attempt 1 of" in page.locator("#at").inner_text()
    sync_api.expect(page.get_by_text("What could be believed")).to_be_visible()
    press(page, "ArrowRight")
    sync_api.expect(page.locator("#at")).to_contain_text("Before attempt 2 of")
    page.locator(".scrub input[type=range]").fill("0")
    sync_api.expect(page.locator("#at")).to_contain_text("Before attempt 1 of")
    page.get_by_role("link", name="Attempt 2", exact=True).click()
    sync_api.expect(page.locator("#at")).to_contain_text("Before attempt 2 of")
    assert page.locator(".film .play").is_enabled() and page.locator(".film select").input_value() == "1"
    assert_same_document(page)
    assert page.errors == []


def test_arrow_keys_move_between_squares_and_enter_attempts(open_page):
    page = open_page()
    begin(page)
    page.locator('button.cell[value="0"]').focus()
    press(page, "ArrowRight")
    press(page, "ArrowDown")
    assert page.evaluate("document.activeElement.value") == "4"
    press(page, "Enter")
    page.locator('#table:not([data-made="0"])').wait_for()
    sync_api.expect(page.locator('button.cell[value="4"]')).to_be_focused()
    sync_api.expect(page.get_by_role("status")).to_contain_text("Square 4: placed.")
    press(page, "4")  # the key of the same square: it cannot be attempted again
    assert page.locator("#table").get_attribute("data-made") == "1" and page.errors == []


@pytest.mark.parametrize("player", [0, 1])
def test_a_whole_game_by_mouse(open_page, player):
    page = open_page()
    begin(page, player, "Uniform")
    play_out(page, lambda cell: cell.click())
    said = page.locator(".outcome").inner_text()
    result = next(word for word in ("won", "lost", "draw") if word in said)
    page.locator(".steps [rel=prev]").click()
    sync_api.expect(page.locator("#choice")).to_be_visible()
    page.get_by_role("link", name="All games").click()
    row = page.locator("table.results tbody tr")
    sync_api.expect(row).to_have_count(1)
    page.wait_for_load_state()
    cells = row.locator("td").all_inner_texts()
    assert cells[1:5] == ["1", *("1" if result == word else "0" for word in ("won", "draw", "lost"))]
    assert re.fullmatch(r"best response [−\d.]+, solution [−\d.]+", cells[6])
    assert page.errors == []


def test_a_whole_game_by_touch_on_a_phone(open_page):
    page = open_page(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page.get_by_label("Uniform", exact=True).tap()
    page.get_by_role("button", name="Begin").tap()
    arrived(page, "#table[data-made]")
    cell = page.locator("button.cell").first.bounding_box()
    assert min(cell["width"], cell["height"]) >= 44  # a finger's width
    play_out(page, lambda cell: cell.tap())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") and page.errors == []


def test_an_attempt_in_another_tab_is_reported(open_page):
    page = open_page()
    begin(page)
    other = page.context.new_page()
    other.goto(page.url)
    page.locator('button.cell[value="0"]').click()
    page.locator('#table:not([data-made="0"])').wait_for()
    other.locator('button.cell[value="1"]').click()
    sync_api.expect(other.get_by_role("alert")).to_have_text(
        "Attempt 1 of this game has been made already; nothing has changed. This is the game as it is now."
    )
    assert other.locator("button.cell").count() == 6 and other.locator("#table").get_attribute("data-made") == "1"
    other.locator("button.cell[aria-disabled]").first.wait_for()
    other.locator("button.cell:not([aria-disabled])").first.click()
    other.locator('#table:not([data-made="1"])').wait_for()
    assert not other.get_by_role("alert").inner_text()


def test_an_attempt_waits_as_a_neutral_mark_and_pencil_marks_are_made_by_touch(open_page):
    page = open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    begin(page)
    page.get_by_role("link", name="Pencil").tap()
    arrived(page, "form.pencil")
    mark_document(page)
    for square, marks in (("3", 1), ("5", 2), ("3", 1)):
        page.locator(f'button.cell[value="{square}"]').tap()
        sync_api.expect(page.locator(".pencilled")).to_have_count(marks)
    assert_same_document(page)
    assert_accessible(page, "play-pencil")
    page.get_by_role("link", name="Attempt squares").tap()
    arrived(page, "form:not(.pencil) .grid")
    sync_api.expect(page.locator(".pencilled")).to_have_count(1)
    set_sounds(page, True)
    page.get_by_role("button", name="Hint").tap()
    sync_api.expect(page.locator(".grid .p")).to_have_count(6)
    held, cell = [], page.locator('button.cell[value="0"]')
    page.route("**/attempts", lambda route: held.append(route))
    cell.tap()
    sync_api.expect(cell).to_have_text("…")
    assert not re.search("mine|theirs", cell.get_attribute("class"))  # the outcome is the referee's
    assert page.evaluate("heard") == []
    request_of(page, held).continue_()
    page.locator('#table:not([data-made="0"])').wait_for()
    wait_until(lambda: page.evaluate("heard") == [PLACED])  # when the page has settled
    assert page.errors == []


def test_single_keys_can_be_switched_off_and_sounds_on_and_the_browser_keeps_both(open_page):
    page = open_page()
    page.add_init_script(SPY)
    page.reload()
    button = page.get_by_role("button", name="Keys and sounds")
    press(page, "?")
    page.get_by_label("Single keys").uncheck()
    page.keyboard.press("Escape")
    begin(page)
    press(page, "?")
    sync_api.expect(page.locator("#settings-here")).to_be_hidden()
    press(page, "4")
    page.locator('button.cell[value="0"]').focus()
    press(page, "5")
    press(page, "ArrowRight")
    assert page.evaluate("document.activeElement.value") == "1"  # not a single key
    assert page.locator("#table").get_attribute("data-made") == "0"
    button.click()
    page.get_by_label("Single keys").check()
    page.keyboard.press("Escape")
    press(page, "4")
    page.locator('#table[data-made="1"]').wait_for()
    assert page.evaluate("heard") == []
    button.click()
    page.get_by_role("checkbox", name="Sounds").check()
    page.reload()
    arrived(page, "#table[data-made]")
    button.click()
    assert page.get_by_role("checkbox", name="Sounds").is_checked() and page.get_by_label("Single keys").is_checked()
    page.keyboard.press("Escape")
    expected = []
    while page.locator("button.cell").count():
        made = page.locator("#table").get_attribute("data-made")
        page.locator('button.cell:not([aria-disabled="true"])').first.click()
        page.locator(f'#table:not([data-made="{made}"])').wait_for()
        placed = not page.locator(".said").filter(has_text="failed").count()
        expected += OVER if page.locator(".outcome").count() else [PLACED] if placed else FAILED
        assert page.evaluate("heard") == expected
    page.locator(".steps [rel=prev]").click()
    sync_api.expect(page.locator("#choice")).to_be_visible()
    assert page.evaluate("heard") == expected and page.errors == []


def test_a_shared_game_is_gone_through_in_another_browser(open_page):
    page = open_page()
    begin(page, 1, "Uniform")
    play_out(page, lambda cell: cell.click())
    page.get_by_role("button", name="Share").click()
    arrived(page, page.get_by_role("button", name="Stop sharing"))
    other = open_page(page.locator(".share a").get_attribute("href"))
    arrived(other, "#table")
    assert len(go_through(other)) >= 2
    assert_accessible(other, "play-shared")
    assert other.context.cookies() == [] or "pttt_player" not in {one["name"] for one in other.context.cookies()}
    assert other.errors == []


def test_a_resigned_game_and_a_game_without_scripts(open_page):
    page = open_page(java_script_enabled=False)
    assert page.get_by_role("button", name="Keys and sounds").count() == 0
    page.get_by_label("player 1").check()
    page.get_by_role("button", name="Begin").click()
    table, again = page.locator("#table"), page.get_by_role("button", name="Try again")
    arrived(page, table.or_(again))
    while again.count():  # the strategies are not prepared yet
        with page.expect_navigation():
            again.click()
    page.locator("button.cell.free").first.click()
    arrived(page, '#table:not([data-made="0"])')
    if page.locator(".review").count() == 0:
        page.get_by_text("Resign").click()
        page.get_by_role("button", name="Give this game up").click()
        sync_api.expect(page.locator(".outcome")).to_contain_text("You have resigned.")
    sync_api.expect(page.locator("#attempts")).to_have_count(1)


def test_the_board_and_what_to_do_next_are_on_the_first_screen(open_page):
    page = open_page()
    begin(page)
    assert page.get_by_role("heading", level=1).inner_text() == "Phantom tic-tac-toe, 2 x 3 squares, 2 in a row, abrupt"
    assert_board_first(page, ".grid", ".said")
    page.locator("button.cell.free").first.click()
    page.locator(".moves, .review").first.wait_for()
    if page.locator(".moves").count():
        assert re.fullmatch("0 (placed|failed)", page.locator(".moves li").inner_text())
        page.locator(".resign summary").click()
        page.get_by_role("button", name="Give this game up as lost").click()
    page.locator(".review").wait_for()
    assert_board_first(page, ".review .grid", ".outcome", ".steps")


def test_reduced_motion_is_respected(open_page):
    names = []
    for wanted in ("no-preference", "reduce"):
        page = open_page(reduced_motion=wanted)
        begin(page)
        page.locator('button.cell[value="0"]').click()
        page.locator("button.cell.latest").wait_for()
        names.append(page.evaluate("getComputedStyle(document.querySelector('.latest')).animationName"))
    assert names == ["placed", "none"]


@pytest.mark.long
def test_all_pages_are_accessible(open_page):
    page = open_page()
    assert_accessible(page, "play-new")
    begin(page, 1)
    page.locator("button.cell.free").first.click()
    page.locator('#table:not([data-made="0"])').wait_for()
    if page.locator(".review").count():
        page.get_by_role("button", name="Play again").click()
        arrived(page, '#table[data-made="0"]')
    assert_accessible(page, "play-game")
    play_out_from(page)
    assert_accessible(page, "play-end")
    while "you at" not in (page.locator("#choice").all_inner_texts() or [""])[0]:
        step_back(page, page.locator(".steps [rel=prev]").click)
    assert_accessible(page, "play-review")
    page.goto("/play")
    assert_accessible(page, "play-lobby")
    picture(page, "play-lobby")


def play_out_from(page):
    while not page.locator(".review").count():
        made = page.locator("#table").get_attribute("data-made")
        page.locator("button.cell.free").first.click()
        page.locator(f'#table[data-made="{made}"]').wait_for(state="detached")
        page.locator(".review, .table").wait_for()
