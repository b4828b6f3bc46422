"""The parts of pages, on the page *Parts*: pictures of them, and that pages are made of them.

A picture of a part is compared with the one in ``parts/``.  So that it hardly depends on a machine's fonts, text is
transparent, each part has a frame of a fixed size, and eight by eight pixels are one.  The tolerance: in each part, the
mean difference is at most MEAN of 255, and at most SHARE of the pixels differ by more than CLEARLY.

``PTTT_RENEW_PARTS=1 python -m pytest tests/site/shell/test_web_gallery.py`` takes the pictures anew: look at them.
"""

import os
import re
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from pttt_ooc.site.shell.gallery import PATH, application
from tests.kits.browsing import in_browser, pages_of, picture, served

PACKAGE = Path(__file__).parents[3] / "pttt_ooc"
PICTURES = Path(__file__).parent / "parts"
MEAN, CLEARLY, SHARE = 2.0, 48, 0.04
SMALLER = 8
LOOKS = {
    "light": {"color_scheme": "light", "forced_colors": "none"},
    "dark": {"color_scheme": "dark", "forced_colors": "none"},
    "forced": {"color_scheme": "light", "forced_colors": "active"},
}
WITHOUT_TEXT = """() => {
  const sheet = document.styleSheets[document.styleSheets.length - 1];
  sheet.insertRule("*, ::marker { -webkit-text-fill-color: transparent !important; color: transparent !important; "
    + "}", sheet.cssRules.length);
  sheet.insertRule("* { transition: none !important; animation: none !important; text-decoration: none !important; }",
    sheet.cssRules.length);
}"""


@pytest.fixture(scope="module")
def url():
    with served(application()) as url:
        yield url


@pytest.fixture
def open_page(browser, url):
    with pages_of(browser, url) as opened:
        yield lambda **options: opened(PATH, viewport={"width": 1280, "height": 800}, **options)


def tiles(page):
    """A small picture of each part, by its name."""
    from PIL import Image

    found = {}
    with Image.open(BytesIO(page.screenshot(full_page=True))) as whole:
        for one in page.locator(".specimen").all():
            box = one.locator(".frame").bounding_box()
            left, top, width, height = (round(box[key]) for key in ("x", "y", "width", "height"))
            part = whole.convert("RGB").crop((left, top, left + width, top + height))
            size = (width // SMALLER, height // SMALLER)
            found[one.get_attribute("id")] = np.asarray(part.resize(size, Image.Resampling.BOX), dtype=int)
    return found


def sheet_of(found):
    """All small pictures below each other."""
    width = max(tile.shape[1] for tile in found.values())
    return np.concatenate([np.pad(tile, ((0, 0), (0, width - tile.shape[1]), (0, 0))) for tile in found.values()])


def different(found, look):
    """The parts that differ from their pictures by more than the tolerance, and by how much."""
    from PIL import Image

    with Image.open(PICTURES / f"{look}.png") as known:
        sheet = np.asarray(known.convert("RGB"), dtype=int)
    assert sheet.shape == sheet_of(found).shape, "the parts are others than those of the pictures"
    told, top = {}, 0
    for name, tile in found.items():
        gap = abs(sheet[top : top + tile.shape[0], : tile.shape[1]] - tile).max(axis=2)
        top += tile.shape[0]
        if gap.mean() > MEAN or (gap > CLEARLY).mean() > SHARE:
            told[name] = (round(float(gap.mean()), 1), round(float((gap > CLEARLY).mean()), 3))
    return told


@pytest.mark.slow
@in_browser
@pytest.mark.parametrize("look", LOOKS)
def test_parts_look_as_in_their_pictures(open_page, look):
    from PIL import Image

    page = open_page()
    page.emulate_media(**LOOKS[look])
    picture(page, f"parts-{look}")
    page.evaluate(WITHOUT_TEXT)
    found = tiles(page)
    if os.environ.get("PTTT_RENEW_PARTS"):
        PICTURES.mkdir(exist_ok=True)
        Image.fromarray(sheet_of(found).astype(np.uint8)).save(PICTURES / f"{look}.png", optimize=True)
    assert different(found, look) == {}
    edge = "(all => getComputedStyle(all[0]).borderTopColor)"
    legal, free = (
        page.locator(f"#board-1 .cell.{one}, #board-2 .cell.{one}").evaluate_all(edge) for one in ("legal", "free")
    )
    assert legal != free  # in each look, it is seen where one may play
    assert page.errors == []


OWN = {
    "table": r'<table(?! class="pairs[ "])|class="scroll" role="region"',  # facts about one thing need no region
    "replay": 'class="scrub',
    "evaluation bar": 'class="evaluation',
    "chip": 'class="chip',
    "card": 'class="front"',
    "small picture": 'class="mini',
    "curve": 'class="chance"',
    "toast": 'id="told"',
    "empty state": 'class="empty"',
    "card of an action": 'class="action',
}
# On the page of the API, a region for each table would be 100 stops of Tab.
PARTS = ("parts.html", "macros.html", "told.html", "api.html")
ROOMS = ("site", "other_games", "course")


def templates():
    for room in ROOMS:
        yield from (path for path in (PACKAGE / room).rglob("*.html") if path.name not in PARTS)


@pytest.mark.parametrize("part", OWN)
def test_pages_are_made_of_parts(part):
    """No page of these rooms draws a part by itself; and each part is used by a page besides *Parts*."""
    own = [
        path.relative_to(PACKAGE).as_posix() for path in templates() if re.search(OWN[part], path.read_text("utf-8"))
    ]
    assert own == []


def test_each_part_is_used_by_a_page():
    defined = re.findall(r"macro ([a-z]\w*)\(", (PACKAGE / "site/shell/templates/parts.html").read_text("utf-8"))
    texts = [
        path.read_text("utf-8") for path in PACKAGE.rglob("*.html") if path.name not in ("parts.html", "gallery.html")
    ]
    unused = [name for name in defined if not any(f"parts.{name}(" in text for text in texts)]
    assert unused == []
