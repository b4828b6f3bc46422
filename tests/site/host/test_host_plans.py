"""A host of a game whose infosets are not listed: matches against plans have AIVAT's estimates, too."""

import random
import threading
from pathlib import Path

import pytest

from pttt_ooc.errors import StrategyError
from pttt_ooc.exact.certificates import certificate
from pttt_ooc.exact.certificates.sparse_plans import sparse_plans
from pttt_ooc.library.questions.plan_pair import PlanPair
from pttt_ooc.library.scoring.aivat import estimate_match
from pttt_ooc.library.scoring.matches import MatchRecord
from pttt_ooc.library.scoring.opponents import PlanOpponents
from pttt_ooc.site.explore.match_estimates import opponents_of
from pttt_ooc.site.explore.opponents import AskedOpponents
from pttt_ooc.site.explore.sources import Source
from pttt_ooc.site.explore.strategy_answers import PlanAnswers
from pttt_ooc.site.host.match_rows import HostMatch
from pttt_ooc.site.service.answerer import answer_all
from pttt_ooc.site.service.wire import Client, listening
from tests.kits.patience import PATIENCE
from tests.site.host.host_kit import HOST, Program, application, make_matches

LARGE = "pttt-2x5k3-classical"


@pytest.fixture(scope="module")
def proven():
    return certificate.read(Path(__file__).parents[3] / "proof" / f"{LARGE}.txt.gz")


@pytest.mark.slow
def test_matches_on_a_large_board_have_estimates(in_memory, proven):
    pair = PlanPair(proven.game, sparse_plans(proven), {"nashconv": 0.0})
    stopping, sources = threading.Event(), [Source("solution", "Solution", "plan", "its digest")]
    with listening() as (made, path):
        thread = threading.Thread(target=answer_all, args=(made, PlanAnswers(pair), stopping))
        thread.start()
        matches = make_matches(in_memory, AskedOpponents(proven.game, Client(path, PATIENCE), lambda: sources))
        app = application(matches)
        me, rng, results = Program(app, "me"), random.Random(4), []
        for n in range(20):
            match = me.begin(n % 2, game=LARGE)
            if n == 19:
                me.client.post(f"{HOST}/matches/{match['id']}/resignation", json={"made": 0})
            else:
                results.append(me.play_out(match, rng.choice)["result"])
        [row] = me.client.get(f"{HOST}/table").json()["rows"]
        stopping.set()
        thread.join()
    with matches.store.database.reading() as session:
        rows = session.query(HostMatch).all()
    matches.close()
    known, found = PlanOpponents.of_certificate(proven), {}
    for one in rows:
        squares = tuple(attempt.square for attempt in one.history(proven.game).attempts)
        judged = estimate_match(known, MatchRecord(one.player, squares, one.ended == "resigned"))
        assert one.estimate == pytest.approx(judged.estimate, abs=1e-9) and one.result == judged.payoff
        found.setdefault(one.player, []).append(one.estimate)
    mean = -sum(sum(seat) / len(seat) for seat in found.values()) / 2
    assert row["way"] == "AIVAT" and row["count"] == 20 and row["score"] == pytest.approx(mean) and mean > 0.05
    assert len(set(results)) > 1


def test_a_best_response_to_a_plan_has_no_estimate(proven):
    plans = sparse_plans(proven)
    assert opponents_of(PlanPair(proven.game, plans, {"nashconv": 0.0})).value_at_start(0) == pytest.approx(0.75)
    with pytest.raises(StrategyError, match="against a best response to a plan have no estimate"):
        opponents_of(PlanPair(proven.game, plans))
