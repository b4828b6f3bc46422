"""Several games on one site: each page is about its own game, and people's games are found again."""

import json
import re
from dataclasses import asdict

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.site.explore.part import parts_of_games
from pttt_ooc.site.explore.sources import uniform
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.course.server_kit import form_token
from tests.kits.patience import wait_until
from tests.site.explore.answerer_kit import answering, ready

WIDE, SMALL = "mini-2x3k2-abrupt", "mini-2x2k2-abrupt"

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site on two games, the wide one first."""
    data = tmp_path_factory.mktemp("data")
    places = {game: data / game / "explore" for game in (WIDE, SMALL)}
    for place in places.values():
        place.mkdir(parents=True)
    listed = json.dumps([asdict(uniform())])
    with answering(places[WIDE], data, WIDE) as one, answering(places[SMALL], data, SMALL) as other:
        told = [json.dumps([game, listed, str(place)]) for game, place in places.items()]
        app = make_application(Shell("Site", "", parts_of_games(str(one.path), str(other.path), *told)))
        with TestClient(app, base_url="http://site", follow_redirects=False) as client:
            yield client


def board_of(page):
    return sorted(map(int, re.findall(r'data-square="(\d)"', page)))


def test_each_page_is_about_its_own_game(site):
    pages = {query: ready(site, f"/explore?{query}").text for query in ("", f"game={WIDE}", f"game={SMALL}")}
    assert [board_of(page) for page in pages.values()] == [[*range(6)], [*range(6)], [*range(4)]]
    small = pages[f"game={SMALL}"]
    inside = [link for link in re.findall(r'href="(/explore[^"]*)"', small) if "at=" in link]
    assert len(inside) >= 4 and all(f"game={SMALL}&amp;" in link for link in inside)
    assert f'<input type="hidden" name="game" value="{SMALL}">' in small and f'href="/explore?game={WIDE}"' in small
    assert 'name="game"' not in pages[""] and f"<code>{SMALL}</code></h1>" in small
    told = site.get(f"/api/explore?game={SMALL}&at=|0*").json()
    assert told["game"] == SMALL
    for path in ("/explore", "/play", "/explore/differences", "/api/explore", "/api/play"):
        assert site.get(f"{path}?game=chess").status_code == 404


def test_a_game_is_begun_in_its_own_game_and_found_again(site):
    lobby = site.get(f"/play?game={SMALL}").text
    assert "2 x 2 squares" in re.search("<h1>(.*)</h1>", lobby)[1] and f'href="/play?game={WIDE}"' in lobby
    fields = {"form_token": form_token(lobby), "opponent": "uniform", "player": "0"}
    found = {}
    for game, squares in ((SMALL, 4), (WIDE, 6)):
        begun = ready_to_play(site, f"/play?game={game}", fields)
        found[game] = begun.headers["location"]
        page = site.get(found[game]).text
        assert page.count('name="square"') == squares and f"{2} x {squares // 2} squares" in page
    attempted = site.post(f"{found[SMALL]}/attempts", data={**fields, "made": "0", "square": "3"})
    assert attempted.status_code == 303 and 'aria-label="Square 3, your mark' in site.get(found[SMALL]).text
    assert f'href="{found[SMALL]}"' in site.get(f"/play?game={SMALL}").text
    assert f'href="{found[SMALL]}"' not in site.get("/play").text and f'href="{found[WIDE]}"' in site.get("/play").text
    assert site.get(f"/api{found[SMALL]}").json()["game"] == SMALL
    assert site.get("/play/nothing").status_code == 404


def ready_to_play(site, address, fields):
    answer = None

    def begun():
        nonlocal answer
        answer = site.post(address, data=fields)
        return answer.status_code == 303

    wait_until(begun)
    return answer
