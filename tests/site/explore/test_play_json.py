"""Play as JSON: answers, and attacks that reveal and change nothing."""

import json
import random
import re

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.games.rules.play import replay
from pttt_ooc.site.explore.opponents import PreparingError
from pttt_ooc.site.play.owners import PLAYER
from tests.site.explore.play_kit import Browser, Uniform, application, make_games, rows

PLAY = "/api/play"


def program(app):
    return TestClient(app, base_url="http://play", raise_server_exceptions=False, follow_redirects=False)


def begin(client, player=0, opponent="uniform"):
    answer = client.post(PLAY, json={"opponent": opponent, "player": player})
    assert answer.status_code == 201 and answer.headers["location"] == f"{PLAY}/{answer.json()['id']}"
    return answer.json()


def play_out(client, game, choose=min):
    while not game["over"]:
        sent = {"made": game["made"], "square": choose(game["legal"])}
        answer = client.post(f"{PLAY}/{game['id']}/attempts", json=sent)
        assert answer.status_code == 200, answer.text
        game = answer.json()
    return game


def test_a_game_is_played_and_reviewed(games, app):
    me = program(app)
    lobby = me.get(PLAY).json()
    assert lobby["opponents"] == [{"key": k, "name": k.title(), "you_play": [0, 1]} for k in ("uniform", "other")]
    assert lobby["game"] == games.game.name and not lobby["under_way"] and not lobby["results"]
    game = begin(me, player=1)
    assert (game["player"], game["made"], game["infoset"], game["over"]) == (1, 0, "|", False)
    assert [one["id"] for one in me.get(PLAY).json()["under_way"]] == [game["id"]]
    assert me.get(f"{PLAY}/{game['id']}").json() == game
    over = play_out(me, game)
    [row] = rows(games)
    history = replay(games.game, [int(square) for square in row[7]])
    assert over["result"] == history.returns[1] and over["legal"] == [] and over["infoset"] == history.infoset(1)
    told = [[a.square, a.placed] for a in history.attempts if a.player == 1]
    assert [[one["square"], one["placed"]] for one in over["attempts"]] == told and over["made"] == len(told)

    review = me.get(f"{PLAY}/{game['id']}/review").json()
    assert [[m["player"], m["square"], m["placed"], m["mine"]] for m in review["moves"]] == [
        [a.player, a.square, a.placed, a.player == 1] for a in history.attempts
    ]
    assert review["lost"] == pytest.approx(0.25 * len(told)) and review["result"] == over["result"]
    for n in range(len(history.attempts) + 1):
        step = me.get(f"{PLAY}/{game['id']}/review", params={"step": n}).json()["step"]
        before = replay(games.game, [a.square for a in history.attempts[:n]])
        marks = [[s for s in range(6) if before.placed[player] >> s & 1] for player in (1, 0)]
        assert [step["mine"], step["theirs"]] == marks and step["number"] == n
        mine = n < len(history.attempts) and before.player == 1
        assert bool(step["believed"]) == bool(step["choices"]) == mine
        assert (step["probability"] is None) == (mine or n == len(history.attempts))
    assert me.get(f"{PLAY}/{game['id']}/review", params={"step": len(history.attempts)}).json() == review
    beyond = me.get(f"{PLAY}/{game['id']}/review", params={"step": 99})
    assert beyond.status_code == 404 and "step 99 is not one of them" in beyond.json()["error"]
    lobby = me.get(PLAY).json()
    assert [one["id"] for one in lobby["finished"]] == [game["id"]] and not lobby["under_way"]
    [results] = lobby["results"]
    assert results["wins"] + results["draws"] + results["losses"] == 1 and results["mean"] == over["result"]
    assert [one["value"] for one in results["expectations"]] == [0.25, 0.5] and results["player"] == 1


def test_pages_and_json_show_the_same_games(app):
    me = Browser(app)
    first = me.begin()
    second = begin(me.client)
    assert me.get(f"/play/{second['id']}").status_code == 200
    assert {one["id"] for one in me.client.get(PLAY).json()["under_way"]} == {first, second["id"]}
    resigned = me.client.post(f"{PLAY}/{first}/resignation", json={"made": 0}).json()
    assert resigned["resigned"] and resigned["over"] and resigned["result"] == -1
    assert "You have resigned" in me.get(f"/play/{first}").text


