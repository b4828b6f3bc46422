"""What a student does and sees, in a real browser.

Pictures of the pages go to data/screenshots, or to the directory that PTTT_SCREENSHOTS names: look at them.
"""

import os
import re
import shutil
from pathlib import Path

import pytest
from kit import random_tensor, strategy_zip, zip_bytes
from patience import PATIENCE, freeze

from pttt_ooc.grader import teams
from pttt_ooc.grader.database import Database

sync_api = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
PICTURES = Path(os.environ.get("PTTT_SCREENSHOTS", Path(__file__).parent.parent.parent / "data" / "screenshots"))
PHONE, DESKTOP = {"width": 375, "height": 740}, {"width": 1100, "height": 800}

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium (Debian: apt-get install chromium)")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=1000 * PATIENCE)
        sync_api.expect.set_options(timeout=1000 * PATIENCE)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def tokens(server):
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


def patient(make, **options):
    """A page or context that waits as long as a busy machine needs."""
    made = make(**options)
    made.set_default_timeout(1000 * PATIENCE)
    return made


def picture(page, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


def sign_in(page, token):
    page.goto("/sign-in")
    page.get_by_label("Your team’s token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/submissions")


def upload(page, player, content, name="strategy.zip"):
    page.get_by_label(f"Player {player}", exact=False).first.check()
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "application/zip", "buffer": content})
    page.get_by_role("button", name="Upload").click()


def mark_document(page):
    """Anything that loads the document anew loses this."""
    page.evaluate("window.sameDocument = true")


def assert_same_document(page):
    assert page.evaluate("window.sameDocument === true")


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
    upload(page, 0, b"this is no zip")
    row = page.locator("#submissions tbody tr").first
    sync_api.expect(row.locator(".status")).to_have_text("Rejected")
    sync_api.expect(row.locator(".said")).to_have_text("Not a valid zip file")
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


def test_it_can_be_done_by_keyboard(page, tokens):
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    sign_in(page, tokens["Team B"])
    page.locator("input[type=radio]").first.focus()
    page.keyboard.press("Space")
    assert page.locator("input[type=radio]").first.is_checked()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.type") == "file"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Upload"


def test_everything_has_a_name_for_those_who_hear_it(page, tokens):
    sign_in(page, tokens["Null Sum Enjoyers"])
    for path in ("/", "/matrix", "/submissions", "/submissions/1", "/teams/1", "/about", "/api/docs"):
        page.goto(path)
        assert page.locator("h1").count() == 1 and page.locator("main").count() == 1
        assert page.locator("html[lang]").count() == 1
        unnamed = page.evaluate(
            """() => [...document.querySelectorAll("a, button, input:not([type=hidden]), svg[role=img], progress")]
            .filter(e => !(e.labels && e.labels.length) && !e.getAttribute("aria-label") && !e.textContent.trim())
            .map(e => e.outerHTML)"""
        )
        assert unnamed == []


@pytest.fixture(scope="module")
def populated(server, tokens):
    """Enough of everything to look at."""
    import json
    import urllib.request

    def post(token, player, content):
        boundary = b"0123456789"
        body = b'--%b\r\nContent-Disposition: form-data; name="player"\r\n\r\n%d\r\n' % (boundary, player)
        body += b'--%b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n%b\r\n--%b--\r\n' % (
            boundary,
            content,
            boundary,
        )
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "multipart/form-data; boundary=0123456789"}
        with urllib.request.urlopen(urllib.request.Request(server.url + "/api/submissions", body, headers)) as answer:
            return json.loads(answer.read())

    for i, token in enumerate(tokens.values()):
        for player in (0, 1):
            for step in range(3):
                post(token, player, strategy_zip(player, 10 * i + step, 1.2 / (step + 1)))
            server.wait_for_verdicts(0)
    post(tokens["Team B"], 0, zip_bytes(random_tensor(1, 3)))
    server.wait_for_verdicts(0)


SHOWN = [
    ("leaderboard", "/"),
    ("matrix", "/matrix?rows=mean"),
    ("submissions", "/submissions"),
    ("submission", "/submissions/1"),
    ("team", "/teams/2"),
    ("about", "/about"),
    ("sign-in", "/sign-in"),
    ("api", "/api/docs"),
    ("not-found", "/nothing"),
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", ["desktop", "phone"])
def test_pages_fit_and_are_photographed(browser, server, tokens, populated, scheme, width):
    viewport = PHONE if width == "phone" else DESKTOP
    context = patient(
        browser.new_context,
        base_url=server.url,
        viewport=viewport,
        color_scheme=scheme,
        has_touch=width == "phone",
        locale="en-GB",
    )
    page = context.new_page()
    sign_in(page, tokens["Null Sum Enjoyers"])
    for name, path in SHOWN if scheme == "light" else SHOWN[:5]:
        page.goto(path)
        picture(page, f"{name}-{width}-{scheme}")
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, f"{name} is wider than the screen by {overflow} px"
    context.close()
