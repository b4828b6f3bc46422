"""What a round of the double oracle needs: the last megabytes, the tables, saved states and other processes."""

import re
import tracemalloc
from fractions import Fraction

import pytest

from pttt_ooc.disk.memory import process_needs
from pttt_ooc.disk.resources import MB
from pttt_ooc.errors import MemoryBudgetError
from pttt_ooc.exact.double_oracle.memory_budget import RunMemory, needs_of
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.saved_state import SavedState
from pttt_ooc.exact.double_oracle.transpositions import BYTES
from pttt_ooc.games.rules.catalogue import named_game

pytest.importorskip("highspy")
SAVING = "the restricted game's solution and the saved state"
LARGE = 100 * MB


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


def test_a_saved_state_takes_three_copies_of_plans_and_histories(oracle):
    """Of large plans: as they are, as the file's content, and compressed; where no program is larger."""
    needs, kept = needs_of(oracle.plans, 10**6, False), bytes_of(oracle.plans)
    assert needs[SAVING] == 3 * (kept + 16 * 10**6)
    assert needs["plans"] == 2.5 * kept and needs["won histories"] == 2.5 * 16 * 10**6
    with_program = needs_of(oracle.plans, 10**6, True)
    assert with_program[SAVING] > needs[SAVING] and with_program["plans"] == needs["plans"]
    few = needs_of(oracle.plans, 0, True)
    sequences = sum(int(plan.counts[1]) for plan in oracle.plans)
    assert few[SAVING] == max(3 * kept, 4 * 400 * sequences), "the larger one, as they are not there at the same time"


def test_saving_takes_no_more_than_is_projected(tmp_path):
    oracle = DoubleOracle(named_game("mini-2x3k3-abrupt"))
    with SavedState(tmp_path, oracle) as saved:
        for _ in range(8):
            oracle.round()
        tracemalloc.start()
        saved.save()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    kept = bytes_of(oracle.plans)
    assert kept * Fraction(1, 2) < peak < 3 * kept + 10**6
