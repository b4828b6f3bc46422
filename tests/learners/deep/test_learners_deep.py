"""Deep learners: inputs of networks, games, losses, and the quality of results."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pttt_ooc as pttt
from benchmarks import logit_bounds
from pttt_ooc.errors import ConfigError
from pttt_ooc.learners.catalogue import ALGORITHMS, checked_settings, learner_class
from pttt_ooc.learners.loop import Checkpoints
from tests.kits import helpers, naive
from tests.learners.learning_kit import HIDDEN, MINI, gap, small_learning_game, started

jax = pytest.importorskip("jax", reason="JAX is not installed: deep learners go without tests")
jnp = jax.numpy

from pttt_ooc.learners.deep import loss_functions, magnet, observation, phasic, policy_gradient, regularised  # noqa: E402
from pttt_ooc.learners.deep import network as nets  # noqa: E402
from pttt_ooc.learners.deep.game_batches import play  # noqa: E402
from pttt_ooc.learners.deep.learner import Memory  # noqa: E402
from pttt_ooc.learners.deep.observation import Sight  # noqa: E402

ROOT = Path(__file__).parents[3]
CLASSICAL = "mini-2x3k3-classical-after-1"
SMALL = {"games": 256, "hidden": (64, 64), "batch": 256}


def uniform_movers(seen):
    def movers(games, infosets):
        legal = seen.codes[infosets] == 0
        return legal / legal.sum(axis=1, keepdims=True)

    return movers


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", [MINI, CLASSICAL])
def test_a_networks_input_matches_the_text_of_an_infoset(name, symmetry):
    learning_game = small_learning_game(name, symmetry)
    game, seen = learning_game.game, Sight(learning_game.index)
    for player in (0, 1):
        i = learning_game.players[player]
        texts = helpers.node_texts(learning_game.index, player)
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
def test_a_policy_is_read_at_every_infoset(name, symmetry, monkeypatch):
    monkeypatch.setattr(observation, "BLOCK", 7)
    learning_game = small_learning_game(name, symmetry)
    seen = Sight(learning_game.index)
    rows = np.random.default_rng(1).random((len(seen.codes), seen.squares))
    for player in (0, 1):
        asked = []

        def policies(infosets, asked=asked):
            asked.extend(infosets)
            return rows[infosets]

        found = seen.probabilities(player, policies)
        texts = helpers.node_texts(learning_game.index, player)
        numbers = {text: rows[node + player * seen.second] for node, text in enumerate(texts)}
        expected = [numbers[text][square] for text, square in helpers.sequence_texts(learning_game.index, player)]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        assert len(asked) == len(set(asked))
        infosets = np.array(sorted(asked))[::3]
        legal = seen.codes[infosets] == 0
        np.testing.assert_allclose(seen.rows(player, found, infosets), rows[infosets] * legal, rtol=1e-6)


@pytest.mark.parametrize("name", [MINI, CLASSICAL])
def test_plays_are_whole_games(name):
    learning_game, number = small_learning_game(name), 1000
    seen = Sight(learning_game.index)
    plays = play(seen, number, uniform_movers(seen), np.random.default_rng(0))
    tried = (seen.codes[plays.infosets] > 0).sum(axis=1)
    goes_on = plays.after >= 0
    assert (plays.seats[plays.after[goes_on]] == plays.seats[goes_on]).all()
    assert (tried[plays.after[goes_on]] == tried[goes_on] + 1).all()
    assert (seen.codes[plays.infosets, plays.squares] == 0).all()
    assert (seen.players(plays.infosets) == plays.seats % 2).all()
    for k in (0, 1):  # each player has one last decision a game, and one first
        assert (plays.seats[~goes_on] % 2 == k).sum() == number == (tried[plays.seats % 2 == k] == 0).sum()
    game = learning_game.game
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
    learning_game = small_learning_game(MINI)
    seen = Sight(learning_game.index)
    rows = np.random.default_rng(3).random(seen.codes.shape) ** 3 * (seen.codes == 0)
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1e-12)
    plays = play(seen, 20_000, lambda games, infosets: rows[infosets], np.random.default_rng(1))
    first = plays.infosets == 0
    found = np.bincount(plays.squares[first], minlength=seen.squares) / first.sum()
    assert np.abs(found - rows[0]).max() < 5 / math.sqrt(first.sum())
    np.testing.assert_array_equal(plays.chances, rows[plays.infosets, plays.squares])


def test_advantages_are_the_sums_of_their_definition():
    learning_game = small_learning_game(MINI)
    seen = Sight(learning_game.index)
    plays = play(seen, 30, uniform_movers(seen), np.random.default_rng(0))
    values = np.random.default_rng(1).normal(size=len(plays.infosets))
    found = policy_gradient.advantages(plays, values, 0.7)
    for k in range(len(values)):
        total, weight, at = 0.0, 1.0, k
        while at >= 0:
            after = plays.after[at]
            total += weight * ((values[after] if after >= 0 else plays.payoffs[at]) - values[at])
            weight, at = weight * 0.7, after
        assert found[k] == pytest.approx(total, abs=1e-12)


def three_decisions():
    """A network, a batch of three decisions, and their plain numbers: by decision, what the formulas of losses need."""
    squares, rng = 6, np.random.default_rng(2)
    network = nets.make_network(squares, (8,), squares + 1, [1])
    network["weights/1"] = network["weights/1"] * 100
    codes = np.array([[0, 0, 1, 0, 8, 0], [0, 2, 1, 0, -1, 0], [0] * 6], np.int8)
    players, chosen = np.array([0, 1, 1], np.int8), np.array([1, 0, 5])
    played = rng.random((3, squares)) * (codes == 0)
    played /= played.sum(axis=1, keepdims=True)
    gains, returns = np.array([2.0, -1.0, 0.5]), np.array([0.3, -0.2, 1.0])
    out = np.asarray(nets.outputs_of(network, codes, players), float)
    plain = []
    for k in range(3):
        legal = np.flatnonzero(codes[k] == 0)
        now = softmax(out[k], legal)
        ratio = now[chosen[k]] / played[k, chosen[k]]
        gain = min(ratio * gains[k], np.clip(ratio, 0.9, 1.1) * gains[k])
        entropy = sum(-p * np.log(p) for p in now.values())
        wrong = (out[k, -1] - returns[k]) ** 2 / 2
        plain.append((legal, now, gain, entropy, wrong))
    batch = (codes, players, chosen, *(a.astype(np.float32) for a in (played, gains, returns)))
    return network, batch, plain


def softmax(logits, legal):
    weights = np.exp(logits[legal])
    return dict(zip(legal, weights / weights.sum(), strict=True))


def divergence(one, other):
    return sum(p * np.log(p / other[square]) for square, p in one.items())


@pytest.mark.slow
def test_the_losses_of_policy_gradients_are_their_formulas():
    """Compared with a loop over decisions in plain numbers."""
    network, batch, plain = three_decisions()
    played, magnets = batch[3], np.random.default_rng(7).normal(size=(3, 6))
    ppo, mmd, towards, phased, cloned = 0.0, 0.0, 0.0, 0.0, 0.0
    for k, (legal, now, gain, entropy, wrong) in enumerate(plain):
        other = softmax(magnets[k], legal)
        ppo += wrong - gain - 0.3 * entropy
        mmd += 0.4 * divergence({s: played[k, s] for s in legal}, now)
        towards += 0.7 * divergence(now, other)
        phased += -gain - 0.3 * entropy
        cloned += wrong + 0.6 * divergence(other, now)
    found = policy_gradient.loss(network, batch, 0.3, 0.4, 0.1)
    assert float(found) == pytest.approx((ppo + mmd) / 3, rel=1e-4)
    found = magnet.loss(network, batch, magnets.astype(np.float32), 0.3, 0.4, 0.1, 0.7)
    assert float(found) == pytest.approx((ppo + mmd + towards) / 3, rel=1e-4)
    assert float(phasic.policy_loss(network, batch, 0.3, 0.0, 0.1)) == pytest.approx(phased / 3, rel=1e-4)
    found = phasic.auxiliary_loss(network, *batch[:2], magnets.astype(np.float32), batch[5], 0.6)
    assert float(found) == pytest.approx(cloned / 3, rel=1e-4)
    slope = jax.grad(magnet.loss)(network, batch, magnets.astype(np.float32), 0.3, 0.4, 0.1, 0.7)
    assert all(np.isfinite(part).all() for part in slope.values())  # illegal squares are far out


@pytest.mark.slow
def test_magnets_move_as_their_papers_say():
    learning_game, few = small_learning_game(MINI), {"games": 8, "hidden": (4,)}
    nash = started("nashpg", learning_game, **few, phase=2, rate=0.01)
    average = started("emagnet", learning_game, **few, follow=0.25, rate=0.01)
    first = same = average.networks["magnet"]["biases/1"]
    for t in range(1, 5):
        nash.step(1)
        average.step(1)
        if t % 2 == 0:
            first = nash.networks["policy"]["biases/1"]
        np.testing.assert_array_equal(nash.networks["magnet"]["biases/1"], first)
        same = 0.75 * same + 0.25 * average.networks["policy"]["biases/1"]
        np.testing.assert_allclose(average.networks["magnet"]["biases/1"], same, rtol=1e-5)
    assert np.abs(same).max() > 1e-4  # something was learned


@pytest.mark.slow
def test_the_auxiliary_phase_teaches_the_policys_layers_values_and_keeps_the_policy():
    learning_game, few = small_learning_game(MINI), {"games": 32, "hidden": (16,), "batch": 64, "trace": 0.0}
    moved = {}
    for clone in (0.0, 10.0):
        learner = started("ppg", learning_game, **few, phase=2, auxiliary_epochs=30, clone=clone, rate=0.01)
        last = learner.networks["values"]
        learner.networks["values"] = {**{name: 0 * part for name, part in last.items()}, "biases/1": jnp.array([0.5])}
        learner.step(1)
        memory = learner.memories["phase"]
        rows = {name: column[: len(memory)].copy() for name, column in memory.rows.items()}
        assert len(memory) == learner.counts.states - 32
        # Without traces, a return is the payoff, or what the critic of that iteration says of the next decision.
        assert 0.5 in rows["returns"] and set(rows["returns"]) <= {-1.0, 0.0, 0.5, 1.0}

        def look(learner=learner, rows=rows):
            network = learner.networks["policy"]
            errors = learner.sight.look(network, rows["infosets"])[:, -1] - rows["returns"]
            critic = learner.sight.look(learner.networks["values"], rows["infosets"])[:, -1] - rows["returns"]
            return learner.sight.policy(network)(rows["infosets"]), np.square(errors).mean(), np.square(critic).mean()

        before, wrong, missed = look()
        learner._auxiliary(np.random.default_rng(0))
        after, less, fewer = look()
        assert less < 0.8 * wrong and fewer < 0.95 * missed  # all but the bias of that critic is dead
        moved[clone] = np.abs(after - before).mean()
        learner.step(1)
        assert len(memory) == 0
    assert moved[10.0] < moved[0.0] / 2


@pytest.mark.slow
def test_the_optimiser_is_adam():
    """The first steps against the paper's formulas, in plain numbers; long gradients are clipped."""
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
    seen = Sight(small_learning_game(MINI).index)
    network = nets.make_network(seen.squares, (8,), 3, [5])
    infosets = np.arange(len(seen.codes))
    whole = seen.look(network, infosets)
    parts = np.concatenate([seen.look(network, infosets[:5]), seen.look(network, infosets[5:])])
    # Processors may add sums of other lengths in another order.
    np.testing.assert_allclose(parts, whole, rtol=1e-5, atol=1e-6 * np.abs(whole).max())


