"""The loop: convergence, budgets, and continuing a stopped run bit by bit."""

import importlib.util
import itertools
import json
import time
from contextlib import closing
from dataclasses import astuple, replace
from itertools import product
from mmap import PAGESIZE

import numpy as np
import pytest

from pttt_ooc import jit
from pttt_ooc.cfr.solving import assessment as assess_module
from pttt_ooc.cfr.solving import evaluation as evaluate_module
from pttt_ooc.cfr.solving import solver as solve_module
from pttt_ooc.cfr.solving.arrays import solver_arrays, state_arrays
from pttt_ooc.cfr.solving.assessment import assess
from pttt_ooc.cfr.solving.evaluation import ProfileEvaluator, evaluate
from pttt_ooc.cfr.solving.regret import RULES, Parameters
from pttt_ooc.cfr.solving.schedule import (
    CHEAP_SECONDS,
    choose_run,
    end_sentence,
    evaluations,
    is_evaluated,
    is_on_the_way,
    last_scheduled,
    seconds_between_saves,
)
from pttt_ooc.cfr.solving.solve_run import MemoryState, solve
from pttt_ooc.cfr.solving.solver import Solver
from pttt_ooc.cfr.sweep import engine, tree
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk import memory, piece_buffers
from pttt_ooc.disk.block_mover import BlockMover
from pttt_ooc.disk.commits import ResumableState
from pttt_ooc.disk.memory import in_memory, leaves
from pttt_ooc.disk.snapshot_record import Commit
from pttt_ooc.errors import StoreError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.symmetry import unfold
from tests.kits import helpers, naive, naive_cfr
from tests.kits.patience import PATIENCE

NAME = "mini-2x3k2-abrupt"


@pytest.fixture
def tmp_path(in_memory):
    """A directory in memory: some tests save a state after every iteration, and none depends on syncing."""
    return in_memory


def config(**changes):
    return SolveConfig(**{"target_nashconv": 0, "max_iterations": 60, "commit_seconds": 1e9, **changes})


def run(tmp_path, settings, name=NAME, symmetry="full", threads=2, folder="work", fingerprint="test", **options):
    dtype = np.dtype(settings.precision).type
    return solve(
        helpers.small_engine(name, symmetry, dtype, threads), settings, tmp_path / folder, fingerprint, **options
    )


def bits(solution):
    return [s.probabilities.tobytes() for s in solution.strategies]


def without_times(rows):
    return [{key: value for key, value in row.items() if "second" not in key} for row in rows]


@pytest.mark.long_but("sapdcfr+", "linear-cfr-full", "pcfr+-none")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("symmetry", ["none", "full"])
@pytest.mark.parametrize("algorithm", list(RULES))
def test_every_rule_converges(tmp_path, algorithm, symmetry):
    settings = config(algorithm=algorithm, max_iterations=1000, target_nashconv=0.02)
    solution = run(tmp_path, settings, symmetry=symmetry)
    assert solution.stopped_by == "target_nashconv"
    assert solution.rows[-1]["nashconv"] <= 0.02
    assert solution.rows[-1]["iteration"] == solution.iteration


VARIANTS = [
    *({"algorithm": algorithm} for algorithm in RULES),
    {"algorithm": "dcfr", "alpha": 2.5, "beta": -1, "gamma": 5},
    {"algorithm": "pcfr+", "gamma": 1},
    {"algorithm": "sapdcfr+", "asymmetry": 0.5},
    {"algorithm": "hs-dcfr", "gamma": 15, "horizon": 8},
    {"algorithm": "dcfr", "updates": "simultaneous"},
    {"algorithm": "hs-pcfr+", "updates": "simultaneous", "horizon": 20},
    {"algorithm": "dcfr", "restart_average": 2},
    {"algorithm": "sapcfr+", "restart_average": 4, "gamma": 3, "updates": "simultaneous"},
]


def state_of(tmp_path, settings, name, symmetry):
    """Regrets and the sums of strategies, by kind and player, as the solver left them on disk."""
    index = helpers.small_engine(name, symmetry).index
    with ResumableState.open(tmp_path / "work", leaves(state_arrays(index, settings)), "test") as state:
        return {
            (kind, p): np.concatenate([state.arrays[f"{kind}/{p}/{n}"] for n in range(index.players[p].slices)])
            for kind in ("regrets", "strategy_sums")
            for p in (0, 1)
        }


