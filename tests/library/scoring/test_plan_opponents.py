"""Games that nobody lists: opponents as plans give the values of listed ones, and estimates stay unbiased."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.errors import ConfigError, GameError, StrategyError
from pttt_ooc.exact.certificates import certificate
from pttt_ooc.library.scoring.aivat import (
    FEW_LOSSES,
    estimate_loss,
    estimate_match,
    play_matches,
    score_by_games,
    score_matches,
)
from pttt_ooc.library.scoring.matches import MatchRecord, judge_match
from pttt_ooc.library.scoring.opponents import ListedOpponents, PlanOpponents
from pttt_ooc.library.scoring.players import RowAgent, uniform_agent
from tests.kits import naive
from tests.kits.cli_runner import Runner
from tests.kits.helpers import random_table
from tests.library.scoring.test_games_of_agents import plays, record_of

PROOFS = Path(__file__).parents[3] / "proof"
NAMES = ["mini-2x3k2-abrupt", "mini-2x3k2-classical", "dark-hex-2x2-abrupt"]


def read(name):
    return certificate.read(PROOFS / f"{name}.txt.gz")


def tables_of(opponents):
    """What the opponents do at all infosets, told by their rows alone."""
    game = opponents.game
    return [{text: opponents.row(player, text).tolist() for text in naive.infosets(game, player)} for player in (0, 1)]


@pytest.mark.parametrize("name", NAMES)
def test_a_certificate_is_an_equilibrium_whose_values_are_those_of_listed_strategies(name):
    proven = read(name)
    plans = PlanOpponents.of_certificate(proven)
    game, both = plans.game, tables_of(plans)
    first, second = (pttt.Strategy.from_function(game, p, both[p].__getitem__) for p in (0, 1))
    listed = ListedOpponents(first, second)
    assert plans.most_gained == listed.most_gained == 0
    for seat in (0, 1):
        assert plans.value_at_start(seat) == pytest.approx(float(proven.lower) * (1 - 2 * seat), abs=1e-12)
        assert listed.value_at_start(seat) == pytest.approx(plans.value_at_start(seat), abs=1e-12)
        known = 0
        for text in naive.infosets(game, seat):
            wanted = listed.value(seat, text)
            assert plans.value(seat, text) == pytest.approx(wanted, abs=1e-12, nan_ok=True)
            assert plans.marks(seat, text) == pytest.approx(listed.marks(seat, text), abs=1e-12, nan_ok=True)
            known += not math.isnan(wanted)
            for square in range(game.squares):
                if str(square) not in text:
                    found = plans.attempt_value(seat, text, square)
                    assert found == pytest.approx(listed.attempt_value(seat, text, square), abs=1e-12, nan_ok=True)
        assert known > 2


@pytest.mark.parametrize("most_searched", [9, 4, 0])
@pytest.mark.parametrize("name", NAMES[:2])
def test_the_mean_over_all_games_is_the_value_with_or_without_searches(name, most_searched):
    """Also for plans that are no equilibrium, as if nobody could search: V is then the plans' own value."""
    exact = PlanOpponents.of_certificate(read(name))
    plans = PlanOpponents(exact.game, exact_plans(exact, name), 0.1, most_searched=most_searched)
    game, both = plans.game, tables_of(plans)
    agent = [random_table(game, player, random.Random(5)) for player in (0, 1)]
    assert plans.is_exact("|") == (most_searched >= game.squares)
    assert plans.most_gained == (0.0 if most_searched >= game.squares else 0.1)
    for seat in (0, 1):
        pair = (agent[0], both[1]) if seat == 0 else (both[0], agent[1])
        found = [(share, estimate_match(plans, record_of(history, seat))) for share, history in plays(game, pair)]
        value = naive.value(game, *pair) * (1 - 2 * seat)
        assert math.fsum(share * one.estimate for share, one in found) == pytest.approx(value, abs=1e-12)
        assert math.fsum(share * one.payoff for share, one in found) == pytest.approx(value, abs=1e-12)
        # All attempts together lose what a best response gets more; without a search, what the plans get more.
        lost = math.fsum(share * sum(attempt.loss for attempt in one.attempts) for share, one in found)
        assert lost == pytest.approx(plans.value_at_start(seat) - value, abs=1e-12)


def exact_plans(opponents, name):
    """The plans of a certificate, of which the second one is made worse."""
    from pttt_ooc.exact.certificates.sparse_plans import sparse_plans

    first, second = sparse_plans(read(name))
    chances = second.chances.copy()
    allowed = [int(s) for s in second.actions[0] if s >= 0]
    chances[allowed] = 1 / sum(int(second.orbits[s]) for s in allowed)
    return first, second._replace(chances=chances)