def test_games_of_others_are_hidden(app):
    me, other = program(app), program(app)
    game = begin(me)
    begin(other)
    for stranger in (other, program(app)):
        for answer in (
            stranger.get(f"{PLAY}/{game['id']}"),
            stranger.get(f"{PLAY}/{game['id']}/review"),
            stranger.post(f"{PLAY}/{game['id']}/attempts", json={"made": 0, "square": 0}),
            stranger.post(f"{PLAY}/{game['id']}/resignation", json={"made": 0}),
        ):
            assert answer.status_code == 404 and answer.json() == {"error": "There is no such game of yours."}
        assert game["id"] not in stranger.get(PLAY).text
    assert me.get(f"{PLAY}/{game['id']}").json() == game


@pytest.mark.long_but("0-mini-2x3k2-classical")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", "mini-2x3k2-classical"])
@pytest.mark.parametrize("player", [0, 1])
def test_an_open_game_reveals_only_the_infoset(in_memory, name, player):
    """Whatever the opponent has done, the answers are the same byte for byte if the player's infoset is."""
    games = make_games(in_memory, Uniform(name), seed=7)
    me, answers, hidden = program(application(games)), {}, {}
    for _ in range(24):
        game = begin(me, player)
        while not game["over"]:
            id = game["id"]
            [row] = [row for row in rows(games) if row[0] == id]
            history = replay(games.game, [int(square) for square in row[7]])
            asked = me.get(f"{PLAY}/{id}"), me.get(f"{PLAY}/{id}/review"), me.get(f"{PLAY}/{id}/review?step=0")
            assert [one.status_code for one in asked] == [200, 409, 409]
            told = [(one.text.replace(id, "ID"), dict(one.headers)) for one in asked]
            listed = next(one for one in me.get(PLAY).json()["under_way"] if one["id"] == id)
            told.append({**listed, "id": "ID", "started_at": ""})
            infoset = history.infoset(player)
            assert answers.setdefault(infoset, told) == told
            hidden.setdefault(infoset, set()).add(history.infoset(1 - player))
            sent = {"made": game["made"], "square": history.legal()[0]}
            game = me.post(f"{PLAY}/{id}/attempts", json=sent).json()
    assert max(map(len, hidden.values())) > 3  # there was something to tell
    games.close()


