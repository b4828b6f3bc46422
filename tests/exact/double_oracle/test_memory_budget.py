"""The memory budget of the double oracle: it holds, it changes no bit, and what does not fit gets a sentence."""

import json
import re
import subprocess
import sys
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from pttt_ooc.disk.memory import process_needs
from pttt_ooc.disk.resources import MB
from pttt_ooc.errors import MemoryBudgetError
from pttt_ooc.exact.double_oracle.clairvoyance import AGE, CONTENT, entry_of, new_bounds, resize
from pttt_ooc.exact.double_oracle.memory_budget import RunMemory, needs_of
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.saved_state import SavedState
from pttt_ooc.exact.double_oracle.sparse_plan import first_infoset
from pttt_ooc.exact.double_oracle.transpositions import BYTES
from pttt_ooc.games.rules.catalogue import named_game
from tests.exact.double_oracle.oracles import assert_same, finished, solved
from tests.kits.cli_runner import main

pytest.importorskip("highspy")

NAME = "mini-2x3k3-abrupt"


def test_a_full_table_loses_what_has_not_been_used_for_longest():
    table = np.zeros((4, CONTENT), np.uint64)

    def look(now, key):
        """Its place, which it takes if it is not there yet, and whether it was."""
        with np.errstate(over="ignore"):
            entry = int(entry_of(table, now, np.uint64(key), np.uint64(key + 100)))
        if entry < 0:
            table[-1 - entry] = key, key + 100, now
        return max(entry, -1 - entry), entry >= 0

    places = [look(now, key=now)[0] for now in (1, 2, 3, 4)]
    assert sorted(places) == [0, 1, 2, 3]
    assert look(5, key=1) == (places[0], True)
    assert look(6, key=5) == (places[1], False), "the first was used after the second"
    assert look(7, key=2) == (places[2], False) and look(8, key=1) == (places[0], True)


def test_tables_that_change_their_size_change_no_bit():
    """Bounds that are dropped are computed again, and those that are kept are found again."""
    whole, oracle = solved(NAME), DoubleOracle(named_game(NAME))
    while not (oracle.last and oracle.last.settled):
        for responder in oracle._responders:
            responder.limit([0.001, 0.3, 4.0][oracle.last.number % 3 if oracle.last else 0])
        oracle.round()
    assert_same(oracle, whole)