@pytest.mark.long
def test_the_interval_covers_for_a_thousand_agents():
    """Random agents of all strengths, from the equilibrium to random play; one score of 400 games for each.

    Where fewer than ten games have a loss, the command warns: those intervals do not cover as often.
    """
    plans = PlanOpponents.of_certificate(read("mini-2x3k2-abrupt"))
    both, rng, agents, games = tables_of(plans), np.random.default_rng(3), 1000, 200
    groups = [groups_of(plans, seat, both) for seat in (0, 1)]
    trusted, all_of_them = [], []
    for _ in range(agents):
        samples, value, lossy, mixing = [], 0.0, 0, rng.random()
        for seat, seen in enumerate(groups):
            table = random_table(plans.game, seat, random.Random(int(rng.integers(1 << 30))))
            agent = {text: mixing * np.array(table[text]) + (1 - mixing) * np.array(both[seat][text]) for text in table}
            steps, reach, places, estimates = seen
            shares = reach * np.array([*(agent[text][square] for text, square in steps), 1.0])[places].prod(axis=1)
            assert shares.sum() == pytest.approx(1, abs=1e-9)
            value -= float(shares @ estimates) / 2
            samples.append(rng.choice(estimates, size=games, p=shares / shares.sum()))
            lossy += int((plans.value_at_start(seat) - samples[-1] > 1e-6).sum())
        found = estimate_loss(*samples)
        all_of_them.append(found.low <= value <= found.high)
        trusted += all_of_them[-1:] if lossy >= FEW_LOSSES else []
    assert len(trusted) > 600 and 0.94 < np.mean(trusted) < 0.98, np.mean(trusted)
    assert 0.88 < np.mean(all_of_them) < np.mean(trusted), np.mean(all_of_them)


def groups_of(plans, seat, both):
    """The games of a seat, by the agent's own attempts, on which alone an estimate depends.

    Returns all attempts; for each group of games the opponent's reach, the numbers of its attempts, and X.
    """
    full = {text: [float(str(s) not in text) for s in range(plans.game.squares)] for text in both[seat]}
    seen = {}
    for share, history in plays(plans.game, (full, both[1]) if seat == 0 else (both[0], full)):
        judged = estimate_match(plans, record_of(history, seat))
        own = tuple((attempt.infoset, attempt.square) for attempt in judged.attempts)
        seen[own] = seen.get(own, (0.0,))[0] + share, judged.estimate
    steps = sorted({step for own in seen for step in own})
    places = np.full((len(seen), max(map(len, seen))), len(steps))  # of an attempt; the last place: none
    for n, own in enumerate(seen):
        places[n, : len(own)] = [steps.index(step) for step in own]
    reach, estimates = map(np.array, zip(*seen.values(), strict=True))
    return steps, reach, places, estimates


def test_losses_illegal_attempts_and_beliefs_are_told():
    plans = PlanOpponents.of_certificate(read("mini-2x3k2-abrupt"))
    game = plans.game
    asked = []

    def careless(infoset, legal, player):
        """Every third answer is an illegal square; beliefs are one half everywhere."""
        asked.append(infoset)
        return (9 if len(asked) % 3 == 0 else legal[0]), [0.5] * game.squares

    judged = play_matches(plans, careless, 60, seed=1)
    found = score_matches(plans, [one.match for one in judged])
    assert found.illegal == len(asked) // 3 and found.attempts == len(asked) - found.illegal
    assert sum(found.loss_by_attempt) == pytest.approx(
        np.mean([plans.value_at_start(one.match.seat) - one.estimate for one in judged]), abs=1e-12
    )
    belief = found.calibration
    assert belief.stated == found.attempts and belief.brier == pytest.approx(0.25, abs=1e-12)
    assert 0 < belief.exact_brier < 0.25 and belief.excess == pytest.approx(0.25 - belief.exact_brier, abs=0.05)
    # The exact beliefs themselves: nothing is in excess, and the score is the exact one.
    known = {(seat, text): plans.marks(seat, text) for seat in (0, 1) for text in naive.infosets(game, seat)}
    best = score_by_games(plans, lambda infoset, legal, player: (legal[0], known[player, infoset]), 60, seed=1)
    assert best.illegal == 0 and best.calibration.excess == pytest.approx(0, abs=1e-24)
    assert best.calibration.brier == pytest.approx(best.calibration.exact_brier, abs=1e-12)
    # Who answers only with illegal squares is asked ten times.
    asked.clear()
    with pytest.raises(StrategyError, match="it was asked 10 times"):
        play_matches(plans, lambda infoset, legal: asked.append(infoset) or 9, 20)
    assert asked == ["|"] * 10
    # One attempt, by hand: at the first infoset of player 0, one of six squares; the opponent has no mark.
    [first, *_] = judge_match(plans, MatchRecord(0, judged[0].match.squares, beliefs=([0.1] * 6,)))
    assert (first.infoset, first.brier, first.exact_brier, first.excess) == pytest.approx(("|", 0.01, 0.0, 0.01))
    [first, *_] = judge_match(plans, MatchRecord(0, judged[0].match.squares, beliefs=([1, 0, 0, 0, 0, 0],)))
    assert first.brier == pytest.approx(1 / 6), "certainty is a belief, too"