def test_the_newest_rows_are_remembered():
    memory, rng = Memory(5, False, numbers=((), np.int64)), np.random.default_rng(0)
    for first, last in ((0, 3), (3, 7), (7, 19)):
        memory.add(rng, numbers=np.arange(first, last))
    assert sorted(memory.rows["numbers"]) == [14, 15, 16, 17, 18] and len(memory) == 5
    other = Memory(5, False, numbers=((), np.int64))
    other.add(rng, numbers=np.arange(2))
    assert len(other) == 2 and set(other.draw(rng, 50)["numbers"]) == {0, 1}
    other.clear()
    other.add(rng, numbers=np.array([7]))
    assert len(other) == 1 and set(other.draw(rng, 9)["numbers"]) == {7}


def test_a_fair_sample_has_each_row_with_the_same_chance():
    rng, size, rounds = np.random.default_rng(0), 8, 1000
    counts = np.zeros(40)
    for _ in range(rounds):
        memory = Memory(size, True, numbers=((), np.int64), twice=((), np.int64))
        for part in np.split(np.arange(40), [3, 11, 30]):
            memory.add(rng, numbers=part, twice=2 * part)
        assert len(set(memory.rows["numbers"])) == size
        assert (memory.rows["twice"] == 2 * memory.rows["numbers"]).all()
        counts[memory.rows["numbers"]] += 1
    chance = size / 40
    assert np.abs(counts / rounds - chance).max() < 5 * math.sqrt(chance * (1 - chance) / rounds)


