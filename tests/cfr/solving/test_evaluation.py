"""Evaluation: refusals, precision, intervals.  Values are tested in sweep/test_gradient.py."""

import threading
from contextlib import closing
from dataclasses import replace
from mmap import PAGESIZE

import numpy as np
import pytest

from pttt_ooc.cfr.solving.assessment import assess
from pttt_ooc.cfr.solving.evaluation import ProfileEvaluator, evaluate, evaluation_arrays, intersect
from pttt_ooc.cfr.sweep import engine as engine_module
from pttt_ooc.cfr.sweep.engine import Engine, engine_needs
from pttt_ooc.disk import piece_buffers
from pttt_ooc.disk.memory import MemoryNeeds
from pttt_ooc.disk.piece_buffers import PieceBuffers
from pttt_ooc.errors import StrategyError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.index import build_index
from pttt_ooc.games.structure.strategy import Strategy, uniform_strategy
from pttt_ooc.games.structure.symmetry import fold
from tests.kits.carried import needs_carried_pieces
from tests.kits.helpers import full_index, small_engine

NAME = "mini-2x3k2-abrupt"


def uniform(index):
    return tuple(uniform_strategy(index, player, np.float64) for player in (0, 1))


def test_intervals_are_intersected():
    assert intersect((0.1, 0.5), None) == (0.1, 0.5)
    assert intersect((0.1, 0.5), (0.2, 0.9)) == (0.2, 0.5)
    assert intersect((0.1, 0.2), (0.3, 0.4)) == (0.1, 0.2)


def test_evaluation_is_exact_for_any_precision_of_the_engine():
    double, single = small_engine(NAME), small_engine(NAME, dtype=np.float32)
    strategies = uniform(double.index)
    wanted = replace(evaluate(*strategies, double), seconds=0)
    assert replace(evaluate(*strategies, single), seconds=0) == wanted
    assert replace(ProfileEvaluator(single)(*strategies), seconds=0) == wanted
    exact, found = assess(strategies[0], double), assess(strategies[0], single)
    assert found.best_response == exact.best_response
    assert found.gradient.sequences.tobytes() == exact.gradient.sequences.tobytes()
    assert found.plan.tobytes() == exact.plan.tobytes()


@pytest.mark.parametrize("symmetry", ["none", "full"])
def test_mapped_arrays_are_moved_where_there_is_room_for_pieces(tmp_path, monkeypatch, symmetry):
    needs_carried_pieces(tmp_path)
    monkeypatch.setattr(piece_buffers, "PIECE", PAGESIZE)
    monkeypatch.setattr(engine_module, "RUN_WORK", 20)
    found, brought, bring = [], [], PieceBuffers.bring
    monkeypatch.setattr(PieceBuffers, "bring", lambda self, piece: (brought.append(piece), bring(self, piece)))
    for room in (30_000, 0):
        cut = Engine.of_game(named_game("mini-2x3k3-abrupt"), symmetry, threads=2)
        workspace = MemoryNeeds({}, evaluation_arrays(cut.index)).within(0, tmp_path)
        with closing(cut):
            cut.move_mapped(room)
            assert (cut.mover is not None) == bool(room)
            found.append(replace(ProfileEvaluator(cut, workspace.allocate())(*uniform(cut.index)), seconds=0))
        assert not any(thread.name == "mover" for thread in threading.enumerate())
        assert (len(set(brought)) > 3) == bool(room)
        brought.clear()
    assert found[0] == found[1]


def test_an_engine_works_in_the_given_precision():
    single = small_engine(NAME, dtype=np.float32)
    double = single.in_precision(np.float64)
    assert single.in_precision(np.float32) is single and double.in_precision(np.float64) is double
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    for engine in (single, double):  # each thread has one buffer for both, of the announced size
        scratch = engine._scratch()
        assert scratch.z.dtype == scratch.x.dtype == engine.dtype
        assert all(np.shares_memory(part, single._local.buffer) for part in scratch)
        assert engine_needs(engine)["cells"] == single._local.buffer.nbytes == double._local.buffer.nbytes
    lines = 64 * len(scratch)  # parts begin with lines of the cache
    assert sum(part.nbytes for part in scratch) <= single._local.buffer.nbytes < sum(p.nbytes for p in scratch) + lines
    for wrong in (np.float16, np.int64):
        with pytest.raises(ValueError, match="float32 or float64"):
            Engine(single.index, single.timings, wrong)


@pytest.mark.parametrize("threads", [0, -1])
def test_an_engine_without_threads_is_refused(threads):
    with pytest.raises(ValueError, match="1 thread or more"):
        Engine.of_game(named_game("mini-2x2k2-abrupt"), threads=threads)


def test_equal_indices_are_accepted():
    engine = small_engine(NAME)
    again = build_index(named_game(NAME), "none")
    assert again is not engine.index
    found, wanted = evaluate(*uniform(again), engine), evaluate(*uniform(engine.index), engine)
    assert replace(found, seconds=0) == replace(wanted, seconds=0)


def refused(strategies, engine=None):
    with pytest.raises(StrategyError) as caught:
        evaluate(*strategies, engine or small_engine(NAME))
    return str(caught.value)


def test_strategies_of_another_layout_are_refused():
    mine, folded = uniform(full_index(NAME)), uniform(build_index(named_game(NAME), "full"))
    other = uniform(full_index("mini-3x2k2-abrupt"))
    assert refused((mine[0], folded[1])) == (
        "Player 1's strategy is laid out for symmetry full, but is to be evaluated with symmetry none."
    )
    assert refused((other[0], mine[1])) == (
        "Player 0's strategy is laid out for game mini-3x2k2-abrupt, "
        "but is to be evaluated with game mini-2x3k2-abrupt."
    )
    assert refused(mine[::-1]) == "A strategy of player 0 is wanted, but this one is player 1's."
    renamed = replace(named_game("mini-3x2k2-abrupt"), name=NAME)
    assert "another game that is called mini-2x3k2-abrupt too" in refused((mine[0], uniform(full_of(renamed))[1]))
    for engine in (small_engine(NAME), small_engine(NAME, dtype=np.float32)):
        with pytest.raises(StrategyError, match="symmetry full"):
            assess(folded[0], engine)
    with pytest.raises(StrategyError, match="game mini-2x3k2-abrupt cannot be laid out for mini-3x2k2-abrupt"):
        fold(other[0], folded[0].index)


def full_of(game):
    return build_index(game, "none")


@pytest.mark.parametrize("change", [lambda p: p[:-1], lambda p: np.append(p, 0), lambda p: p.reshape(2, -1)])
def test_probabilities_of_another_shape_are_refused(change):
    engine = small_engine(NAME)
    short, other = uniform(engine.index)
    probabilities = change(short.probabilities)
    shapes = f"of shape {probabilities.shape}, but in game {NAME} with symmetry none the shape is (572,)."
    assert refused((Strategy(engine.index, 0, probabilities), other)).endswith(shapes)
    with pytest.raises(ValueError, match="572 sequences"):
        engine.reach(0, probabilities)
