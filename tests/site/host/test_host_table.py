"""The table of agents: exact rows and played ones, as JSON and as a page."""

import math
import random
import re

import pytest
from scipy import stats

from pttt_ooc.library.scoring.agents_table import played_row, rows_of
from pttt_ooc.library.scoring.aivat import Sample, loss_of
from pttt_ooc.library.scoring.ladder import read_records
from pttt_ooc.site.host.match_rows import HostMatch
from pttt_ooc.site.service.wire import BusyError
from tests.kits.browsing import served
from tests.site.host.host_kit import GAME, HOST, Exact, Program, application, make_matches


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """A host of two games, on one of which agents have played."""
    matches = make_matches(tmp_path_factory.mktemp("host"), Exact(), Exact("mini-2x2k2-abrupt"))
    agent = matches.tokens.find_local("walker")
    for n in range(24):
        match = matches.begin(agent, GAME, "solution", n % 2)
        while not match.over:
            match = matches.attempt(agent, match.id, max(match.legal))
    with served(application(matches)) as address:
        yield address
    matches.close()


def sample(numbers):
    mean = sum(numbers) / len(numbers)
    return Sample(len(numbers), mean, sum((one - mean) ** 2 for one in numbers) / (len(numbers) - 1))


def test_the_loss_has_welchs_interval():
    rng = random.Random(1)
    first, second = [rng.gauss(0.2, 1) for _ in range(30)], [rng.gauss(-0.5, 3) for _ in range(11)]
    found = loss_of((sample(first), sample(second)))
    told = stats.ttest_ind(first, [-one for one in second], equal_var=False).confidence_interval(0.95)
    assert found.mean == pytest.approx(-(sum(first) / 30 + sum(second) / 11) / 2)
    assert (found.low, found.high) == (pytest.approx(-told.high / 2), pytest.approx(-told.low / 2))
    still = loss_of((Sample(20, 0.5, 0.0), Sample(20, -0.25, 0.0)))
    assert (still.mean, still.low, still.high) == (-0.125, -0.125, -0.125)
    assert played_row("few", "AIVAT", (Sample(9, 0, 1), Sample(90, 0, 1)), 0, 99) is None
    assert played_row("rare", "AIVAT", (Sample(10, 0, 1), Sample(10, 0, 1)), 5, 9).low is None
    some = played_row("some", "AIVAT", (Sample(10, 0, 1), Sample(10, 0, 1)), 5, 10)
    assert some.refused == 0.25 and some.low < 0 < some.high


def test_the_ladder_is_the_same_table():
    records = read_records()
    for game in ("pttt-abrupt", "dark-hex-3x3-classical"):
        played = played_row("player", "AIVAT", (Sample(100, 0.1, 1.0), Sample(100, -0.7, 1.0)), 0, 50)
        rows = rows_of(game, records, [played])
        assert [row.score for row in rows] == sorted(row.score for row in rows) and rows.count(played) == 1
        uniform = next(row for row in rows if row.agent == "uniform")
        assert uniform.way == "exact" and uniform.low is None and uniform.refused is None
    assert uniform.score == pytest.approx(0.9164021164)


@pytest.mark.slow
def test_agents_that_play_are_in_the_table(app, matches, clock):
    me, idle, twin = (Program(app, name) for name in ("me", "idle", "twin"))
    payoffs = {0: [], 1: []}
    for n in range(24):
        match = me.begin(n % 2)
        assert me.send(match, 77).status_code == 400
        payoffs[n % 2].append(me.play_out(match, max)["result"])
    for n in range(20):
        matches.begin(matches.tokens.of_token(idle.token), GAME, "solution", n % 2)  # and never a move
        matches.resign(matches.tokens.of_token(me.token), me.begin(n % 2, "other")["id"])
    twin.play_out(twin.begin())
    rows = Program(app).client.get(f"{HOST}/table").json()["rows"]
    assert [row["agent"] for row in rows] == ["me"]  # open matches do not count yet
    clock.time += 601
    found = {row["agent"]: row for row in Program(app).client.get(f"{HOST}/table?game={GAME}").json()["rows"]}
    assert [*found] == ["me", "idle"] and found["me"]["way"] == found["idle"]["way"] == "AIVAT"
    assert (found["idle"]["count"], found["idle"]["score"]) == (20, pytest.approx(1))
    assert found["idle"]["low"] is not None  # all of its games have a loss
    one = found["me"]
    with matches.store.database.reading() as session:
        rows = [row for row in session.query(HostMatch) if row.owner == "agent:1" and row.opponent == "solution"]
    estimates = [sample([row.estimate for row in rows if row.player == seat]) for seat in (0, 1)]
    assert one["count"] == 24 and one["refused"] == 1.0 and one["score"] == pytest.approx(loss_of(estimates).mean)
    plain = loss_of([sample(payoffs[seat]) for seat in (0, 1)])
    assert one["score"] != pytest.approx(plain.mean) and abs(one["score"] - plain.mean) < 5 * plain.standard_error
    page = Program(app).client.get("/host").text
    told = re.search(r"<bdi>me</bdi>.*?</tr>", page, re.S)[0]
    assert f"{one['score']:.4f}" in told.replace("−", "-") and "games, AIVAT" in told


@pytest.mark.slow
def test_matches_without_an_estimate_are_made_up_for(app, matches, monkeypatch):
    me = Program(app, "me")

    def refuse(*_):
        raise BusyError

    monkeypatch.setattr(Exact, "estimate", refuse)
    for n in range(20):
        me.play_out(me.begin(n % 2))
    told = Program(app).client.get(f"{HOST}/table").json()["rows"]
    assert [row["way"] for row in told] == ["average"]
    monkeypatch.undo()
    [row] = Program(app).client.get(f"{HOST}/table").json()["rows"]
    assert row["way"] == "AIVAT" and math.isfinite(row["score"])