@pytest.mark.slow_but_one
@pytest.mark.long_but("sapdcfr+", "2.5", "horizon", "simultaneous")
@pytest.mark.parametrize("changes", VARIANTS, ids=lambda changes: ",".join(map(str, changes.values())))
def test_rules_follow_their_papers(tmp_path, changes):
    # In this game rounding does not affect the choice of actions, and the gap is positive after eight iterations.
    name = "mini-2x3k2-abrupt"
    settings = config(max_iterations=8, precision="float64", **changes)
    assert run(tmp_path, settings, name, "none").iteration == 8
    found, index = state_of(tmp_path, settings, name, "none"), helpers.small_engine(name).index
    asked = {key: value for key, value in changes.items() if key in ("alpha", "beta", "gamma", "asymmetry", "updates")}
    asked["horizon"] = settings.horizon
    asked["restarts"] = {None: (), 2: (2, 4, 8), 4: (4,)}[settings.restart_average]
    regrets, average = naive_cfr.solve(index.game, settings.algorithm, 8, **asked)
    for player in (0, 1):
        texts = helpers.sequence_texts(index, player)
        wanted = [regrets[player][text][square] for text, square in texts]
        assert found["regrets", player] == pytest.approx(np.array(wanted), rel=0, abs=1e-10)
        sums = {text: np.zeros(index.game.squares) for text, _ in texts}
        for (text, square), value in zip(texts, found["strategy_sums", player], strict=True):
            sums[text][square] = value
        for text, row in sums.items():
            if row.sum() > 1e-6:
                assert row / row.sum() == pytest.approx(average[player][text], rel=0, abs=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mini-2x3k2-classical", "pttt-abrupt-after-1-0-3-2-4-8"])
def test_the_reported_gap_equals_that_of_the_brute_force(tmp_path, name):
    solution = run(tmp_path, config(max_iterations=50), name, "none")
    game = helpers.small_engine(name).index.game
    tables = []
    for strategy in solution.strategies:
        table = {text: [0.0] * game.squares for text in naive.infosets(game, strategy.player)}
        texts = helpers.sequence_texts(strategy.index, strategy.player)
        for (text, square), probability in zip(texts, strategy.probabilities.astype(np.float64), strict=True):
            table[text][square] = float(probability)
        tables.append({text: [p / sum(row) for p in row] for text, row in table.items()})
    best = [naive.best_response_value(game, p, tables[1 - p]) for p in (0, 1)]
    assert solution.rows[-1]["nashconv"] == pytest.approx(sum(best), abs=1e-12)
    assert solution.rows[-1]["value"] == pytest.approx(naive.value(game, *tables), abs=1e-12)


@pytest.mark.slow
def test_symmetry_changes_only_the_work(tmp_path):
    settings = config(max_iterations=30, precision="float64")
    gaps = [
        [row["nashconv"] for row in run(tmp_path, settings, symmetry=symmetry, folder=symmetry).rows]
        for symmetry in ("none", "full")
    ]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-6)


@pytest.mark.slow
def test_folded_solutions_are_worth_the_same_unfolded(tmp_path):
    solution = run(tmp_path, config(max_iterations=40))
    whole = helpers.small_engine(NAME, "none")
    found = evaluate(*[unfold(strategy, whole.index) for strategy in solution.strategies], whole)
    for name in ("value", "best_response_0", "best_response_1", "nashconv"):
        assert getattr(found, name) == pytest.approx(solution.rows[-1][name], rel=0, abs=1e-12)


@pytest.mark.long_but("restart_average")
@pytest.mark.slow_but_one
@pytest.mark.parametrize("changes", [{}, {"algorithm": "dcfr"}, VARIANTS[-3], VARIANTS[-1]], ids=str)
def test_an_interrupted_run_ends_with_the_same_bits(tmp_path, changes):
    settings = config(max_iterations=24, commit_seconds=0, **changes)
    whole = run(tmp_path, settings, folder="whole")

    def stop_at(iteration):
        def stop(row):
            if row["iteration"] == iteration:
                raise KeyboardInterrupt

        return stop

    for iteration in (1, 7, 23):
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, settings, folder="parts", on_progress=stop_at(iteration))
        log = (tmp_path / "parts" / "convergence.jsonl").read_text().splitlines()
        assert json.loads(log[-1])["iteration"] <= iteration
    parts = run(tmp_path, settings, folder="parts")
    assert bits(parts) == bits(whole)
    assert without_times(parts.rows) == without_times(whole.rows)


