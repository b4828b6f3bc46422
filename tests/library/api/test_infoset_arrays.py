"""Mixtures, reach, gradients and marks agree with walks over all histories, in either layout."""

import inspect
import random
import runpy
from pathlib import Path

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.games.rules.catalogue import named_game
from tests.kits import naive
from tests.kits.helpers import TINY, as_strategy, random_table, small_engine

SETUPS = ["mini-2x3k3-classical-after-1", "pttt-abrupt-after-1-0-3-2-4-8", "dark-hex-2x3-classical"]
GAMES = [*TINY, *SETUPS]


def table(game, player, seed=0, symmetric=False):
    return random_table(game, player, random.Random(f"{game.name} {player} {seed}"), symmetric=symmetric)


def strategies(name, player, seed=0):
    """A random symmetric strategy in both layouts, with its rows by text."""
    rows = table(named_game(name), player, seed, symmetric=True)
    return rows, [pttt.Strategy.of(as_strategy(small_engine(name, s).index, player, rows)) for s in ("none", "full")]


def value(player, *both):
    return pttt.evaluate(*both).value * (1 if player == 0 else -1)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("player", [0, 1])
def test_reach_is_that_of_a_walk(name, player):
    rows, both = strategies(name, player)
    wanted = [naive.reach(named_game(name), player, text, rows) for text in naive.infosets(named_game(name), player)]
    for one in both:
        assert pttt.reach(one) == pytest.approx(np.array(wanted), abs=1e-14)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("player", [0, 1])
def test_a_gradient_is_that_of_a_walk(name, player):
    """Of `player`, against a strategy of the other: attempts' own payoffs, and those of the node that follows."""
    game, (rows, both) = named_game(name), strategies(name, 1 - player)
    attempts, nodes = naive.gradient(game, player, rows)
    first = nodes[naive.setup_text(game, player)]
    for text, row in attempts.items():
        for square in naive.legal_squares(game, text):
            row[square] += sum(nodes.get(f"{text}{square}{outcome}", 0) for outcome in "*.")
            row[square] += first if text == naive.setup_text(game, player) else 0
    wanted = np.array([attempts[text] for text in naive.infosets(game, player)])
    for one in both:
        assert pttt.gradient(one) == pytest.approx(wanted, abs=1e-14)
    # A strategy's value is the product of its plan and the gradient.
    mine = pttt.Strategy.from_function(game, player, table(game, player, 1).__getitem__)
    plan = pttt.reach(mine)[:, None] * mine.tensor()
    pair = (mine, both[0]) if player == 0 else (both[0], mine)
    assert (plan * pttt.gradient(both[1])).sum() == pytest.approx(value(player, *pair), abs=1e-12)


def test_games_that_end_before_the_first_attempt_are_in_the_gradient():
    """On one row of two squares player 0 wins at once, so that player 1's payoff is -1, whatever they do."""
    game = pttt.placement_game(1, 2, ([{0}], [{0}]))
    mine = pttt.Strategy.from_function(game, 0, lambda text: [0.75, 0.25] if text == "|" else [1, 0])
    theirs = pttt.Strategy.uniform(game, 1)
    plan = pttt.reach(theirs)[:, None] * theirs.tensor()
    assert (plan * pttt.gradient(mine)).sum() == pytest.approx(-pttt.evaluate(mine, theirs).value, abs=1e-12)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("player", [0, 1])
def test_a_mixture_has_the_mean_of_the_plans(name, player):
    game = named_game(name)
    (rows, both), (others, more) = strategies(name, player, 1), strategies(name, player, 2)
    texts = naive.infosets(game, player)
    reach = [[naive.reach(game, player, text, one) for text in texts] for one in (rows, others)]
    plans = [np.array(r)[:, None] * [one[text] for text in texts] for r, one in zip(reach, (rows, others), strict=True)]
    wanted = 0.2 * plans[0] + 0.8 * plans[1]
    for pair in (zip(both, more, strict=True), [(both[0], more[1])]):
        for one, other in pair:
            mixed = pttt.mix([one, other], [1, 4])
            assert pttt.reach(mixed)[:, None] * mixed.tensor() == pytest.approx(wanted, abs=1e-14)
            assert mixed.tensor().sum(axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-12)
            folded = one.index.symmetry == other.index.symmetry == "full"
            assert mixed.index.symmetry == ("full" if folded else "none")


