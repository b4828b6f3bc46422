"""Positions in the viewer's orientation, their values, and snapshots; compared with plain recursions."""

import functools
import itertools

import numpy as np
import pytest

from pttt_ooc.errors import GameError, StoreError
from pttt_ooc.other_games.smbc.findings_stage import open_values
from pttt_ooc.other_games.smbc.inspection import Lookouts, beliefs_at, reach_at
from pttt_ooc.other_games.smbc.oriented_position import Place
from pttt_ooc.other_games.smbc.pages.views import ExploreAddress, rows_of
from pttt_ooc.other_games.smbc.rules import GOALS, UNDECIDED, Rules
from pttt_ooc.other_games.smbc.solve import is_due, list_iterations
from pttt_ooc.other_games.smbc.tree import build
from tests.other_games.smbc import naive_rounds as naive

MERGED = build(Rules())
DEEP = [(4, 8, 2, 6), (8, 4, 0, 2), (2, 4, 6, 8), (1, 3, 4, 7, 0)]


@pytest.fixture(scope="module")
def lookouts(coarse):
    return Lookouts(coarse)


def strategies(tree, strategy):
    """The input of :mod:`naive_rounds`: a probability for each goal and square; any where the round is decided."""

    def at(history):
        place = Place(tree)
        for square in history:
            if not place.ways:
                break
            place = place.step(square)
        rows = []
        for goal in range(3):
            chances = place.chances(strategy[:, goal]) if place.ways else {naive.free(history)[0]: 1.0}
            rows.append([chances.get(square, 0.0) for square in range(9)])
        return rows

    return at


def worth_of(lookouts, scores):
    found = lookouts.worth(scores)
    return {(0, 0): found.neither, (1, 0): found.first, (0, 1): found.second, (1, 1): found.both}


@pytest.mark.parametrize("squares", DEEP)
def test_values_are_those_of_all_histories(lookouts, squares):
    """The tree merges and cuts; the recursion plays to the end, in the viewer's orientation."""
    scores = (1, 0)
    lookout, tree = lookouts.lookout(scores), lookouts.solution.tree
    place = Place.of(tree, squares)
    expected = naive.value(squares, strategies(tree, lookout.average.strategy), worth_of(lookouts, scores))
    for first, second in itertools.product(range(3), range(3)):
        assert abs(lookout.see(place, (first, second)).value - expected[first][second]) < 1e-12


@pytest.mark.parametrize("squares", DEEP)
@pytest.mark.parametrize("player", [0, 1])
def test_best_response_values_are_those_of_all_histories(lookouts, squares, player):
    scores = (0, 1)
    lookout, tree = lookouts.lookout(scores), lookouts.solution.tree
    place = Place.of(tree, squares)
    chances = strategies(tree, lookout.average.strategy)
    others = np.ones(3)  # the opponent's reach, from the history's own probabilities
    for number, square in enumerate(squares):
        if number % 2 != player:
            others *= [row[square] for row in chances(squares[:number])]
    expected = naive.best(squares, player, chances, worth_of(lookouts, scores), (others / others.sum()).tolist())
    for goal in range(3):
        goals = (goal, 0) if player == 0 else (0, goal)
        assert abs(lookout.see(place, goals).best_values[player] - expected[goal]) < 1e-12
    posterior = beliefs_at(tree, lookout.average, place, 1 - player)
    assert np.abs(posterior - others / others.sum()).max() < 1e-12


def test_the_beginning_of_a_round_has_the_value_of_its_scores(lookouts):
    for scores, value in lookouts.values.items():
        lookout = lookouts.lookout(scores)
        start = Place(lookouts.solution.tree)
        seen = [lookout.see(start, goals).value for goals in itertools.product(range(3), range(3))]
        assert abs(sum(seen) / 9 - value) < 1e-12


@pytest.mark.slow
def test_values_with_open_goals_are_those_of_plain_minimax(lookouts):
    """Without order or tree: positions are sets of squares."""
    worth, tree = worth_of(lookouts, (1, 0)), lookouts.solution.tree

    @functools.cache
    def minimax(first, second, goals):
        history = tuple(
            square for pair in itertools.zip_longest(first, second) for square in pair if square is not None
        )
        ended = naive.result(history)
        if ended:
            return worth[naive.points(ended, goals)]
        turn = len(history) % 2
        sides = (first, second)
        following = []
        for square in naive.free(history):
            new = tuple(sorted((*sides[turn], square)))
            following.append(minimax(*((new, second) if turn == 0 else (first, new)), goals))
        return min(following) if turn else max(following)

    found = open_values(tree, lookouts.worth((1, 0)))[0]
    for first, second in itertools.product(range(3), range(3)):
        assert abs(found[first, second] - minimax((), (), (GOALS[first], GOALS[second]))) < 1e-12


