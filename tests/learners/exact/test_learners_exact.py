"""Exact learners: parts compared with plain walks, steps with OpenSpiel, and the quality of results."""

from random import Random

import numpy as np
import pytest

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.games.structure.symmetry import fold
from pttt_ooc.learners.catalogue import ALGORITHMS
from pttt_ooc.learners.exact import psro as metagame
from pttt_ooc.learners.loop import Checkpoints, Ends, Loop
from tests.kits import helpers, naive
from tests.learners.learning_kit import HIDDEN, MINI, gap, learned, small_learning_game, started

CLASSICAL = "mini-2x3k3-classical-after-1"


def random_plan(learning_game, player, seed, symmetric):
    """A random behaviour, by text and as the game's probabilities."""
    table = helpers.random_table(learning_game.game, player, Random(seed), 0.0, symmetric)
    whole = helpers.as_strategy(helpers.full_index(learning_game.game.name), player, table)
    if learning_game.index.symmetry == "full":
        return table, fold(whole, learning_game.index).probabilities
    return table, whole.probabilities


def by_text(learning_game, player, numbers):
    """Numbers of sequences, by infoset and square."""
    return dict(zip(helpers.sequence_texts(learning_game.index, player), numbers, strict=True))


@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", [MINI, CLASSICAL])
@pytest.mark.parametrize("player", [0, 1])
def test_visits_are_the_opponents_reach_over_an_infosets_histories(name, symmetry, player):
    learning_game = small_learning_game(name, symmetry)
    table, behaviour = random_plan(learning_game, 1 - player, 5, symmetry == "full")
    plan = learning_game.reach(1 - player, behaviour)
    marks = np.random.default_rng(3).random(len(plan.sequences)) if symmetry == "none" else plan.sequences**2
    mine, theirs = {}, {}
    marked = by_text(learning_game, 1 - player, marks)

    open_ended = set()  # infosets from which somebody can still win

    def walk(history, reach):
        """Whether anybody can still win."""
        if history.is_terminal():
            return history.winner is not None
        some = False
        if history.player == player:
            mine[history.nodes[player]] = mine.get(history.nodes[player], 0.0) + reach
            for square in history.legal():
                some |= walk(history.attempt(square), reach)
            if some:
                open_ended.add(history.nodes[player])
            return some
        for square in history.legal():
            node = history.nodes[1 - player]
            if symmetry == "none":
                theirs[history.nodes[player]] = theirs.get(history.nodes[player], 0.0) + marked[node, square]
            some |= walk(history.attempt(square), reach * table[node][square])
        return some

    walk(naive.History.start(learning_game.game), 1.0)
    i, texts = learning_game.players[player], helpers.node_texts(learning_game.index, player)
    found, at_nodes = {}, {}
    for n in range(i.slices):
        part = learning_game.visits_of(player, n, plan._replace(sequences=marks))
        for v in i.views_of(n):
            for r in range(int(i.node_start[v + 1] - i.node_start[v])):
                node = int(i.node_start[v]) + r
                at_nodes[texts[node]] = -part.nodes[node - part.first_node]
                if i.decides[v]:
                    found[texts[node]] = part.sequences[int(i.sequence_start[v]) + r - part.first_sequence]
    several = [text for text in found if len(naive.legal_squares(learning_game.game, text)) > 1]
    assert len(several) > 5
    # Where nobody can still win, there is nothing to learn, and the index may lack the opponent's view.
    assert all(found[text] in (0.0, pytest.approx(mine[text], abs=1e-12)) for text in several)
    for text in open_ended.intersection(several):
        assert found[text] == pytest.approx(mine[text], abs=1e-12)
        assert at_nodes[text] == pytest.approx(theirs.get(text, 0.0), abs=1e-12) or symmetry == "full"


