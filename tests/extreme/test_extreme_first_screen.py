"""The tournament's pages in a real browser: both boards and what to do next, on a laptop and on a phone."""

import pytest

from pttt_ooc.extreme.pages.exports import parts
from pttt_ooc.web.application import make_application
from pttt_ooc.web.shell import Shell
from tests.extreme.match_kit import made
from tests.kits.browsing import assert_board_first, in_browser, pages_of, press, served

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.slow, in_browser]


def test_both_boards_and_the_steps_are_on_the_first_screen(browser, tmp_path):
    record = made(tmp_path / "t")
    name = record.state().played[0].pairing.name
    app = make_application(Shell("Extreme TicTacToe", "", parts(str(record.directory))))
    with served(app) as url, pages_of(browser, url) as opened:
        page = opened(f"/extreme/matches/{name}?ply=5")
        assert_board_first(page, ".plane", ".said", ".steps")
        press(page, "End")
        sync_api.expect(page.locator(".steps a[rel=next]")).to_have_count(0)
        assert_board_first(page, ".plane", ".said", ".steps")
