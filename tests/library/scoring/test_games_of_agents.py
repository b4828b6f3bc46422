"""Agents that can only be played: the estimate is right on average, and its interval covers as often as it says."""

import math
import random

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.errors import ConfigError, MissingExtraError, StrategyError
from pttt_ooc.games.rules.play import start
from pttt_ooc.library.scoring import aivat
from pttt_ooc.library.scoring.agent_answers import Manner
from pttt_ooc.library.scoring.aivat import estimate_match, score_by_games
from pttt_ooc.library.scoring.matches import MatchRecord
from pttt_ooc.library.scoring.opponents import ListedOpponents
from pttt_ooc.library.scoring.scores import score
from tests.kits import naive
from tests.kits.cli_runner import Runner
from tests.kits.helpers import random_table

GAME = pttt.game("mini-2x3k2-abrupt")
LATE = pttt.game("pttt-classical-after-1-0-3-2-4-8")


def tables(game, seed):
    rng = random.Random(seed)
    return [random_table(game, player, rng) for player in (0, 1)]


def strategies(game, both):
    first, second = (pttt.Strategy.from_function(game, p, both[p].__getitem__) for p in (0, 1))
    return first, second


def record_of(history, seat, **rest):
    return MatchRecord(seat, tuple(attempt.square for attempt in history.attempts), **rest)


def plays(game, tables):
    """All games that are played by two tables, with their probabilities, by a walk that knows nothing of estimates."""
    todo = [(1.0, naive.History.start(game), start(game))]
    while todo:
        share, walk, history = todo.pop()
        if walk.is_terminal():
            assert history.is_terminal and history.returns == walk.returns()
            yield share, history
            continue
        row = tables[walk.player][walk.nodes[walk.player]]
        todo += [(share * row[s], walk.attempt(s), history.step(s)) for s in walk.legal() if row[s] > 0]


@pytest.mark.parametrize("game", [GAME, pttt.game("mini-2x3k2-classical"), LATE], ids=lambda g: g.name)
def test_the_mean_of_the_estimate_over_all_games_is_the_value(game):
    """For an agent and an opponent that have nothing to do with an equilibrium."""
    agent, opponent = tables(game, 1), tables(game, 2)
    known = ListedOpponents(*strategies(game, opponent))
    for seat in (0, 1):
        both = (agent[0], opponent[1]) if seat == 0 else (opponent[0], agent[1])
        shares, estimates, payoffs = [], [], []
        for share, history in plays(game, both):
            shares.append(share)
            estimates.append(estimate_match(known, record_of(history, seat)).estimate)
            payoffs.append(history.returns[seat])
        shares, estimates, payoffs = map(np.array, (shares, estimates, payoffs))
        value = naive.value(game, *both) * (1 - 2 * seat)
        assert math.fsum(shares) == pytest.approx(1, abs=1e-12)
        assert shares @ payoffs == pytest.approx(value, abs=1e-12)
        assert shares @ estimates == pytest.approx(value, abs=1e-12)
        # An agent that loses nearly all games has payoffs of little variance; elsewhere luck is most of it.
        assert game == LATE or shares @ (estimates - value) ** 2 < 0.8 * (shares @ (payoffs - value) ** 2)


def test_a_best_response_has_no_variance():
    opponents = strategies(GAME, tables(GAME, 3))
    reply = {p: pttt.best_response(opponents[1 - p]) for p in (0, 1)}
    found = score_by_games(opponents, reply, 40)
    assert (found.payoff_0.mean, found.payoff_1.mean) == pytest.approx((found.best_0, found.best_1), abs=1e-12)
    assert (found.best_0, found.best_1) == pytest.approx((reply[0].value, reply[1].value), abs=1e-12)
    assert found.loss.standard_error < 1e-15 < found.plain_loss.standard_error
    assert found.plain_games is None and found.lossy_games == 0


@pytest.mark.slow
def test_a_match_in_which_the_opponent_leaves_its_strategy_has_no_estimate():
    """Player 1 always attempts the last square that is left; once a mark of theirs on 2 is found, nothing is known."""

    def row(infoset):
        return np.eye(6)[max({*range(6)} - {*map(int, infoset[1::2])})]

    known = ListedOpponents(pttt.Strategy.uniform(GAME, 0), pttt.Strategy.from_function(GAME, 1, row))
    assert estimate_match(known, MatchRecord(0, (0, 5, 2, 4))).payoff == -1
    with pytest.raises(StrategyError, match="attempts what its strategy never does, so that the match tells nothing"):
        estimate_match(known, MatchRecord(0, (0, 2, 2, 0, 1)))


