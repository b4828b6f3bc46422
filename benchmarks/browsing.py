"""Explore in a real browser: ``python -m benchmarks.browsing DATA`` measures a visitor's waits and the bytes sent.

A headless Chromium clicks through games played at random: a square, then an outcome.  A click is timed inside the page,
from the event to the frame that shows the new numbers.  Bytes are those on the wire, compressed, with headers.  Times
grow when other programs use the processor, so the load is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
from typing import Any

from benchmarks.explore import Served, percentile

ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
_CLICK = """selector => new Promise((done, fail) => {
  const link = document.querySelector(selector), begun = performance.now();
  if (!link) return fail(new Error("there is no " + selector));
  document.addEventListener("htmx:afterSettle", () => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - begun);
    channel.port2.postMessage(null);
  }), {once: true});
  link.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}));
})"""
_SHIFT = """() => new Promise(done => {
  let sum = 0;
  new PerformanceObserver(found => { for (const one of found.getEntries()) if (!one.hadRecentInput) sum += one.value; })
    .observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => setTimeout(() => done(sum), 100));
})"""
_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"


class Wire:
    """Counts the bytes that a page takes from the network."""

    def __init__(self, page: Any) -> None:
        self.bytes = 0
        session = page.context.new_cdp_session(page)
        session.on("Network.loadingFinished", self._count)
        session.send("Network.enable")

    def _count(self, event: dict[str, Any]) -> None:
        self.bytes += int(event["encodedDataLength"])

    def taken(self) -> int:
        """The bytes since the last call."""
        taken, self.bytes = self.bytes, 0
        return taken


def visit(page: Any, wire: Wire, address: str, ready: str) -> dict[str, float]:
    """Look at a page: bytes, seconds to the first paint, and the sum of layout shifts."""
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.locator(ready).first.wait_for()
    return {
        "bytes": wire.taken(),
        "first_paint_milliseconds": round(page.evaluate(_PAINT), 1),
        "layout_shift": round(page.evaluate(_SHIFT), 4),
    }


def click(page: Any, selector: str) -> float:
    """Click on a link that renews a piece of the page; seconds until the piece is shown."""
    return float(page.evaluate(_CLICK, selector)) / 1000


def play(page: Any, chance: random.Random, clicks: int) -> list[float]:
    """Click through games played at random; seconds of each click."""
    times: list[float] = []
    while len(times) < clicks:
        squares = page.locator("#board1 a[data-square]").evaluate_all("all => all.map(one => one.dataset.square)")
        outcomes: list[str] = []
        if squares:
            times.append(click(page, f'#board1 a[data-square="{chance.choice(squares)}"]'))
            outcomes = page.locator("a[data-outcome]").evaluate_all("all => all.map(one => one.dataset.outcome)")
        if outcomes:
            times.append(click(page, f'a[data-outcome="{chance.choice(outcomes)}"]'))
        else:
            times.append(click(page, "#explore .steps ol a"))  # the game is over: back to its beginning
    return times


def main() -> int:
    """The command; returns its exit code."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(prog="python -m benchmarks.browsing", description=__doc__)
    parser.add_argument("strategies", nargs="+", help="as pttt web takes them, such as the directory of a solution")
    parser.add_argument("--clicks", type=int, default=200, metavar="N", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the games (default: %(default)s)")
    options = parser.parse_args()
    served = Served(options.strategies, "")
    try:
        served.wait()
        with sync_playwright() as playwright:
            program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
            page = browser.new_page(base_url=f"http://{served.address}", viewport={"width": 1280, "height": 800})
            wire, load = Wire(page), os.getloadavg()[0]
            first = visit(page, wire, "/explore", "#board1")
            again = visit(page, wire, "/explore?at=|0*", "#board1")
            times = play(page, random.Random(options.seed), options.clicks)
            record = {
                "game": served.game,
                "load_before": round(load, 2),
                "load_after": round(os.getloadavg()[0], 2),
                "first_visit": first,
                "a_page_after": again,
                "clicks": len(times),
                "bytes_per_click": round(wire.taken() / len(times)),
                "click_milliseconds": {f"p{n}": percentile(times, n / 100) for n in (50, 90, 95, 99, 100)},
            }
            browser.close()
    finally:
        served.stop()
    print(json.dumps(record, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
