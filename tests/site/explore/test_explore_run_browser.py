"""Explore along a run in a real browser: the slider, the curve, best responses, and mirror images as one."""

import re

import pytest

from tests.kits.browsing import assert_same_document, in_browser, mark_document, press, served
from tests.kits.patience import wait_until
from tests.site.explore.answerer_kit import answering, explored, solve_game
from tests.site.explore.test_explore_browser import asked, open_page  # noqa: F401

sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.slow, in_browser]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The pages on a solution whose run has kept snapshots."""
    solved = solve_game(tmp_path_factory.mktemp("solved"), snapshot_every=2)
    with (
        answering(tmp_path_factory.mktemp("profiles"), solved.parent.parent) as client,
        served(explored(client, solved)) as url,
    ):
        yield url


def expect_iteration(page, iteration):
    """The page shows an iteration, and has it in its address; None: the last one."""
    wait_until(lambda: asked(page).get("iteration") == (None if iteration is None else [str(iteration)]))
    text = re.compile("the last one" if iteration is None else f"After iteration {iteration}:")
    sync_api.expect(page.locator("#after")).to_contain_text(text)
    sync_api.expect(page.locator("#board1")).to_be_visible()


def marks(page):
    return page.locator(".curve:visible [data-snapshot]")


@pytest.mark.long
def test_by_keyboard_along_the_iterations(open_page):  # noqa: F811
    page = open_page("/explore")
    mark_document(page)
    slider = page.get_by_role("slider", name="Iteration")
    sync_api.expect(slider).to_have_attribute("aria-valuetext", re.compile(r"^iteration \d+, gap "))
    slider.focus()
    press(page, "Home")
    expect_iteration(page, 1)
    sync_api.expect(slider).to_be_focused()  # the next key goes on from there
    press(page, "ArrowRight")
    expect_iteration(page, 2)
    sync_api.expect(slider).to_have_attribute("aria-valuetext", re.compile("^iteration 2, gap "))
    press(page, "End")
    expect_iteration(page, None)
    page.go_back()
    expect_iteration(page, 2)
    assert_same_document(page)
    assert page.errors == []


def test_by_mouse_on_the_curve(open_page):  # noqa: F811
    page = open_page("/explore?at=|0*")
    mark_document(page)
    marks(page).nth(1).click()
    expect_iteration(page, 2)
    assert asked(page)["at"] == ["|0*"]
    sync_api.expect(marks(page).nth(1)).to_have_attribute("aria-current", "true")
    sync_api.expect(page.locator(".curve:visible .dot.chosen")).to_have_count(1)
    page.locator('#board1 [data-square="5"]').click()
    page.get_by_role("link", name="placed", exact=True).click()
    wait_until(lambda: asked(page).get("at") == ["|0*5*"])
    assert asked(page)["iteration"] == ["2"]
    assert_same_document(page)
    assert page.errors == []


def test_by_touch_on_a_phone(open_page):  # noqa: F811
    page = open_page("/explore", has_touch=True, is_mobile=True)
    page.set_viewport_size({"width": 390, "height": 800})
    slider = page.get_by_role("slider", name="Iteration")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box["height"] >= 24 and box["width"] > 150
    page.touchscreen.tap(box["x"] + 10, box["y"] + box["height"] / 2)
    expect_iteration(page, 1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors == []


def test_what_the_slider_stands_for_is_shown_while_it_moves(open_page):  # noqa: F811
    page = open_page("/explore")
    page.locator("#slider").evaluate("s => { s.value = 1; s.dispatchEvent(new Event('input', {bubbles: true})); }")
    sync_api.expect(page.locator("#after")).to_have_text(re.compile(r"^Iteration 2, gap "))
    sync_api.expect(page.locator(".curve:visible .dot.chosen")).to_have_count(1)
    assert "iteration" not in asked(page)  # nothing has been asked for yet


def test_without_scripts_the_iterations_are_links(open_page):  # noqa: F811
    page = open_page("/explore", java_script_enabled=False)
    assert page.locator("#slider").is_hidden()
    page.get_by_role("link", name="2", exact=True).first.click()
    sync_api.expect(page).to_have_url(re.compile("[?&]iteration=2(&|$)"))
    sync_api.expect(page.locator("#after")).to_contain_text("After iteration 2:")


def test_mirror_images_and_best_responses_are_switched_in_place(open_page):  # noqa: F811
    page = open_page("/explore")
    mark_document(page)
    page.locator("#settings summary").click()
    page.get_by_label("merged").check()
    sync_api.expect(page.get_by_role("link", name=re.compile("^Squares 0, 2, 3 and 5 together"))).to_be_visible()
    assert asked(page)["symmetry"] == ["merged"]
    press(page, "5")
    sync_api.expect(page.locator(".ways")).to_contain_text("Square 0")
    page.get_by_label("the best response to player 0").check()
    wait_until(lambda: asked(page).get("second_plays") == ["best"])
    sync_api.expect(page.locator("#board1")).to_be_visible()
    sync_api.expect(page.get_by_label("the best response to player 0")).to_be_checked()
    assert asked(page)["symmetry"] == ["merged"]
    assert_same_document(page)
    assert page.errors == []
