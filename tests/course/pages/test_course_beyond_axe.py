"""What axe-core cannot see of the pages, in a real browser: letters, edges, the keyboard, parts that are renewed."""

import datetime
import itertools
import time

import pytest

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.models import Submission
from tests.course.pages.conftest import HEBREW, MARKUP
from tests.course.server_kit import strategy_zip
from tests.kits.browsing import BROKEN_NUMBERS, WIDTHS, in_browser, picture, press

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = in_browser
PAGES = {
    "leaderboard": "/",
    "matrix": "/matrix",
    "submissions": "/submissions",
    "team": "/teams/1",
    "about": "/about",
    "sign-in": "/sign-in",
    "not-found": "/nothing",
    "api": "/api/docs",
    "matrix-mean": "/matrix?rows=mean&columns=2",
    "team-long": "/teams/4",
    "team-one-player": "/teams/5",
    "submissions-rejected": "/submissions?status=Rejected&of=2",
}


def choose(page, content):
    page.get_by_label("Player 0").check()
    page.locator("input[type=file]").set_input_files(
        {"name": "a.zip", "mimeType": "application/zip", "buffer": content}
    )


@pytest.mark.long
def test_the_heat_map_keeps_its_colours_where_the_system_chooses_colours(full, visit):
    """Its shades are what it says; the letters on them stay dark, and the legend has the same shades."""
    page = visit(full, "/matrix")
    page.emulate_media(forced_colors="active")
    colour = "all => [...new Set(all.map(one => getComputedStyle(one).backgroundColor))]"
    shades = page.locator(".matrix tbody td[class^=v]").evaluate_all(colour)
    assert len(shades) >= 3 and set(shades) <= set(page.locator(".swatches i").evaluate_all(colour))
    picture(page, "matrix-forced")


