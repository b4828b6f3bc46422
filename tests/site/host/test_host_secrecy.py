"""What leaves the server about a match depends on the agent's own infoset, the result and the clock: byte for byte."""

import ast
import inspect
from collections import defaultdict

import pytest

from pttt_ooc.site.host import host_api, match_view
from pttt_ooc.site.host.match_rows import HostMatch
from tests.site.host.host_kit import GAME, HOST, Exact, Program, Scripted, application, make_matches

CLASSICAL = "mini-2x3k2-classical"


def bytes_of(me, match, *more):
    """All answers that an agent can get about a match, with their headers and without its key."""
    one = f"{HOST}/matches/{match['id']}"
    asked = [
        me.client.get(one),
        me.client.get(f"{one}/text"),
        me.client.get(f"{HOST}/matches"),
        me.client.post(f"{one}/attempts", json={"made": match["made"], "square": 77}),
        me.client.post(f"{one}/attempts", json={"made": 77, "square": 0}),
        me.client.post(f"{one}/attempts", json={"made": match["made"], "square": "x"}),
        me.client.post(f"{one}/resignation", json={"made": 77}),
        *more,
    ]
    return [(one.status_code, one.content.replace(match["id"].encode(), b"ID"), dict(one.headers)) for one in asked]


@pytest.mark.parametrize(
    ("game", "one", "other", "own"),
    [
        (GAME, (3, 2, 1, 0, 4, 5), (2, 3, 1, 0, 4, 5), [5, 0]),  # marks on other squares
        (GAME, (5, 3, 1, 0, 2, 4), (3, 5, 1, 0, 2, 4), [5]),  # a failed attempt, and a placed one
        (CLASSICAL, (5, 3, 1, 0, 2, 4), (3, 5, 1, 0, 2, 4), [5]),  # two attempts, and one
    ],
)
def test_matches_that_differ_in_hidden_marks_only_look_the_same(in_memory, clock, monkeypatch, game, one, other, own):
    monkeypatch.setattr(host_api, "_arrival_of", lambda request: clock.time)
    opponents = Scripted(game)
    matches = make_matches(in_memory, opponents, now=clock)
    app = application(matches)
    me, told, hidden = Program(app, "me"), [], set()
    for opponents.script in (one, other):
        answers, match = [], me.begin(0, game=game)
        for square in own:
            answers += bytes_of(me, match)
            made = me.send(match, square)
            match = made.json()
            answers += bytes_of(me, match, made)
        with matches.store.database.reading() as session:
            hidden.add(session.get(HostMatch, match["id"]).attempts)
        assert not match["over"]
        resigned = me.client.post(f"{HOST}/matches/{match['id']}/resignation", json={"made": match["made"]})
        told.append([*answers, *bytes_of(me, resigned.json(), resigned), me.client.get("/host").content])
    assert len(hidden) == 2
    assert told[0][:-1] == told[1][:-1]
    matches.close()


@pytest.mark.slow
@pytest.mark.parametrize("game", [CLASSICAL, GAME])
@pytest.mark.parametrize("player", [0, 1])
def test_every_byte_depends_on_the_infoset_and_the_result(in_memory, clock, monkeypatch, game, player):
    """Over random matches, answers at one infoset and result are one answer, though the hidden marks are many."""
    monkeypatch.setattr(host_api, "_arrival_of", lambda request: clock.time)
    matches = make_matches(in_memory, Exact(game), now=clock)
    me, answers, hidden = Program(application(matches), "me"), defaultdict(list), defaultdict(set)
    for _ in range(40):
        match = me.begin(player, game=game)
        told = me.client.get(f"{HOST}/matches/{match['id']}").content.replace(match["id"].encode(), b"ID")
        while True:
            key = match["infoset"], match["result"]
            with matches.store.database.reading() as session:
                hidden[key].add(session.get(HostMatch, match["id"]).attempts)
            answers[key].append(told)
            if match["over"]:
                break
            told = me.send(match, min(match["legal"]))
            match, told = told.json(), told.content.replace(match["id"].encode(), b"ID")
    assert all(one == found[0] for found in answers.values() for one in found)
    assert max(map(len, hidden.values())) > 2
    assert any(len(found) > 1 and result is not None for (_, result), found in hidden.items())
    matches.close()


def test_the_one_place_gets_no_history():
    """The module that makes all answers knows neither histories nor rows, and is the only one that makes views."""
    imported = {
        name
        for node in ast.walk(ast.parse(inspect.getsource(match_view)))
        if isinstance(node, ast.ImportFrom)
        for name in [node.module, *(alias.name for alias in node.names)]
    }
    imported -= {"pttt_ooc.site.play.bodies"}  # of what agents send
    assert not {name for name in imported if "play" in name or "rows" in name or name in ("History", "replay")}
    assert [*inspect.signature(match_view.view_of).parameters] == [
        "seat",
        "infoset",
        "ending",
        "seconds_left",
        "your_turn",
    ]
    assert {*match_view.MatchSeat.__annotations__} == {"game", "id", "opponent", "player"}
