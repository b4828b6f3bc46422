"""Questions to plans, compared with the same questions to the same strategies at all infosets of an index."""

from functools import cache

import numpy as np
import pytest

from pttt_ooc.errors import GameError, ImpossibleInfosetError, StrategyError
from pttt_ooc.exact.double_oracle.complete_strategy import write_whole
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.library.questions import plan_pair
from pttt_ooc.library.questions.infoset import beliefs, following, numbers
from pttt_ooc.library.questions.mirror_merge import merge_infoset
from pttt_ooc.library.questions.plan_pair import PlanPair
from pttt_ooc.library.questions.profile import PreparedProfile, best_response_of
from tests.kits import naive
from tests.kits.helpers import small_engine
from tests.kits.questioned import infosets

pytest.importorskip("highspy")

# After few rounds best responses still gain, and both plans are mixed; of the second game they are an equilibrium.
CASES = {
    "mini-2x3k3-abrupt": 4,
    "mini-2x3k2-classical": 99,
    "mini-2x3k3-classical-after-1-4": 2,
    "dark-hex-2x3-abrupt": 3,
}
STEPS = {"mini-2x3k3-abrupt": 61, "dark-hex-2x3-abrupt": 23}  # of its many infosets, one in so many
CLOSE = {"abs": 1e-11, "rel": 0, "nan_ok": True}


@cache
def both(name):
    """The same two strategies: as plans with the rule elsewhere, and at all infosets."""
    oracle, engine = DoubleOracle(named_game(name), 1), small_engine(name, "full", np.float64)
    for _ in range(CASES[name]):
        if oracle.round().settled:
            break
    whole = [
        write_whole(
            oracle.rules,
            oracle.plans[p],
            engine.index,
            p,
            uniform_strategy(engine.index, p, np.float64).probabilities,
            True,
        )
        for p in (0, 1)
    ]
    return PlanPair(oracle.game, oracle.plans), PreparedProfile.prepare(*whole, engine)


def assert_equal(found, wanted, names):
    for name in names:
        assert getattr(found, name) == pytest.approx(getattr(wanted, name), **CLOSE), name


NUMBERS = ("probabilities", "own_reach", "opponent_reach", "value", "action_values", "best_value", "best_action_values")
NUMBERS += ("regrets", "fails", "arbitrary")


@pytest.mark.long_but("k2", "after")
@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_answers_are_those_of_strategies_at_all_infosets(name):
    plans, profile = both(name)
    reached = 0
    for player, infoset in infosets(plans.game)[:: STEPS.get(name, 1)]:
        found, wanted = plans.numbers(player, infoset), numbers(profile, player, infoset)
        assert (found.infoset, found.legal) == (wanted.infoset, wanted.legal)
        row = np.nan_to_num(wanted.probabilities)
        assert plans.row(player, infoset) == pytest.approx(row, **CLOSE)
        assert_equal(found, wanted, NUMBERS)
        believed, known = (
            plans.beliefs(player, infoset),
            beliefs(profile.index, profile.strategies[1 - player], player, infoset),
        )
        if not wanted.opponent_reach:
            assert believed.arbitrary and not believed.boards
            unknown = [square for square in found.legal if square not in plans.game.setup[1 - player]]
            assert np.isnan(believed.marks[unknown]).all()
            tried = ~np.isnan(believed.marks)
            assert believed.marks[tried] == pytest.approx(known.marks[tried])
            assert believed.empty[tried] == pytest.approx(known.empty[tried], abs=1e-12)
            continue
        reached += 1
        assert_equal(believed, known, ("reached", "marks", "empty", "arbitrary"))
        assert [board.theirs for board in believed.boards] and sum(b.probability for b in believed.boards) <= 1 + 1e-12
        assert {b.theirs: b.probability for b in believed.boards} == pytest.approx(
            {b.theirs: b.probability for b in known.boards}
        )
        assert dict(believed.opponent_attempts) == pytest.approx(dict(known.opponent_attempts))
        ways, expected = plans.following(player, infoset), following(profile, player, infoset)
        assert [(w.square, w.placed, w.infoset, w.decides) for w in ways] == [
            (w.square, w.placed, w.infoset, w.decides) for w in expected
        ]
        for way, other in zip(ways, expected, strict=True):
            assert_equal(way, other, ("probability", "returns", "wins", "draws", "loses"))
    assert reached > 5
    exact = profile.evaluation
    assert plans.value == pytest.approx(exact.value, abs=1e-12)
    assert plans.best_responses == pytest.approx((exact.best_response_0, exact.best_response_1), abs=1e-12)


