"""The home of everything in a directory, in a real browser."""

import json

import pytest

from pttt_ooc.cli.site import site_pages
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.server import parts_of
from pttt_ooc.site.shell.shell import Shell
from tests.cli.test_site import evaluated
from tests.kits.browsing import SCREENS, assert_accessible, in_browser, pages_of, picture, served

pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.slow, in_browser]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The home of two evaluated games and of nothing else."""
    data = tmp_path_factory.mktemp("data")
    evaluated(data, "pttt-abrupt", "full", 0.55017, 2e-14)
    evaluated(data, "pttt-2x4k3-abrupt", "full", 0.4447, 1e-3)
    home = site_pages(data)[0]
    app = make_application(Shell(home.title, home.subtitle, parts_of(json.dumps([home.parts]))))
    with served(app) as url:
        yield url


def test_the_home_is_accessible_and_fits(browser, url):
    with pages_of(browser, url) as any_page:
        page = any_page("/")
        assert page.locator(".cards > .card").count() == 4
        assert_accessible(page, "home")
        for width, height in SCREENS:
            page.set_viewport_size({"width": width, "height": height})
            picture(page, f"home-{width}")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.errors == []
