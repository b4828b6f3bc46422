"""The baseline walk, against the package; and the benchmarks' command, on a small board."""

import random

import numpy as np
import pytest

from benchmarks import exact, schedule, widths
from benchmarks.walk import build_trie, uniform_reach, walk_all
from pttt_ooc.games.rules.catalogue import GAMES
from pttt_ooc.games.structure.index import actions_of
from pttt_ooc.games.structure.views import find_pairs
from tests.kits import helpers, naive


def slots_of(trie, index, player):
    """Slot of every node of an index, and for every sequence that of its node and its own."""
    game, of_text = index.game, {}
    mover = game.first_player
    root = trie.start[:2] if mover == player else trie.start[2:]
    for text in helpers.node_texts(index, player):
        placed, failed, (view, slot) = 0, 0, root
        for square, marked in naive.attempts(text)[len(game.setup[player]) :]:
            action = actions_of(game, player, placed | failed).index(square)
            view, distance = trie.children[view, action, int(marked)]
            if view < 0:
                break  # an order that nobody can reach
            slot += distance
            placed, failed = placed | marked << square, failed | (not marked) << square
        of_text[text] = int(slot) if view >= 0 else -1
    nodes = [of_text[text] for text in helpers.node_texts(index, player)]
    sequences = []
    for text, square in helpers.sequence_texts(index, player):
        legal = naive.legal_squares(game, text)
        sequences.append(of_text[text] + 1 + legal.index(square) if of_text[text] >= 0 else -1)
    return np.array(nodes), np.array(sequences)


def compare(name, dtype, tolerance, strategies):
    game, engine = GAMES[name], helpers.small_engine(name, dtype=dtype)
    trie = build_trie(game, find_pairs(game))
    slots = [slots_of(trie, engine.index, player) for player in (0, 1)]
    reaches = [engine.reach(player, strategies[player].probabilities.astype(dtype)) for player in (0, 1)]
    reach = np.zeros(trie.slots, dtype)
    for own, (nodes, sequences) in zip(reaches, slots, strict=True):
        reach[nodes[nodes >= 0]] = own.nodes[nodes >= 0]
        reach[sequences[sequences >= 0]] = own.sequences[sequences >= 0]
    gradient = np.zeros_like(reach)
    pairs = find_pairs(game)
    assert walk_all(trie, [trie.start], reach, [gradient]) == pairs.decision_histories + pairs.terminal_histories
    seen = np.zeros(trie.slots, bool)
    for player in (0, 1):
        for found, places in zip(engine.gradient(player, reaches[1 - player]), slots[player], strict=True):
            there = places >= 0
            assert np.allclose(gradient[places[there]], found[there], rtol=0, atol=tolerance)
            assert not found[~there].any()
            seen[places[there]] = True
    assert not gradient[~seen].any()
    return reach, trie


@pytest.mark.slow_but_one
@pytest.mark.long_but("2x2", "2x3k2", "after-1-4")
@pytest.mark.parametrize("name", [*helpers.TINY, *helpers.SMALL[2:5]])
def test_the_walk_makes_the_same_gradients_as_the_engine(name):
    game, rng, index = GAMES[name], random.Random(3), helpers.small_engine(name).index
    tables = [helpers.random_table(game, player, rng) for player in (0, 1)]
    strategies = [helpers.as_strategy(index, player, tables[player]) for player in (0, 1)]
    compare(name, np.float64, 1e-12, strategies)


@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", "mini-2x3k2-classical"])
def test_parts_of_the_walk_add_up(name):
    game = GAMES[name]
    trie = build_trie(game, find_pairs(game))
    reach = uniform_reach(trie, np.float64)
    whole, parts = np.zeros(trie.slots), [np.zeros(trie.slots), np.zeros(trie.slots)]
    histories = walk_all(trie, [trie.start], reach, [whole])
    # Nobody can win within two attempts, so that only the start and its children are left out.
    starts = trie.starts(2)
    assert histories == walk_all(trie, starts, reach, parts) + 1 + len(trie.starts(1))
    assert np.allclose(whole, sum(parts), rtol=0, atol=1e-12)


def test_a_schedule_is_played_through():
    iteration = schedule.Iteration([[3.0, 1.0, 1.0, 1.0], [2.0]], seconds=10.0)
    assert iteration.between == 2.0
    assert schedule.simulated(iteration, 1) == 10.0
    assert schedule.simulated(iteration, 2, handover=0.0) == 2 + 3 + 2
    assert schedule.simulated(iteration, 2, handover=0.5) == 2 + 3.5 + 2  # from 0.5 to 3.5, beside 0 to 3
    assert schedule.simulated(iteration, 3, handover=0.0) == schedule.longest(iteration) == 7.0


@pytest.mark.slow_but_one
@pytest.mark.parametrize("variant", exact.VARIANTS)
def test_the_double_oracle_is_measured_whole_and_without_its_parts(variant):
    pytest.importorskip("highspy")
    whole, run = (exact.one_run("mini-2x3k3-abrupt", one, 1e9) for one in ("whole", variant))
    assert run["settled"] and run["value"] == pytest.approx(whole["value"], abs=1e-12)
    assert 0 < run["responses"] <= run["seconds"]
    more = {"no clairvoyance": "visited", "no symmetry": "sequences"}.get(variant)
    if more:
        assert all(one > other for one, other in zip(run[more], whole[more], strict=True))
    else:
        assert run["visited"] == whole["visited"] or variant == "cold programs"


def test_a_row_tells_when_the_interval_had_each_width(capsys):
    pytest.importorskip("highspy")
    found = [(1.0, 0.5, 10), (2.0, 0.2, 20), (3.0, 0.02, 30), (4.0, 0.0, 25)]
    assert list(widths.cells(found)) == ["2.0; 20", "3.0; 30", "3.0; 30", *["4.0; 25"] * 3]
    assert list(widths.cells(found[:3])) == ["2.0; 20", "3.0; 30", "3.0; 30", "", "", ""]
    widths.main(["mini-2x3k2-abrupt"])
    [head, rule, row] = capsys.readouterr().out.splitlines()
    assert head.endswith("| 0.001 | exact |") and row.startswith("| `mini-2x3k2-abrupt` | ")
    assert head.count("|") == rule.count("|") == row.count("|")
    spent, narrow, size = zip(*widths.curve("mini-2x3k3-abrupt", 1e9, 1000), strict=True)
    assert list(spent) == sorted(spent) and list(narrow) == sorted(narrow, reverse=True)
    assert narrow[-1] < 1e-12 and size[-1] < max(size)  # pruned before programs
