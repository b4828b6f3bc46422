"""Verdicts: what scores say about claims, and what the number of claims costs."""

import math

import pytest
from scipy import stats

from pttt_ooc.other_games.arena.experiments import claims_table
from pttt_ooc.other_games.arena.settings import Experiment, Theirs


def result(test, won, theirs=None, **more):
    """An experiment with one match of so many wins, draws and losses."""
    claim = Experiment(claim="x", agents=("random", "random"), test=test, theirs=theirs or Theirs())
    means = {f"mean_of_agent_{agent}": {"processor_milliseconds": 3.0 - 2 * agent} for agent in (0, 1)}
    match = dict(zip(("wins", "draws", "losses"), won, strict=True)) | means | more
    return {**claim.model_dump(mode="json"), "matches": [match]}


SAME, OTHER = "no difference from their rate is found", "the rate differs from theirs"


@pytest.mark.parametrize(
    ("test", "theirs", "won", "verdict"),
    [
        ("better", Theirs(rate=0.7, games=100), (70, 0, 30), f"holds; {SAME}"),
        ("better", Theirs(rate=0.7, games=100), (100, 0, 0), f"holds; {OTHER}"),
        ("better", Theirs(rate=0.7, games=100), (30, 0, 70), f"refuted; {OTHER}"),
        ("better", Theirs(rate=0.2, games=100), (30, 0, 70), f"holds; {SAME}"),
        ("better", Theirs(rate=0.2, games=100), (70, 0, 30), f"refuted; {OTHER}"),
        ("better", Theirs(), (59, 0, 41), "undecided: 14.1 points could have been found"),  # p = 0.089
        ("better", Theirs(), (61, 0, 39), "holds"),  # p = 0.035
        ("better", Theirs(), (24, 62, 14), "undecided: 8.7 points could have been found"),  # 24 of 38: p = 0.14
        ("equal", Theirs(), (500, 0, 500), "holds"),
        ("equal", Theirs(), (52, 0, 48), "undecided: 14.1 points could have been found"),
        ("equal", Theirs(), (90, 0, 10), "refuted: it is better"),
        ("equal", Theirs(), (10, 0, 90), "refuted: it is worse"),
        ("equal", Theirs(), (5200, 0, 4800), "holds: it is better, by less than 5%"),
        ("not better", Theirs(), (480, 0, 520), "holds"),
        ("not better", Theirs(), (30, 0, 70), "holds: it is worse"),
        ("not better", Theirs(), (70, 0, 30), "refuted: it is better"),
        ("not better", Theirs(), (50, 0, 50), "undecided: 14.1 points could have been found"),
        ("time", Theirs(ratio=4.0), (50, 0, 50), "holds: 3.0 times"),
        ("time", Theirs(ratio=18.0), (50, 0, 50), "holds: 3.0 times; the ratio differs"),
        ("time", Theirs(ratio=1.4), (50, 0, 50), "holds: 3.0 times; the ratio differs"),
        ("time", Theirs(ratio=1.6), (50, 0, 50), "holds: 3.0 times"),
        ("time", Theirs(ratio=5.9), (50, 0, 50), "holds: 3.0 times"),
        ("time", Theirs(ratio=6.1), (50, 0, 50), "holds: 3.0 times; the ratio differs"),
        ("none", Theirs(), (50, 0, 50), "see the curve"),
    ],
)
def test_verdicts_on_a_single_claim(test, theirs, won, verdict):
    assert claims_table.judge([result(test, won, theirs)]) == [verdict]


def test_pairs_decide_if_there_are_any():
    """46 of 100 pairs of equal games: as single games undecided, as pairs of one half and one and a half clear."""
    won = (30, 60, 10)
    loose = result("better", (60, 0, 40))
    tight = result("better", (60, 0, 40), pairs=[0, 0, 40, 0, 10])
    assert 10 ** claims_table.questions(loose)[0].log10_p == pytest.approx(0.0569, abs=1e-3)
    assert 10 ** claims_table.questions(tight)[0].log10_p == pytest.approx(2 / 2**10)
    assert claims_table.judge([result("better", won)]) == ["holds"]


def test_the_more_claims_the_stronger_a_claims_evidence_has_to_be():
    strong, weak = result("better", (80, 0, 20)), result("better", (61, 0, 39))  # p = 0.035
    assert claims_table.judge([strong, weak]) == ["holds", "holds"]  # Holm: the weakest is not corrected
    weaker = [weak] * 2
    assert all(text.startswith("undecided") for text in claims_table.judge([strong, *weaker])[1:])
    assert claims_table.judge([strong, *[result("none", (1, 0, 1))] * 9, weak])[-1] == "holds", "no test, no correction"


def test_comparisons_with_published_rates_are_a_family_of_their_own():
    theirs = Theirs(rate=0.51, games=100)
    near, far = result("better", (615, 0, 385), theirs), result("better", (900, 0, 100), theirs)
    assert math.log10(0.025) < claims_table.log_p_value(near) < math.log10(0.05)
    assert claims_table.judge([near]) == [f"holds; {OTHER}"]
    assert claims_table.judge([near, near, far]) == [f"holds; {SAME}"] * 2 + [f"holds; {OTHER}"]
    assert claims_table.log_p_value(result("better", (6, 0, 4), Theirs(rate=0.5))) is None


def test_a_learner_is_judged_by_its_trainings():
    """Four of five trainings win clearly; over all games together the score of 64% would be beyond doubt."""
    won = [(90, 0, 10), (20, 0, 80), (75, 0, 25), (70, 0, 30), (65, 0, 35)]
    claim = Experiment(claim="x", agents=("qtable:lesson={}", "random"), values=[0, 1, 2, 3, 4], test="trainings")
    matches = [dict(zip(("wins", "draws", "losses"), one, strict=True)) for one in won]
    told = {**claim.model_dump(mode="json"), "matches": matches}
    [question] = claims_table.questions(told)
    scores = [one[0] / 100 for one in won]
    assert 10**question.log10_p == pytest.approx(stats.ttest_1samp(scores, 0.5).pvalue)
    assert (
        claims_table.judge([told])[0].startswith("undecided")
        and claims_table.questions(result("better", (320, 0, 180)))[0].log10_p < -9
    )
    row = claims_table.columns(told, "undecided")
    assert row["ours"] == "64.00%" and row["games"] == 500 and row["test"].startswith("5 trainings; p = ")
    matches[1].update(wins=80, losses=20)
    assert claims_table.judge([told]) == ["holds"]
    with pytest.raises(ValueError, match="at least two values"):
        Experiment(claim="x", agents=("qtable:lesson={}", "random"), values=[0], test="trainings")
