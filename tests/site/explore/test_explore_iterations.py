"""Explore along a run: snapshots on the convergence curve; and best responses in the opponent's place."""

import json
import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from pydantic import TypeAdapter

from pttt_ooc.disk.numbers import decimals, gap, probability
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.structures import engine_of
from pttt_ooc.library.api.values import best_response
from pttt_ooc.library.questions.infoset import numbers
from pttt_ooc.library.questions.profile import PreparedProfile, size_on_disk, symmetry_of
from pttt_ooc.pipeline.stages.directories import SNAPSHOTS
from pttt_ooc.site.explore.sources import Source, with_run
from tests.course.server_kit import GAME
from tests.kits.patience import wait_until
from tests.site.explore.answerer_kit import answering, explored, ready, solve_game

RULES = named_game(GAME)


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    return solve_game(tmp_path_factory.mktemp("solved"), snapshot_every=2)


@pytest.fixture(scope="module")
def pages(solved, tmp_path_factory):
    with (
        answering(tmp_path_factory.mktemp("profiles"), solved.parent.parent) as client,
        TestClient(explored(client, solved)) as made,
    ):
        made.answering = client.answering
        yield made


def strategy_of(name, player):
    return Strategy.uniform(RULES, player) if name == "uniform" else Strategy.read(name, player, RULES)


def profile_of(solved, first, second):
    """The profile of two strategies, by the library; names, or strategies."""
    pair = [strategy_of(one, p) if isinstance(one, str) else one for p, one in enumerate((first, second))]
    symmetry = symmetry_of(*pair)
    return PreparedProfile.prepare(*pair, engine_of(RULES, symmetry))


def shown(page):
    """What the first board says of each square."""
    board = page[page.index('id="board1"') :]
    board = board[: board.index("</svg>")]
    found = re.findall(r'aria-label="Square (\d): ([^"]*)"', board)
    return {int(n): said for n, said in found if "mark" not in said}


def said(told):
    """The same from numbers."""
    values = {s: decimals(told.action_values[s], 3) for s in told.legal}
    support = {s: ", in the support of this strategy" if told.probabilities[s] > 0 else "" for s in told.legal}
    return {s: f"probability {probability(told.probabilities[s])}, value {values[s]}{support[s]}" for s in told.legal}


def kept(solved):
    return sorted(int(path.stem) for path in (solved / SNAPSHOTS).glob("*.zarr"))


def marks(page):
    """The marks of the first curve: label, address, whether it is chosen."""
    curve = page[page.index('class="curve wide"') :]
    curve = curve[: curve.index("</svg>")]
    found = re.findall(r'<a href="([^"]*)"[^>]*aria-label="([^"]*)"( aria-current="true")?', curve)
    return [(label, asked(address).get("iteration"), bool(chosen)) for address, label, chosen in found]


def asked(address):
    return parse_qs(urlsplit(unescape(address)).query)


def followed(page, name):
    """What all links from the first board on ask for, before the choices."""
    board = page[page.index('id="board1"') : page.index('id="where"')]
    return {tuple(asked(address)[name]) for address in re.findall(r'href="(/explore[^"]*)"', board)}


@pytest.mark.long_but("0")
@pytest.mark.slow
@pytest.mark.parametrize("player", [0, 1])
def test_a_snapshot_is_shown_as_it_was(pages, solved, player):
    iteration = kept(solved)[2]
    page = ready(pages, f"/explore?player={player}&at=|&iteration={iteration}").text
    name = str(solved / SNAPSHOTS / f"{iteration}.zarr")
    then = numbers(profile_of(solved, name, name), player, "|")
    now = numbers(profile_of(solved, str(solved), str(solved)), player, "|")
    assert shown(page) == said(then) != said(now)
    assert shown(ready(pages, f"/explore?player={player}").text) == said(now)
    assert re.search(rf"<figcaption><span>[^<]*, iteration {iteration}</span>", page)


