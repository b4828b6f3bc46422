"""Pages of a site in a real browser, beyond axe: 320 pixels, whole numbers, no shift, keyboard, print, no motion."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.visitor import TASKS, Visitor
from pttt_ooc.cli.site import site_pages
from pttt_ooc.other_games.arena.experiments import round_robin
from pttt_ooc.other_games.arena.matches.runner import run
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.arena.settings import RoundRobin
from pttt_ooc.other_games.extreme.pages.exports import parts as tournament_parts
from pttt_ooc.site.shell.server import parts_of
from tests.cli.test_site import evaluated
from tests.kits.browsing import assert_reflows, assert_still, in_browser, pages_of, picture, press, served
from tests.other_games.arena.arena_pages import application
from tests.other_games.extreme.match_kit import made

pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.slow, in_browser]
VISITOR = Path(__file__).parents[2] / "docs/visitor.md"
PAGES = {
    "home": "/",
    "matches": "/arena/matches",
    "match": "/arena/matches/one?name=small",
    "replay": "/arena/matches/replay?name=small&game=0&ply=3",
    "robin": "/arena/standings",
    "lobby": "/arena/play",
    "standings": "/extreme/standings",
    "tournament": "/extreme/matches",
    "extreme": "/extreme/matches/NAME?ply=30",
    "team": "/extreme/teams/team0",
    "error": "/extreme/matches/none",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The address of a site with two solutions, matches of agents, and a tournament; and the name of a match."""
    data = tmp_path_factory.mktemp("data")
    evaluated(data, "pttt-abrupt", "full", 0.55017, 2e-14)
    evaluated(data, "pttt-2x4k3-abrupt", "full", 0.4447, 1e-3)
    run(Match("mnk:3x3+need3", ("random", "mcts:nodes=5"), 2), data / "arena/small")
    run(Match("ultimate", ("random", "random"), 1), data / "arena/ultimate")
    asked = RoundRobin(game="mnk:3x3+need3", agents=["random", "mcts:nodes=5"], games=4)
    round_robin.conduct("both", asked, data / "arena/robin", 1, lambda sentence: None)
    tournament = made(data / "extreme")
    name = tournament.state().played[0].pairing.name
    home = parts_of(json.dumps([site_pages(data)[0].parts]))
    with application(data / "arena", *home, *tournament_parts(str(tournament.directory))) as app, served(app) as url:
        yield url, name


@pytest.fixture
def open_page(browser, site):
    url, match = site
    with pages_of(browser, url) as opened:
        yield lambda name, **options: opened(PAGES[name].replace("NAME", match), **options)


@pytest.mark.parametrize("name", PAGES)
def test_pages_reflow_and_stay_still(open_page, name):
    page = open_page(name, viewport={"width": 390, "height": 844})
    assert_still(page, name)
    assert_reflows(page, name)


@pytest.mark.parametrize("name", ["home", "standings", "extreme", "robin"])
def test_the_keyboard_reaches_all_in_order_and_the_focus_is_seen(open_page, name):
    page = open_page(name, viewport={"width": 1280, "height": 800})
    reach = "a[href], button:not([disabled]), input:not([type=hidden]), select, summary, [tabindex='0']"
    wanted = page.locator(reach).evaluate_all("all => all.filter(one => one.checkVisibility()).length")
    places = []
    for _ in range(min(wanted, 40)):
        press(page, "Tab")
        places.append(
            page.evaluate(
                """reach => {
  const active = document.activeElement, style = getComputedStyle(active), box = active.getBoundingClientRect();
  const seen = style.outlineStyle !== "none" && box.bottom > 0 && box.top < innerHeight;
  const all = [...document.querySelectorAll(reach)].filter(one => one.checkVisibility());
  return [all.indexOf(active), seen, active.outerHTML.slice(0, 80)];
}""",
                reach,
            )
        )
    assert [place for place, _, _ in places] == list(range(len(places)))
    assert [told for _, seen, told in places if not seen] == []


@pytest.mark.parametrize("name", ["standings", "extreme", "home"])
def test_print_has_the_content_and_nothing_to_press(open_page, name):
    page = open_page(name)
    page.emulate_media(media="print")
    picture(page, f"{name}-print")
    for hidden in ("#pages", ".menu", ".steps", ".find", "button", ".to-slide"):
        assert not any(one.is_visible() for one in page.locator(hidden).all()), hidden
    assert page.locator("h1").is_visible()
    clipped = "all => all.filter(one => one.checkVisibility() && getComputedStyle(one).overflowX !== 'visible').length"
    assert page.locator(".scroll, .moves").evaluate_all(clipped) == 0


@pytest.mark.parametrize("name", ["extreme", "replay"])
def test_nothing_moves_for_who_wants_less_motion(open_page, name):
    page = open_page(name, reduced_motion="reduce")
    press(page, "ArrowRight")
    page.locator(".plane .cell.latest").wait_for()
    assert page.evaluate("document.getAnimations().length") == 0


def test_cells_are_named_and_ordered_as_moves_are_written(open_page):
    """A small board N holds the squares N.0 to N.8, in the order in which they are read."""
    page = open_page("lobby")
    page.goto("/arena/play/game?game=ultimate&agent=random&seconds=0.1&me=0&moves=")
    blocks = page.locator(".block[role=group]").evaluate_all(
        "all => all.map(one => [one.getAttribute('aria-label'), [...one.querySelectorAll('[aria-label]')]"
        ".map(cell => cell.getAttribute('aria-label').split(',')[0])])"
    )
    assert len(blocks) == 9
    for number, (label, cells) in enumerate(blocks):
        assert label == f"Small board {number}"
        assert cells == [f"{number}.{cell}" for cell in range(9)]


@pytest.mark.parametrize(
    "task",
    [
        "make a first move of Ultimate against the agent that is proposed",
        "watch two agents play Ultimate",
        "read the exact gap of a solution",
        "learn who leads the tournament, and how ties are decided",
        "go to move 30 of a game of two agents",
        "let such a game play by itself",
    ],
)
def test_a_task_takes_the_clicks_that_the_documentation_says(open_page, task):
    told = re.search(rf"^\| {re.escape(task)} \|.*\| (\d+) \|$", VISITOR.read_text("utf-8"), re.M)
    one = Visitor(open_page("home", viewport={"width": 1280, "height": 800}))
    TASKS[task](one)
    assert one.count == int(told[1])