@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", [MINI, CLASSICAL])
@pytest.mark.parametrize("player", [0, 1])
def test_one_gradient_gives_the_payoffs_of_all_plans(name, symmetry, player):
    learning_game = small_learning_game(name, symmetry)
    theirs, against = random_plan(learning_game, 1 - player, 1, symmetry == "full")
    mine, behaviour = random_plan(learning_game, player, 2, symmetry == "full")
    constant, gradient = learning_game.gradient(player, learning_game.reach(1 - player, against))
    plan = learning_game.reach(player, behaviour).sequences
    value = naive.value(learning_game.game, *((mine, theirs) if player == 0 else (theirs, mine)))
    found = constant + float(np.dot(learning_game.weights[player] * plan, gradient))
    assert found == pytest.approx(value if player == 0 else -value, abs=1e-12)


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("player", [0, 1])
def test_best_responses_are_strategies_with_their_value(symmetry, player):
    learning_game = small_learning_game(MINI, symmetry)
    theirs, against = random_plan(learning_game, 1 - player, 4, symmetry == "full")
    value, behaviour = learning_game.best_response(player, learning_game.reach(1 - player, against))
    assert value == pytest.approx(naive.best_response_value(learning_game.game, player, theirs), abs=1e-12)
    constant, gradient = learning_game.gradient(player, learning_game.reach(1 - player, against))
    plan = learning_game.reach(player, behaviour).sequences
    assert constant + float(np.dot(learning_game.weights[player] * plan, gradient)) == pytest.approx(value, abs=1e-12)


def walk_regularised(game, policies, references, eta):
    """Player 0's value of a pair when each move costs its mover, and pays its opponent, eta log(policy / reference)."""

    def walk(history):
        if history.is_terminal():
            return history.returns()[0]
        mover, text = history.player, history.nodes[history.player]
        total = 0.0
        for square in history.legal():
            p = policies[mover][text][square]
            cost = eta * np.log(p / references[mover][text][square]) * (1 if mover == 0 else -1)
            total += p * (walk(history.attempt(square)) - cost)
        return total

    return walk(naive.History.start(game))


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", [MINI, CLASSICAL])
def test_regularised_values_are_zero_sum_and_those_of_a_plain_walk(name):
    """The root's value, with both players' terms, against a walk over histories."""
    learning_game = small_learning_game(name, "none")
    learner = started("r-nad", learning_game, eta=0.3, phase=4)
    learner.step(5)  # two references that differ, half-way between them
    policies, references = [], []
    learner.counts.iterations += 1  # as a step does first
    blend = float(learner._blend())
    assert 0 < blend < 1
    for p in (0, 1):
        rows = [
            {text: [0.0] * learning_game.game.squares for text in naive.infosets(learning_game.game, p)}
            for _ in range(2)
        ]
        mixed = np.exp(blend * learner.now[p] + (1 - blend) * learner.before[p])
        for numbers, table in zip((learner.policies[p], mixed), rows, strict=True):
            for (text, square), number in by_text(learning_game, p, numbers).items():
                table[text][square] = number
        policies.append(rows[0])
        references.append(rows[1])
    found = []
    original = learning_game.upward
    learner.counts.iterations -= 1
    try:
        learning_game.upward = lambda *arguments: found.append(original(*arguments))
        learner.step(1)
    finally:
        learning_game.upward = original
    expected = walk_regularised(learning_game.game, policies, references, 0.3)
    assert found == pytest.approx([expected, -expected], abs=1e-12)
    assert abs(expected - naive.value(learning_game.game, *policies)) > 1e-3