@pytest.mark.slow
def test_the_curve_has_a_mark_for_each_snapshot_and_for_the_end(pages, solved):
    rows = [json.loads(line) for line in (solved / "convergence.jsonl").read_text().splitlines()]
    gaps = {row["iteration"]: row["nashconv"] for row in rows}
    last = rows[-1]["iteration"]
    page = ready(pages, "/explore").text
    found = marks(page)
    assert [address for _, address, _ in found] == [[str(t)] for t in kept(solved)] + [None]
    assert [int(re.search(r"Iteration (\d+)", label)[1]) for label, _, _ in found] == [*kept(solved), last]
    assert [label.partition("gap ")[2] for label, _, _ in found] == [gap(gaps[t]) for t in (*kept(solved), last)]
    assert [chosen for _, _, chosen in found] == [False] * len(kept(solved)) + [True]
    iteration = kept(solved)[1]
    page = ready(pages, f"/explore?iteration={iteration}").text
    assert [chosen for _, _, chosen in marks(page)].index(True) == 1
    assert f'aria-valuetext="iteration {iteration}, gap' in page and 'id="iteration" value="2">' in page
    assert 'name="iteration" id="iteration" value="" disabled' in ready(pages, "/explore").text


@pytest.mark.slow
def test_points_of_the_curve_stand_where_their_logarithms_are(pages, solved):
    page = ready(pages, "/explore").text
    curve = page[page.index('class="curve wide"') :]
    circles = re.findall(r'class="reach" cx="([\d.]+)" cy="([\d.]+)"', curve[: curve.index("</svg>")])
    xs, ys = ([float(c[i]) for c in circles] for i in (0, 1))
    assert xs == sorted(xs) and len(set(xs)) == len(xs)
    assert kept(solved)[:3] == [1, 2, 4]
    assert xs[1] - xs[0] == pytest.approx(xs[2] - xs[1], abs=0.2), "each doubling is as long"
    gaps = [one.gap for one in pages.app.state.explore.sources.sources[0].snapshots]
    assert [y for _, y in sorted(zip(gaps, ys, strict=True))] == sorted(ys, reverse=True), "smaller gaps are lower"
    path = re.search(r'class="gap" d="M([^"]*)"', curve)[1].split("L")
    assert set(f"{x} {y}" for x, y in circles) <= set(path)


@pytest.mark.slow
def test_links_keep_the_iteration(pages, solved):
    page = ready(pages, "/explore?iteration=2&square=1").text
    assert followed(page, "iteration") == {("2",)}


@pytest.mark.slow
def test_iterations_that_were_not_kept_are_refused_with_those_that_were(pages, solved):
    answer = pages.get("/explore?iteration=3")
    assert answer.status_code == 404
    assert "No strategies were kept after iteration 3; there are 1, 2, 4" in answer.text
    assert pages.get("/explore?iteration=0").status_code == pages.get("/explore?iteration=x").status_code == 422
    without = ready(pages, "/explore?iteration=3&first=uniform&second=uniform").text
    assert "slider" not in without and "iteration=3&amp;at" not in without, "no run, no iterations"
    assert "iteration=3" not in re.sub(r'<a [^>]*class="to-slide"', "", without), (
        "only the link to this page alone has it"
    )


@pytest.mark.slow
def test_one_of_the_two_may_come_from_no_run(pages, solved):
    page = ready(pages, "/explore?iteration=2&second=uniform").text
    name = str(solved / SNAPSHOTS / "2.zarr")
    assert shown(page) == said(numbers(profile_of(solved, name, "uniform"), 0, "|"))


@pytest.mark.slow
def test_a_solution_whose_stage_has_not_finished_has_no_snapshots(solved, tmp_path):
    for broken in ("", "[]", "{}", json.dumps({"stage": "solve", "format_version": 3, "products": {}})):
        (tmp_path / "solve.json").write_text(broken)
        source = Source("solution", "S", str(tmp_path), "d")
        assert with_run(source) == source
    found = with_run(Source("solution", "S", str(solved), "d"))
    assert TypeAdapter(Source).validate_json(json.dumps(found, default=vars)) == found
    assert [one.iteration for one in found.snapshots][:-1] == kept(solved)
    assert len({one.digest for one in found.snapshots}) == len(found.snapshots)


