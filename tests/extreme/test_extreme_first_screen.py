"""The tournament's pages in a real browser: both boards and what to do next, on a laptop and on a phone."""

import pytest

from pttt_ooc.extreme.pages.exports import parts
from pttt_ooc.web.application import make_application
from pttt_ooc.web.shell import Shell
from tests.extreme.match_kit import made
from tests.kits.browsing import assert_board_first, in_browser, pages_of, press, served

sync_api = pytest.importorskip("playwright.sync_api")
OVERLAPPING = """all => {
  const pieces = all.map(one => [...one.children].map(piece => piece.getBoundingClientRect()));
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return pieces.flatMap((own, n) => pieces.slice(n + 1, n + 12).flatMap((other, m) =>
    own.some(a => other.some(b => meet(a, b))) ? [[n + 1, n + m + 2]] : []));
}"""
pytestmark = [pytest.mark.slow, in_browser]


def test_both_boards_and_the_steps_are_on_the_first_screen(browser, tmp_path):
    record = made(tmp_path / "t")
    name = record.state().played[0].pairing.name
    app = make_application(Shell("Extreme TicTacToe", "", parts(str(record.directory))))
    with served(app) as url, pages_of(browser, url) as opened:
        page = opened(f"/extreme/matches/{name}?ply=5")
        assert_board_first(page, ".plane", ".said", ".steps")
        for width in (1280, 1060, 390):  # moves with their times and badges lie beside each other
            page.set_viewport_size({"width": width, "height": 800})
            assert page.locator(".moves li").evaluate_all(OVERLAPPING) == []
        press(page, "End")
        sync_api.expect(page.locator(".steps a[rel=next]")).to_have_count(0)
        assert_board_first(page, ".plane", ".said", ".steps")