def test_the_interval_covers_as_often_as_it_says():
    """Simulated from the exact distribution of games, 4,000 scores of 100 games each."""
    opponents = tables(GAME, 2)
    known = ListedOpponents(*strategies(GAME, opponents))
    rng, agent = np.random.default_rng(0), tables(GAME, 1)
    samples, value, games, scores = [], 0.0, 50, 4000
    for seat in (0, 1):
        both = (agent[0], opponents[1]) if seat == 0 else (opponents[0], agent[1])
        found = [
            (share, estimate_match(known, record_of(history, seat)).estimate) for share, history in plays(GAME, both)
        ]
        shares, estimates = map(np.array, zip(*found, strict=True))
        samples.append(rng.choice(estimates, size=(scores, games), p=shares / shares.sum()))
        value -= naive.value(GAME, *both) * (1 - 2 * seat) / 2
    intervals = [aivat.estimate_loss(*rows) for rows in zip(*samples, strict=True)]
    covered = np.mean([one.low <= value <= one.high for one in intervals])
    assert 0.935 < covered < 0.965


def test_the_interval_is_students():
    """By the numbers of a printed table of t, and by the variance of a sample of +1 and -1 alone."""
    found = aivat.estimate([1.0, 2.0, 3.0, 4.0])
    assert (found.mean, found.standard_error) == pytest.approx((2.5, math.sqrt(5 / 3) / 2), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((2.5 - 3.182 * 0.6455, 2.5 + 3.182 * 0.6455), abs=1e-3)
    hexes = pttt.game("dark-hex-2x2-abrupt")  # without draws
    scored = score_by_games(
        tuple(pttt.Strategy.uniform(hexes, p) for p in (0, 1)), lambda infoset, legal: legal[0], 20, seed=3
    )
    for one in (scored.plain_payoff_0, scored.plain_payoff_1):
        assert -1 < one.mean < 1 and one.standard_error == pytest.approx(math.sqrt((1 - one.mean**2) / 9), abs=1e-12)
    for one in (scored.payoff_0, scored.payoff_1, scored.plain_payoff_0, scored.plain_payoff_1):
        assert one.high - one.mean == pytest.approx(2.262157 * one.standard_error, rel=1e-6)
        assert one.mean - one.low == pytest.approx(2.262157 * one.standard_error, rel=1e-6)
    # So many games make an interval of plain averages as narrow, and one less does not.
    rng = random.Random(1)
    lucky = score_by_games(strategies(GAME, tables(GAME, 3)), lambda infoset, legal: rng.choice(legal), 20)
    errors = [lucky.plain_loss.standard_error * math.sqrt(20 / (lucky.plain_games - less)) for less in (0, 1)]
    assert errors[0] <= lucky.loss.standard_error < errors[1]
    # Two samples of sizes 2 and 3, with variances 1/2 and 4: Welch's degrees of freedom are between two of a table.
    both = aivat.estimate_loss([1.0, 2.0], [0.0, 2.0, 4.0])
    freedom = (0.25 + 4 / 3) ** 2 / (0.25**2 / 1 + (4 / 3) ** 2 / 2)
    assert (both.mean, both.standard_error) == pytest.approx((-1.75, math.sqrt(0.25 + 4 / 3) / 2), abs=1e-12)
    assert 2 < freedom < 3 and 3.182 < (both.high - both.mean) / both.standard_error < 4.303
    assert scored.loss.high - scored.loss.mean == pytest.approx(scored.loss.mean - scored.loss.low)


@pytest.mark.slow
def test_what_is_played_is_what_is_estimated():
    """Games of the real loop, against the exact values; a seed gives the same games again."""
    opponents, agents = strategies(GAME, tables(GAME, 2)), strategies(GAME, tables(GAME, 1))
    found = score_by_games(opponents, dict(enumerate(agents)), 1000, seed=5)
    values = pttt.evaluate(agents[0], opponents[1]).value, -pttt.evaluate(opponents[0], agents[1]).value
    for player, one in enumerate((found.payoff_0, found.payoff_1)):
        assert abs(one.mean - values[player]) < 4 * one.standard_error
    loss = -sum(values) / 2
    assert found.loss.mean == pytest.approx(-(found.payoff_0.mean + found.payoff_1.mean) / 2)
    for one in (found.loss, found.plain_loss):
        assert abs(one.mean - loss) < 4 * one.standard_error and one.low < one.mean < one.high
    ratio = found.plain_games / found.games
    assert ratio == pytest.approx((found.plain_loss.standard_error / found.loss.standard_error) ** 2, rel=0.01)
    assert ratio > 1.2
    assert found == score_by_games(opponents, dict(enumerate(agents)), 1000, seed=5)
    assert found != score_by_games(opponents, dict(enumerate(agents)), 1000, seed=6)


def test_kinds_of_agents_that_play_the_same():
    """The lowest legal square: as a function of texts, of blocks, as a strategy, and as a mixture of itself."""
    opponents = strategies(GAME, tables(GAME, 2))

    def lowest(infoset, legal, player):
        assert infoset == "|" or infoset[-1] in "*.", infoset
        assert not any(str(square) in infoset for square in legal) and player in (0, 1)
        return legal[0]

    def block(infostates, legal):
        return np.eye(6)[legal.argmax(axis=1)]

    def strategy(player):
        return pttt.Strategy.from_function(GAME, player, lambda t: {min(set(range(6)) - set(map(int, t[1::2]))): 1})

    agents = [lowest, lambda infoset, legal: legal[0], block, {p: strategy(p) for p in (0, 1)}, [(1, block)]]
    # A different number of draws gives other games, so exact facts are compared: all opponents of one kind.
    found = [score_by_games(opponents, agent, 60) for agent in agents[:2]]
    assert found[0] == found[1]
    values = [pttt.evaluate(strategy(0), opponents[1]).value, pttt.evaluate(opponents[0], strategy(1)).value]
    exact = (values[1] - values[0]) / 2
    for agent in agents:
        one = score_by_games(opponents, agent, 400)
        assert abs(one.loss.mean - exact) < 4 * one.loss.standard_error + 1e-9
    mixed = score_by_games(opponents, [(3, lowest), (1, block)], 400)
    assert abs(mixed.loss.mean - exact) < 4 * mixed.loss.standard_error + 1e-9


@pytest.mark.slow
def test_a_bot_and_a_policy_of_openspiel():
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game = pttt.game("dark-hex-2x2-abrupt")
    opponents = tuple(pttt.Strategy.uniform(game, p) for p in (0, 1))
    theirs = pttt.library.api.openspiel.load_game(game)
    bots = {p: pyspiel.make_uniform_random_bot(p, 7 + p) for p in (0, 1)}
    exact = pttt.evaluate(*opponents).value
    from open_spiel.python.policy import UniformRandomPolicy

    for agent in (bots, UniformRandomPolicy(theirs)):
        found = score_by_games(opponents, agent, 400)
        assert abs(found.payoff_0.mean - exact) < 4 * found.payoff_0.standard_error
        assert abs(found.payoff_1.mean + exact) < 4 * found.payoff_1.standard_error


def test_bots_of_openspiel_follow_the_state_of_a_late_game():
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game = pttt.tic_tac_toe(setup=((0, 1, 5), (3, 4, 8)))

    class Bot:
        """The highest square, and notes of what it is told."""

        def __init__(self):
            self.games, self.told = 0, []

        def restart(self):
            self.games += 1

        def inform_action(self, state, player, square):
            assert state.current_player() == player
            self.told.append((player, square))

        def step(self, state):
            return state.legal_actions()[-1]

    bots = {0: Bot(), 1: Bot()}
    opponents = tuple(pttt.Strategy.uniform(game, p) for p in (0, 1))
    played = score_by_games(opponents, bots, 40)
    assert [bots[p].games for p in (0, 1)] == [20, 20] and {p for p, _ in bots[0].told} == {1}
    same = score_by_games(opponents, lambda infoset, legal: legal[-1], 40)
    assert same == played


def test_agents_that_cannot_be_played(monkeypatch):
    opponents = tuple(pttt.Strategy.uniform(GAME, p) for p in (0, 1))

    def always(squares):
        return lambda infoset, legal: squares[0]

    for number in (21, 18, 0, -2):
        with pytest.raises(ConfigError, match=f"is {number}, but must be even"):
            score_by_games(opponents, lambda infoset, legal: legal[0], number)
    for squares in ([9], ["0"], [None]):
        with pytest.raises(StrategyError, match=r"player 0 at infoset '\|', attempts .*, but may attempt one of 0, 1"):
            score_by_games(opponents, always(squares), 20)
    with pytest.raises(StrategyError, match=r"player 0 at infoset '\|': IndexError: .* \(test_games_of_agents.py"):
        score_by_games(opponents, lambda infoset, legal: legal[9], 20)
    with pytest.raises(StrategyError, match="negative numbers"):
        score_by_games(opponents, lambda infostates, legal: np.tile([-1.0, 2, 0, 0, 0, 0], (len(legal), 1)), 20)
    with pytest.raises(ConfigError, match="is of the type int"):
        score_by_games(opponents, 3, 20)
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)
    with pytest.raises(MissingExtraError, match="An interval of games needs scipy"):
        score_by_games(opponents, lambda infoset, legal: legal[0], 20)