# ---------------------------------------------------------------------------------------------
# Best responses


@pytest.mark.slow
@pytest.mark.long_but("0")
@pytest.mark.parametrize("player", [0, 1])
def test_the_opponent_may_play_its_best_response(pages, solved, player):
    plays = ("second_plays", "first_plays")[player]
    address = f"/explore?player={player}&at={'|0*' if player == 0 else '|'}&{plays}=best"
    page = ready(pages, address).text
    own = strategy_of(str(solved), player)
    reply = best_response(own)
    profile = profile_of(solved, *((own, reply) if player == 0 else (reply, own)))
    told = numbers(profile, player, "|0*" if player == 0 else "|")
    assert shown(page) == said(told)
    assert profile.evaluation.value * (1 - 2 * player) == pytest.approx(-reply.value, abs=1e-9)
    assert re.search(rf'name="{plays}" id="\w+-best" value="best" checked', page)
    assert followed(page, plays) == {("best",)}


@pytest.mark.slow
@pytest.mark.long_but("0")
@pytest.mark.parametrize("player", [0, 1])
def test_the_player_itself_may_play_its_best_response(pages, solved, player):
    """It is a strategy like others: its probabilities, and the values of going on with it."""
    plays = ("first_plays", "second_plays")[player]
    page = ready(pages, f"/explore?player={player}&beside=uniform&{plays}=best").text
    reply = best_response(strategy_of(str(solved), 1 - player))
    pair = (reply, strategy_of(str(solved), 1)) if player == 0 else (strategy_of(str(solved), 0), reply)
    told = numbers(profile_of(solved, *pair), player, "|")
    alone = {square: words.partition("; beside it ")[0] for square, words in shown(page).items()}
    assert alone == said(told) and told.value == pytest.approx(reply.value, abs=1e-9)
    assert followed(page, plays) == {("best",)}
    caption = unescape(re.search(r"<figcaption><span>(.*?)</span>", page)[1])
    assert caption.startswith("Above: Best response to ") and caption.endswith("; below: Uniform")
    found = ready(pages, f"/api/explore?player={player}&beside=uniform&{plays}=best", "preparing").json()
    assert found["plays"][player] == "best" and found["plays"][1 - player] == "average"
    assert found["beside"]["probabilities"] == pytest.approx([1 / 6] * 6)  # what is beside is followed as it is


def test_a_best_response_and_a_strategy_are_kept_apart(pages):
    profiles, pair = pages.answering.profiles, [{"name": "a", "digest": "1"}, {"name": "b", "digest": "2"}]
    best = [(a, b) for a in (False, True) for b in (False, True)]
    keys = {profiles.key([{**pair[0], "best": a}, {**pair[1], "best": b}]) for a, b in best}
    assert len(keys) == 4 and profiles.key(pair) in keys


@pytest.mark.slow
def test_both_players_may_reply_to_each_other(pages, solved):
    pair = [{"name": str(solved), "digest": "x", "best": True}, {"name": str(solved), "digest": "x", "best": True}]

    def found():
        return pages.answering.answer({"ask": "facts", "pair": pair})

    wait_until(lambda: "facts" in found())
    replies = [best_response(strategy_of(str(solved), 1 - p)) for p in (0, 1)]
    assert found()["facts"]["value"] == pytest.approx(profile_of(solved, *replies).evaluation.value, abs=1e-6)


@pytest.mark.long
def test_prepared_snapshots_keep_within_the_budget_of_profiles(solved, tmp_path):
    one = size_on_disk(profile_of(solved, str(solved), str(solved)).strategies, engine_of(RULES, "full").index)
    with (
        answering(tmp_path, solved.parent.parent, budget=2 * one + one // 2) as client,
        TestClient(explored(client, solved)) as pages,
    ):
        for iteration in (1, 2, 4):
            assert ready(pages, f"/explore?iteration={iteration}").status_code == 200
    assert 1 <= len(list(tmp_path.glob("*/whole.json"))) <= 2