@pytest.mark.long
def test_a_lowered_budget_starts_anew_and_keeps_the_saved_run(tmp_path):
    """An edit never loses a long run: with the old configuration, the solver continues it."""
    told = []
    long, short = config(max_iterations=60), config(max_iterations=20, target_nashconv=1e-9)
    first = run(tmp_path, long, folder="w", on_start=told.append)
    assert told == ["Starting from the first iteration."]

    told.clear()
    lowered = run(tmp_path, short, folder="w", on_start=told.append)
    assert lowered.iteration == 20 and bits(lowered) == bits(run(tmp_path, short, folder="fresh"))
    assert lowered.seconds < first.seconds + lowered.seconds and lowered.rows[0]["iteration"] == 1
    kept = f"The run to iteration 60 is kept in {tmp_path / 'w'} (0.0 MB); to go on from there, set "
    ends = "target_nashconv: 0, max_iterations: 60, evaluate_every: 1.2."
    assert told == ["Starting from the first iteration.", kept + ends]

    for settings, at in ((long, 60), (short, 20), (config(max_iterations=70), 60), (short, 20)):
        told.clear()
        seen = []
        again = run(tmp_path, settings, folder="w", on_start=told.append, on_progress=seen.append)
        assert told[0] == f"Continuing from iteration {at}." and len(told) == 2
        assert len(seen) == settings.max_iterations - at
        assert bits(again) == bits({60: first, 20: lowered}.get(again.iteration, again))
    assert bits(run(tmp_path, config(max_iterations=70), folder="w")) == bits(
        run(tmp_path, config(max_iterations=70), folder="fresh")
    )


@pytest.mark.slow
def test_another_schedule_of_evaluations_stops_where_a_fresh_run_does(tmp_path):
    before = config(algorithm="dcfr", evaluate_every=2, target_nashconv=0.04, max_iterations=31)
    after = config(algorithm="dcfr", evaluate_every=1.2, target_nashconv=0.04, max_iterations=31)
    assert run(tmp_path, before, folder="w").iteration == 31
    found = run(tmp_path, after, folder="w")
    fresh = run(tmp_path, after, folder="fresh")
    assert found.iteration == fresh.iteration < 20 and bits(found) == bits(fresh)
    seen = []
    assert run(tmp_path, before, folder="w", on_progress=seen.append).iteration == 31 and not seen


@pytest.mark.slow
def test_without_a_target_the_schedule_does_not_matter(tmp_path):
    run(tmp_path, config(evaluate_every=2, max_iterations=20), folder="w")
    told = []
    run(tmp_path, config(evaluate_every=1.2, max_iterations=30), folder="w", on_start=told.append)
    assert told == ["Continuing from iteration 20."]


def test_an_evaluation_off_the_schedule_does_not_end_a_run(tmp_path):
    settings = {"algorithm": "dcfr", "evaluate_every": 2, "target_nashconv": 0.06}
    first = run(tmp_path, config(**settings, max_iterations=9), folder="w")
    assert first.rows[-1]["iteration"] == 9 and first.rows[-1]["nashconv"] < 0.06
    assert first.stopped_by == "max_iterations"
    raised = run(tmp_path, config(**settings), folder="w")
    assert raised.iteration == 16 and raised.stopped_by == "target_nashconv"
    assert bits(raised) == bits(run(tmp_path, config(**settings), folder="fresh"))


def saved(iteration, seconds=1.0, gaps=None, **ends):
    rows = [{"iteration": t, "nashconv": gap} for t, gap in (gaps or {}).items()]
    defaults = {"target_nashconv": 0, "max_iterations": 10, "evaluate_every": 2}
    return Commit(iteration, iteration, {"rows": rows, "seconds": seconds, **defaults, **ends}, {})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"max_iterations": 32}, True),
        ({"max_iterations": 31}, False),
        ({"target_nashconv": 0.1}, True),  # reached at the saved iteration itself
        ({"target_nashconv": 0.3}, False),  # reached before
        ({"target_nashconv": 0.2999}, True),
        ({"evaluate_every": 4, "target_nashconv": 0.1}, True),  # 1, 16, 64: all are known
        ({"evaluate_every": 1.5, "target_nashconv": 0.1}, False),  # 1, 13, 19, 28: unknown
        ({"evaluate_every": 1.5, "target_nashconv": 0}, True),
    ],
)
def test_runs_that_a_configuration_can_continue(changes, expected):
    run = saved(32, gaps={1: 0.5, 16: 0.3, 32: 0.1})
    assert is_on_the_way(config(**{"evaluate_every": 2, **changes}), run) == expected


