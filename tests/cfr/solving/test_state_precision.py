"""A state in 16 bits: the rounding of numbers, and agreement with runs with wide states."""

from contextlib import closing
from itertools import pairwise
from math import ceil

import numpy as np
import pytest

from pttt_ooc.cfr.solving import state_precision
from pttt_ooc.cfr.solving.arrays import solver_arrays, state_arrays
from pttt_ooc.cfr.solving.solver import MemoryState, Solver, solve
from pttt_ooc.cfr.solving.state_precision import parts
from pttt_ooc.cfr.sweep import engine
from pttt_ooc.cfr.sweep.sixteen import BLOCK, LARGEST, narrow, widen
from pttt_ooc.config import SolveConfig, check_config
from pttt_ooc.disk.memory import in_memory, leaves
from pttt_ooc.errors import ConfigError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.stages.solve import needs, parameters
from tests.kits import helpers

NAME = "mini-2x3k2-abrupt"
STARTS = np.array([0, 1, 1, 300, 1100, 1100, 1103])  # views with one sequence, none, and more than a block
BLOCKS = [1, 0, 2, 4, 0, 1]


@pytest.fixture
def tmp_path(in_memory):
    """A directory in memory: no test here depends on syncing."""
    return in_memory


def kept(numbers, seed=1, runs=((0, 6),)):
    """Codes and scales of numbers, and the numbers that are read."""
    codes, scales = np.empty(len(numbers), np.int16), np.empty(sum(BLOCKS), np.float32)
    read, first_block = np.empty_like(numbers), np.cumsum([0, *BLOCKS])
    for views in runs:
        own, blocks = slice(*STARTS[list(views)]), slice(*first_block[list(views)])
        part = numbers[own]
        narrow(*views, STARTS, part, part.view(np.uint32), np.uint32(seed), codes[own], scales[blocks])
        widen(*views, STARTS, codes[own], scales[blocks], read[own])
    return codes, scales, read


def drawn(seed=0):
    numbers = np.random.default_rng(seed).normal(size=STARTS[-1]).astype(np.float32)
    numbers[40:50] = 0
    numbers[300:556] = 0
    numbers[900:1000] *= 1e-30
    return numbers


def blocks_of(numbers):
    for begin, end in pairwise(STARTS):
        for first in range(begin, end, BLOCK):
            yield slice(first, min(first + BLOCK, end))


def test_a_number_is_off_by_less_than_its_scale_and_zero_stays_zero():
    numbers = drawn()
    codes, scales, read = kept(numbers)
    assert (codes[numbers == 0] == 0).all() and (read[numbers == 0] == 0).all()
    parts_of = list(blocks_of(numbers))
    assert len(parts_of) == len(scales)
    for own, scale in zip(parts_of, scales, strict=True):
        largest = np.abs(numbers[own]).max()
        assert scale == pytest.approx(largest / LARGEST, rel=1e-6)
        assert np.abs(read[own] - numbers[own]).max() <= 1.001 * scale
        assert np.abs(read[own]).max() == pytest.approx(largest, rel=1e-4)


def test_a_block_of_numbers_too_small_for_a_scale_is_zero():
    numbers = drawn()
    numbers[556:812] = 1e-33 * numbers[556:812]
    assert numbers[556:812].any() and not kept(numbers)[2][556:812].any()


def test_random_rounding_has_the_right_mean():
    numbers, times = drawn(), 400
    scale = np.concatenate([np.full(own.stop - own.start, np.abs(numbers[own]).max()) for own in blocks_of(numbers)])
    wide, scale = scale > 0, scale / LARGEST
    seeds = np.random.default_rng(1).integers(1 << 32, size=times)
    off = np.array([kept(numbers, seed)[2].astype(np.float64) - numbers for seed in seeds])
    off = off[:, wide] / scale[wide]
    errors = off.mean(axis=0) * 2 * np.sqrt(times)  # in standard deviations of a fair coin, or more
    assert np.abs(errors).max() < 5 and abs(errors.mean()) < 5 / np.sqrt(len(errors))
    assert np.mean(off**2) == pytest.approx(1 / 6, rel=0.2)  # as of places that are spread evenly between two codes


def test_neither_the_division_nor_the_address_changes_a_bit():
    numbers = drawn()
    whole = kept(numbers)
    for runs in (((0, 3), (3, 6)), tuple((v, v + 1) for v in range(6))):
        for one, other in zip(whole, kept(numbers, runs=runs), strict=True):
            assert one.tobytes() == other.tobytes()
    assert kept(numbers, seed=2)[0].tobytes() != whole[0].tobytes()


