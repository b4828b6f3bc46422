"""Take the pictures of pages in the documentation, in a headless Chromium.

Usage: ``python -m docs.make.screenshots DATA``, where DATA has a solution of ``pttt-abrupt``, a solved match with
secret goals, and a tournament.  Everything else is made in a temporary directory, with the tools of the
tests: a small solved game with snapshots of its run, a course of four teams, and a practice league whose matches are
of random moves.
"""

import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from pttt_ooc.site.explore.explorer import Explorer
from pttt_ooc.site.explore.local_sources import local_sources
from pttt_ooc.site.explore.part import part_of
from pttt_ooc.site.explore.sources import FixedSources
from pttt_ooc.site.service.pulse import Pulse
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.course.league_kit import BAD, LeagueCourse
from tests.kits.browsing import served
from tests.other_games.extreme.practice_kit import bot, league, write_match
from tests.site.explore.answerer_kit import answering, solve_game

PICTURES = Path(__file__).parents[1] / "pictures"
WIDE, TALL, LAPTOP, PHONE = (1060, 800), (1060, 1150), (1280, 800), (390, 844)
COLOURS = 128
PORT = 8791


@contextmanager
def opened(browser: Browser, address: str, path: str, size: tuple[int, int] = WIDE) -> Iterator[Page]:
    """A page in a browser of its own."""
    context = browser.new_context(base_url=address, viewport={"width": size[0], "height": size[1]}, locale="en-GB")
    page = context.new_page()
    page.goto(path)
    yield page
    context.close()


def take(page: Page, name: str, whole: bool = False, piece: str = "") -> None:
    """Take a picture, of a piece or of the page, once everything is loaded."""
    page.wait_for_load_state("networkidle")
    taken = page.locator(piece).screenshot() if piece else page.screenshot(full_page=whole)
    with Image.open(BytesIO(taken)) as picture:
        small = picture.convert("RGB").quantize(COLOURS)  # a third of the bytes, and no visible difference
        small.save(PICTURES / f"{name}.png", optimize=True)


def play_round(page: Page, moves: int) -> None:
    """Take at most `moves` free squares, until the round is decided."""
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


@contextmanager
def serving(*command: str) -> Iterator[str]:
    """The address of what a command of ``pttt`` serves."""
    program = Path(sys.executable).with_name("pttt")
    words = [program, *command, "--no-browser", "--port", str(PORT)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        address = f"http://127.0.0.1:{PORT}"
        try:
            for _ in range(240):
                try:
                    urllib.request.urlopen(f"{address}/livez", timeout=5).close()
                    break
                except OSError:
                    time.sleep(0.5)
            yield address
        finally:
            child.terminate()


def what_is_solved(browser: Browser, address: str) -> None:
    """Pages on results in ``data/``."""
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


def along_a_run(browser: Browser, place: Path) -> None:
    """Explore after an iteration of a run that has kept snapshots."""
    solved = solve_game(place / "data", snapshot_every=2)
    rules, sources = local_sources([str(solved)], None)
    with answering(place / "profiles", solved.parent.parent) as client:
        part = part_of(Explorer(rules, client, FixedSources(tuple(sources))))
        with (
            served(make_application(Shell("Explored", rules.name, [part]))) as url,
            opened(browser, url, "/explore?at=|0*&symmetry=merged&iteration=16", TALL) as page,
        ):
            page.locator("#board1").wait_for(timeout=600_000)
            take(page, "explore-run", whole=True)


def a_course(browser: Browser, place: Path) -> None:
    """The verdict on a bot that fails, and practice."""
    made = LeagueCourse(place / "course", practice=True)
    for name in ("Team C", "Team D"):
        made.lab.team(name)
    number = made.hand_in("Team A", BAD)["number"]
    Pulse(made.league.practising).ready()
    keys, chance = ["t2", "t3", "t4", "t5", "random"], random.Random(7)
    for match in range(1, 41):
        write_match(made.league.practice, match, *chance.sample(keys, 2))
    bots = [bot(key, name=f"Team {letter}") for key, letter in zip(keys, "ABCD", strict=False)]
    league(made.league.practice, [*bots, bot("random", ours=True)])
    with served(made.app) as url, opened(browser, url, "/sign-in") as page:
        page.get_by_label("Your team’s token").fill(made.tokens["Team A"])
        page.keyboard.press("Enter")
        page.wait_for_url("**/submissions")
        page.goto(f"/extreme/bots/{number}")
        take(page, "extreme-verdict", whole=True)
        page.set_viewport_size({"width": TALL[0], "height": TALL[1]})
        page.goto("/extreme/practice")
        take(page, "extreme-practice")
    made.close()


def a_game(browser: Browser) -> None:
    """A person plays some moves against our bot."""
    with (
        serving("web", "--bot", "alphabeta", "--time-limit", "24") as address,
        opened(browser, address, "/extreme/play", WIDE) as page,
    ):
        page.get_by_role("button", name="Begin").click()
        for move in range(5):
            page.locator("button.cell").first.wait_for(timeout=120_000)
            page.locator("button.cell").nth(3 * move % 7).click()
            page.locator(".cell.latest").first.wait_for(timeout=120_000)
        page.locator("button.cell").first.wait_for(timeout=120_000)
        take(page, "extreme-play")


def main(data: str) -> None:
    """Take all pictures."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as place:
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with serving("web", "--data", data) as address:
            what_is_solved(browser, address)
        along_a_run(browser, Path(place))
        a_course(browser, Path(place))
        a_game(browser)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
