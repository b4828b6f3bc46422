"""Games side by side compared with the rules and OpenSpiel, and sampled learners with exact values."""

from random import Random

import numpy as np
import pytest

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.play import start
from pttt_ooc.games.structure.index import build_index
from pttt_ooc.games.structure.symmetry import Symmetriser
from pttt_ooc.learners.catalogue import ALGORITHMS
from pttt_ooc.learners.sampled import kernels, traversals
from pttt_ooc.learners.sampled.state_machine import Games, random_state, rules_of
from tests.kits import helpers, naive
from tests.learners.learning_kit import HIDDEN, MINI, gap, small_learning_game, started

NAMES = [*helpers.TINY, *helpers.SMALL]


def image_fits(game, text, theirs):
    """Whether a symmetry of the board maps one infoset to the other."""
    return any(naive.image(game, text, g) == theirs for g in game.symmetries)


@pytest.mark.slow_but_one
@pytest.mark.long_but("2x2", "2x3k2", "after-0")
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", NAMES)
def test_games_are_those_of_the_rules(name, symmetry):
    """Movers, infosets by number, legal squares, ends and payoffs, over random games."""
    game = named_game(name)
    index = build_index(game, symmetry)
    games, number, rng = Games(index, 50), 50, Random(5)
    histories = [start(game) for _ in range(number)]
    texts = [helpers.node_texts(index, p) for p in (0, 1)]
    seen, ends = set(), 0
    for _ in range(60):
        found = games.observe()
        actions = np.zeros(number, np.int64)
        for g, history in enumerate(histories):
            assert found.movers[g] == history.player
            squares = found.squares[g, : found.counts[g]].tolist()
            assert sorted(squares) == history.legal()
            mine, theirs = history.infoset(history.player), texts[history.player][found.infosets[g]]
            assert mine == theirs if symmetry == "none" else image_fits(game, mine, theirs)
            seen.add((history.player, mine))
            actions[g] = rng.randrange(len(squares))
            histories[g] = history.step(squares[actions[g]])
        ended, payoffs = games.step(actions)
        for g, history in enumerate(histories):
            assert ended[g] == history.is_terminal
            assert payoffs[g] == history.returns[0]
            if history.is_terminal:
                ends += 1
                histories[g] = start(game)
    assert ends > 100 and len(seen) > 8


def test_games_refuse_unknown_actions():
    games = Games(build_index(named_game(MINI), "full"), 2)
    with pytest.raises(ValueError, match="not below"):
        games.step(np.array([0, 6]))
    with pytest.raises(ValueError, match="not below"):
        games.step(np.array([-1, 0]))


