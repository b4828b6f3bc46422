"""The wing's pages beside other wings' pages, in `pttt web` and `pttt course serve`."""

import json
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from pttt_ooc.course.server import serve
from pttt_ooc.errors import StoreError
from pttt_ooc.other_games.smbc.solve import STORE
from pttt_ooc.other_games.smbc.wing import MATCHES, found_match
from pttt_ooc.site.service.local_server import processes_behind
from tests.course.server_kit import GAME, SERVE, pttt
from tests.kits.browsing import assert_accessible, in_browser, pages_of
from tests.kits.patience import PATIENCE, wait_until
from tests.site.explore.answerer_kit import solve_game

LOOKS = [("light", 1280, None), ("light", 390, None)]


@pytest.fixture(scope="module")
def results(coarse, tmp_path_factory):
    """The directory of the workflow's results: a game, and a match with secret goals."""
    directory = tmp_path_factory.mktemp("results")
    solve_game(directory)
    shutil.copytree(coarse, directory / "smbc")
    return directory


@contextmanager
def serving(*arguments, **options):
    """A command that serves pages; yields their address, and stops it."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SERVE, *map(str, arguments)], **pipes, **options) as process:
        try:
            yield re.search(r"http://\S+(?=;)", process.stdout.readline())[0]
        finally:
            process.send_signal(signal.SIGTERM)
            _, told = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, told
        names = {line.get("child") for line in map(json.loads, told.splitlines())}
        assert "smbc answerer" in names and not any('"died"' in line for line in told.splitlines()), told


def text(url):
    """A page, or the sentence that explains why there is none."""
    try:
        with urlopen(url, timeout=PATIENCE) as answer:
            return answer.read().decode()
    except HTTPError as error:
        return error.read().decode()


@pytest.mark.long
@in_browser
def test_from_explore_to_secret_goals_and_back(results, tmp_path, browser):
    given = [results / GAME / "full", "--profiles", tmp_path, "--no-browser"]
    with serving("web", *given) as url, pages_of(browser, url) as opened:
        wait_until(lambda: 'id="board1"' in text(f"{url}/explore"))
        wait_until(lambda: "A new match" in text(f"{url}/smbc/play"))
        page = opened("/explore")
        page.get_by_role("link", name="Secret goals").click()
        assert_accessible(page, "beside-lobby", LOOKS)
        page.get_by_label("you", exact=True).check()
        page.get_by_role("button", name="Begin").click()
        page.locator("button.cell.free").first.click()
        page.locator(".cell.theirs, button.next").first.wait_for()
        assert_accessible(page, "beside-match", LOOKS)
        page.get_by_label("Pages").get_by_role("link", name="Explore").click()
        page.locator('a.cell[aria-label^="Square 5,"]').click()
        page.get_by_text("To move: the second player (o)").wait_for()
        assert_accessible(page, "beside-explore", LOOKS)
        page.get_by_label("Pages").get_by_role("link", name="Phantom").click()
        page.get_by_label("Pages").get_by_role("link", name="Explore").click()
        page.locator("#board1").wait_for()
        assert page.locator("nav a[aria-current]").all_inner_texts() == ["Explore"] and page.errors == []
    assert (results / "smbc" / MATCHES).exists()


@pytest.mark.slow
def test_a_course_is_served_with_the_match_of_the_workflow(results, tmp_path, monkeypatch):
    """Its processes, without starting them."""

    told = []
    monkeypatch.setattr(serve, "serve", lambda data, game, host, port, pages, as_json: told.append(pages(data)))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "smbc").symlink_to(results / "smbc")
    assert pttt("course", "serve", "--data", "course").returncode == 0
    assert told.pop() == [], "a course shows no solution that nobody named"
    for named in ("data/smbc", results / "smbc"):
        assert pttt("course", "serve", "--data", "course", "--smbc", named).returncode == 0
    for [one], match in zip(told, ("data/smbc", str(results / "smbc")), strict=True):
        assert one.name == "smbc" and one.parts[1:] == ("course",) and one.answerer[1:] == (match,)
        with processes_behind([one]) as (children, parts):
            [[_, address, kept]] = json.loads(parts)
            assert [child.name for child in children] == ["smbc answerer"] and Path(address).is_socket()
            assert kept == "course"
    assert (tmp_path / "course" / MATCHES).exists()


@pytest.mark.slow
def test_the_match_of_the_workflow_is_found_unless_switched_off(coarse, tmp_path):
    assert found_match(None, tmp_path) is None
    own = shutil.copytree(coarse, tmp_path / "smbc")
    assert found_match(None, tmp_path) == own
    assert found_match("none", tmp_path) is None
    assert found_match(str(coarse), tmp_path) == coarse
    (own / "solve.json").unlink()  # while it is being solved
    assert found_match(None, tmp_path) is None


@pytest.mark.slow
def test_a_damaged_match_is_reported(coarse, tmp_path, capsys):
    own = shutil.copytree(coarse, tmp_path / "smbc")
    chunk = max((path for path in (own / STORE).rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    chunk.write_bytes(chunk.read_bytes()[:-1])
    assert found_match(None, tmp_path) is None
    assert capsys.readouterr().err.endswith(
        "is damaged: it is not what was written; run pttt smbc solve again. "
        "Until then there are no pages on secret goals.\n"
    )
    with pytest.raises(StoreError, match="is damaged"):
        found_match(str(own), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["web", "serve"])
def test_a_missing_match_stops_the_command(command, results, tmp_path):
    course = ["course", "serve", "--data", tmp_path / "course"]
    options = ["web", results / GAME / "full", "--no-browser"] if command == "web" else course
    done = pttt(*options, "--smbc", tmp_path / "nowhere", "--port", 0)
    assert done.returncode == 1 and "There is no solved match in" in done.stderr and not done.stdout
    assert len(done.stderr.splitlines()) == 1 and not (tmp_path / "course").exists()
