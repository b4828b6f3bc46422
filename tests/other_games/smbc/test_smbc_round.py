"""One round of tic-tac-toe with secret goals: sizes, values and best responses, compared with a plain recursion."""

import numpy as np
import pytest

from pttt_ooc.config import check_section
from pttt_ooc.errors import ConfigError, GameError
from pttt_ooc.other_games.smbc import rules, tree
from pttt_ooc.other_games.smbc.match import payoffs
from pttt_ooc.other_games.smbc.round import Payoffs, best_response, fresh, outcomes, profile_of, scoring
from pttt_ooc.other_games.smbc.rules import BOARD, FIRST, SECOND, TIE, UNDECIDED, Rules
from pttt_ooc.other_games.smbc.settings import SolveSettings
from pttt_ooc.other_games.smbc.tree import Sizes, build
from tests.other_games.smbc import naive_rounds as naive


@pytest.fixture(scope="module")
def merged():
    return build(Rules())


def test_the_tree_has_the_sizes_that_others_have_counted(merged):
    plies = (1, 3, 12, 66, 360, 1710, 5974, 14066, 15346)
    assert merged.sizes() == Sizes(37_538, 23_129, 5_135, 9_274, plies)
    assert merged.sizes().infosets == 43_227
    sizes = build(Rules(cut=False)).sizes()
    assert (sizes.nodes, sizes.ends, sizes.first, sizes.second) == (58_524, 26_830, 19_324, 12_370)


@pytest.mark.long
def test_the_number_of_histories_is_the_known_one():
    assert naive.counts() == tree.KNOWN_SIZES[Rules(merge=False, cut=False)] == (549_946, 255_168, 180_361, 114_417)


def test_a_tree_of_other_sizes_is_refused(monkeypatch):
    monkeypatch.setitem(tree.KNOWN_SIZES, Rules(), (37_538, 23_129, 5_135, 9_275))
    with pytest.raises(GameError, match="this is a bug"):
        build(Rules())


def test_positions_end_as_the_rules_say():
    row, other = 0b000_000_111, 0b011_000_000
    assert Rules().outcome((row, other)) == FIRST
    assert Rules().outcome((0b001_001_000, row)) == SECOND
    assert Rules(fill_board=True).outcome((row, other)) == UNDECIDED
    assert Rules().outcome((0b101_011_010, 0b010_100_101)) == TIE


def test_goals_that_are_met():
    for outcome, ended in ((FIRST, "first"), (TIE, "nobody"), (SECOND, "second"), (rules.BOTH, "both")):
        for goals in np.ndindex(3, 3):
            names = tuple(rules.GOALS[goal] for goal in goals)
            assert rules.scores(outcome, goals) == naive.points(ended, names)


def canonical(merged_tree):
    """Maps histories to nodes of the merged tree and to the symmetry between them."""

    def find(history):
        symmetry, node, position = BOARD.symmetries[0], 0, rules.START
        for square in history:
            group = rules.stabilizer(position)
            image = symmetry[square]
            symmetry = min((tuple(g[s] for s in symmetry) for g in group), key=lambda g: g[square])
            assert symmetry[square] == min(g[image] for g in group)
            if not merged_tree.children(node):
                return None, None  # the outcome is forced
            node = next(c for c in merged_tree.children(node) if merged_tree.square[c] == symmetry[square])
            position = rules.after(position, symmetry[square])
        return node, symmetry

    return find