def test_an_infoset_merged_with_its_mirror_images():
    plans, profile = both("mini-2x3k3-abrupt")
    for player, infoset, square in ((0, "|", 3), (0, "|1*", 2), (1, "|", 0), (0, "|1*4.", 0)):
        found, wanted = plans.merge_infoset(player, infoset, square), merge_infoset(profile, player, infoset, square)
        assert (found.images, found.classes) == (wanted.images, wanted.classes)
        assert_equal(found.numbers, wanted.numbers, NUMBERS)
        assert_equal(found.beliefs, wanted.beliefs, ("marks",) if wanted.numbers.opponent_reach else ())
        assert [way.infoset for way in found.outcomes] == [way.infoset for way in wanted.outcomes]


def test_best_responses_take_the_place_of_plans():
    plans, profile = both("mini-2x3k3-abrupt")
    replied = plans.with_reply(1)
    best = best_response_of(profile, 1)
    assert best.player == 1 and replied.value == pytest.approx(-profile.evaluation.best_response_1, abs=1e-12)
    assert replied.value < plans.value - 1e-3
    assert set(np.unique(replied.row(1, "|0*")).tolist()) == {0.0, 1.0}


def test_on_large_boards_values_of_best_responses_are_left_out(monkeypatch):
    plans, _ = both("mini-2x3k3-abrupt")
    monkeypatch.setattr(plan_pair, "MOST_REPLIED_SQUARES", 5)
    pair = PlanPair(plans.game, plans.plans)
    found = pair.numbers(0, "|")
    assert np.isnan(found.best_value) and np.isnan(found.best_action_values).all()
    assert found.value == pytest.approx(plans.numbers(0, "|").value)
    assert np.isfinite(pair.numbers(0, "|1*").best_value) and np.isnan(pair.best_responses).all()
    with pytest.raises(StrategyError, match="the best response in the whole game is found on boards of at most 5"):
        pair.with_reply(0)


@pytest.mark.slow
def test_the_rule_plays_where_a_plan_has_actions_but_plays_none():
    """Then the whole strategy is that of the plan without the infoset's actions."""
    plans, _ = both("dark-hex-2x3-abrupt")
    first = plans.plans[0]._replace(chances=plans.plans[0].chances.copy())
    at = int(first.children[0][first.children[0] >= 0][0])
    assert first.chances[first.actions[at][first.actions[at] >= 0]].sum() > 0
    below = {at}
    for infoset in range(at + 1, int(first.counts[0])):  # each comes after the one before it
        below |= {infoset} if int(first.infosets[first.before[infoset]]) in below else set()
    for infoset in below:
        first.chances[first.actions[infoset][first.actions[infoset] >= 0]] = 0
    changed = PlanPair(plans.game, (first, plans.plans[1]))
    strategies = [{text: changed.row(p, text).tolist() for text in naive.infosets(plans.game, p)} for p in (0, 1)]
    assert changed.value == pytest.approx(naive.value(plans.game, *strategies), abs=1e-12)
    assert changed.best_responses[1] == pytest.approx(
        naive.best_response_value(plans.game, 1, strategies[0]), abs=1e-12
    )


def test_impossible_infosets_and_squares_are_refused():
    plans, _ = both("mini-2x3k3-abrupt")
    with pytest.raises(ImpossibleInfosetError, match="square 0 is attempted twice"):
        plans.numbers(0, "|0*0*")
    with pytest.raises(GameError, match="cannot attempt square 1"):
        plans.following(0, "|1*", 1)