def test_few_runs_are_kept_and_no_long_one_is_lost(tmp_path):
    wanted = config(max_iterations=5)
    cheap, hours, days = saved(10, CHEAP_SECONDS), saved(20, 1e4), saved(30, 1e5, max_iterations=30)
    assert choose_run(wanted, [], tmp_path) == (None, [])
    assert choose_run(wanted, [hours, days], tmp_path) == (None, [hours, days])
    assert choose_run(wanted, [hours, cheap, days], tmp_path) == (None, [hours, days])
    assert choose_run(config(max_iterations=25), [cheap, hours, days], tmp_path) == (hours, [cheap, days])
    with pytest.raises(StoreError) as refusal:
        choose_run(wanted, [hours, days, saved(40, CHEAP_SECONDS + 1)], tmp_path)
    assert str(refusal.value) == (
        f"This configuration goes on from none of the runs saved in {tmp_path}, and there is no room for one more: "
        "iteration 20 (target_nashconv: 0, max_iterations: 10, evaluate_every: 2); "
        "iteration 30 (target_nashconv: 0, max_iterations: 30, evaluate_every: 2); "
        "iteration 40 (target_nashconv: 0, max_iterations: 10, evaluate_every: 2); "
        f"set these keys as they were, or delete {tmp_path} to start anew."
    )


@pytest.mark.slow
def test_a_finished_run_has_nothing_left_to_do(tmp_path):
    first = run(tmp_path, config())
    seen = []
    again = run(tmp_path, config(), on_progress=seen.append)
    assert not seen and bits(again) == bits(first)
    assert again.rows[-1]["nashconv"] == first.rows[-1]["nashconv"]


@pytest.mark.slow
def test_threads_do_not_change_a_bit(tmp_path, monkeypatch):
    settings, name = config(max_iterations=20), "mini-2x3k3-abrupt-after-1"
    whole = bits(run(tmp_path, settings, name, folder="whole"))
    monkeypatch.setattr(engine, "RUN_WORK", 20)
    for threads in (1, 2, 3):
        with closing(engine.Engine.of_game(named_game(name), "full", np.float32, threads)) as cut:
            for runs in (cut._runs, cut._gradient_runs):
                assert max(len(part) for parts in runs for part in parts) > 7
            assert bits(solve(cut, settings, tmp_path / str(threads), "test")) == whole


@pytest.mark.slow
@pytest.mark.parametrize("symmetry", ["none", "full"])
def test_moved_blocks_do_not_change_a_bit(tmp_path, monkeypatch, symmetry):
    """Whole, by threads, and after kills: with a state in memory, mapped, and moved in small blocks."""
    settings, name = config(max_iterations=12, commit_seconds=0), "mini-2x3k3-abrupt-after-1"
    whole = run(tmp_path, settings, name, symmetry, folder="whole", state_in_memory=True)
    monkeypatch.setattr(piece_buffers, "PIECE", PAGESIZE)
    monkeypatch.setattr(engine, "RUN_WORK", 20)

    def kill(row):
        if row["iteration"] in (1, 5, 11):
            raise KeyboardInterrupt

    wanted = leaves(state_arrays(helpers.small_engine(name, symmetry).index, settings))
    with ResumableState.open(tmp_path / "whole", wanted, "test") as state:
        kept = {name: array.tobytes() for name, array in state.arrays.items()}
    for threads in (1, 3):
        cut = engine.Engine.of_game(named_game(name), symmetry, np.float32, threads)
        with closing(cut), BlockMover(60_000) as cut.mover:
            assert max(len(cut.blocks(p, n)) for p in (0, 1) for n in range(cut.index.players[p].slices)) > 4
            mapped = memory.MemoryNeeds({}, solver_arrays(cut.index, settings)).within(0, tmp_path / "scratch")
            for _ in range(3):
                with pytest.raises(KeyboardInterrupt):
                    solve(cut, settings, tmp_path / str(threads), "test", kill, mapped.allocate())
            moved = solve(cut, settings, tmp_path / str(threads), "test", arrays=mapped.allocate())
            assert bits(moved) == bits(whole) and without_times(moved.rows) == without_times(whole.rows)
        with ResumableState.open(tmp_path / str(threads), wanted, "test", in_memory=True) as state:
            assert kept == {name: array.tobytes() for name, array in state.arrays.items()}