@pytest.mark.slow_but_one
@pytest.mark.parametrize("fill", [False, True])
@pytest.mark.parametrize("begun", [(4, 0, 8, 2), (1, 4, 3, 0)])
def test_values_and_best_responses_are_those_of_a_plain_recursion(fill, begun):
    """After given moves, both players use random probabilities."""
    t = build(Rules(fill_board=fill))
    random = np.random.default_rng(7)
    sums = random.random((t.nodes, 3)) ** 3
    find = canonical(t)
    node, taken = 0, begun
    for square in begun:  # for certain
        children = list(t.children(node))
        node = next(child for child in children if t.square[child] == square)
        sums[children] = 0
        sums[node] = 1
    profile = profile_of(t, sums)
    worth = Payoffs(0.3, 0.9, -0.8, -0.1)
    by_points = {(0, 0): 0.3, (1, 0): 0.9, (0, 1): -0.8, (1, 1): -0.1}

    def strategies(history):
        if len(history) < len(taken):
            return [[float(square == taken[len(history)]) for square in range(9)]] * 3
        node, symmetry = find(history)
        chances = np.zeros((3, 9))
        if node is None or not t.children(node):
            chances[:, naive.free(history)] = 1 / len(naive.free(history))
            return chances.tolist()
        for child in t.children(node):
            group = rules.stabilizer(position_of(t, node))
            orbit = {g[int(t.square[child])] for g in group}
            for square in naive.free(history):
                if symmetry[square] in orbit:
                    chances[:, square] = profile.strategy[child] / len(orbit)
        return chances.tolist()

    expected = naive.value(begun, strategies, by_points, fill)
    found = (outcomes(t, profile) * worth.table()).sum(axis=2)
    assert np.abs(found - expected).max() < 1e-12
    for player in (0, 1):
        response = best_response(t, player, worth, profile)
        reach = [1 / 9] * 3
        expected_values = naive.best(begun, player, strategies, by_points, reach, fill)
        assert np.abs(response.values[node] - expected_values).max() < 1e-12


def position_of(t, node):
    position = rules.START
    for square in t.history(node):
        position = rules.after(position, square)
    return position


def test_a_best_response_has_its_value(merged):
    random = np.random.default_rng(3)
    profile = profile_of(merged, random.random((merged.nodes, 3)))
    for player in (0, 1):
        response = best_response(merged, player, Payoffs(), profile)
        sums = np.where(np.repeat((plies(merged) % 2 == 1 - player)[:, None], 3, 1), response.best, profile.strategy)
        sums[0] = 1
        value = (outcomes(merged, profile_of(merged, sums)) * Payoffs().table()).sum() / 9
        assert abs(response.value - (1 - 2 * player) * value) < 1e-12


def plies(t):
    return np.repeat(np.arange(len(t.shape.plies) - 1), np.diff(t.shape.plies))


def solved(t, settings, iterations):
    solver = fresh(t, settings)
    solver.run(iterations)
    profile = solver.average()
    gap = sum(best_response(t, player, solver.payoffs, profile).value for player in (0, 1))
    return (outcomes(t, profile) * solver.payoffs.table()).sum() / 9, gap


def test_the_value_of_a_round_is_minus_a_ninth(merged):
    value, gap = solved(merged, SolveSettings(algorithm="hs-pcfr+"), 300)
    assert 0 <= gap < 1e-9
    assert abs(value + 1 / 9) < gap + 1e-14


def test_discount_is_faster_than_none(merged):
    assert (
        solved(merged, SolveSettings(algorithm="dcfr"), 100)[1]
        < solved(merged, SolveSettings(algorithm="cfr"), 100)[1] / 5
    )


@pytest.mark.slow_but_one
@pytest.mark.parametrize("algorithm", ["cfr+", "linear-cfr", "sapdcfr+", "hs-dcfr"])
def test_other_rules_converge(merged, algorithm):
    assert solved(merged, SolveSettings(algorithm=algorithm), 60)[1] < 0.06


