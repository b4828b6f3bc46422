"""The arena's pages in a real browser: by mouse, keyboard and touch; for axe-core on all screens."""

import re

import pytest

from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import Match
from tests.kits.browsing import (
    PLACED,
    SPY,
    arrived,
    assert_board_first,
    assert_same_document,
    in_browser,
    mark_document,
    picture,
    press,
    request_of,
    served,
)
from tests.other_games.arena.arena_pages import application

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.slow, in_browser]
START = "/arena/matches"


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    directory = tmp_path_factory.mktemp("arena")
    for text in ("ultimate", "extreme"):
        run(Match(text, ("random", "random"), 1), directory / text)
    run(Match("mnk:3x3+need3", ("random", "mcts:nodes=20"), 3), directory / "small")
    with application(directory) as app, served(app) as url:
        yield url


def test_a_replay_by_mouse_and_keyboard(open_page):
    page = open_page()
    page.get_by_role("link", name="small").click()
    page.get_by_role("link", name="Game 1").click()
    arrived(page, "#table")
    mark_document(page)
    sync_api.expect(page.locator(".plane .cell.free")).to_have_count(0)
    sync_api.expect(page.locator(".plane .cell.legal")).to_have_count(9)
    page.get_by_role("link", name="On →").click()
    sync_api.expect(page.locator(".plane .cell.mine")).to_have_count(1)
    press(page, "ArrowRight")
    sync_api.expect(page.locator(".plane .cell.theirs")).to_have_count(1)
    press(page, "ArrowLeft")
    sync_api.expect(page.locator(".plane .cell.theirs")).to_have_count(0)
    press(page, "End")
    sync_api.expect(page.locator(".said")).to_have_text(re.compile("A draw.|wins."))
    press(page, "Home")
    sync_api.expect(page.locator(".said")).to_have_text(re.compile("^Before the first move"))
    page.go_back()
    page.go_back()
    sync_api.expect(page.locator(".plane .cell.mine")).to_have_count(1)
    assert_same_document(page)
    assert page.errors == []


def test_back_twice_faster_than_the_server(open_page):
    page = open_page("/arena/matches/replay?name=small")
    arrived(page, "#table")
    taken = page.locator(".plane .cell.mine, .plane .cell.theirs")
    for ply in (1, 2, 3):
        page.get_by_role("link", name="On →").click()
        sync_api.expect(taken).to_have_count(ply)
    held = []
    page.route("**ply=2*", lambda route: held.append(route))
    page.go_back()
    sync_api.expect(page).to_have_url(re.compile("ply=2"))
    page.go_back()
    sync_api.expect(taken).to_have_count(1)
    request_of(page, held).continue_()
    page.evaluate("() => fetch(location.href)")  # so what was let go before it would have come
    sync_api.expect(taken).to_have_count(1)
    assert page.errors == []


GAME = "/arena/play/game?agent=random&seconds=0.1&me=0&game="
SMALL = "mnk:3x3%2Bneed3"
LINKS = GAME + SMALL + "&moves=0,3,1"
REVIEW = f"/arena/play/review?game={SMALL}&agent=random&seconds=0.1&me=0&moves=0,4,1,2,3,6"


def choose(page, game):
    page.get_by_role("navigation", name="Game", exact=True).get_by_role("link", name=game, exact=True).click()
    arrived(page, page.locator(".offers [aria-current]", has_text=game))


def begin(page, opponent="Chance", first="you"):
    choose(page, "K-in-a-row on a board")
    form = page.locator("form").first
    for label, number in (("Rows", 3), ("Columns", 3), ("Marks that win", 3)):
        form.get_by_label(label, exact=True).fill(str(number))
    form.get_by_label("Opponent").select_option(label=opponent)
    form.get_by_label(first, exact=True).check()
    form.get_by_role("button", name="Begin").click()
    arrived(page, "#table")


def changed(page, act):
    """Do something, and wait until the table has another position."""
    before = page.locator("#table").get_attribute("data-ply")
    act()
    page.locator(f'#table:not([data-ply="{before}"])').wait_for()


