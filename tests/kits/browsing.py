"""Shared by the tests that drive a browser.

Pictures of the pages go to the directory that PTTT_SCREENSHOTS names, if it is set: look at them.
"""

import os
import shutil
import socket
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.kits.patience import PATIENCE, wait_until

ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PICTURES = os.environ.get("PTTT_SCREENSHOTS")
WIDTHS = (390, 768, 1280)
DESKTOP = {"width": 1100, "height": 800}


def chromium():
    """The browser that the machine has, if any: without a window of its own, it takes half the time."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


in_browser = pytest.mark.skipif(
    chromium() is None, reason="there is no chromium (Debian: apt-get install chromium-headless-shell)"
)


def patient(make, **options):
    """A page or context that waits as long as a busy machine needs."""
    made = make(**options)
    made.set_default_timeout(1000 * PATIENCE)
    return made


def new_page(context):
    """A page; what goes wrong in it is in its `errors`."""
    page = context.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", lambda message: page.errors.append(message.text) if message.type == "error" else None)
    return page


@contextmanager
def pages_of(browser, url):
    """Opens pages, each in a context of its own."""
    contexts = []

    def opened(path, **options):
        contexts.append(patient(browser.new_context, base_url=url, **{"viewport": DESKTOP, **options}))
        page = new_page(contexts[-1])
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def open_page(browser, url, request):
    """Opens pages of the address `url`, which a module defines, at its START."""
    with pages_of(browser, url) as opened:
        yield lambda path=request.module.START, **options: opened(path, **{"locale": "en-GB", **options})


def sign_in(page, token):
    page.goto("/sign-in")
    page.get_by_label("Your token").fill(token)
    press(page, "Enter")
    page.wait_for_url(lambda address: "sign-in" not in address)


@pytest.fixture(scope="module")
def contexts(browser):
    """For each site, which has a `url` and its teams' `tokens`, and for each team, or nobody, a context."""
    opened = {}

    def context(site, team=None):
        if (site.url, team) not in opened:
            options = {"base_url": site.url, "locale": "en-GB", "timezone_id": "Asia/Tokyo"}
            opened[site.url, team] = patient(browser.new_context, **options)
            if team is not None:
                page = opened[site.url, team].new_page()
                sign_in(page, site.tokens[team])
                page.close()
        return opened[site.url, team]

    return context


@pytest.fixture
def visit(contexts):
    """Open a page of a site, as a team or as nobody, of a size, with media; the server's answer is its `answer`."""
    pages = []

    def open_page(site, path, team=None, size=None, **media):
        page = new_page(contexts(site, team))
        pages.append(page)
        if size:
            page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(**media)
        page.answer = page.goto(path)
        return page

    yield open_page
    for page in pages:
        page.close()


def arrived(page, piece):
    """Wait for a page that has this piece, a selector or a locator, and until its scripts hear keys and clicks.

    The page before must not have the piece: after a click, a browser shows the old page for a while, and then the
    beginning of the new one.
    """
    (page.locator(piece) if isinstance(piece, str) else piece).wait_for()
    page.wait_for_load_state()


def press(page, key):
    """Press a key once the page's scripts can hear it: the key may be the first thing after a link was followed."""
    page.wait_for_load_state()
    page.keyboard.press(key)


def mark_document(page):
    """Mark the document, once it is loaded; a document that is loaded anew has no mark."""
    page.wait_for_load_state()
    page.evaluate("window.sameDocument = true")


def assert_same_document(page):
    assert page.evaluate("window.sameDocument === true")


def picture(page, name):
    """Take a picture of the whole page, if somebody wants to look at it."""
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)


@contextmanager
def served(app):
    """An application on a port of its own, from a thread of this process."""
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()


SCREENS = ((1280, 800), (390, 844))
"""Widths and heights of a laptop and of a phone."""


def assert_board_first(page, board, *pieces, screens=SCREENS):
    """All of the boards, and of the pieces that say what to do next, is on the screen without scrolling."""
    for width, height in screens:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")
        for selector in (board, *pieces):
            found = page.locator(selector).all()
            assert found, f"there is no {selector}"
            for one in found:
                box = one.bounding_box()
                told = f"{selector} at {width} x {height}: {box}"
                assert box["width"] > 0 and box["height"] > 0, told
                assert box["x"] >= 0 and box["x"] + box["width"] <= width + 0.5, told
                assert box["y"] >= 0 and box["y"] + box["height"] <= height + 0.5, told


