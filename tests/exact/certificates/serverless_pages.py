"""Fixtures of tests that open the pages which need no server: where the pages are, and what opens them from files."""

import subprocess
import sys

import pytest

from tests.kits.browsing import pages_of
from tests.kits.verify_program import PROOF

BENCHMARKS = ["pttt-abrupt", "pttt-classical", "dark-hex-3x3-abrupt", "dark-hex-3x3-classical"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Where the pages are, without a server; Python alone makes them."""
    made = tmp_path_factory.mktemp("pages")
    program = PROOF.parent / "docs/make/pages.py"
    subprocess.run([sys.executable, "-S", program, made], check=True, capture_output=True)
    return made


@pytest.fixture
def opened(browser, directory):
    """Opens a page from its file; it asks for nothing but the files beside it."""
    with pages_of(browser, directory.as_uri() + "/") as open_page:
        asked = []

        def open_file(name, **options):
            page = open_page("about:blank", **options)
            page.on("request", lambda request: asked.append(request.url))
            page.goto(name)
            return page

        yield open_file
        assert all(url.startswith((directory.as_uri() + "/", "blob:")) for url in asked), asked