@pytest.mark.parametrize("name", ["mini-2x2k2-abrupt", "dark-hex-2x2-classical"])
def test_dilated_mirror_descent_is_openspiels(name):
    openspiel_game = pytest.importorskip("tests.learners.openspiel_game")
    mmd_dilated = pytest.importorskip("open_spiel.python.algorithms.mmd_dilated")
    game, learning_game = named_game(name), small_learning_game(name, "none")
    referee = mmd_dilated.MMDDilatedEnt(openspiel_game.SmallGame(game), alpha=0.2, stepsize=0.7)
    # From uniform play all steps would be symmetric: both start at the same random point.
    learner = started("mmd-dilated", learning_game, eta=0.7, alpha=0.2, power=0, updates="simultaneous")
    rng = np.random.default_rng(1)
    referee_policy = referee.get_policies()
    for p in (0, 1):
        for text in naive.infosets(game, p):
            legal = naive.legal_squares(game, text)
            row = rng.dirichlet(np.ones(len(legal)))
            for square, number in zip(legal, row, strict=True):
                referee_policy.policy_for_key(f"{p}{text}")[square] = number
        numbers = [
            referee_policy.policy_for_key(f"{p}{text}")[s] for text, s in helpers.sequence_texts(learning_game.index, p)
        ]
        learner.policies[p][:] = numbers
        learner.logits[p][:] = np.log(numbers)
        learning_game.reach(p, learner.policies[p], learner.reaches[p])
    referee.sequences = mmd_dilated.utils.policy_to_sequence(
        referee.game, referee_policy, referee.infoset_actions_to_seq
    )
    for _ in range(3):
        referee.update_sequences()
        learner.step(1)
    policies = referee.get_policies()
    for p in (0, 1):
        for (text, square), number in by_text(learning_game, p, learner.policies[p]).items():
            assert number == pytest.approx(policies.policy_for_key(f"{p}{text}")[square], abs=1e-10)


def test_behavioural_mirror_descent_is_the_formula():
    """Two steps, infoset by infoset, from the paper's closed form, with Q from plain walks."""
    game, learning_game = named_game(MINI), small_learning_game(MINI, "none")
    eta, alpha, pull = 0.4, 0.7, 0.3
    learner = started("mmd-magnet", learning_game, eta=eta, alpha=alpha, pull=pull, updates="simultaneous")
    tables = [naive.uniform(game, p) for p in (0, 1)]
    magnets = [naive.uniform(game, p) for p in (0, 1)]
    for _ in range(2):
        learner.step(1)
        changed = []
        for p in (0, 1):
            visits, worth = values_of(game, p, tables)
            table = {}
            for text, row in tables[p].items():
                legal = naive.legal_squares(game, text)
                wanted = {
                    s: (row[s] * magnets[p][text][s] ** (eta * alpha) * np.exp(eta * worth[text, s] / visits[text]))
                    ** (1 / (1 + eta * alpha))
                    for s in legal
                }
                total = sum(wanted.values())
                table[text] = [wanted.get(s, 0.0) / total for s in range(game.squares)]
                pulled = {s: magnets[p][text][s] ** (1 - pull) * table[text][s] ** pull for s in legal}
                total = sum(pulled.values())
                magnets[p][text] = [pulled.get(s, 0.0) / total for s in range(game.squares)]
            changed.append(table)
        tables = changed
    for p in (0, 1):
        for (text, square), number in by_text(learning_game, p, learner.policies[p]).items():
            assert number == pytest.approx(tables[p][text][square], abs=1e-12)


def values_of(game, player, tables):
    """Opponent's reach at each infoset, and counterfactual values of its actions, by a walk."""
    visits, worth = {}, {}

    def walk(history, reach):
        if history.is_terminal():
            return history.returns()[player] * reach
        mover, text = history.player, history.nodes[history.player]
        total = 0.0
        if mover == player:
            visits[text] = visits.get(text, 0.0) + reach
        for square in history.legal():
            p = tables[mover][text][square]
            value = walk(history.attempt(square), reach if mover == player else reach * p)
            if mover == player:
                worth[text, square] = worth.get((text, square), 0.0) + value
                value *= p
            total += value
        return total

    walk(naive.History.start(game), 1.0)
    return visits, worth