@pytest.mark.parametrize("name", [MINI, CLASSICAL])
def test_rewards_and_traces_are_the_sums_of_their_definition(name):
    """Own costs are paid, the opponent's are gained until the next own decision; v-trace by recursion."""
    seen = Sight(small_learning_game(name).index)
    plays = play(seen, 40, uniform_movers(seen), np.random.default_rng(0))
    rng = np.random.default_rng(1)
    costs, values, ratios = rng.normal(size=(3, len(plays.seats)))
    mine, later = regularised.rewards_of(plays, costs, 0.3)
    ratios = np.exp(ratios)
    targets = regularised.traces(plays, mine, values, ratios)
    for k, seat in enumerate(plays.seats):
        until = plays.after[k] if plays.after[k] >= 0 else len(plays.seats)
        between = [j for j in range(k + 1, until) if plays.seats[j] == seat ^ 1]
        expected = 0.3 * sum(costs[j] for j in between) + (plays.payoffs[k] if plays.after[k] < 0 else 0)
        assert later[k] == pytest.approx(expected, abs=1e-12)
        assert mine[k] == pytest.approx(expected - 0.3 * costs[k], abs=1e-12)
        rho, after = min(ratios[k], 1), plays.after[k]
        ahead = targets[after] if after >= 0 else 0
        assert targets[k] == pytest.approx(values[k] + rho * (mine[k] + ahead - values[k]), abs=1e-12)


