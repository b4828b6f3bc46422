"""Every page in every state, in a real browser: for axe-core, for the keyboard, and on narrow and wide screens.

The course runs in this process, so that a state is a row of its database.
"""

import datetime
import itertools
import time
from contextlib import contextmanager

import pytest
from fastapi import HTTPException

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.models import Fact, Submission, Team
from tests.course.server_kit import Lab, random_tensor, strategy_zip, zip_bytes
from tests.kits.browsing import LOOKS, WIDTHS, assert_accessible, in_browser, patient, picture, press, served

sync_api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
pytestmark = in_browser

LONG = "The Regret Minimisers of Room 32-144, MIT"[:40]
HEBREW = "צוות המשחקים"
MARKUP = "<img src=x onerror=alert(1)>"
UNBROKEN = "W" * 40
TOKYO = datetime.timezone(datetime.timedelta(hours=9))


@contextmanager
def served_lab(lab):
    """The application of `lab` on a port of its own; the lab is closed in the end."""
    try:
        with served(lab.client.app) as url:
            yield url
    finally:
        lab.close()


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A course that has just started: no teams, no value of the game."""
    lab = Lab(tmp_path_factory.mktemp("empty") / "course", game_value=None)
    with served_lab(lab) as url:
        lab.url = url
        yield lab


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    """A course with all kinds of teams, and submissions in all states."""
    lab = Lab(tmp_path_factory.mktemp("full") / "course", submissions_per_hour=8)
    with lab.database.writing() as session:
        session.merge(Fact(name="value", value=[*lab.settings.game_value, "as the instructors have set it"]))
    lab.baseline()
    for name in ("Team A", LONG, UNBROKEN, HEBREW):
        lab.team(name)
    lab.team("No uploads")
    lab.team("Markup")
    with lab.database.writing() as session:
        session.query(Team).filter_by(name="Markup").one().name = MARKUP
    for seed, name in enumerate(("Team A", LONG, UNBROKEN, HEBREW, "Markup")):
        for player in (0, 1)[: 1 if name == HEBREW else 2]:
            lab.submit(lab.tokens[name], player, strategy_zip(player, seed, 1.0))
    lab.run()
    lab.submit(lab.tokens["Team A"], 0, strategy_zip(0, 31, 0.3))
    bad = random_tensor(0, 5)
    bad[17, 2] = -0.25
    lab.numbers = {"Accepted": 3, "Rejected": lab.submit(lab.tokens["Team A"], 0, zip_bytes(bad))}
    lab.run()
    for status in ("Queued", "Validating", "Evaluating"):
        lab.numbers[status] = lab.submit(lab.tokens["Team A"], 1, strategy_zip(1, 40 + len(status)))
        with lab.database.writing() as session:
            session.get(Submission, lab.numbers[status]).status = status
            session.get(Submission, lab.numbers[status]).progress = 0.4
    with served_lab(lab) as url:
        lab.url = url
        yield lab


@pytest.fixture(scope="module")
def contexts(browser):
    """One window for each course and team."""
    opened = {}

    def context(lab, name=None):
        if (lab, name) not in opened:
            opened[lab, name] = patient(browser.new_context, base_url=lab.url, locale="en-GB", timezone_id="Asia/Tokyo")
            if name is not None:
                page = opened[lab, name].new_page()
                page.goto("/sign-in")
                page.get_by_label("Your team’s token").fill(lab.tokens[name])
                press(page, "Enter")
                page.wait_for_url("**/submissions")
                page.close()
        return opened[lab, name]

    return context


@pytest.fixture
def visit(contexts):
    """Open a page of a course, as a team or as nobody."""
    pages = []

    def open_page(lab, path, name=None):
        page = contexts(lab, name).new_page()
        pages.append(page)
        answer = page.goto(path)
        assert answer.status == (404 if path == "/nothing" else 200)
        return page

    yield open_page
    for page in pages:
        page.close()


PAGES = {
    "leaderboard": "/",
    "matrix": "/matrix",
    "submissions": "/submissions",
    "team": "/teams/1",
    "about": "/about",
    "sign-in": "/sign-in",
    "not-found": "/nothing",
}
MORE = {
    "api": "/api/docs",
    "matrix-mean": "/matrix?rows=mean&columns=2",
    "team-long": "/teams/4",
    "team-one-player": "/teams/5",
    "submissions-rejected": "/submissions?status=Rejected&of=2",
}


STATES = ("Queued", "Evaluating", "Accepted", "Rejected")


@pytest.mark.long_but("full-leaderboard", "empty-leaderboard", "team-submissions")
@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [f"full-{name}" for name in (*PAGES, *MORE)]
    + [f"empty-{name}" for name in ("leaderboard", "matrix", "submissions")]
    + [f"team-{name}" for name in ("leaderboard", "submissions", "sign-in", *STATES)],
)
def test_pages_are_accessible(empty, full, visit, name):
    """Of a course with submissions in all states, of one that has just started, and as a team sees them."""
    of, _, page = name.partition("-")
    path = f"/submissions/{full.numbers[page]}" if page in STATES else {**PAGES, **MORE}[page]
    assert_accessible(visit(empty if of == "empty" else full, path, "Team A" if of == "team" else None), name)


def choose(page, content):
    page.get_by_label("Player 0").check()
    page.locator("input[type=file]").set_input_files(
        {"name": "a.zip", "mimeType": "application/zip", "buffer": content}
    )


@pytest.mark.long
@pytest.mark.parametrize("status", [401, 413, 429, 507])
def test_refused_uploads_are_accessible(full, visit, monkeypatch, status):
    """In the form, and as the page that a browser without scripts gets."""

    async def refused(*arguments):
        raise HTTPException(status, "There is a reason, and it is told in a sentence.")

    monkeypatch.setattr("pttt_ooc.course.pages.pages.from_browser", refused)
    page = visit(full, "/submissions", "No uploads")
    choose(page, strategy_zip(0, 78))
    page.get_by_role("button", name="Upload").click()
    sync_api.expect(page.locator("#told .bad")).to_contain_text("There is a reason")
    if status == 413:  # the same for all
        assert_accessible(page, "refused")
    with page.expect_navigation():
        page.evaluate("document.querySelector('form.upload').submit()")
    sync_api.expect(page.locator("main")).to_contain_text("There is a reason")
    assert_accessible(page, f"error-{status}", LOOKS[1:3])


@pytest.mark.slow
def test_a_wrong_token_is_accessible(full, visit):
    page = visit(full, "/sign-in")
    page.get_by_label("Your team’s token").fill("1.nonsense")
    page.get_by_role("button", name="Sign in").click()
    sync_api.expect(page.get_by_role("alert")).to_be_visible()
    assert_accessible(page, "sign-in-wrong")


# ---------------------------------------------------------------------------------------------
# What axe-core cannot see

CONTRAST = """
(pairs) => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const luminance = layers => {
    for (const [colour, opacity] of layers) {
      canvas.globalAlpha = opacity; canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    }
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = getComputedStyle(document.body).backgroundColor, style = (c, p) => getComputedStyle(c)[p];
  const against = (front, layers) => {
    const [a, b] = [luminance([[front, 1]]), luminance(layers)].sort((a, b) => b - a);
    return (a + 0.05) / (b + 0.05);
  };
  const found = {};
  for (const text of document.querySelectorAll("svg text")) {
    const shade = text.classList.contains("tick") ? [] : [[style(document.querySelector(".shade"), "fill"),
      text.classList.contains("zero") ? 0 : 0.75]];
    found[text.getAttribute("class")] = against(style(text, "fill"), [[paper, 1], ...shade]);
  }
  const cell = document.querySelector(".matrix tbody td");
  for (let step = -5; cell && step <= 5; step++) {
    cell.className = "v" + step;
    found[cell.className] = against(style(cell, "color"), [[paper, 1], [style(cell, "backgroundColor"), 1]]);
  }
  return found;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_stand_out_from_shades(full, visit, scheme):
    found = {}
    for path in ("/matrix", f"/submissions/{full.numbers['Accepted']}"):
        page = visit(full, path)
        page.emulate_media(color_scheme=scheme)
        found |= page.evaluate(CONTRAST)
    assert {"v-5", "v5", "tick", "square", "p"} <= set(found)
    assert {name: ratio for name, ratio in found.items() if ratio < 4.5} == {}


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
    rejected = f"/submissions/{full.numbers['Rejected']}"
    page = visit(full, "/", "Team A")
    edges = {width: {} for width in WIDTHS}
    for path in [*PAGES.values(), *MORE.values(), rejected]:
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
