"""The choice among equilibrium strategies, against linear programs over all sequences of small games."""

from random import Random

import pytest

from pttt_ooc.exact.equilibria.choice import ERRS, choose_strategy
from pttt_ooc.exact.equilibria.openings import opening_ranges
from pttt_ooc.games.rules.catalogue import named_game
from tests.kits import naive
from tests.kits.equilibria import face_of
from tests.kits.helpers import as_strategy, random_table, symmetric_table

pytest.importorskip("scipy")
from tests.kits.naive_face import NaiveFace

GAMES = ["mini-2x3k2-classical", "mini-2x3k3-abrupt-after-1-4", "dark-hex-2x2-abrupt"]


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", GAMES)
def test_no_equilibrium_strategy_wins_more_against_the_opponent(name):
    game, face = named_game(name), face_of(name)
    rng = Random(name)
    for player in (0, 1):
        reference = NaiveFace(game, player)
        errs = naive.uniform(game, 1 - player)
        told = random_table(game, 1 - player, rng, 0.6, symmetric=True)
        for opponent in (None, told):
            given = None if opponent is None else as_strategy(face.responses.index, 1 - player, told)
            found = choose_strategy(face, player, given)
            parts = [(1.0, errs)] if opponent is None else [(1 - ERRS, told), (ERRS, errs)]
            payoffs, beside, value = {}, 0.0, 0.0
            rows = symmetric_table(found.strategy)
            for weight, table in parts:
                more, constant = reference.payoffs_against(table)
                beside += weight * constant
                for sequence, payoff in more.items():
                    payoffs[sequence] = payoffs.get(sequence, 0.0) + weight * payoff
                pair = (rows, table) if player == 0 else (table, rows)
                value += weight * naive.value(game, *pair) * (-1) ** player
            best, _ = reference.extreme(payoffs)
            assert found.value == pytest.approx(best + beside, abs=1e-8)
            assert value == pytest.approx(found.value, abs=1e-11)
            assert -naive.best_response_value(game, 1 - player, rows) == pytest.approx(reference.value, abs=1e-11)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", ["mini-2x3k2-classical", "dark-hex-2x2-abrupt", "mini-2x3k3-abrupt-after-1-4"])
def test_ranges_of_openings_are_those_of_all_sequences(name):
    game, face, seen = named_game(name), face_of(name), 0
    for player in (0, 1):
        reference, first = NaiveFace(game, player), naive.setup_text(game, player)
        squares = []
        for one in opening_ranges(face, player):
            ends = [sign * reference.extreme({(first, s): sign for s in one.squares})[0] for sign in (-1.0, 1.0)]
            assert (one.lowest, one.highest) == pytest.approx(tuple(ends), abs=1e-7)
            assert {g[s] for g in game.symmetries for s in one.squares} == set(one.squares)
            squares += one.squares
            seen += one.highest - one.lowest > 1e-3
        assert sorted(squares) == naive.legal_squares(game, first)
    assert seen or name != "mini-2x3k2-classical"  # some of the ranges are wide
