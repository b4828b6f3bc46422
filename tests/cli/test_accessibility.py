"""All pages of all wings in a real browser: for axe-core, light and dark, wide and on a phone; and beyond axe.

States that only a dialogue reaches are checked where it is held.
"""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.visitor import TASKS, Visitor
from pttt_ooc.cli.site import site_pages
from pttt_ooc.other_games.arena.experiments import round_robin
from pttt_ooc.other_games.arena.matches.runner import run as run_match
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.arena.settings import RoundRobin
from pttt_ooc.other_games.extreme.pages.exports import parts as tournament_parts
from pttt_ooc.site.shell.gallery import PATH
from pttt_ooc.site.shell.server import parts_of
from tests.cli.test_site import evaluated
from tests.course.bots.test_course_bots_browser import over, practised  # noqa: F401  (fixtures)
from tests.course.conftest import prepared, solved  # noqa: F401
from tests.course.games_kit import OTHER
from tests.course.pages.conftest import decided, empty, full  # noqa: F401
from tests.course.pages.test_course_beyond_axe import PAGES as COURSE
from tests.exact.certificates.serverless_pages import directory as proof  # noqa: F401
from tests.kits.browsing import (
    CONTRAST,
    assert_accessible,
    assert_reflows,
    assert_still,
    in_browser,
    picture,
    press,
    served,
)
from tests.other_games.arena.arena_pages import application
from tests.other_games.arena.test_arena_browser import GAME, LINKS, REVIEW, SMALL
from tests.other_games.extreme.match_kit import made
from tests.site.explore.test_explore_browser import url as explore  # noqa: F401
from tests.site.explore.test_explore_run_browser import url as run  # noqa: F401
from tests.site.shell.test_web_gallery import url as parts  # noqa: F401