class PoisonedMover:
    """While a step is done, all that it does not use is not a number, or turned; afterwards, that must still be so."""

    def __init__(self, arrays, most):
        self.arrays, self.most = arrays, most

    def places(self, uses):
        """For each array, the places that are used."""
        found = [np.zeros(len(array), bool) for array in self.arrays]
        for use, (array, places) in product(uses, zip(self.arrays, found, strict=True)):
            at = (use.part.ctypes.data - array.ctypes.data) // array.itemsize
            if len(use.part) and 0 <= at < len(array):
                places[at : at + len(use.part)] = True
        return found

    def perform(self, steps):
        for step in steps:
            uses, before = list(step.uses), [array.copy() for array in self.arrays]
            used, changed = self.places(uses), self.places([use for use in uses if use.changes])
            for array, here in zip(self.arrays, used, strict=True):
                array[~here] = ~array[~here] if array.dtype == bool else np.nan
            poisoned = [array.copy() for array in self.arrays]
            step.work()
            for array, here, may, old, poison in zip(self.arrays, used, changed, before, poisoned, strict=True):
                assert array[~here].tobytes() == poison[~here].tobytes()
                assert np.array_equal(array[here & ~may], old[here & ~may])
                array[~here] = old[~here]


@pytest.mark.parametrize("symmetry", ["none", "full"])
def test_steps_use_nothing_but_what_they_say(monkeypatch, symmetry):
    settings, found = config(), []
    monkeypatch.setattr(engine, "RUN_WORK", 4)
    for most in (None, 0, 10**9):
        with closing(engine.Engine.of_game(named_game(NAME), symmetry, np.float32, 1)) as cut:
            arrays = MemoryState(leaves(state_arrays(cut.index, settings))).arrays
            solver = Solver(cut, settings, arrays, in_memory(solver_arrays(cut.index, settings)))
            reaches = leaves(solver.reaches).values()
            everything = [*arrays.values(), *leaves(solver.values).values(), *reaches]
            everything = [array for array in everything if array.size]
            cut.mover = None if most is None else PoisonedMover(everything, most)
            for _ in range(3):
                solver.iterate()
            found.append({path: array.tobytes() for path, array in arrays.items()})
            assert not any(arrays[path].any() for path in solver.unchanged) and len(solver.unchanged) > 1
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("symmetry", ["none", "full"])
def test_evaluations_use_nothing_but_what_they_say(monkeypatch, symmetry):
    settings, found = config(), []
    monkeypatch.setattr(engine, "RUN_WORK", 4)
    for most in (None, 0, 10**9):
        with closing(engine.Engine.of_game(named_game(NAME), symmetry, np.float32, 1)) as cut:
            arrays = MemoryState(leaves(state_arrays(cut.index, settings))).arrays
            buffers = in_memory(solver_arrays(cut.index, settings))
            solver = Solver(cut, settings, arrays, buffers)
            for _ in range(3):
                solver.iterate()
            own = buffers.evaluation(cut.index)
            everything = [*arrays.values(), *leaves(own).values(), buffers.probabilities]
            everything = [array for array in everything if array.size]
            cut.mover = None if most is None else PoisonedMover(everything, most)
            evaluator = ProfileEvaluator(cut, own)
            several = [
                len(evaluator.engine.blocks(p, n)) > 1 for p in (0, 1) for n in range(cut.index.players[p].slices)
            ]
            assert any(several) == (most == 0)
            evaluated = [evaluator(*solver.averages), evaluator(*solver.average())]
            found.append([replace(each, seconds=0) for each in evaluated])
            assert found[-1][0] == found[-1][1] and found[-1][0].nashconv > 0
    assert found[0] == found[1] == found[2]


def test_without_a_choice_nothing_is_summed():
    cut, settings = helpers.small_engine("mini-2x3k3-abrupt", "full", np.float32), config()
    arrays = MemoryState(leaves(state_arrays(cut.index, settings))).arrays
    solver = Solver(cut, settings, arrays, in_memory(solver_arrays(cut.index, settings)))
    solver.iterate()
    sums = {path for path, array in arrays.items() if path.startswith("strategy_sums") and array.size}
    assert sums & solver.unchanged and all(arrays[path].any() == (path not in solver.unchanged) for path in sums)


def passes_in_chunks_of(orders):
    """The module of the passes as plain Python, where short chunks need no compilation."""
    with jit.interpret_kernels():
        spec = importlib.util.spec_from_file_location("plain_tree", tree.__file__)
        plain = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(plain)
    assert plain.CHUNK == tree.CHUNK
    plain.CHUNK = orders
    return plain