def test_where_no_strategy_gets_probabilities_are_averaged():
    game = named_game("mini-2x3k2-abrupt")
    first = pttt.Strategy.from_function(game, 0, lambda text: {min(set(range(6)) - {int(s) for s in text[1::2]}): 1})
    uniform = pttt.Strategy.uniform(game, 0)
    assert pttt.mix([first]).tensor().tolist() == first.tensor().tolist()
    alone = pttt.mix([first, uniform], [1, 0])
    assert alone["|0*"].tolist() == first["|0*"].tolist() and alone["|1*"].tolist() == first["|1*"].tolist()
    second = pttt.Strategy.from_function(game, 0, lambda text: {max(set(range(6)) - {int(s) for s in text[1::2]}): 1})
    assert pttt.mix([first, second], [3, 1])["|1*"].tolist() == [0.75, 0, 0, 0, 0, 0.25]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", *SETUPS])
def test_marks_are_those_in_the_texts(name, player):
    game = named_game(name)
    found = pttt.marks(game, player)
    assert found.dtype == np.int8 and found.shape == (len(naive.infosets(game, player)), game.squares)
    for text, row in zip(naive.infosets(game, player), found.tolist(), strict=True):
        told = dict(naive.attempts(text))
        assert row == [{None: 0, True: 1, False: -1}[told.get(square)] for square in range(game.squares)]


def test_the_example_of_fictitious_play_converges():
    place = Path(__file__).parents[3]
    space = runpy.run_path(str(place / "examples/fictitious_play.py"))
    before, after = (
        pttt.evaluate(*space["fictitious_play"](named_game("mini-2x3k2-abrupt"), rounds)).nashconv for rounds in (0, 40)
    )
    assert before > 0.6 and after < 0.1
    # The page shows the same function.
    lines = inspect.getsource(space["fictitious_play"]).splitlines()
    page = (place / "docs/library.md").read_text(encoding="utf-8")
    assert "\n".join([f">>> {lines[0]}", *(f"... {line}" for line in lines[1:])]) in page


def test_the_example_of_fictitious_play_is_a_program(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["fictitious_play.py", "mini-2x2k2-abrupt", "3"])
    runpy.run_path(str(Path(__file__).parents[3] / "examples/fictitious_play.py"), run_name="__main__")
    assert capsys.readouterr().out.startswith("Game mini-2x2k2-abrupt: 2 x 2 squares, abrupt, 6 winning sets\nafter 3")


@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", "pttt-abrupt-after-1-0-3-2-4-8"])
def test_a_symmetric_strategy_can_be_folded(name):
    rows, (whole, folded) = strategies(name, 0)
    assert whole.folded.index.symmetry == folded.folded.index.symmetry
    assert whole.folded.tensor() == pytest.approx(whole.tensor(), abs=1e-15)
    if name.startswith("mini"):
        other = pttt.Strategy.from_function(named_game(name), 0, table(named_game(name), 0).__getitem__)
        with pytest.raises(pttt.PtttError, match="not symmetric: infosets that mirror each other differ by"):
            other.folded  # noqa: B018


def refused(kind, call, *arguments):
    with pytest.raises(pttt.PtttError) as caught:
        call(*arguments)
    assert type(caught.value).__name__ == kind
    return str(caught.value)


def test_what_is_refused():
    game = named_game("mini-2x3k2-abrupt")
    first, second = (pttt.Strategy.uniform(game, player) for player in (0, 1))
    other = pttt.Strategy.uniform(named_game("mini-2x2k2-abrupt"), 0)
    assert "no strategy to mix" in refused("StrategyError", pttt.mix, [])
    assert "another one is player 1's" in refused("StrategyError", pttt.mix, [first, second])
    assert "another one is for mini-2x2k2" in refused("StrategyError", pttt.mix, [first, other])
    assert "2 strategies, but 1 weights" in refused("ConfigError", pttt.mix, [first, first], [1])
    for weights in ([1, -1], [0, 0], [1, float("nan")], [1, float("inf")]):
        assert "weights are 0 or more, and not all of them 0" in refused("ConfigError", pttt.mix, [first] * 2, weights)
    for call in (pttt.reach, pttt.gradient):
        assert "Expected a strategy, found a Game" in refused("StrategyError", call, game)
    assert "Invalid dtype: found int8" in refused("StrategyError", pttt.gradient, first, "int8")
    assert "players are 0 and 1" in refused("ConfigError", pttt.marks, game, 2)
    assert "Expected a game" in refused("GameError", pttt.marks, "mini-2x3k2-abrupt", 0)