@pytest.mark.parametrize("rule", ["abrupt", "classical"])
def test_games_are_openspiels(rule):
    """Its phantom_ttt after the setup: who moves, what is legal, the end, the payoffs."""
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: games go without their referee")
    game = named_game(f"pttt-{rule}-after-1-0-3-2-4-8")

    def opened():
        state = pyspiel.load_game(f"phantom_ttt(gameversion={rule})").new_initial_state()
        for k in range(6):
            state.apply_action(game.setup[k % 2][k // 2])
        return state

    games, rng = Games(build_index(game, "full"), 40), Random(1)
    states, ends = [opened() for _ in range(40)], 0
    for _ in range(60):
        found, actions = games.observe(), np.zeros(40, np.int64)
        for g, state in enumerate(states):
            squares = found.squares[g, : found.counts[g]].tolist()
            assert found.movers[g] == state.current_player() and sorted(squares) == state.legal_actions()
            actions[g] = rng.randrange(len(squares))
            state.apply_action(squares[actions[g]])
        ended, payoffs = games.step(actions)
        for g, state in enumerate(states):
            assert ended[g] == state.is_terminal()
            if ended[g]:
                assert payoffs[g] == state.returns()[0]
                states[g] = opened()
                ends += 1
    assert ends > 100


def test_random_games_have_the_value_of_uniform_play():
    learning_game = small_learning_game(MINI)
    games, found = 200_000, np.zeros(4, np.int64)
    kernels.play_at_random(rules_of(learning_game.index), games, random_state(2), found)
    game = learning_game.game
    value = naive.value(game, naive.uniform(game, 0), naive.uniform(game, 1))
    assert abs((found[1] - found[2]) / games - value) < 5 / np.sqrt(games)
    assert 2 * games < found[0] < 2 * game.squares * games


def splitmix(state):
    """Steele, Lea and Flood 2014, in whole numbers; first output of the seed 0 is 0xE220A8397B1DCDAF."""
    most = 2**64 - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & most
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & most
        z = (z ^ z >> 27) * 0x94D049BB133111EB & most
        yield z ^ z >> 31


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", [MINI, "mini-2x3k3-classical-after-1", "pttt-abrupt-after-1-0-3-2"])
def test_random_games_are_those_of_the_games_side_by_side(name, symmetry):
    assert next(splitmix(0)) == 0xE220A8397B1DCDAF
    index, state, found = build_index(named_game(name), symmetry), random_state(5), np.zeros(4, np.int64)
    games, bits, ends = Games(index, 1), splitmix(int(state[0])), 0
    expected = np.zeros(4, np.int64)
    while ends < 300:
        seen = games.observe()
        ended, payoffs = games.step((next(bits) >> 32) * seen.counts >> 32)
        ends += int(ended[0])
        expected += [1, payoffs[0] > 0, payoffs[0] < 0, seen.infosets[0]]
    kernels.play_at_random(rules_of(index), 300, state, found)
    np.testing.assert_array_equal(found, expected)


# ---------------------------------------------------------------------------------------------
# Estimates


def exact_values(game, tables):
    """By player, infoset and square: counterfactual values of actions; and the value of the game for player 0."""
    worth = [{}, {}]

    def walk(history, reaches):
        """Player 0's expected payoff from a history on."""
        if history.is_terminal():
            return history.returns()[0]
        p, text = history.player, history.nodes[history.player]
        total = 0.0
        for square in history.legal():
            chance = tables[p][text][square]
            after = walk(
                history.attempt(square),
                (reaches[0] * chance, reaches[1]) if p == 0 else (reaches[0], reaches[1] * chance),
            )
            signed = after if p == 0 else -after
            worth[p][text, square] = worth[p].get((text, square), 0.0) + signed * reaches[1 - p]
            total += chance * after
        return total

    return worth, walk(naive.History.start(game), (1.0, 1.0))


def random_regrets(learning_game, seed):
    """Positive numbers for all sequences, equal for mirror images, and their strategies by regret matching, by text."""
    rng, parts, tables = np.random.default_rng(seed), [], []
    for p in (0, 1):
        numbers = rng.random(learning_game.players[p].sequences) + 0.05
        Symmetriser(learning_game.index, p)(numbers)
        parts.append(numbers)
        table = naive.uniform(learning_game.game, p)
        own = {}
        for (text, square), number in zip(helpers.sequence_texts(learning_game.index, p), numbers, strict=True):
            own[text, square] = number
        for text in table:
            legal = naive.legal_squares(learning_game.game, text)
            for g in (
                learning_game.game.symmetries
                if learning_game.index.symmetry == "full"
                else learning_game.game.symmetries[:1]
            ):
                there = naive.image(learning_game.game, text, g)
                if (there, g[legal[0]]) in own:
                    row = {s: own[there, g[s]] for s in legal}
                    total = sum(row.values())
                    table[text] = [row.get(s, 0.0) / total for s in range(learning_game.game.squares)]
                    break
            else:
                raise AssertionError(f"{text} has no representative")
        tables.append(table)
    return np.concatenate(parts), tables


def estimates(learning_game, regrets, samples, traverse):
    """Means, standard errors and numbers of sampled regrets of all sequences; and the returned values."""
    rules, random, counted = rules_of(learning_game.index), random_state(7), np.zeros(1, np.int64)
    scratch, weight = (
        traversals.scratch_of(learning_game.game.squares),
        1e-9,
    )  # so small that the strategy stays what it is
    total, squares, drawn = (np.zeros(len(regrets)) for _ in range(3))
    returned = []
    together = mirrored(learning_game) if learning_game.index.symmetry == "full" else None
    for _ in range(samples):
        tables = traverse.tables(regrets.copy())
        returned.append(traverse(rules, tables, scratch, weight, random, counted))
        found = (tables.regrets - regrets) / weight
        if together is not None:
            found = together @ found
        total += found
        squares += found**2
        drawn += np.abs(found) > 1e-6
    mean = total / samples
    errors = np.sqrt(np.maximum(squares / samples - mean**2, 0) / samples)
    return mean, errors, drawn, np.array(returned)


def mirrored(learning_game):
    """The matrix that takes the mean over mirror images within views that are symmetric themselves."""
    sizes = [i.sequences for i in learning_game.players]
    matrix = np.eye(sum(sizes))
    for p, first in ((0, 0), (1, sizes[0])):
        for k in range(first, first + sizes[p]):
            learning_game.symmetrise(p, matrix[k, first : first + sizes[p]])
    return matrix.T


class Traversal:
    """One of the kernels, for a player, with or without baselines."""

    def __init__(self, learning_game, player, kind, seed=3):
        self.second, self.player, self.kind = learning_game.players[0].sequences, player, kind
        size = sum(i.sequences for i in learning_game.players) if kind in ("baselines", "fixed") else 0
        self.baselines = np.random.default_rng(seed).normal(size=size).astype(np.float32)

    def tables(self, regrets):
        return traversals.Tables(regrets, np.zeros_like(regrets), self.baselines.copy(), self.second)

    def __call__(self, rules, tables, scratch, weight, random, counted):
        rates = {"external": (0.0, 0.0), "fixed": (0.0, 1e-9)}.get(self.kind, (0.6, 0.5))
        traverse = {"external": traversals.external, "fixed": traversals.fixed_sampling}.get(
            self.kind, traversals.outcome
        )
        options = traversals.Options(0.0, False, *rates)
        return traverse(rules, tables, self.player, scratch, options, weight, random, counted)


@pytest.mark.long_but("none")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("kind", ["external", "outcome", "baselines"])
@pytest.mark.parametrize("player", [0, 1])
def test_estimates_are_unbiased(kind, player, symmetry):
    """Means of sampled regrets and values within five standard errors of the exact ones, at each sequence."""
    learning_game = small_learning_game(MINI, symmetry)
    regrets, tables = random_regrets(learning_game, 4)
    worth, value = exact_values(learning_game.game, tables)
    expected = []
    for p in (0, 1):
        of_infoset = {}
        for (text, square), number in worth[p].items():
            of_infoset[text] = of_infoset.get(text, 0.0) + tables[p][text][square] * number
        texts = helpers.sequence_texts(learning_game.index, p)
        numbers = np.array([worth[p][text, square] - of_infoset[text] for text, square in texts])
        expected.append(numbers * learning_game.weights[p] if p == player else 0 * numbers)
    expected = np.concatenate(expected)
    samples = 3000 if kind == "external" else 15_000
    mean, errors, drawn, returned = estimates(learning_game, regrets, samples, Traversal(learning_game, player, kind))
    expected = mirrored(learning_game) @ np.where(np.abs(expected) > 1e-12, expected, 0)
    seen = drawn >= 100  # of fewer draws, the standard error is not known
    assert seen.sum() > 30
    assert (np.abs(mean - expected)[seen] < 5 * errors[seen] + 1e-6).all()
    sign = 1 if kind != "external" or player == 0 else -1
    assert abs(returned.mean() - sign * value) < 5 * returned.std() / np.sqrt(samples) + 1e-9
    assert errors[seen].max() > 0.001


def values_of_actions(learning_game, worth, tables):
    """Player 0's expected payoff after each action, given that its infoset is reached; the chance of its player's
    uniform play to come there; and the opponent's, over all histories.  All for each sequence of both players."""
    game, visits = learning_game.game, [{}, {}]

    def walk(history, reaches):
        if history.is_terminal():
            return
        p, text = history.player, history.nodes[history.player]
        visits[p][text] = visits[p].get(text, 0.0) + reaches[1 - p]
        for square in history.legal():
            chance = tables[p][text][square]
            walk(
                history.attempt(square),
                (reaches[0] * chance, reaches[1]) if p == 0 else (reaches[0], reaches[1] * chance),
            )

    walk(naive.History.start(game), (1.0, 1.0))
    values, own, others = [], [], []
    for p in (0, 1):
        uniform = learning_game.reach(p, learning_game.uniform(p)).sequences
        for (text, square), reach in zip(helpers.sequence_texts(learning_game.index, p), uniform, strict=True):
            values.append((1 - 2 * p) * worth[p][text, square] / visits[p][text])
            own.append(reach * len(naive.legal_squares(game, text)))
            others.append(visits[p][text])
    return np.array(values), np.array(own), np.array(others) * np.concatenate(learning_game.weights)


@pytest.mark.slow
@pytest.mark.long_but("0-full", "1-none")
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("player", [0, 1])
def test_a_fixed_policy_estimates_regrets_up_to_its_own_chances(player, symmetry):
    """With exact values of actions, the mean update is the exact regret times the uniform player's reach."""
    learning_game = small_learning_game(MINI, symmetry)
    regrets, policies = random_regrets(learning_game, 4)
    worth, value = exact_values(learning_game.game, policies)
    values, own, _ = values_of_actions(learning_game, worth, policies)
    traversal, expected = Traversal(learning_game, player, "fixed"), []
    traversal.baselines = values.astype(np.float32)
    for p in (0, 1):
        texts = helpers.sequence_texts(learning_game.index, p)
        means = {}
        for text, square in texts:
            means[text] = means.get(text, 0.0) + policies[p][text][square] * worth[p][text, square]
        numbers = np.array([worth[p][text, square] - means[text] for text, square in texts])
        expected.append(numbers * learning_game.weights[p] * (p == player))
    mean, errors, drawn, returned = estimates(learning_game, regrets, 15_000, traversal)
    seen = drawn >= 100
    expected = mirrored(learning_game) @ (np.concatenate(expected) * own)
    assert seen.sum() > 30 and errors[seen].max() > 0.001
    assert (np.abs(mean - expected)[seen] < 5 * errors[seen] + 1e-5).all()
    assert abs(returned.mean() - value) < 5 * returned.std() / np.sqrt(len(returned)) + 1e-6


@pytest.mark.slow_but_one
@pytest.mark.parametrize("player", [0, 1])
def test_values_learned_at_a_fixed_strategy_approach_the_exact_ones(player):
    learning_game = small_learning_game(MINI, "none")
    regrets, policies = random_regrets(learning_game, 4)
    worth, _ = exact_values(learning_game.game, policies)
    values, own, others = values_of_actions(learning_game, worth, policies)
    rules, random, counted = rules_of(learning_game.index), random_state(7), np.zeros(1, np.int64)
    scratch, second = traversals.scratch_of(learning_game.game.squares), learning_game.players[0].sequences
    tables = traversals.Tables(regrets, np.zeros_like(regrets), np.zeros(len(regrets), np.float32), second)
    mean, options = np.zeros(len(regrets)), traversals.Options(0.0, False, 0.0, 0.05)
    for k in range(60_000):
        traversals.fixed_sampling(rules, tables, player, scratch, options, 0.0, random, counted)
        if k >= 20_000:
            mean += tables.baselines / 40_000
    mine = np.arange(len(values)) < second if player == 0 else np.arange(len(values)) >= second
    assert not mean[~mine].any()
    often = mine & (own * others > 0.02)
    assert often.sum() > 20 and values[often].std() > 0.2
    wrong = np.abs(mean - values)[often]
    assert wrong.max() < 0.2 and wrong.mean() < 0.05


def test_right_baselines_leave_less_variance():
    """Learned at a fixed strategy, they make the returned values vary less."""
    learning_game = small_learning_game(MINI)
    spread = {}
    for algorithm in ("mccfr-outcome", "vr-mccfr"):
        learner = started(algorithm, learning_game, 1)
        learner.step(20_000)
        rules, random, counted = learner.rules, random_state(1), np.zeros(1, np.int64)
        scratch, options = traversals.scratch_of(learning_game.game.squares), traversals.Options(0.0, False, 0.6, 0.1)
        found = [
            traversals.outcome(rules, learner.tables, 0, scratch, options, 0.0, random, counted) for _ in range(3000)
        ]
        spread[algorithm] = np.std(found)
    assert spread["vr-mccfr"] < 0.7 * spread["mccfr-outcome"]


# ---------------------------------------------------------------------------------------------
# Quality of results

BOUNDS = {  # algorithm and settings: iterations, bound on NashConv / 2 of MINI and of HIDDEN
    ("mccfr-external",): (5_000, 0.02, 0.09),
    ("mccfr-external", ("plus", True)): (5_000, 0.02, 0.09),
    ("mccfr-external", ("power", 1)): (5_000, 0.02, 0.09),
    ("mccfr-outcome",): (200_000, 0.03, 0.2),
    ("vr-mccfr",): (200_000, 0.02, 0.15),
    ("vr-mccfr", ("plus", True), ("power", 1)): (200_000, 0.02, 0.15),
    ("escher",): (200_000, 0.04, 0.12),
    ("escher", ("plus", True), ("power", 1)): (200_000, 0.03, 0.12),
}


@pytest.mark.slow_but_one
@pytest.mark.long_but("2-0", "-0")
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("game", [MINI, pytest.param(HIDDEN, marks=pytest.mark.slow)])
@pytest.mark.parametrize("chosen", BOUNDS, ids=lambda chosen: "-".join(map(str, chosen)))
def test_sampled_learners_get_below_a_bound(chosen, game, seed):
    algorithm, *settings = chosen
    iterations, *bounds = BOUNDS[chosen]
    learning_game = small_learning_game(game)
    learner = started(algorithm, learning_game, seed, **dict(settings))
    learner.step(iterations)
    assert gap(learning_game, learner.strategy()) < bounds[[MINI, HIDDEN].index(game)]
    assert learner.counts.states > iterations * 4 and learner.counts.gradients == 0


def test_every_sampled_algorithm_has_a_bound():
    sampled = {name for name, (module, _) in ALGORITHMS.items() if module.startswith("sampled.")}
    assert sampled == {algorithm for algorithm, *_ in BOUNDS}


def test_symmetry_is_an_option():
    learning_game = small_learning_game(MINI, "none")
    learner = started("mccfr-external", learning_game, 0)
    learner.step(5_000)
    assert gap(learning_game, learner.strategy()) < 0.05