sync_api = pytest.importorskip("playwright.sync_api")
pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = [pytest.mark.slow, in_browser]
VISITOR = Path(__file__).parents[2] / "docs/lab/visitor.md"
SITE = {
    "home": "/",
    "matches": "/arena/matches",
    "match": "/arena/matches/one?name=small",
    "replay": "/arena/matches/replay?name=small&game=0&ply=3",
    "robin": "/arena/standings",
    "lobby": "/arena/play",
    "standings": "/extreme/standings",
    "tournament": "/extreme/matches",
    "extreme": "/extreme/matches/{match}?ply=30",
    "team": "/extreme/teams/team0",
    "error": "/extreme/matches/none",
}
WINGS = {
    ("empty", None): {name: COURSE[name] for name in ("leaderboard", "matrix", "submissions")},
    ("full", None): COURSE,
    ("full", "Team A"): {
        **{f"team-{name}": COURSE[name] for name in ("leaderboard", "submissions", "sign-in")},
        **{one: f"/submissions/{{{one}}}" for one in ("Queued", "Evaluating", "Accepted", "Rejected")},
    },
    ("decided", "Ada"): {
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
    ("decided", "Team A"): {
        "course": "/course",
        "hidden": "/submissions/4",
        "agent": "/agents/rows/1",
        "agent-failed": "/agents/rows/4",
        "agents": "/agents/rows",
        "pair": "/course/pairs/1",
        "team": "/teams/2",
        "account": "/account",
        "further-game": f"/games/{OTHER}",
        "further-strategy": f"/games/{OTHER}/submissions/3",
        "further-hand-in": "/leagues/cup/hand-in",
        "further-practice": "/leagues/cup/practice",
        "further-standings": "/leagues/cup/standings",
    },
    ("decided", None): {
        "public-course": "/course",
        "public-sign-in": "/sign-in",
        "public-password": "/account/sign-in",
        "public-link": "/account/join#code",
    },
    ("over", "Team A"): {
        "standings": "/extreme/standings",
        "matches": "/extreme/matches",
        "match": "/extreme/matches/{match}?ply=40",
        "team": "/extreme/teams/{team}",
    },
    ("practised", "Team A"): {
        "practice": "/extreme/practice",
        "bot": "/extreme/practice?bot=t3",
        "replay": "/extreme/matches/practice-1-t2-t3?ply=5",
    },
    ("explore", None): {
        "start": "/explore",
        "chosen": "/explore?at=|0*&square=3",
        "found": "/explore?player=1&at=|0.4*",
        "beside": "/explore?at=|0*&beside=uniform&first_plays=best&layer=value",
        "impossible": "/explore?at=|0*0*",
    },
    ("run", None): {
        "iteration": "/explore?iteration=2",
        "merged": "/explore?symmetry=merged&square=0",
        "replying": "/explore?at=|0*&second_plays=best",
    },
    ("site", None): {
        **SITE,
        "replay-extreme": "/arena/matches/replay?name=extreme&ply=30",
        "replay-infinite": "/arena/matches/replay?name=infinite&ply=30",
        "game": GAME + "ultimate&moves=40,36",
        "links": LINKS,
        "review": REVIEW,
        "watch": f"/arena/watch/game?game={SMALL}&one=random&other=random&seconds=0.1&moves=0,3,1&ply=3",
    },
    ("proof", None): {
        "verify": "verify.html",
        "perfect": "perfect.html",
        "explore": "explore.html#/dark-hex-3x3-abrupt/1/4./3",
        "openings": "openings.html",
    },
    ("parts", None): {"parts": PATH},
}
"""For each fixture, and who looks, the addresses of pages by their names."""
PAGES = {f"{wing}-{name}": (wing, who, path) for (wing, who), found in WINGS.items() for name, path in found.items()}
LETTERS = {
    "full-matrix": {"v-5", "v5"},
    "full-Accepted": {"tick", "square", "p"},
    "explore-chosen": {"square", "p", "mark"},
    "run-merged": {"square", "p"},
}
"""Pages with letters on shades, and the classes of letters that are there."""
ABSENT = ("full-not-found", "explore-impossible", "site-error")
SMALL_TARGETS = """() => [...document.querySelector('main').querySelectorAll('button, input, select, summary')]
    .filter(one => one.offsetParent !== null && !one.closest('p, li'))
    .map(one => [one.outerHTML.slice(0, 120), (one.matches('[type=radio], [type=checkbox]') && one.closest('label')
        || one).getBoundingClientRect()])
    .filter(([text, box]) => box.width > 0 && (box.width < 24 || box.height < 24))
    .map(([text, box]) => `${text}: ${box.width} x ${box.height}`)"""
"""Targets below 24 x 24 pixels (WCAG 2.2, 2.5.8); the summary of what Explore shows has 23, with room around it."""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site with two solutions, matches of agents, and a tournament; and the name of a match of it."""
    data = tmp_path_factory.mktemp("data")
    evaluated(data, "pttt-abrupt", "full", 0.55017, 2e-14)
    evaluated(data, "pttt-2x4k3-abrupt", "full", 0.4447, 1e-3)
    run_match(Match("mnk:3x3+need3", ("random", "mcts:nodes=5"), 2), data / "arena/small")
    for text in ("ultimate", "extreme", "mnk:11x11+need5", "infinite:near+need4"):
        run_match(Match(text, ("random", "random"), 1), data / "arena" / text.partition(":")[0])
    asked = RoundRobin(game="mnk:3x3+need3", agents=["random", "mcts:nodes=5"], games=4)
    round_robin.conduct("both", asked, data / "arena/robin", 1, lambda sentence: None)
    tournament = made(data / "extreme")
    name = tournament.state().played[0].pairing.name
    home = parts_of(json.dumps([site_pages(data)[0].parts]))
    with application(data / "arena", *home, *tournament_parts(str(tournament.directory))) as app, served(app) as url:
        yield SimpleNamespace(url=url, names=[name])


@pytest.fixture
def open_page(request, visit):
    """Opens a page by its name in PAGES; the names in its path are those of the wing."""

    def opened(name, **options):
        wing, who, path = PAGES[name]
        site = request.getfixturevalue(wing)
        if not hasattr(site, "url"):
            site = SimpleNamespace(url=site if isinstance(site, str) else f"{site.as_uri()}/")
        match = getattr(site, "names", [""])[0]
        names = {"match": match, "team": next((key for key in match.split("-") if key.startswith("t")), "")}
        page = visit(site, path.format(**names, **getattr(site, "numbers", {})), who, **options)
        sync_api.expect(page.get_by_text("Getting these strategies ready")).to_have_count(0)
        return page

    return opened


@pytest.mark.long_but(
    *("-leaderboard", "team-submissions", "desk-team", "desk-sub", "-agents", "further-practice", "public-course"),
    *("explore-beside", "run-merged", "site-replay-infinite", "site-game", "site-review", "site-home", "parts"),
    "practised-replay",
)
@pytest.mark.parametrize("name", PAGES)
def test_pages_are_accessible(open_page, name):
    page = open_page(name)
    if name == "proof-perfect":
        page.get_by_role("button", name="I begin").click()
    elif name == "proof-explore":
        page.get_by_text("to player 1.").wait_for()
    elif not name.startswith("proof"):
        assert page.answer.status == (404 if name in ABSENT else 200)
    assert_accessible(page, name)
    assert [error for error in page.errors if name not in ABSENT or "404" not in error] == []
    assert page.evaluate(SMALL_TARGETS) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", LETTERS)
def test_letters_stand_out_from_shades(open_page, name, scheme):
    page = open_page(name, color_scheme=scheme)
    found = page.evaluate(CONTRAST)
    assert LETTERS[name] <= set(found)
    found.pop("mark theirs", None)  # there is no shade below it
    assert {letters: ratio for letters, ratio in found.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("name", SITE)
def test_pages_reflow_and_stay_still(open_page, name):
    page = open_page(f"site-{name}", size=(390, 844))
    assert_still(page, name)
    assert_reflows(page, name)


@pytest.mark.parametrize("name", ["site-home", "site-standings", "site-extreme", "site-robin"])
def test_the_keyboard_reaches_all_in_order_and_the_focus_is_seen(open_page, name):
    page = open_page(name, size=(1280, 800))
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


@pytest.mark.parametrize("name", ["site-standings", "site-extreme", "site-home"])
def test_print_has_the_content_and_nothing_to_press(open_page, name):
    page = open_page(name, media="print")
    picture(page, f"{name}-print")
    for hidden in ("#pages", ".menu", ".steps", ".find", "button", ".to-slide"):
        assert not any(one.is_visible() for one in page.locator(hidden).all()), hidden
    assert page.locator("h1").is_visible()
    clipped = "all => all.filter(one => one.checkVisibility() && getComputedStyle(one).overflowX !== 'visible').length"
    assert page.locator(".scroll, .moves").evaluate_all(clipped) == 0


@pytest.mark.parametrize("name", ["site-extreme", "site-replay"])
def test_nothing_moves_for_who_wants_less_motion(open_page, name):
    page = open_page(name, reduced_motion="reduce")
    press(page, "ArrowRight")
    page.locator(".plane .cell.latest").wait_for()
    assert page.evaluate("document.getAnimations().length") == 0


def test_cells_are_named_and_ordered_as_moves_are_written(open_page):
    """A small board N holds the squares N.0 to N.8, in the order in which they are read."""
    page = open_page("site-lobby")
    page.goto(f"{GAME}ultimate&moves=")
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
    told = re.search(rf"^\| {re.escape(task)} \| (\d+) \|$", VISITOR.read_text("utf-8"), re.M)
    one = Visitor(open_page("site-home", size=(1280, 800)))
    TASKS[task](one)
    assert one.count == int(told[1])
