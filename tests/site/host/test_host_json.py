"""The host as JSON: matches, refusals, and addresses as the description has them."""

import re
from types import SimpleNamespace

import pytest

from pttt_ooc.site.host import host_api
from pttt_ooc.site.shell.arrival import ARRIVAL
from tests.site.host.host_kit import GAME, HOST, Program, application, make_matches


def test_a_match_is_played_over_http(app):
    told = Program(app).client.get(HOST).json()
    [game] = told["games"]
    assert game["name"] == GAME and "Placed or not, it is then the other player's turn." in game["rules"]
    assert [(one["key"], one["you_play"]) for one in game["opponents"]] == [
        (key, [0, 1]) for key in ("solution", "other", "agent")
    ]
    me = Program(app, "me")
    for player in (0, 1):
        match = me.begin(player)
        assert (match["player"], match["made"], match["infoset"], match["over"]) == (player, 0, "|", False)
        assert match["seconds_left"] == told["seconds"] == 600 and match["legal"] == [*range(6)]
        assert me.client.get(f"{HOST}/matches/{match['id']}").json() == match
        text = me.client.get(f"{HOST}/matches/{match['id']}/text")
        assert text.text == match["text"] and text.headers["content-type"].startswith("text/plain")
        assert [one["id"] for one in me.client.get(f"{HOST}/matches").json()["matches"]] == [match["id"]]
        over = me.play_out(match)
        assert over["result"] in (-1, 0, 1) and over["ended"] == "played" and over["legal"] == []
        assert me.client.get(f"{HOST}/matches").json() == {"matches": []}


def test_each_address_answers_as_its_description_says(app):
    """Every address, with right and wrong requests; each answer's status and keys are in the description."""
    me, nobody = Program(app, "me"), Program(app)
    described = nobody.client.get("/api/openapi.json").json()
    addresses = {(m.upper(), p): d for p, ds in described["paths"].items() if p.startswith(HOST) for m, d in ds.items()}
    match, other = me.begin(), me.begin(1)
    one = f"{HOST}/matches/{match['id']}"
    begun = {"game": GAME, "opponent": "solution", "player": 0}
    asked = [
        (nobody, "GET", HOST, None, 200),
        (nobody, "GET", f"{HOST}/table", None, 200),
        (nobody, "GET", f"{HOST}/table?game=chess", None, 404),
        (nobody, "POST", f"{HOST}/agents", {"name": "two"}, 201),
        (nobody, "POST", f"{HOST}/agents", {"name": "TWO"}, 409),
        (nobody, "POST", f"{HOST}/agents", {"name": ""}, 400),
        (nobody, "POST", f"{HOST}/agents", {"name": 2}, 422),
        (nobody, "GET", f"{HOST}/matches", None, 401),
        (me, "GET", f"{HOST}/matches", None, 200),
        (me, "POST", f"{HOST}/matches", begun, 201),
        (me, "POST", f"{HOST}/matches", {**begun, "opponent": "agent"}, 202),
        (me, "POST", f"{HOST}/matches", {**begun, "game": "chess"}, 404),
        (me, "POST", f"{HOST}/matches", {**begun, "player": 2}, 422),
        (nobody, "POST", f"{HOST}/matches", begun, 401),
        (me, "GET", one, None, 200),
        (me, "GET", f"{HOST}/matches/none", None, 404),
        (me, "GET", f"{one}/text", None, 200),
        (nobody, "GET", f"{one}/text", None, 401),
        (me, "POST", f"{one}/attempts", {"made": 0, "square": 9}, 400),
        (me, "POST", f"{one}/attempts", {"made": 0, "square": "4"}, 422),
        (me, "POST", f"{one}/attempts", {"made": 0, "square": 4}, 200),
        (me, "POST", f"{one}/attempts", {"made": 0, "square": 4}, 409),
        (me, "POST", f"{HOST}/matches/{other['id']}/resignation", {"made": 0}, 200),
        (me, "POST", f"{HOST}/matches/{other['id']}/resignation", {"made": 0}, 409),
    ]
    seen = set()
    for who, method, address, body, status in asked:
        answer = who.client.request(method, address, json=body)
        assert answer.status_code == status, (address, answer.text)
        path = re.sub(r"/matches/[^/]+", "/matches/{id}", address.partition("?")[0])
        told = addresses[method, path]
        assert str(status) in told["responses"], (address, status)
        seen.add((method, path))
        content = told["responses"][str(status)]["content"]
        if "application/json" in content:
            schema = described["components"]["schemas"][
                content["application/json"]["schema"]["$ref"].rpartition("/")[2]
            ]
            assert {*answer.json()} == {*schema["properties"]}, address
    assert seen == {*addresses}
    for answer in (
        me.client.post(f"{one}/attempts", content=b"{", headers={"Content-Type": "application/json"}),
        me.client.post(f"{one}/attempts", content=b"square=4"),
        me.client.post(f"{one}/attempts", json={"made": 0, "square": 1}, headers={"Origin": "http://evil"}),
    ):
        assert answer.status_code in (400, 403, 415) and list(answer.json()) == ["error"]


def test_strangers_are_stopped(in_memory, monkeypatch):
    monkeypatch.setattr(host_api, "NEW_PER_HOUR", 3)
    matches = make_matches(in_memory)
    app = application(matches, wrong_tokens_per_hour=4)
    me, guesser = Program(app, "me"), Program(app)
    match = me.begin()
    for _ in range(4):
        wrong = guesser.client.get(f"{HOST}/matches/{match['id']}", headers={"Authorization": "Bearer 1.guess"})
        assert wrong.status_code == 401 and wrong.headers["www-authenticate"] == "Bearer"
    stopped = guesser.client.get(f"{HOST}/matches/{match['id']}", headers={"Authorization": "Bearer 1.guess"})
    assert stopped.status_code == 429 and int(stopped.headers["retry-after"]) > 0
    assert me.client.get(f"{HOST}/matches/{match['id']}").status_code == 200  # a right token always passes
    added = [guesser.client.post(f"{HOST}/agents", json={"name": f"a{n}"}).status_code for n in range(3)]
    assert added == [201, 201, 429]
    matches.close()


def test_the_clock_stops_when_the_last_byte_arrives():
    """Else an agent could send the head of a request, and think while the body is on its way."""
    arrival = SimpleNamespace(begun_at=1000.0, waited=7.5)
    assert host_api._arrival_of(SimpleNamespace(scope={ARRIVAL: arrival})) == 1007.5


@pytest.mark.parametrize("path", ["/host", f"/host?game={GAME}&sort=agent&find=x", f"/host?game={GAME}&sort=-count"])
def test_the_page_shows_the_table(app, path):
    assert Program(app).client.get(path).status_code == 200
    assert Program(app).client.get("/host?game=chess").status_code == 404