LOOKS = [("light", 1280, None), ("light", 390, None), ("dark", 1280, "color-contrast")]
BEST_PRACTICE = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


CUT_OFF = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(
  [...document.querySelectorAll(".scroll")]
    .filter(one => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).boxShadow === "none")
    .map(one => one.getAttribute("aria-label") || one.textContent.trim().slice(0, 40))))))"""
"""Tables of which more is beside the screen, and nothing says so."""


def assert_accessible(page, name, looks=LOOKS):
    """No violation of axe-core's rules, light and dark, wide and on a phone; colours are all that a scheme changes.

    Style sheets are not loaded again, which a page from a file cannot do; only experimental rules read them.
    """
    told = []
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate(Axe().axe_script)
    for scheme, width, rule in looks:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        only = {"type": "rule", "values": [rule]} if rule else {"type": "tag", "values": BEST_PRACTICE}
        found = page.evaluate("only => axe.run({runOnly: only, resultTypes: ['violations'], preload: false})", only)
        picture(page, f"{name}-{width}-{scheme}")
        for rule in found["violations"]:
            told += [(scheme, width, rule["id"], node["html"], node["failureSummary"]) for node in rule["nodes"]]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            told.append((scheme, width, "wider than the screen"))
        told += [(scheme, width, "cut off without a shade", table) for table in page.evaluate(CUT_OFF)]
    assert told == [], told


BROKEN_NUMBERS = """() => {
  const NUMBER = /(?<![\\p{L}\\d-])[<>]?[−-]?\\d(?:[\\d.,]*\\d)?(e-\\d+|\\s?×\\s?10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\\u00a0?%)?/gu;
  const found = [], walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    if (node.parentElement.closest("pre, .trace, .hash, code") || !node.parentElement.checkVisibility()) continue;
    for (const match of node.data.matchAll(NUMBER)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const tops = new Set([...range.getClientRects()].filter(one => one.width > 1).map(one => Math.round(one.top)));
      if (tops.size > 1) found.push(match[0]);
    }
  }
  return found;
}"""
LAYOUT_SHIFT = """() => new Promise(done => {
  let sum = 0;
  new PerformanceObserver(found => { for (const one of found.getEntries()) if (!one.hadRecentInput) sum += one.value; })
    .observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => setTimeout(() => done(sum), 100));
})"""


def assert_reflows(page, name):
    """At 320 pixels, which are 1280 at 400 %, nothing is wider than the screen, and no number is broken inside."""
    page.set_viewport_size({"width": 320, "height": 800})
    picture(page, f"{name}-320")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320, name
    for width in (320, 390, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        broken = page.evaluate(BROKEN_NUMBERS)
        assert broken == [], (name, width, broken)


def assert_still(page, name):
    """What is on the page stays where it is while the page is loaded: WCAG has no number for this, web.dev has 0.1."""
    page.wait_for_load_state("networkidle")
    shift = page.evaluate(LAYOUT_SHIFT)
    assert shift < 0.02, (name, shift)


SPY = """window.heard = []; window.AudioContext = class {
  currentTime = 0;
  createOscillator() { return new Oscillator(); }
  createGain() { return {gain: {setValueAtTime() {}, exponentialRampToValueAtTime() {}}, connect: to => to}; }
};
class Oscillator {
  frequency = {};
  connect(to) { return to; }
  start() { heard.push(this.frequency.value); }
  stop() {}
}"""
"""In place of what makes sounds: the tones that were played are in `heard`."""
PLACED, FAILED, OVER = 523, [233, 196], [392, 523, 659]
"""The tones of web/static/sounds.js, in Hz."""


def request_of(page, held):
    """The request that a route holds back: what is shown at once may be there before the route is told of it."""
    wait_until(lambda: page.evaluate("1") and held)
    return held.pop()


def set_sounds(page, on):
    """Switch sounds on or off, as people do; what is played from then on is in `heard` (see SPY)."""
    page.evaluate(f"() => {{ {SPY} }}")
    page.get_by_role("button", name="Keys and sounds").click()
    page.get_by_role("checkbox", name="Sounds").set_checked(on)
    page.keyboard.press("Escape")


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
    const alone = text.classList.contains("tick") || text.closest(".scale");
    const shade = alone ? [] : [[style(document.querySelector(".shade"), "fill"),
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
"""The contrast of letters with the shades behind them, which axe-core cannot see, by the classes of the letters."""