class Told:
    """A policy of OpenSpiel that tells the same numbers everywhere."""

    def __init__(self, *numbers):
        self.numbers = dict(enumerate(numbers))

    def action_probabilities(self, state, player=None):
        return self.numbers


@pytest.mark.parametrize("greedy", [False, True])
def test_what_an_agent_tells_is_refused_if_it_is_no_strategy(greedy):
    """Of policies and of functions, greedy or not, in games as at all infosets."""
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game = pttt.game("dark-hex-2x2-abrupt")
    opponents = tuple(pttt.Strategy.uniform(game, p) for p in (0, 1))
    for numbers in ((), (0.0,) * 4, (0.25, 0.25), (0.5, 0.5, 0.5, -0.5), (math.nan, 1.0), (1, 1, 1, 1)):
        row = np.array([*numbers, *[0.0] * (4 - len(numbers))])
        for agent in (Told(*numbers), lambda infostates, legal, row=row: np.tile(row, (len(legal), 1))):
            with pytest.raises(StrategyError, match=r"infoset '\|': (it|square|the sum) "):
                score(game, agent, greedy=greedy)
            with pytest.raises(StrategyError, match=r"The agent, .*infoset '\|': it (gives .*, but prob|has )"):
                score_by_games(opponents, agent, 20, Manner(greedy=greedy))
    with pytest.raises(StrategyError, match="The policy gave square 4 for infoset '|', but the board has squares 0 to"):
        score_by_games(opponents, Told(0, 0, 0, 0, 1), 20, Manner(greedy=greedy))


