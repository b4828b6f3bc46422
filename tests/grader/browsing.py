"""Shared by the tests that drive a browser.

Pictures of the pages go to data/screenshots, or to the directory that PTTT_SCREENSHOTS names: look at them.
"""

import os
import shutil
from pathlib import Path

ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PICTURES = Path(os.environ.get("PTTT_SCREENSHOTS", Path(__file__).parent.parent.parent / "data" / "screenshots"))
WIDTHS = (390, 768, 1280)


def chromium():
    """The browser that the machine has, if any."""
    return shutil.which("chromium")


def picture(page, name):
    """Take a picture of the whole page, if somebody wants to look at it."""
    if "PTTT_SCREENSHOTS" in os.environ:
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / f"{name}.png", full_page=True)
