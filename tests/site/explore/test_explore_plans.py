"""Explore and Play on the plan of a game whose infosets cannot be listed: pages, JSON and terminal, in this process."""

import random
import re
import threading
from contextlib import closing

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.errors import StrategyFileError
from pttt_ooc.library.api.plan_reader import read_plan_pair
from pttt_ooc.library.api.strategy_names import named_strategy
from pttt_ooc.pipeline.files.equilibrium import write_equilibrium
from pttt_ooc.site.explore.explorer import Explorer
from pttt_ooc.site.explore.game_store import Games
from pttt_ooc.site.explore.local_opponents import LocalOpponents, pair_of
from pttt_ooc.site.explore.local_sources import local_pages, local_sources
from pttt_ooc.site.explore.opponents import AskedOpponents
from pttt_ooc.site.explore.part import part_of
from pttt_ooc.site.explore.play_pages import part_of as play_part
from pttt_ooc.site.explore.sources import FixedSources
from pttt_ooc.site.explore.strategy_answers import PlanAnswers
from pttt_ooc.site.explore.terminal_explore import explore
from pttt_ooc.site.explore.terminal_play import play
from pttt_ooc.site.service.answerer import answer_all
from pttt_ooc.site.service.wire import Client, listening
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.kits.equilibria import settled
from tests.site.explore.play_kit import Browser, form_token
from tests.site.explore.test_play_terminal import say

pytest.importorskip("highspy")

GAME = "pttt-3x4k3-classical"


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A directory as ``pttt exact --output`` writes it."""
    oracle, place = settled(GAME), tmp_path_factory.mktemp("plan")
    (place / "equilibrium.zarr").mkdir()
    low, high = oracle.last.interval
    write_equilibrium(place / "equilibrium.zarr", oracle.game, oracle.plans, {"value_lower": low, "value_upper": high})
    return place


@pytest.fixture(scope="module")
def app(directory, tmp_path_factory):
    rules, sources = local_sources([str(directory)], None)
    stopping, plans = threading.Event(), read_plan_pair(named_strategy(str(directory), 0, plans=True))
    with listening() as (made, path):
        thread = threading.Thread(target=answer_all, args=(made, PlanAnswers(plans), stopping))
        thread.start()
        client = Client(path, 120)
        with closing(Games(tmp_path_factory.mktemp("games"), AskedOpponents(rules, client, lambda: sources))) as games:
            parts = [part_of(Explorer(rules, client, FixedSources(tuple(sources)))), play_part(games)]
            yield make_application(Shell("Explored", rules.name, parts))
        stopping.set()
        thread.join()


def test_a_plan_stands_alone(directory, tmp_path):
    rules, sources = local_sources([str(directory)], None)
    assert (rules.name, [source.players for source in sources]) == (GAME, [(0, 1)])
    with pytest.raises(StrategyFileError, match="cannot be looked at together with uniform; name it alone"):
        local_sources([str(directory), "uniform"], None)
    with pytest.raises(StrategyFileError, match="not of pttt-abrupt; leave out --game"):
        local_sources([str(directory)], "pttt-abrupt")
    pages, _ = local_pages([str(directory)], None, tmp_path)
    assert pages.answerer == (
        "pttt_ooc.site.explore.strategy_answers:plan_answerer",
        str(directory / "equilibrium.zarr"),
    )


def test_any_infoset_is_shown(app):
    with TestClient(app) as pages:
        page = pages.get("/explore?player=1&at=|5.6*&square=10").text
        assert "Squares 10 to 11 are written a to b." in page and "Square 10 is" in page and "|5.6*a*" in page
        assert "−1.00000; no other strategy of player 1 gets more" in page
        never = pages.get("/explore?player=1&at=|0.").text
        assert "Against this strategy of player 0 no game gets here" in never and "Likeliest true boards" not in never
        told = pages.get("/api/explore?player=1&at=|5.6*&symmetry=merged").json()
        assert told["images"] == ["|5.6*", "|6.5*"] and [0, 8] in told["classes"]
        assert sum(told["numbers"]["probabilities"][s] for s in range(12) if s not in (5, 6)) == pytest.approx(1)
        assert told["numbers"]["value"] == told["numbers"]["best_value"] == pytest.approx(-1)
        assert told["beliefs"]["marks"][5] == 1 and told["best_responses"] == pytest.approx([1, -1])
        assert pages.get("/api/explore?player=0&at=|b*&first_plays=best").json()["value"] == pytest.approx(1)
        wrong = pages.get("/api/explore?player=0&at=|c*").json()
        assert "'c' stands where the digit of a square" in wrong["error"]


def test_the_map_has_the_reach_of_each_class(app, directory):
    pair = read_plan_pair(named_strategy(str(directory), 0, plans=True))
    squares = "0123456789ab"
    for player in (0, 1):
        first, *later = PlanAnswers(pair).answer({"ask": "flow", "pair": [{}, {}], "player": player})["levels"]
        assert first[0]["infoset"] == "|" and first[0]["probability"] == pytest.approx(1)
        for one in (one for level in later for one in level):
            tables = [str.maketrans(squares, "".join(squares[s] for s in g)) for g in pair.game.symmetries]
            images = {one["infoset"].translate(table) for table in tables}
            reached = [pair.numbers(player, text).joint_reach for text in images]
            assert one["probability"] == pytest.approx(sum(reached), abs=1e-12)
            assert one["images"] == sum(reach > 0 for reach in reached)
    with TestClient(app) as pages:
        page = pages.get("/explore/map?player=1").text
        assert page.count("data-infoset=") == 1 + sum(map(len, later)) and len(later[0]) > 1


def test_a_game_is_played_and_reviewed(app):
    me = Browser(app)
    page = me.get("/play").text
    fields = {"form_token": form_token(page), "opponent": "solution", "player": "1"}
    place = me.client.post("/play", data=fields).headers["location"]
    rng, made = random.Random(3), 0
    while free := re.findall(r'class="cell free" name="square" value="(\d+)"', page := me.get(place).text):
        assert 'data-key="b"' in page and "columns-4" in page
        if not re.search(r'data-made="(\d+)"', page):
            break
        square = "11" if made == 0 else rng.choice(free)
        answer = me.post(f"{place}/attempts", made=re.search(r'data-made="(\d+)"', page)[1], square=square)
        assert answer.status_code == 303
        made += 1
    review = me.get(place).text
    assert (
        "You have lost." in review and "in expected payoff together" in review
    )  # the plan wins whatever player 1 does
    for step in range(4):
        assert me.get(f"{place}?step={step}").status_code == 200
    assert "best response −1.00000" in me.get("/play").text


@pytest.mark.slow
def test_on_the_terminal(directory, monkeypatch):
    pair, players = pair_of(str(directory), None)
    assert players == [0, 1]
    _, told = say(monkeypatch, "p\n5.\n6*\nb\nm\no\no\n|b.\nb\nq\n", explore, pair, 0)
    assert "Player 1 (o): found 5 occupied, placed 6." in told and "11 b" in told
    assert "value −1.0000, with the best response from here on −1.0000" in told and "Mirror images: |6.5*" in told
    assert (
        "player 1 is" in told
        and "best response to" in told.replace("\n", " ")
        and ": no beliefs." in told.replace("\n", " ")
    )
    draws = random.Random(5).random
    code, told = say(
        monkeypatch,
        "x\nb\nsa\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n" + "\n" * 40,
        lambda d: play(LocalOpponents(pair, 0), d, draws),
    )
    assert "'x' is not a key of a square" in told and re.search(r"Square 11: (placed|failed)", told)
    assert "You have lost." in told and "Square 10" in told
