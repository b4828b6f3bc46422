"""Deep learners: what networks see, the games that they play, what they go down, and how well they learn."""

import math
import sys

import helpers
import numpy as np
import pytest
from learning import HIDDEN, MINI, gap, small_ground, started

import naive
from pttt_ooc.errors import ConfigError
from pttt_ooc.learners.catalogue import ALGORITHMS, learner_class

jnp = pytest.importorskip("jax.numpy", reason="JAX is not installed: deep learners go without tests")

from pttt_ooc.learners.deep import gradient, sight  # noqa: E402
from pttt_ooc.learners.deep import network as nets  # noqa: E402
from pttt_ooc.learners.deep.plays import play  # noqa: E402
from pttt_ooc.learners.deep.sight import Sight  # noqa: E402

CLASSICAL = "mini-2x3k3-classical-after-1"
SMALL = {"games": 256, "hidden": (32, 32)}


def uniform_movers(seen):
    def movers(games, infosets):
        legal = seen.codes[infosets] == 0
        return legal / legal.sum(axis=1, keepdims=True)

    return movers


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", [MINI, CLASSICAL])
def test_a_network_sees_what_the_text_of_an_infoset_says(name, symmetry):
    ground = small_ground(name, symmetry)
    game, seen = ground.game, Sight(ground.index)
    for player in (0, 1):
        i = ground.players[player]
        texts = helpers.node_texts(ground.index, player)
        for node, text in enumerate(texts):
            codes = seen.codes[node + player * seen.second]
            expected = np.zeros(game.squares, int)
            expected[list(game.setup[player])] = -1
            attempts = text[1 + 2 * len(game.setup[player]) :]
            for t in range(len(attempts) // 2):
                square, placed = int(attempts[2 * t]), attempts[2 * t + 1] == "*"
                expected[square] = 1 + t + game.squares * placed
            assert codes.tolist() == expected.tolist(), text
        assert (
            seen.players(np.array([player * seen.second, i.nodes - 1 + player * seen.second])).tolist() == [player] * 2
        )


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", [MINI, CLASSICAL])
def test_a_policy_is_read_out_at_every_infoset(name, symmetry, monkeypatch):
    monkeypatch.setattr(sight, "BLOCK", 7)
    ground = small_ground(name, symmetry)
    seen = Sight(ground.index)
    rows = np.random.default_rng(1).random((len(seen.codes), seen.squares))
    for player in (0, 1):
        asked = []

        def policies(infosets, asked=asked):
            asked.extend(infosets)
            return rows[infosets]

        found = seen.probabilities(player, policies)
        texts = helpers.node_texts(ground.index, player)
        numbers = {text: rows[node + player * seen.second] for node, text in enumerate(texts)}
        expected = [numbers[text][square] for text, square in helpers.sequence_texts(ground.index, player)]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert len(asked) == len(set(asked))


@pytest.mark.parametrize("name", [MINI, CLASSICAL])
def test_plays_are_whole_games(name):
    ground, number = small_ground(name), 4000
    seen = Sight(ground.index)
    plays = play(seen, number, uniform_movers(seen), np.random.default_rng(0))
    tried = (seen.codes[plays.infosets] > 0).sum(axis=1)
    goes_on = plays.after >= 0
    assert (plays.seats[plays.after[goes_on]] == plays.seats[goes_on]).all()
    assert (tried[plays.after[goes_on]] == tried[goes_on] + 1).all()
    assert (seen.codes[plays.infosets, plays.squares] == 0).all()
    assert (seen.players(plays.infosets) == plays.seats % 2).all()
    for k in (0, 1):  # each player has one last decision a game, and one first
        assert (plays.seats[~goes_on] % 2 == k).sum() == number == (tried[plays.seats % 2 == k] == 0).sum()
    game = ground.game
    value = naive.value(game, naive.uniform(game, 0), naive.uniform(game, 1))
    payoffs = plays.payoffs[~goes_on & (plays.seats % 2 == 0)]
    assert abs(payoffs.mean() - value) < 5 / math.sqrt(number)
    sets = plays.backward()
    done = np.zeros(len(goes_on), bool)
    for here in sets:
        assert not done[here].any() and done[plays.after[here][goes_on[here]]].all()
        done[here] = True
    assert done.all()


def test_squares_are_drawn_with_the_probabilities_of_the_movers():
    ground = small_ground(MINI)
    seen = Sight(ground.index)
    rows = np.random.default_rng(3).random(seen.codes.shape) ** 3 * (seen.codes == 0)
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1e-12)
    plays = play(seen, 20_000, lambda games, infosets: rows[infosets], np.random.default_rng(1))
    first = plays.infosets == 0
    found = np.bincount(plays.squares[first], minlength=seen.squares) / first.sum()
    assert np.abs(found - rows[0]).max() < 5 / math.sqrt(first.sum())
    np.testing.assert_array_equal(plays.chances, rows[plays.infosets, plays.squares])


def test_advantages_are_the_sums_of_their_definition():
    ground = small_ground(MINI)
    seen = Sight(ground.index)
    plays = play(seen, 30, uniform_movers(seen), np.random.default_rng(0))
    values = np.random.default_rng(1).normal(size=len(plays.infosets))
    found = gradient.advantages(plays, values, 0.7)
    for k in range(len(values)):
        total, weight, at = 0.0, 1.0, k
        while at >= 0:
            after = plays.after[at]
            total += weight * ((values[after] if after >= 0 else plays.payoffs[at]) - values[at])
            weight, at = weight * 0.7, after
        assert found[k] == pytest.approx(total, abs=1e-12)