def test_parts_cover_all_views_once(monkeypatch):
    player = helpers.small_engine("mini-2x3k3-abrupt-after-1", "full").index.players[0]
    for most in (1, 7, 100, 1 << 20):
        monkeypatch.setattr(state_precision, "PART", most)
        for n in range(player.slices):
            views = player.views_of(n)
            found = list(parts(player, views.start, views.stop))
            assert [view for first, last in found for view in range(first, last)] == list(views)
            sizes = [int(player.sequence_start[last] - player.sequence_start[first]) for first, last in found]
            assert all(size <= most or last - first == 1 for size, (first, last) in zip(sizes, found, strict=True))
            assert max(sizes, default=0) <= state_precision.longest_part((player,))


def config(**changes):
    return SolveConfig(**{"target_nashconv": 0, "max_iterations": 20, "storage": "int16", **changes})


def bits(solution):
    return [s.probabilities.tobytes() for s in solution.strategies]


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ["dcfr", "sapdcfr+"])  # without and with predictions
def test_neither_threads_nor_parts_change_a_bit(tmp_path, monkeypatch, algorithm):
    settings, name = config(algorithm=algorithm, commit_seconds=1000), "mini-2x3k3-abrupt-after-1"
    whole = bits(solve(helpers.small_engine(name, "full", np.float32), settings, tmp_path / "whole", "test"))
    monkeypatch.setattr(engine, "RUN_WORK", 20)
    for threads, most in ((1, 30), (2, 1), (3, 1 << 20)):
        monkeypatch.setattr(state_precision, "PART", most)
        with closing(engine.Engine.of_game(named_game(name), "full", np.float32, threads)) as cut:
            assert bits(solve(cut, settings, tmp_path / str(threads), "test")) == whole


def iterated(settings, times, symmetry="full"):
    small = helpers.small_engine(NAME, symmetry, np.float32)
    state = MemoryState(leaves(state_arrays(small.index, settings)))
    solver = Solver(small, settings, state, lambda row: None, in_memory(solver_arrays(small.index, settings)))
    for _ in range(times):
        solver.iterate()
    return solver


def test_each_array_has_other_draws_in_each_iteration(monkeypatch):
    seeds = []

    def recorded(*arguments):
        seeds.append(int(arguments[5]))
        narrow(*arguments)

    monkeypatch.setattr(state_precision, "narrow", recorded)
    iterated(config(), 3)
    assert len(set(seeds)) == 3 * 2 * 3  # iterations, players, arrays


@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("algorithm", ["dcfr", "sapdcfr+"])
def test_one_iteration_equals_that_of_a_wide_state_up_to_rounding(algorithm, symmetry):
    narrow_one, wide = (iterated(config(algorithm=algorithm, storage=kind), 1, symmetry) for kind in ("int16", None))
    for player in (0, 1):
        for n in range(wide.engine.index.players[player].slices):
            for name in ("regrets", "strategy_sums", *["predictions"] * wide.rule.predicts):
                one, other = (each.solver_state.numbers(name, player, n) for each in (narrow_one, wide))
                assert one == pytest.approx(other, rel=0, abs=1e-3 * max(1e-9, float(np.abs(other).max(initial=0))))
        for one, other in zip(narrow_one.current(), wide.current(), strict=True):
            assert np.mean(np.abs(one.probabilities - other.probabilities) < 0.01) > 0.95


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["dcfr", "sapdcfr+"])
def test_it_converges_like_a_wide_state(tmp_path, algorithm):
    found = {}
    for kind in ("int16", None):
        settings = config(algorithm=algorithm, storage=kind, target_nashconv=0.005, max_iterations=2000)
        solution = solve(helpers.small_engine(NAME, "full", np.float32), settings, tmp_path / str(kind), "test")
        assert solution.stopped_by == "target_nashconv"
        found[kind] = solution.iteration
    assert found["int16"] <= 1.5 * found[None]


def test_it_is_half_as_large_and_its_buffers_are_planned():
    index = helpers.small_engine("mini-2x3k3-abrupt-after-1", "none").index
    sizes = [
        sum(a.nbytes for a in leaves(state_arrays(index, config(storage=kind))).values()) for kind in ("int16", None)
    ]
    blocks = sum(ceil(size / BLOCK) for player in index.players for size in np.diff(player.sequence_start))
    assert sizes[0] == sizes[1] / 2 + 3 * 4 * blocks
    more = sum(needs(index, config(), {}).thread.values()) - sum(needs(index, config(storage=None), {}).thread.values())
    assert more == 3 * 4 * state_precision.longest_part(index.players), "in each thread"


def test_it_is_listed_where_it_is_used():
    assert parameters(config())["storage"] == "int16" and "storage" not in parameters(config(storage=None))
    with pytest.raises(ConfigError, match="storage: int16 only with precision: float32"):
        check_config({"solve": {"storage": "int16", "precision": "float64"}})