def test_smaller_tables_keep_what_was_used_last():
    bounds, chance = new_bounds(6, 2.0), np.random.default_rng(1)
    length = len(bounds.values)
    entries = chance.permutation(length)[: length // 2]
    bounds.values[entries, :AGE] = chance.integers(1, 2**60, (len(entries), AGE))
    bounds.values[entries, AGE] = 1 + np.arange(len(entries)) % 2
    bounds.value_numbers[entries, CONTENT] = np.arange(len(entries))
    known = held(bounds)
    bounds = resize(bounds, 0.25)
    assert 1024 < len(bounds.values) < len(entries) / 2
    kept = held(bounds)
    assert kept.items() <= known.items() and len(kept) > 0.9 * len(bounds.values)
    assert (bounds.values[bounds.values[:, 1] > 0, AGE] == 2).mean() > 0.8
    bounds = resize(bounds, 0.25)
    assert held(bounds) == kept
    bounds = resize(bounds, 2.0)
    assert len(bounds.values) == length and held(bounds).items() <= kept.items()
    assert len(held(bounds)) > 0.95 * len(kept)


def held(bounds):
    entries = np.flatnonzero(bounds.values[:, 1])
    numbers = bounds.value_numbers[entries, CONTENT]
    return dict(zip(map(tuple, bounds.values[entries, :AGE].tolist()), numbers.tolist(), strict=True))


def test_tables_that_shrink_take_no_second_table():
    """Nor do these, when they grow again."""
    resize(new_bounds(9, 1), 2)  # loads what it calls
    tracemalloc.start()
    bounds = new_bounds(9, 40)
    for array in (bounds.values, bounds.rows):
        array[:] = np.arange(len(array)).reshape(-1, *[1] * (array.ndim - 1))
    size, lengths = bounds.values.nbytes + bounds.rows.nbytes, [len(array) for array in bounds]
    tracemalloc.reset_peak()
    bounds = resize(bounds, 20)
    bounds = resize(bounds, 40)
    assert [len(array) for array in bounds] == lengths
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert size < peak < size + 10**6


def test_a_run_that_no_longer_fits_goes_on_with_more_memory(tmp_path):
    whole, tight = solved(NAME), DoubleOracle(named_game(NAME), memory_mb=1000)
    with SavedState(tmp_path, tight) as saved:
        for _ in range(5):
            tight.round()
        tight._memory._megabytes = 236
        with pytest.raises(
            MemoryBudgetError, match=r"^The next round of mini-2x3k3-abrupt takes \d+ MB of memory \("
        ) as end:
            tight.round()
        assert str(end.value).endswith(", but the budget is 236 MB; give a larger one.")
        saved.save()
    oracle = DoubleOracle(named_game(NAME), memory_mb=1000)
    with SavedState(tmp_path, oracle):
        assert oracle.last.number == 5
        assert_same(finished(oracle), whole)


def test_a_command_that_outgrows_its_memory_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    """The first linear program does not fit, when the restricted game is pruned already."""
    limit, command = RunMemory.for_bounds, ["exact", "--game", NAME, "--state", str(tmp_path / "state")]

    def outgrown(self, plans, histories, exact, best=None):
        if exact:
            raise MemoryBudgetError("The next round takes too much.")
        return limit(self, plans, histories, exact, best)

    with monkeypatch.context() as patch:
        patch.setattr(RunMemory, "for_bounds", outgrown)
        with pytest.raises(SystemExit) as end:
            main(command)
        assert end.value.code == 1
    with pytest.raises(SystemExit) as end:
        main(command)
    assert not end.value.code
    found = DoubleOracle(named_game(NAME))
    with SavedState(tmp_path / "state", found):
        assert_same(found, solved(NAME))


def test_a_program_needs_more_than_regret_matching():
    oracle = DoubleOracle(named_game(NAME))
    needs = [sum(needs_of(oracle.plans, 10**6, exact).values()) for exact in (False, True)]
    assert needs[0] > 10**6 * 16 and needs[1] > needs[0] + 10**6 * 300


def exact(*arguments):
    command = [sys.executable, "-m", "pttt_ooc.cli", "exact", *map(str, arguments), "--json"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow
def test_a_budget_below_the_interpreter_gets_a_sentence():
    done = exact("--game", NAME, "--memory-mb", 100)
    assert done.returncode == 1 and not done.stdout and "Traceback" not in done.stderr
    assert "but the budget is 100 MB; give a larger one." in done.stderr


@pytest.mark.full
def test_the_peak_of_a_game_of_ten_squares_stays_below_a_small_budget():
    assert exact("--game", NAME, "--max-minutes", 0).returncode == 0  # compiles, which takes more memory
    found = json.loads(exact("--game", "pttt-2x5k3-abrupt", "--memory-mb", 350).stdout)
    assert found["exact"] and found["peak_mb"] < 350


# ---------------------------------------------------------------------------------------------
# What a round needs


@pytest.fixture(scope="module")
def oracle():
    return DoubleOracle(named_game("mini-2x2k2-abrupt"))


def bytes_of(plans):
    return sum(part.nbytes for plan in plans for part in plan)


def memory(oracle, megabytes):
    return RunMemory("the game", oracle.rules, megabytes)


def test_the_smallest_budget_leaves_two_megabytes_of_tables(oracle):
    with pytest.raises(MemoryBudgetError) as end:
        memory(oracle, 100).for_bounds(oracle.plans, 10**6, True)
    wanted = int(re.search(r"takes (\d+) MB", str(end.value))[1])
    assert 2 <= memory(oracle, wanted).for_bounds(oracle.plans, 10**6, True) < 3
    with pytest.raises(MemoryBudgetError):
        memory(oracle, wanted - 1).for_bounds(oracle.plans, 10**6, True)


def test_two_megabytes_are_enough_and_a_byte_less_is_not(oracle):
    left = memory(oracle, 1000).for_bounds(oracle.plans, 1000, False)
    least = 1000 - left + 2
    assert memory(oracle, least + 1e-6).for_bounds(oracle.plans, 1000, False) == pytest.approx(2, abs=1e-5)
    with pytest.raises(MemoryBudgetError):
        memory(oracle, least - 1e-5).for_bounds(oracle.plans, 1000, False)


def test_the_fixed_part_has_the_process_and_the_transpositions_of_both_players(oracle):
    left = memory(oracle, 1000).for_worker(oracle.plans)
    fixed = sum(process_needs().values()) + 2 * BYTES
    rest = (1000 - left) * MB - fixed - 3 * bytes_of(oracle.plans)  # three copies: a message, and two rounds' plans
    assert 0 < rest < 10**5, "the tables of the rules"


def test_a_round_needs_the_most_that_is_there_at_the_same_time(oracle):
    """Plans, the best ones, regrets and histories always; besides, copies that are saved, or a program."""
    plans, kept = oracle.plans, bytes_of(oracle.plans)
    sequences, won = sum(int(plan.counts[1]) for plan in plans), 16 * 10**6
    always = 2 * kept + 16 * sequences
    matched, saved = needs_of(plans, 10**6, False), always + won
    assert matched == {"plans": always, "won histories": won, "the saved state": saved + min(saved, 16 * 2**20)}
    assert needs_of(plans, 0, False)["the saved state"] == 2 * always, "the piece that is written is all"
    played = first_infoset(oracle.rules, 0), first_infoset(oracle.rules, 1)
    assert matched["plans"] - needs_of(plans, 10**6, False, played)["plans"] == kept - bytes_of(played)
    with_program = needs_of(plans, 10**6, True)
    program = with_program.pop("the restricted game's solution")
    assert program == 10**6 * 120 + (10**6 + 4 * sequences) * 400 and with_program.keys() == {"plans", "won histories"}


def test_saving_takes_no_more_than_is_projected(tmp_path):
    oracle = DoubleOracle(named_game("mini-2x3k3-abrupt"))
    with SavedState(tmp_path, oracle) as saved:
        for _ in range(8):
            oracle.round()
        tracemalloc.start()
        saved.save()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    needs = needs_of(oracle.plans, oracle.last.histories, False, oracle._best)
    assert bytes_of(oracle.plans) * Fraction(1, 2) < peak < needs["the saved state"] + 10**6