@pytest.mark.slow
def test_replicator_dynamics_move_logits_by_advantages_up_to_a_bound():
    """The gradient of the loss in a network of biases only, which all infosets share."""
    squares = 3
    network = nets.make_network(squares, (), squares + 1, [1])
    network["weights/0"] = 0 * network["weights/0"]
    network["biases/0"] = jnp.array([1.5, 0.0, -1.2, 0.4])
    codes, gains = np.array([[0, 0, 0], [0, 0, 2]], np.int8), np.array([[0.5, -0.25, -0.75], [-1.0, 1.0, 9.0]])
    targets = np.array([1.0, -1.0])
    slope = jax.grad(regularised.loss)(network, codes, np.zeros(2, np.int8), gains, targets, 1.0)["biases/0"]
    # Of the first row, the first logit is 1.4 above the mean and may not rise, the last is 1.3 below and may not fall.
    # The rest moves the logits minus their mean: -0.25 of the second is -1/6 there, and 1/12 of each other.
    first, second = np.array([1 / 12, -1 / 6, 1 / 12]), np.array([-1.0, 1.0, 0])
    np.testing.assert_allclose(slope, [*-(first + second) / 2, 0.4], atol=1e-6)


def exact_action_values(game, player, tables, costs=None):
    """The player's expected payoff after each action, given that the infoset is reached.

    With `costs`, by player and infoset as `tables`, each move costs its player something, which the opponent gains.
    """
    worth, visits = {}, {}

    def walk(history, reach):
        if history.is_terminal():
            return history.returns()[player]
        mover, text = history.player, history.nodes[history.player]
        total = 0.0
        for square in history.legal():
            chance = tables[mover][text][square]
            after = walk(history.attempt(square), reach if mover == player else reach * chance)
            if costs:
                after -= costs[mover][text][square] * (1 if mover == player else -1)
            if mover == player:
                worth[text, square] = worth.get((text, square), 0.0) + reach * after
            total += chance * after
        if mover == player:
            visits[text] = visits.get(text, 0.0) + reach
        return total

    walk(naive.History.start(game), 1.0)
    return {(text, square): number / visits[text] for (text, square), number in worth.items()}


