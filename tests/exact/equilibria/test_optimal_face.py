"""Best and worst equilibrium strategies against linear programs over all sequences of small games."""

from functools import cache
from random import Random

import numpy as np
import pytest

from pttt_ooc.cfr.solving import highs_solver
from pttt_ooc.cfr.solving.highs_solver import BASIC
from pttt_ooc.exact.equilibria import face_program
from pttt_ooc.games.rules.catalogue import named_game
from tests.kits import naive
from tests.kits.equilibria import face_of
from tests.kits.helpers import as_strategy, random_table, symmetric_table

pytest.importorskip("scipy")
from tests.kits.naive_face import NaiveFace

GAMES = [
    *("mini-3x2k2-abrupt", "mini-2x3k2-classical", "mini-2x2k2-abrupt", "dark-hex-2x2-abrupt"),
    *(f"mini-2x3k3-{rule}{after}" for rule in ("abrupt", "classical") for after in ("-after-1", "-after-1-4")),
    *("dark-hex-3x2-classical", "pttt-abrupt-after-0-5-1-8-3"),
]


@pytest.fixture(scope="module")
def faces():
    return cache(face_of)


@pytest.mark.slow_but_one
@pytest.mark.long_but("mini-2x2", "2x3k2", "after-1-4", "dark-hex-2x2")
@pytest.mark.parametrize("name", GAMES)
def test_best_and_worst_equilibrium_strategies_are_those_of_all_sequences(name, faces):
    game, face = named_game(name), faces(name)
    index, engine = face.responses.index, face.responses.engine
    rng = Random(name)
    for player in (0, 1):
        reference = NaiveFace(game, player)
        assert reference.value == pytest.approx(face.value * (-1) ** player, abs=1e-9)
        tables = [naive.uniform(game, 1 - player)]
        tables += [random_table(game, 1 - player, rng, zeros, symmetric=True) for zeros in (0.0, 0.6)]
        for table in tables:
            opponent = as_strategy(index, 1 - player, table)
            constant, payoffs = face.responses.gradient(player, engine.reach(1 - player, opponent.probabilities))
            expected, beside = reference.payoffs_against(table)
            assert constant == pytest.approx(beside, abs=1e-12)
            for sign in (1, -1):
                found = face.extreme(player, sign * payoffs)
                best, _ = reference.extreme({sequence: sign * payoff for sequence, payoff in expected.items()})
                assert found.value == pytest.approx(best, abs=1e-8)
                assert found.bound == pytest.approx(found.value, abs=1e-8)
                # What is found is what its strategy does, by brute force.
                rows = symmetric_table(found.strategy)
                pair = (rows, table) if player == 0 else (table, rows)
                value = naive.value(game, *pair) * (-1) ** player
                assert sign * (value - constant) == pytest.approx(found.value, abs=1e-11)
                worst = -naive.best_response_value(game, 1 - player, rows)
                assert worst == pytest.approx(reference.value, abs=1e-9)
                assert found.loss < 1e-11


@pytest.mark.parametrize("player", [0, 1])
def test_each_program_begins_with_a_basis_of_its_own_size(player, monkeypatch):
    """One that does not fit is passed over without a word, and the program takes longer."""
    begun, rng = [], np.random.default_rng(0)

    def solve(program, options, start=None):
        if start is not None:
            assert list(map(len, start)) == [len(program.costs), len(program.rows[0])]
            assert sum((part == BASIC).sum() for part in start) == len(program.rows[0])
            begun.append(len(program.costs))
        return highs_solver.solve(program, options, start)

    monkeypatch.setattr(face_program, "solve", solve)
    face = face_of("mini-2x3k2-classical")
    for _ in range(3):
        face.extreme(player, rng.normal(size=face.responses.index.players[player].sequences))
    assert len(set(begun)) > 1 - player, "the restricted game of player 0 grows"