@pytest.mark.parametrize(("algorithm", "symmetry"), [("dcfr", "full"), ("sapdcfr+", "none")])
def test_the_length_of_chunks_does_not_change_a_bit(tmp_path, monkeypatch, algorithm, symmetry):
    small = helpers.small_engine("mini-2x3k3-abrupt-after-1" if symmetry == "full" else NAME, symmetry)
    rng = np.random.default_rng(3)
    settings, players = config(algorithm=algorithm, precision="float64"), small.index.players
    assert 5 < max(int(np.diff(player.node_start)[player.decides].max()) for player in players) < tree.CHUNK
    random = [Strategy(small.index, p, rng.random(player.sequences)) for p, player in enumerate(players)]
    arrays, found = leaves(state_arrays(small.index, settings)), []
    regrets = {name: rng.normal(size=array.shape) for name, array in arrays.items()}
    for passes in (tree, passes_in_chunks_of(5)):
        for module in (engine, evaluate_module, solve_module, assess_module):
            monkeypatch.setattr(module, "tree", passes)
        with ResumableState.open(tmp_path / passes.__name__, arrays, "test") as state:
            for name, array in state.arrays.items():
                array[...] = abs(regrets[name]) if "sums" in name else regrets[name]
            work = in_memory(solver_arrays(small.index, settings))
            solver = solve_module.Solver(small, settings, state.arrays, work)
            solver.begin()
            solver.iterate()
            made = [strategy.probabilities.tobytes() for strategy in solver.average()]
            made += [array.tobytes() for array in state.arrays.values()]
        made.append(replace(evaluate(*random, small), seconds=0))
        if symmetry == "none":
            made += [assess(strategy, small).gradient.sequences.tobytes() for strategy in random]
        found.append(made)
    assert found[0] == found[1]


@pytest.mark.parametrize("algorithm", list(RULES))
def test_coefficients_are_finite_for_extreme_parameters(algorithm):
    rule = RULES[algorithm]
    for alpha, beta in product((-1000, -3, 0, 300, 400, 1000), repeat=2):
        for t in (1, 2, 11, 10**9):
            found = rule.coefficients(t, Parameters(alpha, beta, asymmetry=abs(beta)))
            assert 0 <= found.discount_positive <= 1 and 0 <= found.discount_negative <= 1
            assert 0 <= found.look_ahead <= 1001
    if "dcfr" in algorithm:
        assert rule.coefficients(12, Parameters(400)).discount_positive == 1
        assert rule.coefficients(12, Parameters(-400)).discount_positive == 0


def test_large_exponents_work(tmp_path):
    solution = run(tmp_path, config(algorithm="dcfr", alpha=400, beta=-400, gamma=400, max_iterations=30))
    assert solution.iteration == 30 and 0 < solution.rows[-1]["nashconv"] < 0.5


@pytest.fixture
def clock(monkeypatch):
    """A clock that advances by one second at each reading."""
    seconds = itertools.count(1000.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(seconds))


def test_time_is_a_budget(tmp_path, clock):
    """An iteration takes a second, an evaluation three: one more would end after 30 seconds."""
    solution = run(tmp_path, config(max_iterations=10**9, max_minutes=27.9 / 60))
    assert solution.stopped_by == "max_minutes" and solution.iteration == solution.seconds == 14
    assert solution.rows[-1]["iteration"] == solution.iteration
    assert [row["seconds"] for row in solution.rows] == [1, 10, 12, 14]
    assert [row["elapsed_seconds"] for row in solution.rows] == [4, 16, 21, 26]
    more = run(tmp_path, config(max_iterations=10**9, max_minutes=0.5))
    assert more.iteration == 15, "in 30 seconds, there is time for one more"


def test_seconds_continue_where_a_run_stopped(tmp_path, clock):
    saving = {"commit_seconds": 0}
    run(tmp_path, config(max_iterations=4, **saving))
    seen = []
    more = run(tmp_path, config(max_iterations=10, **saving), on_progress=seen.append)
    assert more.seconds == 10 and [row["seconds"] for row in seen] == [5, 6, 7, 8, 9, 10]
    assert [row["iterations_per_second"] for row in seen] == [1] * 6, "of this run alone"
    assert [row["seconds"] for row in more.rows] == [1, 4, 10]
    last = run(tmp_path, config(max_iterations=20, max_minutes=0.9, **saving))
    assert last.stopped_by == "max_minutes" and 10 < last.iteration < 20, "all runs together"
    assert 0 <= last.rows[-1]["cpu_seconds"] < PATIENCE and last.rows[-1]["elapsed_seconds"] <= 54


