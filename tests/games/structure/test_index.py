"""Views, orders and indices: counts, ranks, and the positions of nodes and sequences."""

from dataclasses import fields

import numba
import numpy as np
import pytest

from pttt_ooc.errors import StrategyError
from pttt_ooc.games.rules.catalogue import GAMES, named_game
from pttt_ooc.games.structure.index import build_index, infoset_counts
from pttt_ooc.games.structure.orders import all_orders, order_counts, rank_order, unrank
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.games.structure.symmetry import fold, unfold
from pttt_ooc.games.structure.views import find_pairs
from pttt_ooc.pipeline.files.structure_store import read_index, write_index
from tests.kits import helpers, naive

SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in helpers.SMALL]


@pytest.mark.parametrize("name", [*helpers.TINY, *SLOW])
def test_histories_and_infosets_are_counted_correctly(name):
    game = GAMES[name]
    pairs = find_pairs(game)
    everything, terminal, decisions = naive.count_histories(game)
    assert (pairs.terminal_histories, pairs.decision_histories) == (terminal, decisions)
    assert pairs.terminal_histories + pairs.decision_histories == everything
    for player in (0, 1):
        texts = naive.infosets(game, player)
        depths = [len(naive.attempts(text)) - len(game.setup[player]) for text in texts]
        assert infoset_counts(game, pairs, player).tolist() == np.bincount(depths).tolist()


@pytest.mark.full
def test_the_full_game_has_the_known_size():
    game = named_game("pttt-abrupt")
    pairs = find_pairs(game)
    assert len(pairs.mover) == 312_781
    assert pairs.decision_histories == 13_537_067_395 and pairs.terminal_histories == 13_578_403_440
    counts = [infoset_counts(game, pairs, player).tolist() for player in (0, 1)]
    assert counts[0] == [1, 9, 144, 1968, 21888, 186960, 1137600, 4384800, 8749440]
    assert counts[1] == [1, 18, 288, 3936, 43656, 365640, 2073600, 6340320]
    symmetric = build_index(game, "full", pairs)
    assert [p.sequences for p in symmetric.players] == [3_185_905, 2_821_241]


@pytest.mark.slow
@pytest.mark.long_but("classical", "after")
@pytest.mark.parametrize("name", ["pttt-abrupt", "pttt-classical", "pttt-abrupt-after-0-5-1-8-3"])
@pytest.mark.parametrize("player", [0, 1])
def test_ranks_are_a_bijection_with_the_last_attempt_as_major_digit(name, player):
    game = GAMES[name]
    counts = order_counts(game, player)
    pairs = find_pairs(game)
    views = np.unique(np.stack([pairs.placed[player], pairs.failed[player]]), axis=1)
    rng = np.random.default_rng(1)
    for column in rng.choice(views.shape[1], 40):
        placed, failed = views[:, column].tolist()
        table = all_orders(placed, failed, *counts.tables)
        assert len(table) == counts.of(np.array(placed), np.array(failed))
        assert len({tuple(row) for row in table.tolist()}) == len(table)
        last_attempts = table[:, -1].tolist() if table.shape[1] else []
        assert last_attempts == sorted(last_attempts)
        for rank in rng.choice(len(table), min(len(table), 20)):
            out = np.zeros(game.squares, np.int8)
            n = helpers.compiled(unrank)(rank, placed, failed, *counts.tables, out)
            assert helpers.compiled(rank_order)(out, n, placed, *counts.tables) == rank


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("name", [*helpers.TINY, "pttt-abrupt-after-1-0-3-2-4-8"])
def test_children_and_parents_have_the_right_texts(name, symmetry):
    index = helpers.small_engine(name, symmetry).index
    for player in (0, 1):
        mine = index.players[player]
        texts, sequences = helpers.node_texts(index, player), helpers.sequence_texts(index, player)
        images = [{naive.image(index.game, text, g) for g in index.group} for text in texts]
        for v in range(len(mine.placed)):
            orders = int(mine.node_start[v + 1] - mine.node_start[v])
            actions = (mine.sequence_start[v + 1] - mine.sequence_start[v]) // max(orders, 1)
            for j in range(int(actions)):
                for outcome in (0, 1):
                    child = mine.child_start[v, j, outcome]
                    for r in range(orders if child >= 0 else 0):
                        text, square = sequences[mine.sequence_start[v] + j * orders + r]
                        start = mine.child_map[v, j, outcome]
                        rank = r if start < 0 else int(mine.relabelling[start + r])
                        assert f"{text}{square}{'.*'[outcome]}" in images[child + rank]


def test_unfold_and_fold_are_inverse():
    name = "mini-2x3k2-abrupt"
    whole, folded = helpers.small_engine(name, "none").index, helpers.small_engine(name, "full").index
    rng = np.random.default_rng(3)
    for player in (0, 1):
        strategy = uniform_strategy(folded, player, np.float64)
        strategy.probabilities[...] = rng.random(len(strategy.probabilities))
        # A random one is not symmetric where a representative is symmetric itself; tolerate that here.
        again = fold(unfold(strategy, whole), folded, tolerance=2.0)
        assert np.array_equal(again.probabilities, strategy.probabilities)


def test_a_strategy_that_is_not_symmetric_is_refused():
    name = "mini-2x3k2-abrupt"
    whole, folded = helpers.small_engine(name, "none").index, helpers.small_engine(name, "full").index
    strategy = uniform_strategy(whole, 0, np.float64)
    strategy.probabilities[0] += 0.1
    with pytest.raises(StrategyError, match="not symmetric"):
        fold(strategy, folded)
    fold(uniform_strategy(whole, 0, np.float64), folded)


@pytest.mark.parametrize("symmetry", ["none", "full"])
def test_the_blocks_of_a_view_are_all_of_its_orders(symmetry):
    for mine in build_index(named_game("mini-2x3k2-abrupt"), symmetry).players:
        has_orders = (mine.placed | mine.failed) != 0
        assert np.array_equal(mine.block_start[has_orders, -1], np.diff(mine.node_start)[has_orders])


@pytest.mark.parametrize("symmetry", ["none", "full"])
def test_kernels_cannot_tell_a_built_index_from_a_mapped_one(tmp_path, symmetry):
    """Otherwise they would be compiled again in the middle of a solve."""
    index = build_index(named_game("mini-2x3k2-abrupt"), symmetry)
    write_index(tmp_path, index)
    mapped = read_index(tmp_path, index.game.name, symmetry)
    for built, read in zip((*index.players, *index.orbits), (*mapped.players, *mapped.orbits), strict=True):
        for field in fields(built):
            assert numba.typeof(getattr(built, field.name)) == numba.typeof(getattr(read, field.name)), field.name


def test_without_relabelling_there_are_no_tables():
    for mine in build_index(named_game("mini-2x3k2-abrupt"), "none").players:
        assert len(mine.relabelling) == 0 and (mine.child_map == -1).all() and (mine.parent_map == -1).all()
