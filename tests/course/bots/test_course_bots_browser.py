"""A course's league in a real browser: handing in, watching, replaying; by keyboard, without scripts; for axe-core."""

import datetime
import re
import threading

import pytest

from pttt_ooc.other_games.extreme import analyst
from pttt_ooc.other_games.extreme.tournament_record import Record
from pttt_ooc.site.service.pulse import Pulse
from tests.course.league_kit import BAD, GOOD, OLD, LeagueCourse
from tests.kits.browsing import (
    assert_accessible,
    assert_same_document,
    in_browser,
    mark_document,
    pages_of,
    press,
    served,
    sign_in,
)
from tests.other_games.extreme.practice_kit import bot, league, write_match

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.slow, in_browser]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course that takes bots, with its worker at work."""
    made, stopping = LeagueCourse(tmp_path_factory.mktemp("course") / "course", waiting_per_team=9), threading.Event()

    def work():
        while not stopping.wait(0.05):
            made.worker.check_next()

    thread = threading.Thread(target=work)
    thread.start()
    made.pulse.ready()
    with served(made.app) as made.url:
        yield made
    stopping.set()
    thread.join()
    made.close()


@pytest.fixture(scope="module")
def over(tmp_path_factory):
    """A course whose tournament is over, and looked at."""
    made = LeagueCourse(tmp_path_factory.mktemp("over") / "course")
    other = GOOD.replace(b"[0]", b"[len(board.find_valid_move_cells(old_move)) // 2]")
    for name, content in (("Team A", GOOD), ("Team B", other)):
        made.hand_in(name, content)
    made.restarted(begins=datetime.datetime.now(datetime.UTC) - datetime.timedelta(minutes=1))
    made.worker.play()
    record, judge = Record(made.league.tournament), analyst.Analyst(nodes=500)
    for pairing in analyst.missing(record):
        analyst.write_curve(record, pairing, judge)
    made.names = [played.pairing.name for played in record.state().played]
    with served(made.app) as made.url:
        yield made
    made.close()


@pytest.fixture(scope="module")
def practised(tmp_path_factory):
    """A course with practice matches, and a worker that seems to be at work."""
    made = LeagueCourse(tmp_path_factory.mktemp("practised") / "course", practice=True)
    Pulse(made.league.practising).ready()
    directory = made.league.practice
    for number, pair in enumerate([("t2", "t3"), ("t3", "random"), ("random", "t2")], start=1):
        write_match(directory, number, *pair, forfeits=number == 1)
    made.bots_there = [bot("t2", name="Team A"), bot("t3", name="Team B", paused="TIME OUT"), bot("random", ours=True)]
    league(directory, made.bots_there)
    with served(made.app) as made.url:
        yield made
    made.close()


@pytest.fixture
def visit(browser):
    opened = []

    def open_page(course, path, team=None, **options):
        pages = pages_of(browser, course.url)
        opener = pages.__enter__()
        opened.append(pages)
        if team is None:
            return opener(path, locale="en-GB", **options)
        page = opener("/sign-in", locale="en-GB", **options)
        sign_in(page, course.tokens[team])
        page.goto(path)
        return page

    yield open_page
    for pages in opened:
        pages.__exit__(None, None, None)


def hand_in(page, content, name="team7.py"):
    page.get_by_label("One file of Python").set_input_files(
        {"name": name, "mimeType": "text/x-python", "buffer": content}
    )
    page.get_by_role("button", name="Hand in").click()
    page.wait_for_url("**/extreme/bots/*")


def test_a_bot_is_handed_in_and_its_verdict_appears_by_itself(course, visit):
    page = visit(course, "/extreme/hand-in", "Team A")
    assert_accessible(page, "extreme-hand-in")
    hand_in(page, GOOD)
    sync_api.expect(page.locator(".verdict .big")).to_have_text("It plays.")
    sync_api.expect(page.get_by_text("thinking of secret 4711").first).to_be_visible()
    assert page.errors == []
    page.get_by_role("link", name="All your bots").click()
    sync_api.expect(page.get_by_text("plays for you", exact=True)).to_be_visible()


@pytest.mark.long
def test_a_bot_that_fails_is_told_with_its_traceback_as_text(course, visit):
    page = visit(course, "/extreme/hand-in", "Team B")
    hand_in(page, BAD)
    sync_api.expect(page.locator(".verdict .big")).to_have_text("It does not play: THREW AN EXCEPTION")
    sync_api.expect(page.locator("pre.trace").first).to_contain_text("<script>alert('4711')</script>")
    assert page.errors == []
    assert_accessible(page, "extreme-verdict")


def test_handing_in_without_scripts(course, visit):
    page = visit(course, "/extreme/hand-in", "Team B", java_script_enabled=False)
    hand_in(page, OLD, "team8.py")
    for _ in range(600):
        page.reload()
        if "plays" in page.locator(".verdict .big").inner_text():
            break
        page.wait_for_timeout(500)
    assert page.locator(".verdict .big").inner_text() == "It plays."


@pytest.mark.long
def test_a_match_is_gone_through_by_buttons_keys_and_address(over, visit):
    page = visit(over, f"/extreme/matches/{over.names[0]}")
    said = page.locator(".said")
    last = page.locator("ol.moves li").count()
    sync_api.expect(said).to_contain_text(f"Move {last} of {last}")
    mark_document(page)
    page.get_by_role("link", name="First").click()
    sync_api.expect(said).to_contain_text("Before the first of")
    page.get_by_role("link", name="On →").click()
    sync_api.expect(said).to_contain_text(f"Move 1 of {last}")
    sync_api.expect(page.get_by_role("link", name="On →")).to_be_focused()
    press(page, "ArrowRight")
    sync_api.expect(said).to_contain_text(f"Move 2 of {last}")
    sync_api.expect(page).to_have_url(re.compile("[?]ply=2$"))
    sync_api.expect(page.locator(".plane .cell.latest")).to_have_count(1)
    sync_api.expect(page.locator(".plane .cell.mine, .plane .cell.theirs")).to_have_count(2)
    press(page, "ArrowLeft")
    sync_api.expect(said).to_contain_text(f"Move 1 of {last}")
    press(page, "End")
    sync_api.expect(said).to_contain_text(f"Move {last} of {last}")
    press(page, "Home")
    sync_api.expect(said).to_contain_text("Before the first of")
    assert_same_document(page)
    assert page.errors == []
    page.goto(f"/extreme/matches/{over.names[0]}?ply=9")
    sync_api.expect(said).to_contain_text(f"Move 9 of {last}")
    sync_api.expect(page.locator("path.chance")).to_have_count(1)


def test_a_match_is_gone_through_without_scripts(over, visit):
    page = visit(over, f"/extreme/matches/{over.names[0]}?ply=4", java_script_enabled=False)
    page.get_by_role("link", name="← Back").click()
    sync_api.expect(page.locator(".said")).to_contain_text("Move 3 of")


def test_the_standings_lead_to_a_team_and_to_its_turning_points(over, visit):
    page = visit(over, "/extreme/standings", "Team A")
    page.locator("main").get_by_role("link", name="Team A").first.click()
    sync_api.expect(page.get_by_role("heading", name="Turning points")).to_be_visible()
    page.get_by_role("link", name="before move").first.click()
    sync_api.expect(page.locator(".said")).to_contain_text("× wins with")
    assert page.errors == []


@pytest.mark.long
def test_the_page_of_practice_renews_itself_and_leads_to_replays(practised, visit):
    page = visit(practised, "/extreme/standings", "Team A")
    page.get_by_label("Pages").get_by_role("link", name="Watch").click()
    sync_api.expect(page.get_by_role("heading", name="Ratings")).to_be_visible()
    sync_api.expect(page.locator("#ratings + .scroll tbody tr").first).to_contain_text("Team A yours")
    mark_document(page)
    looked_for = page.get_by_label("Find a bot")
    looked_for.fill("Te")
    Pulse(practised.league.practising).wait_for("a core that is idle")
    sync_api.expect(page.locator("#lead")).to_contain_text("Nothing is played at the moment: a core that is idle")
    sync_api.expect(looked_for).to_have_value("Te")
    sync_api.expect(looked_for).to_be_focused()
    Pulse(practised.league.practising).ready()
    name = write_match(practised.league.practice, 9, "random", "t3")
    league(practised.league.practice, practised.bots_there)
    sync_api.expect(page.locator(f"a[href='/extreme/matches/{name}']")).to_have_count(1)
    assert_same_document(page)
    page.locator(f"a[href='/extreme/matches/{name}']").click()
    sync_api.expect(page.locator(".said")).to_contain_text("Move")
    page.get_by_role("link", name="practice").click()
    page.locator("#ratings + .scroll").get_by_role("link", name="Team B").click()
    sync_api.expect(page.get_by_role("heading", name="Team B in practice")).to_be_visible()
    assert page.errors == []