@pytest.mark.parametrize("updates", ["alternating", "simultaneous"])
@pytest.mark.parametrize("algorithm", ["mmd-magnet", "mmd-annealed", "mmd-dilated"])
def test_an_iteration_of_mirror_descent_takes_a_gradient_for_each_player(algorithm, updates):
    learning_game = small_learning_game(MINI)
    learner = started(algorithm, learning_game, updates=updates)
    learner.step(3)
    assert (learner.counts.iterations, learner.counts.gradients) == (3, 6)
    assert learner.counts.states == 6 * learning_game.nodes


def test_an_iteration_of_policy_space_oracles_takes_two_gradients_for_each_player():
    pytest.importorskip("scipy")
    learning_game = small_learning_game(MINI)
    learner = started("psro", learning_game)
    learner.step(3)
    assert (learner.counts.iterations, learner.counts.gradients) == (3, 12)
    assert learner.counts.states == 12 * learning_game.nodes


def test_fictitious_play_mixes_plans():
    """The average plan of three iterations is the mean of the responses' plans, not of their probabilities."""
    learning_game = small_learning_game(MINI, "full")
    learner = started("xfp", learning_game)
    plans = [[], []]
    for _ in range(3):
        for p in (0, 1):
            behaviour = learning_game.best_response(p, learner.plans[1 - p])[1]
            plans[p].append(learning_game.reach(p, behaviour).sequences.copy())
        learner.step(1)
    for p in (0, 1):
        np.testing.assert_allclose(learner.plans[p].sequences, np.mean(plans[p], axis=0), atol=1e-15)


# ---------------------------------------------------------------------------------------------
# Meta-games


@pytest.mark.long_but("nash", "regret")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("solve", [metagame.nash, metagame.regret_matching, metagame.projected_replicator])
def test_meta_solvers_find_equilibria_of_matrices(solve):
    if solve is metagame.nash:
        pytest.importorskip("scipy")
    rng = np.random.default_rng(2)
    for shape in ((3, 5), (6, 4)):
        payoffs = rng.normal(size=shape)
        x, y = solve(payoffs)
        assert x.min() >= 0 and x.sum() == pytest.approx(1) and y.min() >= 0 and y.sum() == pytest.approx(1)
        exploited = (payoffs @ y).max() - (x @ payoffs).min()
        assert -1e-9 <= exploited < (1e-9 if solve is metagame.nash else 0.05)


def test_projection_is_the_nearest_point():
    rng = np.random.default_rng(0)
    for _ in range(20):
        point, floor = rng.normal(size=5), 0.03
        found = metagame.project(point, floor)
        assert found.min() >= floor - 1e-12 and found.sum() == pytest.approx(1)
        for _ in range(50):
            other = floor + (1 - 5 * floor) * rng.dirichlet(np.ones(5))
            assert np.linalg.norm(found - point) <= np.linalg.norm(other - point) + 1e-12


def test_payoffs_of_a_population_are_the_values_of_its_matches():
    pytest.importorskip("scipy")
    learning_game = small_learning_game(MINI, "full")
    learner = started("psro", learning_game)
    learner.step(4)
    size = len(learner.payoffs)
    assert size >= 3
    for a in range(size):
        for b in range(size):
            pair = []
            for p, k in ((0, a), (1, b)):
                plan = learning_game.zeros(p)
                at, reach = learner.populations[p][k]
                plan[at] = reach
                pair.append(learning_game.strategy(p, plan))
            assert learner.payoffs[a, b] == pytest.approx(learning_game.evaluator(*pair).value, abs=1e-6)


@pytest.mark.slow
def test_the_restricted_game_grows_and_stays_smaller_than_the_whole():
    learner = started("sequence-oracle", small_learning_game(HIDDEN))
    sizes = []
    for _ in range(12):
        learner.step(10)
        sizes.append(sum(int(a.sum()) for a in learner.allowed))
    assert sizes == sorted(sizes) and sizes[0] < sizes[-1] < sum(len(a) for a in learner.allowed) / 2


