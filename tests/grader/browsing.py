"""Shared by the tests that drive a browser.

Pictures of the pages go to the directory that PTTT_SCREENSHOTS names, if it is set: look at them.
"""

import os
import shutil
from pathlib import Path

from patience import PATIENCE

ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PICTURES = os.environ.get("PTTT_SCREENSHOTS")
WIDTHS = (390, 768, 1280)
DESKTOP = {"width": 1100, "height": 800}


def chromium():
    """The browser that the machine has, if any."""
    return shutil.which("chromium")


def patient(make, **options):
    """A page or context that waits as long as a busy machine needs."""
    made = make(**options)
    made.set_default_timeout(1000 * PATIENCE)
    return made


def picture(page, name):
    """Take a picture of the whole page, if somebody wants to look at it."""
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png", full_page=True)
