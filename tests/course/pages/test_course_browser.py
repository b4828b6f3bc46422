"""What a student does and sees, in a real browser, while the course runs as in a course."""

import os
import re

import pytest

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.people import teams
from tests.course.server_kit import random_tensor, strategy_zip, zip_bytes
from tests.kits.browsing import DESKTOP, assert_same_document, in_browser, mark_document, patient, picture, sign_in
from tests.kits.patience import freeze

sync_api = pytest.importorskip("playwright.sync_api")

pytestmark = [pytest.mark.slow, in_browser]


@pytest.fixture(scope="session")
def tokens(server):
    """Tokens of the server's teams.  They live as long as it: a process may run this module's tests in two parts."""
    database = Database.of(server.data, None, "mini-2x3k2-abrupt")
    names = ["Null Sum Enjoyers", "Team B", "The Regret Minimisers of Room 32-144"]
    found = {name: teams.add_team(database, name) for name in names}
    database.close()
    return found


@pytest.fixture
def page(browser, server):
    context = patient(browser.new_context, base_url=server.url, viewport=DESKTOP, locale="en-GB")
    opened = context.new_page()
    errors = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.errors = errors
    yield opened
    context.close()


def upload(page, player, content, name="strategy.zip"):
    page.get_by_label(f"Player {player}", exact=False).first.check()
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "application/zip", "buffer": content})
    page.get_by_role("button", name="Upload").click()


def test_a_student_uploads_and_sees_verdict_and_leaderboard_change(page, browser, server, tokens):
    watching = patient(browser.new_page, base_url=server.url)
    watching.goto("/")
    mark_document(watching)
    row = watching.locator("#leaderboard tbody tr", has_text="Null Sum Enjoyers")
    assert re.fullmatch(r"\s*–\s*", row.locator("td").nth(1).inner_text())

    sign_in(page, tokens["Null Sum Enjoyers"])
    mark_document(page)
    upload(page, 0, strategy_zip(0, 1))
    number = re.search(r"\d+", page.locator("#told a").inner_text())[0]
    status = page.locator(f"#s{number} .status")
    sync_api.expect(status).to_have_text("Accepted")
    figure = page.locator(f"#s{number} .figure").inner_text()
    assert_same_document(page)

    sync_api.expect(row.locator("td").nth(1)).to_have_text(figure)
    assert_same_document(watching)
    watching.close()

    upload(page, 1, strategy_zip(1, 1))
    sync_api.expect(page.locator("#submissions tbody tr").first.locator(".status")).to_have_text("Accepted")
    assert_same_document(page)
    assert page.errors == []


def test_a_wrong_file_is_rejected_with_its_note(page, tokens):
    sign_in(page, tokens["Team B"])
    mark_document(page)
    told, rows = page.locator("#told"), page.locator("#submissions tbody tr")
    before, shape = rows.count(), "Invalid tensor shape: found"
    for content, says in (  # which count as no attempts
        (b"this is not a zip, but it is as long as the header of one would be", "Not a valid zip file."),
        (zip_bytes(b"text" * 99, "pttt.txt"), "The zipped file does not end with .npy."),
        (zip_bytes(b"text" * 99), "Exception parsing numpy tensor."),
        (strategy_zip(1, 5), f"{shape} (107, 6), expected (189, 6). This is a file of player 1, not of player 0."),
        (zip_bytes(random_tensor(0, 5)[1:], method=0), f"{shape} (188, 6), expected (189, 6)."),
    ):
        upload(page, 0, content)
        sync_api.expect(told).to_have_text(says)
    assert rows.count() == before
    bad = random_tensor(0, 5)
    bad[17, 2] = -0.25
    upload(page, 0, zip_bytes(bad))
    row = page.locator("#submissions tbody tr").first
    sync_api.expect(row.locator(".said")).to_contain_text("row 17")
    assert_same_document(page)
    assert page.errors == []


def test_the_status_moves_on_while_the_worker_is_away(page, server, tokens):
    """Position in the queue, then the verdict, on the page of the submission."""
    import signal

    sign_in(page, tokens["Team B"])
    worker = server.pid_of("worker")
    freeze(worker)
    try:
        upload(page, 1, strategy_zip(1, 71))
        page.locator("#told a").click()
        sync_api.expect(page.locator(".verdict .status")).to_have_text("Queued")
        sync_api.expect(page.locator(".verdict .place")).to_have_text("next in the queue")
        mark_document(page)
        picture(page, "submission-queued")
    finally:
        os.kill(worker, signal.SIGCONT)
    sync_api.expect(page.locator(".verdict .status")).to_have_text("Accepted")
    assert_same_document(page)


def test_upload_works_without_scripts(browser, server, tokens):
    context = patient(browser.new_context, base_url=server.url, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, tokens["Team B"])
    upload(page, 0, strategy_zip(0, 72))
    page.wait_for_url(re.compile(r"/submissions/\d+$"))
    assert page.locator(".verdict .status").inner_text().strip() != "Rejected"
    context.close()