def test_a_double_oracle_finds_an_equilibrium_in_a_small_part_of_the_game_and_stays():
    pytest.importorskip("highspy")
    learning_game = small_learning_game(HIDDEN)
    learner = started("double-oracle", learning_game)
    while not learner.settled:
        learner.step(1)
        found, proven = learning_game.evaluator(*learner.strategy()), learner.facts()
        last = learner.oracle.last  # the lazy responses prove what the exact evaluation of the whole game finds
        assert -found.best_response_1 == pytest.approx(last.lower, abs=1e-13)
        assert found.best_response_0 == pytest.approx(last.upper, abs=1e-13)
        assert proven["value_lower"] - 1e-14 <= 17 / 72 <= proven["value_upper"] + 1e-14
    assert abs(found.nashconv) < 1e-13 and found.value == pytest.approx(17 / 72, abs=1e-13)
    assert learner.counts.states > 0 and sum(last.sequences) < sum(i.sequences for i in learning_game.players) / 10
    before = learner.state()
    learner.step(3)
    assert all((array == before[name]).all() for name, array in learner.state().items())


def test_a_run_that_has_settled_ends(tmp_path):
    pytest.importorskip("highspy")
    learning_game = small_learning_game(MINI)
    for _ in range(2):  # and begins no other iteration when it is called again
        learner = started("double-oracle", learning_game)
        with Checkpoints(tmp_path, "same") as checkpoints:
            loop = Loop(learner, learning_game, Ends(max_minutes=1e6), checkpoints)
            assert loop.run() == "settled" and learner.settled
        rounds = {learner.counts.iterations, loop.rows[-1]["iteration"]}
        assert len(rounds) == 1 and rounds < set(range(3, 40)) and loop.rows[-1]["nashconv"] < 1e-14


# ---------------------------------------------------------------------------------------------
# Quality of results

BOUNDS = {  # algorithm and settings: iterations, bound on NashConv / 2 of MINI and of HIDDEN
    ("xfp",): (300, 0.04, 0.07),
    ("mmd-magnet", ("alpha", 0.1), ("eta", 1.0)): (200, 1e-4, 5e-3),
    ("mmd-annealed",): (300, 0.015, 0.05),
    ("mmd-dilated",): (300, 0.015, 0.005),
    ("r-nad", ("phase", 20)): (300, 0.005, 0.002),
    ("psro",): (40, 1e-7, 0.2),
    ("psro", ("meta_solver", "uniform")): (200, 0.05, 0.1),
    ("sequence-oracle",): (300, 0.004, 0.004),
    ("double-oracle",): (60, 1e-12, 1e-12),
}


@pytest.mark.slow_but_one
@pytest.mark.long_but("2x3k2", "mmd")
@pytest.mark.parametrize("game", [MINI, pytest.param(HIDDEN, marks=pytest.mark.slow)])
@pytest.mark.parametrize("chosen", BOUNDS, ids=lambda chosen: "-".join(map(str, chosen)))
def test_exact_learners_get_below_a_bound(chosen, game):
    algorithm, *settings = chosen
    if algorithm in ("psro", "double-oracle"):
        pytest.importorskip("scipy" if algorithm == "psro" else "highspy")
    iterations, *bounds = BOUNDS[chosen]
    found = learned(algorithm, game, iterations, **dict(settings))
    assert found < bounds[[MINI, HIDDEN].index(game)]


def test_every_exact_algorithm_has_a_bound():
    exact = {name for name, (module, _) in ALGORITHMS.items() if module.startswith("exact.")}
    assert exact == {algorithm for algorithm, *_ in BOUNDS}


def test_uniform_play_is_far_above_all_bounds():
    for game, least in ((MINI, 0.1), (HIDDEN, 0.2)):
        learning_game = small_learning_game(game)
        pair = (uniform_strategy(learning_game.index, 0), uniform_strategy(learning_game.index, 1))
        assert gap(learning_game, pair) > least