@pytest.mark.slow
def test_the_mean_of_gains_is_the_exact_advantage_of_the_regularised_game():
    """By a plain walk, and with the default settings: a clipped gain of a rare square would shift the mean."""
    learning_game, eta = small_learning_game(MINI, "none"), 0.5
    learner = started("r-nad-deep", learning_game, hidden=(8,), eta=eta)
    seen, game = learner.sight, learning_game.game
    for number, name in enumerate(("policy", "now", "slow")):
        network = nets.make_network(seen.squares, (8,), seen.squares + 1, [number])
        learner.networks[name] = {part: array * (150 if part == "weights/1" else 1) for part, array in network.items()}
    nodes = np.flatnonzero((seen.codes == 0).any(axis=1))
    policies, costs = np.zeros((2, *seen.codes.shape))
    policies[nodes] = seen.policy(learner.networks["policy"])(nodes)
    costs[nodes] = learner._logs("policy", nodes) - learner._logs("now", nodes)
    texts = [helpers.node_texts(learning_game.index, player) for player in (0, 1)]
    parts = slice(0, seen.second), slice(seen.second, None)
    tables = [dict(zip(names, policies[part], strict=True)) for names, part in zip(texts, parts, strict=True)]
    priced = [dict(zip(names, eta * costs[part], strict=True)) for names, part in zip(texts, parts, strict=True)]
    exact = [exact_action_values(game, player, tables, priced) for player in (0, 1)]

    plays = play(seen, 20_000, lambda games, infosets: policies[infosets], np.random.default_rng(0))
    values = seen.look(learner.networks["slow"], plays.infosets)[:, -1].astype(float)
    gains, _ = learner._targets(plays, learner._logs("now", plays.infosets), values)
    distances = []
    for infoset in np.unique(plays.infosets):
        player = int(infoset >= seen.second)
        legal = np.flatnonzero(seen.codes[infoset] == 0)
        worth = [exact[player][texts[player][infoset - player * seen.second], square] for square in legal]
        found = gains[plays.infosets == infoset][:, legal]
        wanted = np.array(worth) - worth @ policies[infoset, legal]
        often = len(found) * policies[infoset, legal] >= 50  # else no normal distribution
        spread = found.std(axis=0) / math.sqrt(len(found))
        distances.extend(((found.mean(axis=0) - wanted) / np.maximum(spread, 1e-9))[often & (len(legal) > 1)])
    assert len(distances) > 50 and np.sqrt(np.mean(np.square(distances))) < 1.2


@pytest.mark.long
def test_values_of_deep_escher_approach_the_exact_ones():
    learning_game = small_learning_game(MINI, "none")
    learner = started("escher-deep", learning_game, **{**SMALL, "games": 1500}, updates=400, rate=3e-3)
    zero = {name: 0 * part for name, part in learner.networks["regrets"].items()}
    learner.networks["regrets"] = zero  # uniform policies
    seen, game = learner.sight, learning_game.game
    tables = [naive.uniform(game, p) for p in (0, 1)]
    rng = np.random.default_rng(0)
    plays = learner._games(1, rng)
    learner._learn_values(np.flatnonzero(plays.seats % 2 == 1), plays, rng)
    expected = exact_action_values(game, 1, tables)
    texts = helpers.node_texts(learning_game.index, 1)
    own, often = np.unique(plays.infosets[plays.seats % 2 == 1], return_counts=True)
    found, numbers = [], []
    for infoset in own[often >= 40]:
        text = texts[infoset - seen.second]
        for square in np.flatnonzero(seen.codes[infoset] == 0):
            found.append(seen.look(learner.networks["values"], np.array([infoset]))[0, square])
            numbers.append(expected[text, square])
    assert len(found) > 15 and np.std(numbers) > 0.2
    assert np.abs(np.array(found) - numbers).mean() < 0.15


