"""The navigation: areas and what is inside them, one row on a laptop, one button on a phone, one way back."""

import re

import pytest

from pttt_ooc.course.server.app import LINKS as COURSE
from pttt_ooc.other_games.extreme.pages.part import LINKS as EXTREME
from pttt_ooc.site.explore.part import LINKS as PHANTOM
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.parts import Link, areas_of
from pttt_ooc.site.shell.shell import Shell
from tests.kits.browsing import in_browser, pages_of, served
from tests.site.shell.test_web_shell import client_of, make_part

LINKS = [
    *COURSE,
    *PHANTOM,
    Link("/play", "Play", "Phantom"),
    *(Link(f"/smbc/{label.lower()}", label, "Secret goals") for label in ("Play", "Explore")),
    *(Link(f"/arena/{label.lower()}", label, "Ultimate and rows") for label in ("Play", "Watch", "Ranking")),
    Link("/garden", "Hand in a bot", "Extreme"),
    *EXTREME,
]


def shown(areas):
    return [(area.name, [link.label for link in area.links]) for area in areas]


def test_entries_of_an_area_stand_together_in_a_fixed_order():
    assert shown(areas_of(LINKS)) == [
        ("Course", [link.label for link in COURSE]),
        ("Phantom", ["Play", "Explore"]),
        ("Secret goals", ["Play", "Explore"]),
        ("Ultimate and rows", ["Play", "Watch", "Ranking"]),
        ("Extreme", ["Watch", "Ranking", "Hand in a bot"]),
    ]
    assert shown(areas_of([Link("/a", "A"), Link("/b", "B")])) == [("A", ["A"]), ("B", ["B"])]


@pytest.mark.parametrize(
    ("path", "labels"),
    [
        ("/", ["Leaderboard"]),
        ("/submissions/7", ["Submissions"]),
        ("/extreme/teams/t1", ["Ranking"]),
        ("/explorer", []),
        ("/play/abc", ["Play"]),
    ],
)
def test_a_path_belongs_to_an_entry(path, labels):
    assert [link.label for link in LINKS if link.has(path)] == labels


@pytest.mark.parametrize("path", ["/garden/bed/4", "/nowhere"])
def test_a_refusal_has_one_way_back(tmp_path, path):
    links = [Link("/beds", "Beds"), Link("/garden", "Garden", "Outside"), Link("/garden/more", "More", "Outside")]
    with client_of(make_part(tmp_path, links=links)) as client:
        page = client.get(path)
    main = page.text.partition("<main")[2].partition("</main>")[0]
    way = {"/garden/bed/4": ("/garden", "Back to Garden (Outside)"), "/nowhere": ("/beds", "Back to Beds")}[path]
    assert page.status_code == 404 and re.findall(r'<a href="([^"]+)">([^<]+)</a>', main) == [way]
    assert "Alone, for slides" not in page.text


@pytest.fixture
def url(tmp_path):
    app = make_application(Shell("Phantom Tic-Tac-Toe", "pttt-abrupt", [make_part(tmp_path, links=LINKS)]))
    with served(app) as url:
        yield url


@pytest.mark.slow
@in_browser
@pytest.mark.parametrize("scripts", [True, False])
def test_one_row_on_a_laptop_and_one_button_on_a_phone(browser, url, scripts):
    with pages_of(browser, url) as opened:
        page = opened("/garden", java_script_enabled=scripts, viewport={"width": 1280, "height": 800})
        tops = {round(one.bounding_box()["y"]) for one in page.locator("#pages a:visible").all()}
        assert max(tops) - min(tops) <= 2 and page.locator(".top").bounding_box()["height"] <= 60
        names = [one.inner_text() for one in page.locator("#pages a:visible").all()]
        assert names == ["Course", "Phantom", "Play", "Explore", "Secret goals", "Ultimate and rows", "Extreme"] + [
            "Watch",
            "Ranking",
            "Hand in a bot",
        ]
        if scripts:  # the longest row, with room for a team's name
            change = "document.querySelector('.here').classList.remove('here'), area.classList.add('here')"
            page.locator(".area").first.evaluate(f"area => ({change})")
            boxes = [one.bounding_box() for one in page.locator("#pages a:visible").all()]
            assert len(boxes) == 5 + 2 + len(COURSE) and len({round(box["y"]) for box in boxes}) <= 2
            assert max(box["x"] + box["width"] for box in boxes) <= 1280 - 100
            page.reload()
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.locator(".top").bounding_box()["height"] <= 60
        assert page.locator(".top a:visible").all_inner_texts() == ["Phantom Tic-Tac-Toe"]
        page.get_by_role("button", name="Menu").click()
        page.get_by_role("link", name="Leaderboard").wait_for()
        assert page.locator("#pages a:visible").count() == len(LINKS) + 5
        small = [one.bounding_box() for one in page.locator("#pages a:visible").all()]
        assert min(min(box["width"], box["height"]) for box in small) >= 40
