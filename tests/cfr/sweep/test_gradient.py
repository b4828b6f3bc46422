"""The joint sweep, the passes and the evaluation, against the brute force over histories."""

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pttt_ooc.cfr.solving.evaluation import evaluate
from pttt_ooc.cfr.sweep import engine as engine_module
from pttt_ooc.cfr.sweep import gradient, vectors
from pttt_ooc.games.rules.catalogue import GAMES
from pttt_ooc.games.structure import building
from pttt_ooc.games.structure.timing import WORD
from tests.kits import helpers, naive

TOLERANCE = 1e-12


def check(name, symmetry, seed, zero_probability):
    game, rng = GAMES[name], random.Random(seed)
    engine = helpers.small_engine(name, symmetry)
    tables = [helpers.random_table(game, p, rng, zero_probability, symmetry == "full") for p in (0, 1)]
    strategies = [helpers.as_strategy(engine.index, p, tables[p]) for p in (0, 1)]
    for player in (0, 1):
        opponent = engine.reach(1 - player, strategies[1 - player].probabilities)
        nodes, sequences = engine.gradient(player, opponent)
        expected_sequences, expected_nodes = naive.gradient(game, player, tables[1 - player])
        texts = helpers.node_texts(engine.index, player)
        assert len(nodes) == len(texts)
        # Unreachable orders have no text in the brute force; they must contribute nothing.
        assert np.allclose(nodes, [expected_nodes.get(t, 0.0) for t in texts], rtol=0, atol=TOLERANCE)
        wanted = [expected_sequences[t][s] for t, s in helpers.sequence_texts(engine.index, player)]
        assert np.allclose(sequences, wanted, rtol=0, atol=TOLERANCE)
    found = evaluate(*strategies, engine, (0.0, 0.0))
    assert found.value == pytest.approx(naive.value(game, *tables), rel=0, abs=TOLERANCE)
    best = [naive.best_response_value(game, p, tables[1 - p]) for p in (0, 1)]
    assert found.best_response_0 == pytest.approx(best[0], rel=0, abs=TOLERANCE)
    assert found.best_response_1 == pytest.approx(best[1], rel=0, abs=TOLERANCE)
    assert found.nashconv == pytest.approx(sum(best), rel=0, abs=TOLERANCE)
    most = max(found.best_response_1, 0.0), max(found.best_response_0, 0.0)
    assert (found.exploitability_0, found.exploitability_1) == most


@pytest.mark.long_but("2x2", "2x3k2")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", helpers.TINY)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32), zero_probability=st.sampled_from([0.0, 0.3, 0.9]))
def test_random_strategies_on_tiny_games(name, symmetry, seed, zero_probability):
    check(name, symmetry, seed, zero_probability)


@pytest.mark.long_but("after-1-4", "after-1-0", "2x3-classical")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", helpers.SMALL)
def test_random_strategies_on_small_games(name, symmetry):
    check(name, symmetry, 1, 0.3)


@pytest.mark.long
def test_random_strategies_on_all_of_a_board_with_three_in_a_row():
    """The small games have a setup, which reduces symmetries; this is the fastest game without a setup."""
    check("mini-2x3k3-classical", "full", 1, 0.3)


@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", "mini-2x3k2-classical"])
def test_cells_beyond_16_bits_have_their_own_table(monkeypatch, name):
    usual = helpers.small_engine(name, "full").timings  # made, and kept for other tests, before the change
    monkeypatch.setattr(building, "NARROW", 9)
    engine = engine_module.Engine.of_game(GAMES[name], "full", np.float64, 1)
    for one, known in zip(engine.timings, usual, strict=True):
        assert len(one.order_cell) and len(one.wide_order_cell) and not len(known.wide_order_cell)
        assert one.order_cell.max() <= 9 < one.wide_order_cell.max()
        assert sorted([*one.order_cell, *one.wide_order_cell]) == sorted(known.order_cell)
    monkeypatch.setattr(helpers, "small_engine", lambda *which: engine)
    check(name, "full", 2, 0.3)
    engine.close()


def test_numbers_that_do_not_fit_32_bits_are_refused():
    assert building.as_int32(np.array([2**31 - 1, -5])).dtype == np.int32
    with pytest.raises(OverflowError, match="more entries than 32 bits"):
        building.as_int32(np.array([2**31]))


@pytest.mark.long_but("2x2", "2x3k2", "after-1-4", "after-1-0", "dark-hex-2x3")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("name", [*helpers.TINY, *helpers.SMALL])
def test_every_infoset_and_every_relevant_node_is_indexed(name):
    index = helpers.small_engine(name).index
    for player in (0, 1):
        infosets = {text for text, _ in helpers.sequence_texts(index, player)}
        assert infosets == set(naive.infosets(index.game, player))
        # A node is missing only if no player can win from it, so its gradient must be zero.
        table = naive.uniform(index.game, 1 - player)
        gradient = naive.gradient(index.game, player, table)[1]
        missing = set(gradient) - set(helpers.node_texts(index, player))
        assert all(gradient[text] == 0 for text in missing)


def test_threads_do_not_change_a_bit(monkeypatch):
    monkeypatch.setattr(engine_module, "RUN_WORK", 20)
    name = "mini-2x3k3-abrupt-after-1"
    rng = random.Random(5)
    table = naive.random_strategy(GAMES[name], 1, rng, 0.2)
    found = []
    for threads in (1, 2, 5, 16):  # with 16 threads, views are divided into more runs
        engine = engine_module.Engine.of_game(GAMES[name], "none", np.float32, threads)
        assert max(len(runs) for player in engine._gradient_runs for runs in player) > 9
        strategy = helpers.as_strategy(engine.index, 1, table)
        found.append(engine.gradient(0, engine.reach(1, strategy.probabilities)))
        engine.close()
    for nodes, sequences in found[1:]:
        assert np.array_equal(nodes, found[0][0])
        assert np.array_equal(sequences, found[0][1])


def test_threads_have_their_own_arrays():
    engine, together = helpers.small_engine("mini-2x2k2-abrupt"), Barrier(2, timeout=60)
    with ThreadPoolExecutor(2) as pool:
        mine, theirs = pool.map(lambda _: (together.wait(), engine._scratch())[1], range(2))
    assert not any(np.shares_memory(a, b) for a, b in zip(mine, theirs, strict=True))


def packed(matrix):
    """The bits of a matrix (source, receiver): for each index of the receiver, one word or more."""
    padded = np.zeros((matrix.shape[1], -(-matrix.shape[0] // WORD) * WORD), np.bool_)
    padded[:, : matrix.shape[0]] = matrix.T
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64).ravel()


@pytest.mark.slow
@pytest.mark.parametrize(("terms", "rows", "width"), [(1, 1, 1), (24, 18, 24), (64, 5, 6), (100, 7, 21), (120, 24, 2)])
def test_matrices_of_any_size(terms, rows, width):
    rng = np.random.default_rng(terms)
    matrix = rng.random((terms, rows)) < 0.3
    source = rng.integers(1, 9, (terms, width, vectors.LANES)).astype(np.float32)
    source[rng.random(terms) < 0.5] = 0
    expected = np.einsum("tr,twl->wrl", matrix, source)
    found, target = np.zeros(2, np.uint64), np.zeros((width, rows, vectors.LANES), np.float32)
    find_rows, multiply = helpers.compiled(gradient.find_rows), helpers.compiled(gradient.multiply)
    assert find_rows(source.ravel(), terms, width, found) == source.any()
    multiply(packed(matrix), source.ravel(), terms, width, found, target.reshape(-1), rows, 1, rows)
    assert np.array_equal(target, expected)