def test_regret_matching_on_a_network():
    learner = started("escher-deep", small_learning_game(MINI), **SMALL)
    infosets = np.arange(len(learner.sight.codes))
    infosets = infosets[(learner.sight.codes == 0).any(axis=1)]
    found, numbers = learner.policies(infosets), learner.sight.look(learner.networks["regrets"], infosets)
    for row, number, codes in zip(found, numbers.astype(float), learner.sight.codes[infosets], strict=True):
        wanted = np.maximum(number, 0) * (codes == 0)
        wanted = wanted / wanted.sum() if wanted.any() else (codes == 0) / (codes == 0).sum()
        np.testing.assert_allclose(row, wanted, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("player", [0, 1])
def test_a_learned_response_is_nearly_a_best_response(player):
    learning_game = small_learning_game(MINI)
    learner = started("psro-dqn", learning_game, **SMALL, rounds=60)
    learner.counts.iterations = 1
    uniform = learning_game.strategy(1 - player, learning_game.uniform(1 - player)).probabilities
    response = learning_game.strategy(player, learner._response(player, uniform))
    opponent = learning_game.strategy(1 - player, learning_game.uniform(1 - player))
    pair = (response, opponent) if player == 0 else (opponent, response)
    found = learning_game.evaluator(*pair)
    value, best = (found.value, found.best_response_0) if player == 0 else (-found.value, found.best_response_1)
    assert best - value < 0.1


def test_the_greedy_square_is_legal_and_highest():
    seen = Sight(small_learning_game(MINI).index)
    network = nets.make_network(seen.squares, (8,), seen.squares, [3])
    infosets = np.flatnonzero((seen.codes == 0).any(axis=1))
    out, found = seen.look(network, infosets), loss_functions.greedy(seen, network, infosets, 0.2)
    for row, number, codes in zip(found, out, seen.codes[infosets], strict=True):
        legal = np.flatnonzero(codes == 0)
        best = legal[number[legal].argmax()]
        expected = np.zeros(seen.squares)
        expected[legal] = 0.2 / len(legal)
        expected[best] += 0.8
        np.testing.assert_allclose(row, expected, atol=1e-12)


@pytest.mark.slow
def test_losses_are_means_over_infosets():
    seen = Sight(small_learning_game(MINI).index)
    network = nets.make_network(seen.squares, (8,), seen.squares, [3])
    infosets = np.flatnonzero((seen.codes == 0).any(axis=1))[:9]
    codes, players = seen.inputs(infosets)
    legal, out = seen.codes[infosets] == 0, seen.look(network, infosets).astype(float)
    chances = np.exp(out) * legal
    chances /= chances.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(5)
    policies = legal * rng.random(legal.shape) * (rng.random(legal.shape) < 0.7)
    entropy = [
        -sum(p * math.log(c) for p, c in zip(*rows, strict=True) if p) for rows in zip(policies, chances, strict=True)
    ]
    assert float(loss_functions._policy_loss(network, codes, players, policies)) == pytest.approx(
        np.mean(entropy), rel=1e-5
    )
    numbers, weights = rng.random(legal.shape), rng.random(len(legal))
    wrong = [w * sum((row - number)[at] ** 2) for w, row, number, at in zip(weights, out, numbers, legal, strict=True)]
    found = loss_functions._numbers_loss(network, codes, players, numbers, weights)
    assert float(found) == pytest.approx(np.mean(wrong) / 2, rel=1e-5)
    squares, targets = legal.argmax(axis=1), rng.random(len(legal))
    found = loss_functions._value_loss(network, codes, players, squares, targets)
    assert float(found) == pytest.approx(np.mean((out[np.arange(9), squares] - targets) ** 2) / 2, rel=1e-5)


# ---------------------------------------------------------------------------------------------
# Quality of results

# Processors add in other orders, and so learn other networks, as with other seeds: of many seeds, all are below the
# bounds by more than a tenth.
BOUNDS = {  # algorithm: iterations, settings, bound on NashConv / 2 of MINI and of HIDDEN, where uniform has 0.33, 0.24
    "ppo": (80, {"rate": 3e-3, "entropy": 0.5, "anneal": 30}, 0.17, 0.22),
    "mmd-deep": (80, {"rate": 3e-3, "kl": 3.0, "anneal": 60}, 0.12, 0.16),
    "nashpg": (80, {"rate": 3e-3, "phase": 20}, 0.12, 0.16),
    "emagnet": (80, {"rate": 3e-3, "magnet": 1.0, "anneal": 60}, 0.14, 0.16),
    "ppg": (80, {"rate": 3e-3, "entropy": 0.3, "phase": 8, "anneal": 30}, 0.15, 0.2),
    "r-nad-deep": (60, {"eta": 0.2, "phase": 20}, 0.17, 0.21),
    "nfsp": (60, {}, 0.22, None),
    "psro-dqn": (7, {"games": 128, "rounds": 40}, 0.22, None),
    "escher-deep": (40, {"games": 128}, 0.22, None),
}
CASES = [
    pytest.param(name, game, seed, marks=[pytest.mark.full] if seed else [])  # run by hand
    for name in BOUNDS
    for game in (MINI, HIDDEN)
    for seed in (0, 1, 2)
    if BOUNDS[name][2 + (game == HIDDEN)]
]


@pytest.mark.long_but("ppo-mini-2x3k2-abrupt-0")
@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "game", "seed"), CASES)
def test_deep_learners_get_below_a_bound(algorithm, game, seed):
    iterations, settings, *bounds = BOUNDS[algorithm]
    learning_game = small_learning_game(game)
    learner = started(algorithm, learning_game, seed, **{**SMALL, **settings})
    learner.step(iterations)
    assert gap(learning_game, learner.strategy()) < bounds[[MINI, HIDDEN].index(game)]
    assert learner.counts.states > iterations and (learner.counts.gradients == 0 or algorithm == "psro-dqn")