def test_a_continued_run_knows_how_long_evaluations_take(tmp_path, clock):
    """Twelve iterations and three evaluations take 21 seconds: one more of each would end after 25."""
    settings = {"max_iterations": 10**9}
    assert run(tmp_path, config(max_minutes=24.5 / 60, **settings)).iteration == 12
    assert run(tmp_path, config(max_minutes=24.9 / 60, **settings)).iteration == 12
    assert run(tmp_path, config(max_minutes=25 / 60, **settings)).iteration == 13


def test_a_limit_that_ends_a_run_is_told():
    settings = config(max_iterations=50, max_minutes=3)
    assert end_sentence("target_nashconv", 7, 0.01, settings) == ""
    assert end_sentence("max_iterations", 50, 0.0321, settings) == (
        "Stopped by max_iterations: 50 after iteration 50; the gap is 0.032. A higher limit goes on."
    )
    assert end_sentence("max_minutes", 1, 0.643, settings).startswith(
        "Stopped by max_minutes: 3 after iteration 1, since another one would end later; the gap is 0.64."
    )


def test_commits_follow_the_configured_interval(tmp_path, clock, monkeypatch):
    commits, commit = [], ResumableState.commit

    def noted(state, iteration, *rest):
        commits.append(iteration)
        commit(state, iteration, *rest)

    monkeypatch.setattr(ResumableState, "commit", noted)
    run(tmp_path, config(max_iterations=10, commit_seconds=9))
    assert commits == [2, 5, 8, 10]  # the clock is read three times per iteration, and twice by an evaluation


def test_saving_takes_a_twentieth_of_the_time():
    assert [seconds_between_saves(saving) for saving in (0, 1, 5)] == [30, 30, 95]
    assert [seconds_between_saves(saving) for saving in (8, 16, 20)] == [150, 150, 180], "up to a tenth"


def test_a_run_is_saved_before_an_iteration_that_would_end_too_late(tmp_path, monkeypatch):
    """Each reading of the clock takes 20 seconds, and so does each iteration and each save."""
    seconds, commits, commit = itertools.count(1000.0, 20.0), [], ResumableState.commit
    monkeypatch.setattr(time, "perf_counter", lambda: next(seconds))

    def noted(state, iteration, *rest):
        commits.append(iteration)
        commit(state, iteration, *rest)

    monkeypatch.setattr(ResumableState, "commit", noted)
    run(tmp_path, config(max_iterations=9, commit_seconds=None))
    assert commits == [1, 4, 7, 9], "three iterations, each with three readings, reach 160 of 180 seconds"


def test_a_target_of_zero_is_never_reached(tmp_path):
    # All strategies have the same value in this game, so the gap is zero at once.
    solution = run(tmp_path, config(max_iterations=3), "mini-2x2k2-abrupt")
    assert solution.rows[0]["nashconv"] == 0
    assert solution.iteration == 3 and solution.stopped_by == "max_iterations"


@pytest.mark.slow
def test_the_value_lies_between_its_bounds(tmp_path):
    solution = run(tmp_path, config(max_iterations=30))
    for row in solution.rows:
        assert row["value_lower"] == -row["best_response_1"] and row["value_upper"] == row["best_response_0"]
        assert row["value_lower"] <= row["value"] <= row["value_upper"]
    assert min(row["value_upper"] for row in solution.rows) >= max(row["value_lower"] for row in solution.rows) > 0


def test_averages_of_symmetric_views_are_symmetric(tmp_path):
    """Rounding makes mirrored infosets of a symmetric view differ; here the state makes them differ."""
    settings, whole = config(precision="float64"), helpers.full_index(NAME)
    small = helpers.small_engine(NAME, "full", np.float64)
    with ResumableState.open(tmp_path / "w", leaves(state_arrays(small.index, settings)), "test") as state:
        for i, array in enumerate(state.arrays.values()):
            array[:] = np.random.default_rng(i).random(array.shape)
        work = in_memory(solver_arrays(small.index, settings))
        for strategy in Solver(small, settings, state.arrays, work).average():
            table = {text: [0.0] * whole.game.squares for text in naive.infosets(whole.game, strategy.player)}
            texts = helpers.sequence_texts(whole, strategy.player)
            for (text, square), probability in zip(texts, unfold(strategy, whole).probabilities, strict=True):
                table[text][square] = float(probability)
            for text, row in naive.symmetrise(whole.game, strategy.player, table).items():
                assert table[text] == pytest.approx(row, rel=0, abs=1e-6)