def test_alternate_updates_answer_the_newest_strategy_and_simultaneous_ones_the_last(merged):
    """After one iteration the first player's regrets are the same, and the second player's are not."""
    start = profile_of(merged, np.zeros((merged.nodes, 3)))
    solvers = [fresh(merged, SolveSettings(algorithm="cfr", alternate_updates=way)) for way in (True, False)]
    for solver in solvers:
        solver.iterate()
    first, second = (np.flatnonzero((plies(merged) > 0) & (plies(merged) % 2 == turn)) for turn in (1, 0))
    assert np.array_equal(solvers[0].regrets[first], solvers[1].regrets[first])
    assert np.abs(solvers[0].regrets[second] - solvers[1].regrets[second]).max() > 1e-3
    children = list(merged.children(1))  # regrets of simultaneous updates: against what was played before
    values = best_of_children(merged, children, start, solvers[1].payoffs)
    expected = values - (start.strategy[children] * values).sum(axis=0)
    assert np.abs(solvers[1].regrets[children] - expected).max() < 1e-12


def best_of_children(tree, nodes, profile, worth):
    """The second player's values of nodes for each goal, by a plain walk, if both continue with a profile."""
    found = []
    for node in nodes:
        total, waiting = np.zeros(3), [(node, np.ones(3))]
        while waiting:
            place, own = waiting.pop()
            children = list(tree.children(place))
            if not children:
                last = place if len(tree.history(place)) % 2 else int(tree.shape.parent[place])
                table = -worth.table()[:, :, tree.shape.outcome[place]] / 9
                total += own * (profile.reach[last] @ table)
            for child in children:
                theirs = len(tree.history(place)) % 2
                waiting.append((child, own * profile.strategy[child] if theirs else own))
        found.append(total)
    return np.array(found)


def test_averages_weigh_strategies_by_reach(merged):
    """An iteration's strategy must count little at an infoset where it has little reach."""
    solver = fresh(merged, SolveSettings(algorithm="cfr"))
    total = np.zeros((merged.nodes, 3))
    for _ in range(3):
        solver.iterate()
        total += solver.current.reach
    average = solver.average()
    assert np.abs(average.reach[1:] - total[1:] / 3).max() < 1e-12


def test_a_bonus_for_small_moves_makes_them_more_likely(merged):
    plain, bonus = (
        fresh(merged, SolveSettings(algorithm="dcfr")),
        fresh(merged, SolveSettings(algorithm="dcfr", small_move_epsilon=0.5)),
    )
    plain.run(30)
    bonus.run(30)
    first = [int(c) for c in merged.children(0) if merged.square[c] == 0]
    assert (bonus.average().strategy[first] > plain.average().strategy[first]).all()
    faded = fresh(merged, SolveSettings(algorithm="dcfr", small_move_epsilon=0.5, small_move_epsilon_decay=1))
    faded.run(2)
    assert faded.settings.bonus(1) == 0.5 and faded.settings.bonus(2) == 0


def test_points_of_a_round_add_up(merged):
    chances = scoring(outcomes(merged, profile_of(merged, np.zeros((merged.nodes, 3)))))
    assert abs(chances.sum() - 1) < 1e-12
    assert payoffs((4, 4), 5, {(4, 4): 0.25}) == Payoffs(-0.25, 1, -1, -0.25)


@pytest.mark.parametrize(
    "wrong",
    [
        {"winning_score": 0},
        {"winning_score": 10},
        {"maximum_subgame_exploitability": -1.0},
        {"maximum_subgame_exploitability": float("nan")},
        {"check_exploitability_every": 0},
        {"algorithm": "dcrf"},
        {"gamma": float("inf")},
        {"small_move_epsilon_decay": 1.5},
    ],
)
def test_bad_settings_get_a_sentence(wrong):
    with pytest.raises(ConfigError, match=rf"^the options: {next(iter(wrong))} is .*, but must be .*\.$"):
        check_section(SolveSettings, wrong, "the options")


@pytest.mark.parametrize("name, values", [("winning_score", (1, 9)), ("small_move_epsilon_decay", (0, 1))])
def test_settings_reach_their_bounds(name, values):
    assert [getattr(SolveSettings(**{name: value}), name) for value in values] == [*values]