def test_the_loss_of_policy_gradients_is_its_formula():
    """Against a loop over decisions in plain numbers."""
    squares, rng = 6, np.random.default_rng(2)
    network = nets.make_network(squares, (8,), squares + 1, [1])
    network["weights/1"] = network["weights/1"] * 100
    codes = np.array([[0, 0, 1, 0, 8, 0], [0, 2, 1, 0, -1, 0], [0] * 6], np.int8)
    players, chosen = np.array([0, 1, 1], np.int8), np.array([1, 0, 5])
    played = rng.random((3, squares)) * (codes == 0)
    played /= played.sum(axis=1, keepdims=True)
    gains, returns = np.array([2.0, -1.0, 0.5]), np.array([0.3, -0.2, 1.0])
    out = np.asarray(nets.outputs_of(network, codes, players), float)
    total = 0.0
    for k in range(3):
        legal = np.flatnonzero(codes[k] == 0)
        weights = np.exp(out[k, legal])
        now = dict(zip(legal, weights / weights.sum(), strict=True))
        ratio = now[chosen[k]] / played[k, chosen[k]]
        total -= min(ratio * gains[k], np.clip(ratio, 0.9, 1.1) * gains[k])
        total -= 0.3 * sum(-p * np.log(p) for p in now.values())
        total += 0.4 * sum(played[k, s] * np.log(played[k, s] / now[s]) for s in legal)
        total += (out[k, -1] - returns[k]) ** 2 / 2
    batch = (codes, players, chosen, *(a.astype(np.float32) for a in (played, gains, returns)))
    assert float(gradient.loss(network, batch, 0.3, 0.4, 0.1)) == pytest.approx(total / 3, rel=1e-4)


def test_the_optimiser_is_adam():
    """The first steps against the paper's formulas, in plain numbers; long gradients are shortened."""
    network = {"weights/0": jnp.array([1.0, -2.0]), "biases/0": jnp.array([0.5])}
    moments, slopes = nets.make_moments(network), [np.array([0.1, 0.2, -0.1]), np.array([3.0, 0.0, 4.0])]
    at, first, second = np.array([1.0, -2.0, 0.5]), np.zeros(3), np.zeros(3)
    for t, slope in enumerate(slopes, 1):
        parts = {"weights/0": jnp.array(slope[:2]), "biases/0": jnp.array(slope[2:])}
        network, moments = nets.descend(network, moments, parts, 0.01)
        slope = slope * min(1, nets.LONGEST / np.linalg.norm(slope))
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        at = at - 0.01 * (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.999**t)) + 1e-5)
        found = np.concatenate([network["weights/0"], network["biases/0"]])
        np.testing.assert_allclose(found, at, rtol=1e-5)


def test_padding_changes_nothing():
    seen = Sight(small_ground(MINI).index)
    network = nets.make_network(seen.squares, (8,), 3, [5])
    infosets = np.arange(len(seen.codes))
    whole = seen.look(network, infosets)
    np.testing.assert_allclose(
        np.concatenate([seen.look(network, infosets[:5]), seen.look(network, infosets[5:])]), whole
    )


def test_what_is_missing_is_said(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("pttt_ooc.learners.deep")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ConfigError, match=r"needs JAX, which is not installed: pip install 'pttt-ooc\[deep\]'"):
        learner_class("ppo")


# ---------------------------------------------------------------------------------------------
# How well they learn

BOUNDS = {  # algorithm: iterations, settings, bound on NashConv / 2 of MINI and of HIDDEN
    "ppo": (40, {"rate": 3e-3, "entropy": 0.5}, 0.17, 0.22),
    "mmd-deep": (40, {"rate": 3e-3, "kl": 1.0}, 0.12, 0.16),
}


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("game", [MINI, HIDDEN])
@pytest.mark.parametrize("algorithm", BOUNDS)
def test_deep_learners_come_below_a_bound(algorithm, game, seed):
    iterations, settings, *bounds = BOUNDS[algorithm]
    ground = small_ground(game)
    learner = started(algorithm, ground, seed, **SMALL, **settings)
    learner.step(iterations)
    assert gap(ground, learner.strategy()) < bounds[[MINI, HIDDEN].index(game)]
    assert learner.counts.states > iterations and learner.counts.gradients == 0


def test_every_deep_algorithm_has_a_bound():
    assert {name for name, (module, _) in ALGORITHMS.items() if module.startswith("deep.")} == set(BOUNDS)


@pytest.mark.parametrize("algorithm", BOUNDS)
def test_restoring_changes_no_bit_on_one_machine(algorithm):
    ground, settings = small_ground(MINI), {**SMALL, "games": 8, **BOUNDS[algorithm][1]}
    whole, parts, other = (started(algorithm, ground, 3, **settings) for _ in range(3))
    whole.step(4)
    parts.step(2)
    kept = {name: array.copy() for name, array in parts.state().items()}
    other.counts.iterations = 2
    other.restore(kept)
    parts.step(1)  # restored arrays are copies
    other.step(2)
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, other.state()[name], err_msg=name)
    for a, b in zip(whole.strategy(), other.strategy(), strict=True):
        np.testing.assert_array_equal(a.probabilities, b.probabilities)
