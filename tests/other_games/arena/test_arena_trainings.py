"""Trainings with several seeds: what they do, how they go on, and what their tables say."""

import json

import numpy as np
import pytest

from pttt_ooc.other_games.arena.agents.value_tables import Rates, Training
from pttt_ooc.other_games.arena.experiments import claims_table, report, trainings
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.settings import Trainings
from tests.other_games.arena.arena_kit import lab

SMALL = Trainings(claim="small", game="mnk:3x3+need3", games=2500, seeds=3)


def test_a_training_is_that_of_the_command():
    row = trainings.train(SMALL, 4)
    alone = Training(game("mnk:3x3+need3"), seed=4)
    alone.run(2500, Rates())
    assert row["curve"][-1] == [2500, *alone.results[1:]] and [mark for mark, *_ in row["curve"]] == [1000, 2000, 2500]
    assert sum(row["greedy"]) == trainings.GREEDY
    assert trainings.train(SMALL, 4)["digest"] == row["digest"] != trainings.train(SMALL, 5)["digest"]


@pytest.mark.parametrize(
    "changed", [{"ties": "random"}, {"targets": "reward"}, {"draw": 0.5}, {"win": 0.9}, {"explore": 0.1}, {"step": 0.2}]
)
def test_every_setting_matters(changed):
    assert trainings.train(SMALL.model_copy(update=changed), 0)["digest"] != trainings.train(SMALL, 0)["digest"]


def test_several_chances_of_a_random_move_hold_one_after_the_other():
    row = trainings.train(SMALL.model_copy(update={"explore": [0.5, 0.1]}), 4)
    alone = Training(game("mnk:3x3+need3"), seed=4)
    for explore in (0.5, 0.1):
        alone.run(1250, Rates(explore=explore))
    assert row["curve"][-1] == [2500, *alone.results[1:]]
    assert [mark for mark, *_ in row["curve"]] == [1000, 1250, 2000, 2500]
    same = trainings.train(SMALL.model_copy(update={"explore": [0.3, 0.3]}), 4)
    assert same["digest"] == trainings.train(SMALL, 4)["digest"]


def test_only_tables_on_small_boards_meet_all_replies():
    assert len(trainings.train(SMALL, 0)["lost"]) == 2
    assert "lost" not in trainings.train(SMALL.model_copy(update={"game": "mnk:4x3+need3", "games": 10}), 0)


def test_patterns_are_trained_by_the_same_settings():
    settings = Trainings(claim="x", game="mnk:5x5+need4", learner="patterns", games=40, seeds=2)
    row = trainings.train(settings, 1)
    assert [mark for mark, *_ in row["curve"]] == list(range(4, 44, 4)) and sum(row["curve"][-1][1:]) == 40
    assert sum(row["greedy"]) == trainings.GREEDY and row["digest"] == trainings.train(settings, 1)["digest"]


def test_what_has_been_trained_is_not_trained_again(tmp_path, monkeypatch):
    first = trainings.conduct("small", SMALL.model_copy(update={"seeds": 2}), tmp_path, 1, print)
    trained = []
    real = trainings.train
    monkeypatch.setattr(trainings, "train", lambda one, seed: trained.append(seed) or real(one, seed))
    both = trainings.conduct("small", SMALL, tmp_path, 1, print)
    assert trained == [2] and both["trainings"][:2] == first["trainings"]
    assert json.loads((tmp_path / trainings.RESULT).read_text()) == both
    with pytest.raises(ArenaError, match="other trainings than small"):
        trainings.conduct("small", SMALL.model_copy(update={"draw": 0.5}), tmp_path, 1, print)


def test_stretches_are_differences():
    curve = [[1000, 500, 400, 100], [3000, 1800, 900, 300]]
    assert trainings.stretches(curve) == [[1000, 500, 400, 100], [3000, 1300, 500, 200]]
    assert trainings.share(curve[1]) == 0.7 and trainings.share(curve[1], 0.5) == 0.65
    assert trainings.decisive_share(curve[1]) == pytest.approx(2 / 3)


def some(*shares):
    rows = [{"seed": n, "curve": [[10, *row]], "greedy": [3, 1, 0], "seconds": 2.0} for n, row in enumerate(shares)]
    return {"name": "some", **SMALL.model_dump(mode="json"), "theirs": {"rate": 0.6}, "trainings": rows}


def test_the_table_has_the_mean_of_trainings_and_students_interval():
    one = some((5, 4, 1), (6, 4, 0), (7, 2, 1))
    row = claims_table.trainings([one]).splitlines()[-1]
    mean, deviation = 200 / 3, np.std([60, 60, 80], ddof=1)
    half = 4.3027 * deviation / np.sqrt(3)
    assert f"| 60 | {mean:.1f} | {deviation:.2f} | {mean - half:.1f} to {mean + half:.1f} |" in row
    assert row.endswith("| 3 | 2.0 |")
    assert claims_table.greedy([one]).splitlines()[-1] == "| small | 9 | 0 | 3 | 3 of 3 |"
    for row, lost in zip(one["trainings"], ([0, 4], [2, 0], [0, 7]), strict=True):
        row["lost"] = lost
    assert claims_table.losses_table([one]).splitlines()[-1] == "| small | 2,500 | 2 of 3 | 1 of 3 | 2 | 7 |"
    assert claims_table.curves([one], [10, 20]).splitlines()[2:] == ["| 10 | 66.7 |", "| 20 |  |"]


def test_matches_of_trainings_have_students_interval_over_the_trainings():
    """The scores are 6, 7 and 8 of 11; Student's factor for two degrees of freedom is 4.3027."""
    matches = [{"wins": wins, "draws": 2, "losses": 9 - wins, "pairs": None} for wins in (5, 6, 7)]
    one = {"agents": ["a:{}", "b"], "games": 11, "matches": matches}
    scores = np.array([6, 7, 8]) / 11 * 100
    half, more = (4.3027 * scores.std(ddof=1) * factor for factor in (3**-0.5, (4 / 3) ** 0.5))
    assert claims_table.opponents([one]).splitlines()[-1] == (
        f"| `a:SEED` | `b` | {scores.mean():.1f}% | {scores.std(ddof=1):.1f} | {scores.mean() - half:.1f}% to "
        f"{scores.mean() + half:.1f}% | {scores.mean() - more:.1f}% to 100.0% | 3 | 11 |"
    )


def test_the_command_trains_and_the_report_shows_it(tmp_path, capsys):
    file, out = tmp_path / "some.yaml", tmp_path / "out"
    file.write_text("arena: {trainings: {small: {claim: small board, game: mnk:3x3+need3, games: 300, seeds: 2}}}")
    assert "| small board | 300 |" in lab(capsys, "experiment", file, "-o", out, "--processes", "1")
    report.write([out / "small" / trainings.RESULT], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.count("<svg") == 1 and "small board" in page
    assert "| small board | 300 |" in lab(capsys, "claims", out)