def test_a_greedy_policy_plays_the_first_of_its_likeliest_squares():
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    game = pttt.game("dark-hex-2x2-abrupt")
    opponents = tuple(pttt.Strategy.uniform(game, p) for p in (0, 1))

    class Likely:
        """The lowest legal square and the highest one, and the others half as often."""

        def action_probabilities(self, state, player=None):
            legal = state.legal_actions(player)
            weights = {square: 2 if square in (legal[0], legal[-1]) else 1 for square in legal}
            return {square: weight / sum(weights.values()) for square, weight in weights.items()}

    found = score_by_games(opponents, Likely(), 20, Manner(greedy=True))
    assert found == score_by_games(opponents, lambda infoset, legal: legal[0], 20)
    assert found != score_by_games(opponents, Likely(), 20)


def test_games_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(
        "def last(infoset, legal):\n    return legal[-1]\n\ndef bad(infoset, legal):\n    return 9\n"
    )
    run = Runner(capsys, tmp_path / "data", GAME.name)
    nothing = run("lab", "score", "agent.py:last", "--games", 40)
    assert nothing.code and "There is no solution of mini-2x3k2-abrupt" in nothing.err
    text = run.ok("lab", "score", "agent.py:last", "--games", 400, "--equilibrium", "uniform").out
    assert f"{GAME.name}, 400 games against uniform: loses" in text and "as narrow an interval would need" in text
    found = run("lab", "score", "agent.py:last", "--games", 400, "--equilibrium", "uniform", "--json").json
    again = run("lab", "score", "agent.py:last", "--games", 400, "--equilibrium", "uniform", "--json", "--seed", 1).json
    assert found["games"] == 400 and found["equilibrium"] == "uniform" and found != again
    assert f"loses {found['loss']['mean']:.6f} a game" in text
    assert "too few to trust" not in text
    pttt.best_response(pttt.Strategy.uniform(GAME, 1)).save("first.zip", "float64")
    pttt.best_response(pttt.Strategy.uniform(GAME, 0)).save("second.zip", "float64")
    best = run.ok("lab", "score", "first.zip", "second.zip", "--games", 20, "--equilibrium", "uniform").out
    assert "Only 0 of the games had a loss, too few to trust the interval" in best and "narrow" not in best
    bad = run("lab", "score", "agent.py:bad", "--games", 40, "--equilibrium", "uniform")
    assert bad.code and "attempts 9" in bad.err and "Traceback" not in bad.err