@pytest.mark.slow
def test_hundreds_of_hostile_requests_change_nothing(games, app):
    """Forged, replayed, out of turn, of others, of other sites, malformed: the table stays as it is."""
    rng = random.Random(4)
    me, other = program(app), program(app)
    mine = [begin(me, n % 2)["id"] for n in range(4)]
    for id in mine[:3]:
        me.post(f"{PLAY}/{id}/attempts", json={"made": 0, "square": 0})
    play_out(me, me.get(f"{PLAY}/{mine[0]}").json())
    others = begin(other)["id"]
    now = {id: me.get(f"{PLAY}/{id}").json() for id in mine}
    before = rows(games)

    def hostile():
        kind, headers, id = rng.randrange(8), {}, rng.choice(mine)
        sent = {"made": now[id]["made"], "square": rng.randrange(6)}
        paths = ("attempts", "resignation")
        if kind == 0:  # replayed
            sent["made"] = rng.randrange(sent["made"]) if sent["made"] else 1
        elif kind == 1:  # ahead of its turn
            sent["made"] += rng.randrange(1, 9)
        elif kind == 2:  # another's game
            id = rng.choice([others, others[::-1], "A" * 22, "../play", "%01", "' OR 1=1 --"])
        elif kind == 3:  # another site's
            headers = rng.choice([{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
        elif kind == 4:  # what other sites' forms can send, and what is not JSON
            headers["Content-Type"] = rng.choice(["text/plain", "application/x-www-form-urlencoded", ""])
        elif kind == 5:  # no square, and none that is left
            taken = [one["square"] for one in now[id]["attempts"]]
            sent["square"] = rng.choice([-1, 6, 99, "0", 0.0, True, None, [0], 10**400, *taken])
            paths = ("attempts",)
        elif kind == 6:  # no number
            sent["made"] = rng.choice(["", -1, str(sent["made"]), 1.0, True, None, {}, 10**400])
        else:  # a game that is over
            id = mine[0]
        path = f"{PLAY}/{id}/{rng.choice(paths)}"
        body = json.dumps({"made": sent["made"]} if path.endswith("resignation") else sent)
        if kind == 4 and rng.random() < 0.5:
            headers["Content-Type"] = "application/json"
            body = rng.choice(
                [body[:-1], "[" * 5000, "", "null", "[]", '"x"', "\x00", body.replace("}", ', "more": 1}')]
                + [body.replace("}", ', "\\ud800": 1}'), '"\\ud800"']
            )
        method = rng.choice(["POST"] * 6 + ["PUT", "GET", "DELETE"])
        return me.request(method, path, content=body, headers={"Content-Type": "application/json", **headers})

    counts = {}
    for _ in range(250):
        answer = hostile()
        counts[answer.status_code] = counts.get(answer.status_code, 0) + 1
        assert 400 <= answer.status_code < 500 and list(answer.json()) == ["error"], answer.text
        assert "Traceback" not in answer.text and others not in answer.text
    assert rows(games) == before
    assert {400, 403, 404, 405, 409, 415, 422} <= set(counts), counts
    sent = {"made": now[mine[3]]["made"], "square": 0}  # the honest one still counts
    assert me.post(f"{PLAY}/{mine[3]}/attempts", json=sent).status_code == 200 and rows(games) != before


@pytest.mark.parametrize(
    ("sent", "status", "told"),
    [
        ({"opponent": "uniform"}, 422, "player: Field required"),
        ({"opponent": "uniform", "player": 2}, 422, "player: Input should be less than or equal to 1"),
        ({"opponent": "uniform", "player": "0"}, 422, "player: Input should be a valid integer"),
        ({"opponent": "nobody", "player": 0}, 404, "There is no such opponent"),
        ({"opponent": "x" * 81, "player": 0}, 422, "opponent"),
        ({"opponent": "uniform", "player": 0, "more": "x" * 9000}, 413, "longer"),
    ],
)
def test_a_game_that_cannot_begin_gets_a_sentence(games, app, sent, status, told):
    answer = program(app).post(PLAY, json=sent)
    assert answer.status_code == status and told in answer.json()["error"] and rows(games) == []
    assert PLAYER not in answer.cookies


def test_another_site_begins_no_game(games, app):
    for headers in (
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Content-Type": "text/plain"},
    ):
        sent = json.dumps({"opponent": "uniform", "player": 0})
        answer = program(app).post(PLAY, content=sent, headers={"Content-Type": "application/json", **headers})
        assert answer.status_code in (403, 415) and rows(games) == []


def test_too_many_games_from_an_address_are_refused(games, app):
    me = program(app)
    app.state.play.begun._per_hour = 2
    begin(me)
    Browser(app).begin()
    answer = me.post(PLAY, json={"opponent": "uniform", "player": 0})
    assert answer.status_code == 429 and "Too many games" in answer.json()["error"] and len(rows(games)) == 2


def test_progress_of_a_preparation_is_json(games, app):
    def prepare(opponent):
        raise PreparingError(opponent, "values", 0.5, 2)

    games.opponents.prepare = prepare
    answer = program(app).post(PLAY, json={"opponent": "uniform", "player": 0})
    assert answer.status_code == 202 and answer.headers["retry-after"] == "1" and rows(games) == []
    assert answer.json() == {"preparing": {"step": "values", "share": 0.5, "ahead": 2}}


def test_the_description_names_every_key_of_an_answer(app):
    me = program(app)
    described = me.get("/api/openapi.json").json()
    schemas = described["components"]["schemas"]
    game = play_out(me, begin(me))
    review = me.get(f"{PLAY}/{game['id']}/review?step=0").json()
    for name, answer in {"GameOut": game, "ReviewOut": review, "StepOut": review["step"]}.items():
        assert set(schemas[name]["properties"]) == set(answer)
    body = described["paths"]["/api/play/{id}/attempts"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert set(body["required"]) == {"made", "square"}
    page = me.get("/api/docs").text
    told = re.findall(rf"<code>(GET|POST) {PLAY}(.*?)</code>", page)
    ends = [("GET", ""), ("POST", ""), ("GET", "/{id}"), ("POST", "/{id}/attempts"), ("POST", "/{id}/resignation")]
    assert sorted(told) == sorted([*ends, ("GET", "/{id}/review")])
    assert page.count("How many attempts you have made before: each is made once.") == 2