@pytest.mark.slow
def test_pages_begin_at_one_left_edge_and_keep_within_the_screen(full, visit):
    verdicts = [f"/submissions/{full.numbers[status]}" for status in ("Rejected", "Accepted")]
    page = visit(full, "/", "Team A")
    edges = {width: {} for width in WIDTHS}
    for path in [*PAGES.values(), *verdicts]:
        page.goto(path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            for what in (".brand a", "h1", "main .lead", "main h2:not(.card *)", "footer p"):
                if what == ".brand a" and width == 1280:  # one row of the navigation needs the whole width
                    continue
                if page.locator(what).count():
                    left = round(page.locator(what).first.bounding_box()["x"])
                    edges[width].setdefault(left, set()).add((path, what))
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert path != verdicts[1] or page.evaluate(BROKEN_NUMBERS) == [], width
    assert {width: len(found) for width, found in edges.items()} == dict.fromkeys(WIDTHS, 1)


@pytest.mark.long_but("2-390", "5-1280", "390-2", "1280-5")
@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("team", [2, 5])
def test_labels_of_a_chart_are_whole_and_apart(full, visit, team, width):
    """One value or many; letters are as large as elsewhere."""
    page = visit(full, f"/teams/{team}")
    page.set_viewport_size({"width": width, "height": 800})
    picture(page, f"chart-{team}-{width}")
    chart = page.locator(".chart:visible")
    assert chart.count() == 1
    box = chart.bounding_box()
    labels = [label.bounding_box() for label in chart.locator("text").all()]
    times = [time.bounding_box() for time in page.locator(".history time").all()]
    for label in labels:
        assert box["x"] <= label["x"] and label["x"] + label["width"] <= box["x"] + box["width"]
        assert box["y"] <= label["y"] and label["y"] + label["height"] <= box["y"] + box["height"]
        assert 11 <= label["height"] <= 22
    rows = sorted((label["y"], label["height"]) for label in labels)
    assert len(rows) >= 2 and all(y + height <= below + 1 for (y, height), (below, _) in itertools.pairwise(rows))
    assert all(t["x"] >= 0 and t["x"] + t["width"] <= width and t["y"] > rows[-1][0] for t in times)
    assert all(a["x"] + a["width"] < b["x"] for a, b in itertools.pairwise(times))


@pytest.mark.slow
def test_times_are_in_the_readers_zone(full, visit):
    for path in ("/", f"/submissions/{full.numbers['Accepted']}"):
        page = visit(full, path)
        sync_api.expect(page.locator("time").first).to_be_visible()
        assert "UTC" not in page.locator("main").inner_text()
        for shown, machine in page.evaluate(
            "[...document.querySelectorAll('time')].map(t => [t.innerText, t.dateTime])"
        ):
            local = datetime.datetime.fromisoformat(machine).astimezone(datetime.timezone(datetime.timedelta(hours=9)))
            assert f"{local:%H:%M:%S}" in shown


@pytest.mark.slow
def test_names_are_text_and_run_in_their_own_direction(full, visit):
    page = visit(full, "/")
    row = page.locator("#leaderboard tbody tr", has_text=MARKUP)
    assert row.count() == 1 and page.locator("main img").count() == 0
    name = page.locator("#leaderboard tbody bdi", has_text=HEBREW)
    assert name.evaluate("e => getComputedStyle(e).direction") == "rtl"
    assert (
        page.locator(".events li", has_text=HEBREW).locator(".name").evaluate("e => getComputedStyle(e).direction")
        == "ltr"
    )


# ---------------------------------------------------------------------------------------------
# By keyboard, and while the page is renewed


@pytest.mark.slow
def test_an_upload_by_keyboard_keeps_the_focus(full, visit):
    page = visit(full, "/submissions", "No uploads")
    press(page, "Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    press(page, "Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    choose(page, strategy_zip(0, 77))
    page.locator("input[type=radio]").first.focus()
    path = []
    while not path or path[-1] != "Upload":
        press(page, "Tab")
        path.append(page.evaluate("document.activeElement.textContent || document.activeElement.type"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        assert len(path) < 4
    assert path[0] == "file"
    press(page, "Enter")
    sync_api.expect(page.locator("#told .good")).to_contain_text("7 of 8 submissions an hour are left")
    sync_api.expect(page.get_by_role("button", name="Upload")).to_be_focused()
    sync_api.expect(page.locator(".quota")).to_contain_text("7 of 8")


@pytest.mark.slow
def test_focus_is_seen_everywhere(full, visit):
    page = visit(full, "/submissions", "Team A")
    seen = set()
    for _ in range(30):
        press(page, "Tab")
        seen.add(page.evaluate("document.activeElement.tagName"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") in ("solid", "auto")
    assert {"A", "BUTTON", "INPUT"} <= seen


def touch(lab):
    with lab.database.writing() as session:
        standings.touch(session)
        session.get(Submission, lab.numbers["Evaluating"]).changed_at = time.time()


@pytest.mark.long_but("#matrix")
@pytest.mark.slow
@pytest.mark.parametrize("part", ["#submissions", "#matrix", "#leaderboard"])
def test_a_renewed_part_keeps_focus_and_scroll(full, visit, part):
    page = visit(full, PAGES[part[1:]])
    page.set_viewport_size({"width": 390, "height": 800})
    link = page.locator(f"{part} tbody a").nth(4)
    link.focus()
    target = link.get_attribute("href")
    scroll = page.locator(f"{part} .scroll")
    scrolled = scroll.evaluate("e => (e.scrollLeft = 40, e.scrollLeft)") if scroll.count() else 0
    before = page.locator(part).get_attribute("hx-get")
    touch(full)
    sync_api.expect(page.locator(part)).not_to_have_attribute("hx-get", before)
    assert page.evaluate("document.activeElement.getAttribute('href')") == target
    assert page.locator(f"{part} tbody a").nth(4).evaluate("e => e === document.activeElement")
    assert not scrolled or scroll.evaluate("e => e.scrollLeft") == scrolled
    assert scrolled or part != "#matrix"


@pytest.mark.long
def test_a_part_that_cannot_be_renewed_stays_and_is_asked_for_again(full, visit):
    page = visit(full, "/")
    broken = "**/parts/leaderboard*"
    page.route(broken, lambda route: route.fulfill(status=503, body="<p class=bad>The server is busy.</p>"))
    with page.expect_response(broken):
        pass
    page.unroute(broken)
    before = page.locator("#leaderboard").get_attribute("hx-get")
    assert page.locator("#leaderboard tbody tr").count() == 7
    touch(full)
    sync_api.expect(page.locator("#leaderboard")).not_to_have_attribute("hx-get", before)
