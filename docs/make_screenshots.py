"""Take the pictures of pages in the documentation, in a headless Chromium.

Usage: ``python docs/make_screenshots.py ADDRESS``, where ADDRESS is that of ``pttt web`` with a solution of
``pttt-abrupt``, a solved match with secret goals, and a tournament.  Pictures of a run with snapshots, of the course's
pages and of a game against a bot are taken by ``make_course_screenshots``.
"""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

PICTURES = Path(__file__).parent / "pictures"
WIDE, TALL, LAPTOP, PHONE = (1060, 800), (1060, 1150), (1280, 800), (390, 844)
COLOURS = 128


@contextmanager
def opened(browser: Browser, address: str, path: str, size: tuple[int, int] = WIDE) -> Iterator[Page]:
    """A page in a browser of its own."""
    context = browser.new_context(base_url=address, viewport={"width": size[0], "height": size[1]}, locale="en-GB")
    page = context.new_page()
    page.goto(path)
    yield page
    context.close()


def take(page: Page, name: str, whole: bool = False, piece: str = "") -> None:
    """Take a picture, of a piece or of the page, once nothing is loaded any more."""
    page.wait_for_load_state("networkidle")
    taken = page.locator(piece).screenshot() if piece else page.screenshot(full_page=whole)
    with Image.open(BytesIO(taken)) as picture:
        small = picture.convert("RGB").quantize(COLOURS)  # a third of the bytes, and no difference to be seen
        small.save(PICTURES / f"{name}.png", optimize=True)


def play_round(page: Page, moves: int) -> None:
    """Take free squares, at most so many, or until the round is decided."""
    for _ in range(moves):
        free = page.locator("button.cell:not([aria-disabled])")
        if not free.count():
            return
        version = page.locator("#table").get_attribute("data-version")
        free.first.click()
        page.locator(f'#table:not([data-version="{version}"])').wait_for()


def begin_match(page: Page) -> None:
    """Begin a match with secret goals, in which the person moves first."""
    page.get_by_label("you", exact=True).check()
    page.get_by_role("button", name="Begin").click()
    page.locator("#table").wait_for()


def main(address: str) -> None:
    """Take all pictures."""
    with sync_playwright() as playwright:
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with opened(browser, address, "/") as page:
            take(page, "home", whole=True)
        with opened(browser, address, "/explore?at=|0*4.&square=3", LAPTOP) as page:
            page.locator("#board1").wait_for(timeout=600_000)
            take(page, "explore")
        with opened(browser, address, "/explore/map?at=|", LAPTOP) as page:
            take(page, "explore-map", piece="main")
        with opened(browser, address, "/smbc/explore?squares=48") as page:
            take(page, "smbc-explore", whole=True)
        for name, size in (("smbc-match", WIDE), ("smbc-phone", PHONE)):
            with opened(browser, address, "/smbc/play", size) as page:
                begin_match(page)
                play_round(page, 1)
                take(page, name)
        with opened(browser, address, "/smbc/play") as page:
            begin_match(page)
            play_round(page, 9)
            take(page, "smbc-round-over")
        with opened(browser, address, "/extreme/matches", TALL) as page:
            page.locator("tbody a").first.click()
            page.locator(".moves a").nth(39).click()
            page.get_by_text("Move 40 of").wait_for()
            page.evaluate("scrollTo(0, 0)")
            take(page, "extreme-match")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