def test_every_deep_algorithm_has_a_bound():
    assert {name for name, (module, _) in ALGORITHMS.items() if module.startswith("deep.")} == set(BOUNDS)


@pytest.mark.slow
@pytest.mark.long_but("nfsp")
@pytest.mark.parametrize("algorithm", BOUNDS)
def test_restoring_from_disk_changes_no_bit_on_one_machine(algorithm, tmp_path):
    learning_game, settings = small_learning_game(MINI), {**SMALL, **BOUNDS[algorithm][1], "games": 8}
    settings |= {"psro-dqn": {"rounds": 3}, "nfsp": {"sample": 20, "newest": 30}}.get(algorithm, {})
    settings |= {"nashpg": {"phase": 3}, "ppg": {"phase": 3}}.get(algorithm, {})
    whole, parts, other = (started(algorithm, learning_game, 3, **settings) for _ in range(3))
    whole.step(4)
    parts.step(2)
    with Checkpoints(tmp_path, "print") as checkpoints:
        checkpoints.save(2, parts.state(), {})
    with Checkpoints(tmp_path, "print") as checkpoints:
        kept = checkpoints.latest()[0]
        other.counts.iterations = 2
        other.restore(kept)
        for array in kept.values():  # restored arrays are copies
            array[:] = 0
    other.step(2)
    for name, array in whole.state().items():
        np.testing.assert_array_equal(array, other.state()[name], err_msg=name)
    for a, b in zip(whole.strategy(), other.strategy(), strict=True):
        np.testing.assert_array_equal(a.probabilities, b.probabilities)


