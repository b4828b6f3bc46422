"""Take the pictures that need more than results in ``data/``: a run with snapshots, a course, a game against a bot.

Usage: ``python -m docs.make_course_screenshots``.  It makes what it needs in a temporary directory, with the tools of
the tests: a small solved game, a course of four teams, a practice league whose matches are of random moves, and our
bot ``alphabeta`` as an opponent.
"""

import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from docs.make_screenshots import TALL, WIDE, opened, take
from pttt_ooc.explore.explorer import Explorer
from pttt_ooc.explore.local_sources import local_sources
from pttt_ooc.explore.part import part_of
from pttt_ooc.explore.sources import FixedSources
from pttt_ooc.service.pulse import Pulse
from pttt_ooc.web.application import make_application
from pttt_ooc.web.shell import Shell
from tests.course.coursekit import BAD, Course
from tests.explore.answerer_kit import answering, solve_game
from tests.extreme.practice_kit import bot, league, write_match
from tests.kits.browsing import served

PORT = 8791
BOT = ["extreme", "play", "alphabeta", "--time-limit", "8", "--no-browser", "--port", str(PORT)]


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
    made = Course(place / "grader", practice=True)
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


@contextmanager
def played_against(program: Path):
    """The address of a game against a bot, as `pttt extreme play` serves it."""
    with subprocess.Popen([str(program), *BOT], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
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


def a_game(browser: Browser) -> None:
    """A person plays some moves against our bot."""
    with (
        played_against(Path(sys.executable).with_name("pttt")) as address,
        opened(browser, address, "/extreme/play", WIDE) as page,
    ):
        page.get_by_role("button", name="Begin").click()
        for move in range(5):
            page.locator("button.cell").first.wait_for(timeout=120_000)
            page.locator("button.cell").nth(3 * move % 7).click()
            page.locator(".cell.latest").first.wait_for(timeout=120_000)
        page.locator("button.cell").first.wait_for(timeout=120_000)
        take(page, "extreme-play")


def main() -> None:
    """Take all pictures."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        playwright = stack.enter_context(sync_playwright())
        program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        along_a_run(browser, place)
        a_course(browser, place)
        a_game(browser)
        browser.close()


if __name__ == "__main__":
    main()