def test_values_of_moves_are_the_movers_expectations(lookouts):
    """The moves' mean value, by their probabilities, is the mean of the values by the opponent's goals."""
    lookout, tree = lookouts.lookout((0, 0)), lookouts.solution.tree
    for squares in ((), (4,), (4, 8), (0, 4)):
        place = Place.of(tree, squares)
        player = place.player
        for goal in range(3):
            pairs = [(goal, other) if player == 0 else (other, goal) for other in range(3)]
            seen = [lookout.see(place, pair) for pair in pairs]
            others = reach_at(tree, lookout.average, place.node, 1 - player)
            mean = (
                sum(r * s.value for r, s in zip(others, seen, strict=True)) / others.sum() * (1 if player == 0 else -1)
            )
            moves = seen[0].moves
            assert abs(sum(move.average for move in moves) - 1) < 1e-12
            assert abs(sum(move.average * move.value for move in moves) - mean) < 1e-12
            assert max(move.best_value for move in moves) == pytest.approx(seen[0].best_values[player], abs=1e-12)
            assert [m.best for m in moves].count(True) == 1 and max(moves, key=lambda m: m.best_value).best


def test_equivalent_squares_lead_to_the_same_node():
    start = Place(MERGED)
    assert start.alike() == [(0, 2, 6, 8), (1, 3, 5, 7), (4,)]
    assert {start.step(square).node for square in (0, 2, 6, 8)} == {start.step(0).node}
    corner = start.step(8)
    assert corner.turned[8] == MERGED.history(corner.node)[0]
    assert corner.alike() == [(0,), (1, 3), (2, 6), (4,), (5, 7)]
    chances = start.chances(np.where(np.arange(MERGED.nodes) == start.step(0).node, 0.6, 0.2).tolist())
    assert chances == {**dict.fromkeys((0, 2, 6, 8), 0.15), **dict.fromkeys((1, 3, 5, 7), 0.05), 4: 0.2}


def test_every_history_has_a_place_with_the_right_end():
    """Random games in any orientation end where the rules decide them."""
    rules, random = Rules(), np.random.default_rng(1)
    for _ in range(100):
        place, squares = Place(MERGED), random.permutation(9).tolist()
        while place.outcome == UNDECIDED:
            assert rules.end(place.position) == UNDECIDED
            place = place.step(squares[len(place.squares)])
        assert rules.end(place.position) == place.outcome
        with pytest.raises(GameError, match="decided"):
            place.step(next(s for s in range(9) if s not in place.squares) if len(place.squares) < 9 else 0)


@pytest.mark.parametrize(("square", "sentence"), [(4, "Square 4 is taken"), (9, "no square 9"), (-1, "no square -1")])
def test_impossible_moves(square, sentence):
    with pytest.raises(GameError, match=sentence):
        Place.of(MERGED, (4,)).step(square)


def test_snapshots_on_a_schedule(coarse, lookouts):
    assert [checks for checks in range(1, 40) if is_due(checks)] == [1, 2, 4, 8, 16, 32]
    for scores in ((0, 0), (1, 0), (0, 1), (1, 1)):
        last, found = lookouts.last(scores), lookouts.iterations(scores)
        assert found == [0, *(n for n in (10, 20, 40, 80, 160, 320) if n < last), last]
    assert list_iterations(coarse / "nothing") == [0]


def test_an_iteration_without_a_snapshot_gets_a_sentence(lookouts):
    with pytest.raises(StoreError, match="no snapshot of iteration 11; there are snapshots of 0, 10, "):
        lookouts.lookout((0, 0), 11)


def test_the_first_snapshot_is_uniform_and_the_last_is_the_solution(lookouts):
    place, scores = Place(lookouts.solution.tree), (1, 1)
    before = lookouts.lookout(scores, 0).see(place, (0, 0))
    assert [move.average for move in before.moves] == [1 / 3] * 3 and all(move.regret == 0 for move in before.moves)
    last = lookouts.lookout(scores)
    exact = lookouts.solution.profiles[scores].strategy
    assert np.array_equal(last.average.strategy, exact)
    assert np.abs(last.snapshot.average - exact).max() < 1e-6 and np.abs(last.current.strategy - exact).max() > 1e-3
    assert GOALS == ("win", "tie", "lose")


def test_the_board_of_a_page_shows_marks_moves_and_shared_probabilities():
    moves = [{"squares": [0, 8], "average": 0.5}, {"squares": [5], "average": 0.25}]
    board = rows_of(ExploreAddress(0, 0, 0, 0, (4, 2, 6), None), {"moves": moves})
    taken = [(cell.square, cell.mark, cell.number) for cell in board if cell.mark]
    assert taken == [(2, "o", 2), (4, "x", 1), (6, "x", 3)]
    chances = {cell.square: (cell.probability, cell.shade) for cell in board if cell.probability is not None}
    assert chances == {0: (0.25, 2), 8: (0.25, 2), 5: (0.25, 2)}
    assert [move["label"] for move in moves] == ["0 8", "5"]