@pytest.mark.slow
def test_the_number_of_processors_changes_no_bit():
    """XLA splits sums among threads, one for each processor that it may use, unless it is told otherwise."""
    program = """
import os
from tests.learners.deep.test_learners_deep import policies_of_four_steps
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
print(policies_of_four_steps())
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == policies_of_four_steps()


def test_jax_is_left_to_others_as_it_was(monkeypatch):
    """Somebody else in this process may use JAX on other devices, and with other threads."""
    assert (jax.config.jax_platforms or None) == os.environ.get("JAX_PLATFORMS")
    for name, value in (("NPROC", None), ("NPROC", "3")):
        monkeypatch.delenv("XLA_FLAGS", raising=False)
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
        before = dict(os.environ)
        nets.processor.cache_clear()
        assert nets.processor().platform == "cpu" and dict(os.environ) == before


@pytest.mark.slow
def test_learners_compute_on_the_processor_whatever_the_device_of_others_is():
    program = """
import jax, numpy as np
from pttt_ooc.learners.deep import network as nets
other = jax.devices()[1]
jax.config.update("jax_default_device", other)
network = nets.make_network(4, (8,), 5, [1])
moments, codes, players = nets.make_moments(network), np.zeros((3, 4), np.int8), np.zeros(3, np.int8)
step = nets.trainer(lambda network, codes, players: nets.outputs_of(network, codes, players).sum())
network, moments = step(network, moments, np.float32(0.1), codes, players)
network = nets.moving_average(network, nets.make_network(4, (8,), 5, [2]), 0.5)
arrays = [*network.values(), *moments.values(), nets.evaluate(network, codes, players)]
assert {device for array in arrays for device in array.devices()} == {jax.devices("cpu")[0]} != {other}
"""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def policies_of_four_steps():
    learner = started("ppo", small_learning_game(MINI), 1, hidden=(64, 64))
    learner.step(4)
    return " ".join(part.probabilities.tobytes().hex() for part in learner.strategy())


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_nothing_that_a_learner_counts_may_be_zero(algorithm):
    fields = learner_class(algorithm).settings_model.model_fields
    for name in [name for name, field in fields.items() if field.annotation is int]:
        assert checked_settings(algorithm, {name: 1})
        with pytest.raises(ConfigError, match=name):
            checked_settings(algorithm, {name: 0})


@pytest.mark.slow
def test_what_a_bound_of_logits_costs(tmp_path, capsys):
    legal = np.array([[True, True, True, False], [True, True, False, False]])
    rows = np.array([[1, 0, 0, 0], [0.25, 0.75, 0, 0]])
    found = logit_bounds.cut(rows, legal, 2.0)
    top, low = math.exp(2), math.exp(-2)  # the zeros are the same distance below the mean, cut too
    np.testing.assert_allclose(found, [[top / (top + 2 * low), *[low / (top + 2 * low)] * 2, 0], [0.25, 0.75, 0, 0]])
    logit_bounds.main([MINI, "--iterations", "300", "--data", str(tmp_path)])
    words = [line.split()[-2:] for line in capsys.readouterr().out.splitlines()]
    numbers = {name: float(number) for name, number in words}
    assert numbers["bound"] < 0.01 and numbers["2"] > numbers["8"] > numbers["20"] == numbers["bound"]
    # By a plain walk, of the pair of the library.
    session = pttt.iterate(pttt.game(MINI), "dcfr", evaluate_every=10**9)
    while session.iteration < 300:
        next(session)
    both = []
    for strategy in session.average:
        plain = {}
        for text, row in strategy.items():
            squares = naive.legal_squares(pttt.game(MINI), text)
            logits = np.log(np.maximum(row[squares], 1e-9))
            weights = np.exp(np.clip(logits - logits.mean(), -2, 2))
            plain[text] = np.zeros(len(row))
            plain[text][squares] = weights / weights.sum()
        both.append(plain)
    best = [naive.best_response_value(pttt.game(MINI), p, both[1 - p]) for p in (0, 1)]
    assert numbers["2"] == pytest.approx(sum(best) / 2, rel=0.01)
