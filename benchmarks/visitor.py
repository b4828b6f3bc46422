"""Ten tasks of a new visitor: ``python -m benchmarks.visitor ADDRESS`` does each from the home, and counts clicks.

ADDRESS is that of ``pttt web`` with a solution of ``pttt-abrupt``, a solved match with secret goals, matches of agents
and a tournament.  A click, a key, and a move of a slider count as one each; typing a name counts as one.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable
from typing import Any

ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]


class Visitor:
    """A site's visitor, who counts clicks."""

    def __init__(self, page: Any) -> None:
        self.page, self.count = page, 0

    def click(self, selector: str) -> None:
        """Click on the first visible match."""
        self.page.locator(f"{selector} >> visible=true").first.click()
        self.count += 1

    def slide(self, selector: str, to: int) -> None:
        """Move a slider."""
        self.page.locator(selector).fill(str(to))
        self.count += 1

    def type(self, selector: str, text: str) -> None:
        """Type a text and press Enter: two actions."""
        self.page.locator(selector).fill(text)
        self.page.locator(selector).press("Enter")
        self.count += 2

    def sees(self, selector: str) -> None:
        """Wait for what shows that the task is done."""
        self.page.locator(f"{selector} >> visible=true").first.wait_for()


def _attempt(one: Visitor) -> None:
    one.click('.card a[href="/play"]')
    one.click("button.cell")
    one.sees(".cell.latest")


def _infoset(one: Visitor) -> None:
    one.click('.card a[href="/explore"]')
    for outcome in ("0 placed", "4 failed"):
        one.click(f'.action a[aria-label^="{outcome}"]')
    one.page.wait_for_url("**/explore?*at=|0*4.*")


def _ultimate(one: Visitor) -> None:
    one.click('.card a[href="/arena/play"]')
    one.click("form.card button")
    one.click("button.cell")
    one.sees(".cell.latest")


def _watch(one: Visitor) -> None:
    one.click('.card a[href="/arena/play"]')
    one.click('form[action="/arena/watch"] button')
    one.sees("#watched .cell.latest")


def _gap(one: Visitor) -> None:
    one.sees("td:has-text('<1e-12')")


def _report(one: Visitor) -> None:
    one.click('a[href="/results/pttt-abrupt/full/report.html"]')
    one.sees("h1")


def _leader(one: Visitor) -> None:
    one.click('.card a[href="/extreme/standings"].button')
    one.click("summary")
    one.sees("text=Ties in a pool are decided by")


def _move(one: Visitor) -> None:
    _game(one)
    one.slide(".scrub input[type=range]", 30)
    one.sees("text=Move 30 of")


def _game(one: Visitor) -> None:
    one.click('.card a[href="/arena/matches"].button')
    one.click('a[href*="name=ultimate"]')
    one.click('a:has-text("Game 0")')


def _film(one: Visitor) -> None:
    _game(one)
    one.click(".steps a[rel=first], .steps .play")
    if "Pause" not in one.page.locator(".film .play").inner_text():
        one.click(".film .play")
    one.sees("text=Move 2 of")


def _goals(one: Visitor) -> None:
    one.click('.card a[href="/smbc/play"]')
    one.click("form.card button")
    one.click("button.cell:not([aria-disabled])")
    one.sees(".cell.latest")


TASKS: dict[str, Callable[[Visitor], None]] = {
    "make a first attempt against the solution": _attempt,
    "see what player 0 does at `|0*4.`": _infoset,
    "make a first move of Ultimate against the agent that is proposed": _ultimate,
    "watch two agents play Ultimate": _watch,
    "read the exact gap of a solution": _gap,
    "open the report of a run": _report,
    "learn who leads the tournament, and how ties are decided": _leader,
    "go to move 30 of a game of two agents": _move,
    "let such a game play by itself": _film,
    "make a first move in a match with secret goals": _goals,
}


def main() -> int:
    """The command; returns its exit code."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(prog="python -m benchmarks.visitor", description=__doc__)
    parser.add_argument("address", help="such as http://127.0.0.1:8080")
    options = parser.parse_args()
    counted = {}
    with sync_playwright() as playwright:
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        for name, task in TASKS.items():
            context = browser.new_context(base_url=options.address, viewport={"width": 1280, "height": 800})
            visitor = Visitor(context.new_page())
            visitor.page.goto("/")
            task(visitor)
            counted[name] = visitor.count
            context.close()
        browser.close()
    print(json.dumps(counted, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
