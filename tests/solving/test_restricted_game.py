"""Restricted games and their linear programs: classes of sequences, equilibria, and refusals."""

import numpy as np
import pytest

from pttt_ooc.errors import PtttError
from pttt_ooc.learners.sampled.restricted_walk import restricted_walk
from pttt_ooc.solving import linear_program
from pttt_ooc.solving.restricted_game import RestrictedGames, classes_of
from pttt_ooc.structure.symmetry import Symmetriser
from tests.kits import helpers, naive
from tests.learners.learning_kit import HIDDEN, MINI, small_learning_game

pytest.importorskip("scipy")

CLASSICAL = "mini-2x3k3-classical-after-1"


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", [MINI, HIDDEN, CLASSICAL])
def test_classes_are_mirror_images(name, symmetry):
    index, rng = small_learning_game(name, symmetry).index, np.random.default_rng(1)
    classes = classes_of(index)
    assert classes[0].min() == 1 and classes[1].min() == classes[0].max() + 1
    for p in (0, 1):
        numbers = rng.random(len(classes[p]))
        means = np.bincount(classes[p], numbers)[classes[p]] / np.bincount(classes[p])[classes[p]]
        Symmetriser(index, p)(numbers)
        np.testing.assert_allclose(numbers, means, atol=1e-15)
        assert symmetry == "full" or len(np.unique(classes[p])) == len(classes[p])


def wins(history):
    """Won histories from a history on."""
    if history.is_terminal():
        return history.winner is not None
    return sum(map(wins, map(history.attempt, history.legal())))


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", [MINI, CLASSICAL, "mini-2x2k2-abrupt"])
def test_the_linear_program_of_the_whole_game_has_its_value_and_its_wins(name, symmetry):
    learning_game = small_learning_game(name, symmetry)
    games = RestrictedGames(learning_game.index, restricted_walk(learning_game.index))
    value, plans = games.solve(tuple(np.ones(i.sequences, bool) for i in learning_game.players))
    assert games.walked == wins(naive.History.start(learning_game.game))
    pair = [learning_game.strategy(p, plans[p]) for p in (0, 1)]
    found = learning_game.evaluator(*pair)
    assert found.nashconv < 1e-6 and value == pytest.approx(found.value, abs=1e-6)  # strategies of single precision


@pytest.mark.parametrize("name", [MINI, CLASSICAL])
def test_a_walk_keeps_to_the_allowed_actions(name):
    """Its won histories, infosets and payoffs are those that a plain walk finds."""
    index, rng = small_learning_game(name, "none").index, np.random.default_rng(3)
    allowed = [rng.random(i.sequences) < 0.6 for i in index.players]
    keys = [{key: n for n, key in enumerate(helpers.sequence_texts(index, p))} for p in (0, 1)]
    nodes = [{text: n for n, text in enumerate(helpers.node_texts(index, p))} for p in (0, 1)]
    classes, before, found = classes_of(index), np.full((2, max(i.nodes for i in index.players)), -1), []

    def walk(history, last):
        if history.winner is not None:
            found.append((*last, history.returns()[0]))
        for square in history.legal():
            p, text = history.player, history.nodes[history.player]
            before[p, nodes[p][text]] = last[p]
            sequence = keys[p][text, square]
            if allowed[p][sequence]:
                now = int(classes[p][sequence])
                walk(history.attempt(square), (now, last[1]) if p == 0 else (last[0], now))

    walk(naive.History.start(index.game), (0, 0))
    won = restricted_walk(index)(np.concatenate(allowed), np.concatenate(classes))
    assert found and sorted(found) == sorted(zip(*won.sequences.T.tolist(), won.payoffs.tolist(), strict=True))
    np.testing.assert_array_equal(won.before, before)


def test_a_mixture_is_the_best_in_the_worst_column():
    found = linear_program.maximin(np.array([[2.0, -1.0], [-1.0, 1.0]]))
    np.testing.assert_allclose(found, [0.4, 0.6], atol=1e-9)


def test_a_program_without_solution_gets_a_sentence():
    one = np.ones((1, 1))
    program = linear_program.LinearProgram(np.ones(1), one, -np.ones(1), one, np.ones(1), 1)  # x <= -1 and x = 1
    with pytest.raises(PtttError, match=r"^The linear program of a test cannot be solved: "):
        linear_program.solve(program, "a test")