def test_a_whole_game_by_keyboard(open_page):
    page = open_page("/arena/play")
    begin(page)
    mark_document(page)
    page.locator("button.cell").nth(4).focus()
    press(page, "ArrowDown")
    assert page.evaluate("document.activeElement.value") == "7"
    while not page.locator(".outcome").count():
        changed(page, lambda: press(page, "Enter"))
    assert_same_document(page)
    assert page.errors == []
    played = page.locator(".cell.mine, .cell.theirs").count()
    page.go_back()
    sync_api.expect(page.locator(".cell.mine, .cell.theirs")).not_to_have_count(played)
    picture(page, "arena-taken-back")


@pytest.mark.parametrize(
    ("position", "move", "mark"),
    [
        ("mnk:3x3%2Bneed3&me=1&moves=0", 4, "○"),
        ("ultimate&me=0", 40, "×"),
        ("extreme&me=1&moves=40", 30, "○"),  # sent to the middle of either big board
        ("infinite:growing%2Bneed5&me=1&moves=1984", 1985, "○"),
    ],
)
def test_a_move_appears_at_once_and_is_put_right_by_a_slow_server(open_page, position, move, mark):
    page = open_page(f"/arena/play/game?agent=random&seconds=0.1&game={position}")
    arrived(page, "#table")
    held, cell, colour = [], page.locator(f"button.cell[value='{move}']"), {"×": "mine", "○": "theirs"}[mark]
    page.route("**/arena/play/game", lambda route: held.append(route))
    before = page.locator(".planes").inner_html()
    cell.click()
    sync_api.expect(cell).to_have_text(mark)
    sync_api.expect(cell).to_have_class(re.compile(colour))  # the colour of the player
    page.locator("button.cell:not(.mine, .theirs)").first.click()  # meanwhile a second move is none
    assert page.locator("button.cell.mine, button.cell.theirs").count() == 1
    first = request_of(page, held)
    assert held == []
    first.fulfill(status=429, body='<p class="bad">Too many moves.</p>', content_type="text/html")
    sync_api.expect(page.locator("#told")).to_contain_text("Too many moves.")
    assert page.locator(".planes").inner_html() == before
    cell.click()
    sync_api.expect(cell).to_have_text(mark)
    request_of(page, held).abort()
    sync_api.expect(page.locator("#told")).to_contain_text("The server cannot be reached")
    assert page.locator(".planes").inner_html() == before
    cell.click()
    ply = int(page.locator("#table").get_attribute("data-ply"))
    request_of(page, held).continue_()
    page.locator(f'#table:not([data-ply="{ply}"])').wait_for()
    sync_api.expect(page.locator(f".cell.{colour}")).to_have_count(1)
    assert [one for one in page.errors if not one.startswith(("Failed to load resource", "htmx:"))] == []


def test_the_review_of_a_game_by_keyboard(open_page):
    page = open_page(REVIEW)
    arrived(page, "#table")
    mark_document(page)
    page.get_by_role("link", name="The worst: move 5").click()
    sync_api.expect(page.locator(".said")).to_have_text("Before move 5 of 6: you play a2, which lost ½.")
    press(page, "ArrowRight")
    sync_api.expect(page.locator(".said")).to_contain_text("Before move 6 of 6")
    press(page, "Home")
    sync_api.expect(page.locator(".said")).to_contain_text("Before move 1 of 6")
    sync_api.expect(page.locator(".plane .cell .p")).to_have_count(9)
    assert_board_first(page, ".plane", ".said", ".steps")
    assert_same_document(page)
    assert page.errors == []