def test_a_match_that_is_given_up_is_lost_from_there_on():
    plans = PlanOpponents.of_certificate(read("mini-2x3k2-abrupt"))
    given_up = estimate_match(plans, MatchRecord(0, (), resigned=True, illegal=(2,)))
    [attempt] = given_up.attempts
    assert given_up.payoff == -1 and attempt.square is None and attempt.illegal == 2
    assert given_up.estimate == pytest.approx(-1) and attempt.loss == pytest.approx(plans.value(0, "|") + 1)
    both = [MatchRecord(0, (), resigned=True), MatchRecord(1, (0,), resigned=True)]
    found = score_matches(plans, 10 * both)
    assert (found.loss.mean, found.plain_loss.mean, found.lossy_games) == (pytest.approx(1), 1, 20)
    assert (found.attempts, found.inexact_attempts, found.plain_games) == (0, 0, None)
    for squares, resigned, problem in (
        ((0,), False, "is not over after 1 attempts"),
        ((0, 0), False, "is not over after 2"),
        ((0,), True, "cannot give up a match of mini-2x3k2-abrupt when it is not their turn"),
        ((0, 9), False, "cannot attempt square 9"),
    ):
        with pytest.raises(GameError, match=problem):
            estimate_match(plans, MatchRecord(0, squares, resigned))
    with pytest.raises(GameError, match="players 0 and 1, not 2"):
        estimate_match(plans, MatchRecord(2, (0,)))
    for belief in ([0.5] * 5, [1.5] * 6, [float("nan")] * 6, "none"):
        with pytest.raises(StrategyError, match="is not a number from 0 to 1 for each of the 6 squares"):
            judge_match(plans, MatchRecord(0, (), True, beliefs=(belief,)))
    with pytest.raises(ConfigError, match="1 matches as player 0 and 0 as player 1; a score needs at least 10"):
        score_matches(plans, [MatchRecord(0, (), resigned=True)])


BELIEVING = """
import numpy as np

def believing(infoset, legal):
    return legal[0], np.full(10, 0.25)
"""


def test_agents_for_boards_that_are_not_listed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.py").write_text("def last(infoset, legal):\n    return legal[-1]\n" + BELIEVING)
    run, proof = Runner(capsys, tmp_path / "data", "pttt-2x5k3-classical"), PROOFS / "pttt-2x5k3-classical.txt.gz"
    options = ("--games", 40, "--equilibrium", proof)
    text = run.ok("lab", "score", "bot.py:last", *options).out
    assert "pttt-2x5k3-classical, 40 games against" in text and "a best response gets +0.750000 and -0.750000." in text
    assert "Lost on average at each attempt: 0." in text and "Illegal" not in text
    found = run("lab", "score", "bot.py:believing", *options, "--json", "--matches", "all.jsonl").json
    assert (found["best_0"], found["best_width"], found["inexact_attempts"]) == (0.75, 0, 0)
    lines = (tmp_path / "all.jsonl").read_text().splitlines()
    first = [json.loads(line) for line in lines][0]
    assert len(lines) == 40 and first["attempts"][0]["brier"] == first["match"]["beliefs"][0][0] ** 2 == 0.0625
    assert found["calibration"]["stated"] == found["attempts"] > 40
    refused = run("lab", "score", "bot.py:last", *options, game="pttt-2x4k3-classical")
    assert refused.code and "is a certificate of pttt-2x5k3-classical, not of pttt-2x4k3-classical" in refused.err
    known = PlanOpponents.of_certificate(read("pttt-2x5k3-classical"))
    perfect = score_by_games(known, RowAgent(known.row), 20)
    assert perfect.loss.mean == pytest.approx(0, abs=1e-12)
    assert score_by_games(known, uniform_agent(known.game), 20).loss.mean > 0.1
    with pytest.raises(ConfigError, match="not listed, so an agent that is asked for blocks .* cannot play it"):
        score_by_games(known, lambda infostates, legal: legal, 20)