def test_schedule():
    """The first tells how long an evaluation takes; the next ones would tell nothing."""
    assert [t for t in range(1, 40) if is_evaluated(t, 1.2)] == [1, 10, 12, 14, 16, 19, 22, 26, 31, 37]
    assert list(itertools.islice(evaluations(2.0), 4)) == [1, 16, 32, 64]


def test_last_scheduled():
    assert [last_scheduled(t, 4.0) for t in (1, 3, 4, 15, 16, 63, 64)] == [1, 1, 4, 4, 16, 16, 64]


def test_scheduled_rules_change_their_parameters():
    rule = RULES["hs-dcfr"]
    found = [astuple(rule.parameters_at(t, rule.defaults, horizon=10)) for t in (1, 6, 11, 100)]
    assert found == [(1, -1, 30, 0), (2.5, -2, 27.5, 0), (4, -3, 25, 0), (4, -3, 25, 0)]
    assert RULES["dcfr"].parameters_at(7, Parameters(1.5, 0, 2, 4), horizon=10) == Parameters(1.5, 0, 2, 4)


def test_rules_match_their_papers():
    dcfr = RULES["dcfr"].coefficients(5, Parameters(1.5))
    assert dcfr.discount_positive == pytest.approx(8 / 9) and dcfr.discount_negative == pytest.approx(1 / 2)
    assert RULES["dcfr"].coefficients(1, Parameters(1.5)).discount_positive == 0
    assert RULES["linear-cfr"].coefficients(4, Parameters()).discount_negative == pytest.approx(3 / 4)
    pdcfr = RULES["pdcfr+"].coefficients(2, Parameters(2.3))
    assert pdcfr.discount_positive == pytest.approx(1 / 2)
    assert pdcfr.look_ahead == pytest.approx(2**2.3 / (2**2.3 + 1))
    assert [rule for rule in RULES if RULES[rule].predicts] == ["pcfr+", "pdcfr+", "sapcfr+", "sapdcfr+", "hs-pcfr+"]
    floored = [rule for rule in RULES if RULES[rule].coefficients(3, Parameters(1, 1)).floor]
    assert floored == ["cfr+", "pcfr+", "pdcfr+", "sapcfr+", "sapdcfr+", "hs-pcfr+"]


def test_kernels_are_loaded_before_the_clock_starts(monkeypatch):
    """Each kernel of an iteration has been called, on no views, and nothing has changed."""
    called, small = set(), helpers.small_engine(NAME, "full", np.float32)

    def noted(module, name):
        function = getattr(module, name)

        def call(*arguments):
            called.add(name)
            return function(*arguments)

        monkeypatch.setattr(module, name, call)
        return call

    down = [noted(tree, "reach_of_regrets")]
    monkeypatch.setattr(tree, "GOING_DOWN", (*tree.GOING_DOWN, *down))
    for module, name in ((tree, "update_regrets"), (engine.gradient, "receive")):
        noted(module, name)
    settings = config(precision="float32")
    state = {name: np.full_like(array, 3) for name, array in leaves(state_arrays(small.index, settings)).items()}
    solver = Solver(small, settings, state, in_memory(solver_arrays(small.index, settings)))
    solver.load_kernels()
    before, called_before = {name: array.copy() for name, array in state.items()}, set(called)
    assert solver.iteration == 0 and all((array == 3).all() for array in before.values())
    solver.iterate()
    assert called == called_before == {"reach_of_regrets", "update_regrets", "receive"}


def test_the_parts_of_an_iteration_are_reported(tmp_path):
    parts = []
    solution = run(tmp_path, config(max_iterations=3, evaluate_every=3.0), on_part=parts.append)
    assert [row["iteration"] for row in solution.rows] == [1, 3]
    pieces = [list(group) for _, group in itertools.groupby(parts, key=lambda part: part["what"])]
    names = ["iteration 1", "evaluation", "iteration 2", "iteration 3", "evaluation"]
    assert [piece[0]["what"] for piece in pieces] == names
    for piece in pieces:
        shares, sizes = [part["share"] for part in piece], [part["bytes"] for part in piece]
        assert shares[0] == 0 and shares == sorted(shares) and shares[-1] == pytest.approx(1) and len(shares) > 6
        assert sizes == sorted(sizes) and (sizes[-1] > 0) == (piece[0]["what"] != "evaluation")
    # After an evaluation, the reaches are computed again: one more pass over the regrets.
    assert pieces[0][-1]["bytes"] == pieces[2][-1]["bytes"] > pieces[3][-1]["bytes"]