def test_ultimate_by_touch_on_a_phone(open_page):
    page = open_page("/arena/play", viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page.locator("form").first.get_by_label("Opponent").select_option(label="Chance")
    page.locator("form").first.get_by_role("button", name="Begin").tap()
    arrived(page, "#table")
    cell = page.locator("button.cell").first.bounding_box()
    assert min(cell["width"], cell["height"]) >= 24  # WCAG 2.2, target size
    for _ in range(3):
        changed(page, lambda: page.locator("button.cell").last.tap())
    assert page.locator(".cell.mine").count() == page.locator(".cell.theirs").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") and page.errors == []


def test_a_game_without_scripts(open_page):
    page = open_page("/arena/play", java_script_enabled=False)
    begin(page, first="the agent")
    assert page.locator(".cell.theirs").count() == 0 and page.locator(".cell.mine").count() == 1  # the agent has ×
    page.locator("button.cell").first.click()
    sync_api.expect(page.locator(".cell.mine, .cell.theirs")).to_have_count(3)


def test_watching_two_agents(open_page):
    page = open_page("/arena/play")
    page.add_init_script(f"{SPY}; localStorage.setItem('pttt.sounds', 'on');")
    form = page.locator("form").nth(1)
    choose(page, "K-in-a-row on a board")
    form.get_by_label("Moves first").select_option(label="Chance")
    form.get_by_label("Moves second").select_option(label="Chance")
    form.get_by_role("button", name="Watch").click()
    page.locator(".cell.theirs").nth(1).wait_for()
    assert page.locator(".one-more").is_hidden()
    assert PLACED in page.evaluate("heard")
    page.get_by_role("button", name="Stop").click()
    arrived(page, ".steps")  # the position stays, with a link at every move
    made = page.locator(".moves a").count()
    assert made >= 2 and page.url.endswith(f"&ply={made}") and not page.locator(".stop").count()
    page.locator(".moves a").first.click()
    sync_api.expect(page.locator(".said")).to_contain_text(f"Move 1 of {made}")
    page.get_by_role("link", name="Watch on").click()
    sync_api.expect(page.locator(".said")).not_to_contain_text("Move 1 of")
    sync_api.expect(page.locator(".stop, .steps")).to_have_count(1)
    assert page.errors == []


BOARDS = {
    "ultimate": (GAME + "ultimate&moves=40,36", ".said", ".players"),
    "tall": (GAME + "mnk:11x4%2Bneed4", ".said"),
    "extreme": (GAME + "extreme", ".said"),
    "replay": ("/arena/matches/replay?name=ultimate&ply=8", ".said", ".steps"),
    "two": ("/arena/matches/replay?name=extreme&ply=8", ".said", ".steps"),
    "watched": (f"/arena/watch/game?game={SMALL}&one=random&other=random&seconds=0.1&moves=0,3,1,4,2", ".steps"),
}


@pytest.mark.long_but("ultimate", "two")
@pytest.mark.parametrize("name", BOARDS)
def test_the_board_and_what_to_do_next_are_on_the_first_screen(open_page, name):
    address, *pieces = BOARDS[name]
    assert_board_first(open_page(address), ".plane", *pieces)


def test_a_game_says_which_it_is_who_plays_and_its_moves(open_page):
    page = open_page(GAME + "mnk:5x4%2Bneed4&moves=0,1,2")
    assert page.get_by_role("heading", level=1).inner_text() == "4-in-a-row on a board of 5 x 4"
    assert [" ".join(one.split()) for one in page.locator(".chip").all_inner_texts()] == ["× You", "○ Chance to move"]
    assert page.locator(".moves li").all_inner_texts() == ["× a1", "○ b1", "× c1"]


def test_another_game_with_the_sides_changed(open_page):
    page = open_page(GAME + SMALL + "&moves=0,3,1,4,2")
    page.get_by_role("link", name="Play again, sides changed").click()
    page.locator('#table[data-ply="1"]').wait_for()  # the agent has begun
    assert page.locator(".cell.mine").count() == 1 and page.locator("button.cell").count() == 8
    page.go_back()
    page.goto(LINKS)  # a link to a move where the agent is to move
    assert page.locator("#table").get_attribute("data-ply") == "3"
    changed(page, lambda: page.get_by_role("button", name="The agent moves").click())
    assert page.errors == []
