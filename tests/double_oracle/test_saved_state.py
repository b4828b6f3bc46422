"""A run that is cut off goes on from its saved state, and finds the same bits."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from pttt_ooc.double_oracle.oracle import DoubleOracle
from pttt_ooc.double_oracle.saved_state import SavedState
from pttt_ooc.errors import StoreError
from pttt_ooc.rules.catalogue import named_game
from tests.kits.cli_runner import main

pytest.importorskip("highspy")

NAME = "mini-2x3k3-abrupt"


def finished(oracle):
    while not (oracle.last and oracle.last.settled):
        oracle.round()
    return oracle


def assert_same(one, other):
    assert (one.last.lower, one.last.upper, one.last.number) == (other.last.lower, other.last.upper, other.last.number)
    for plan, same in zip(one.plans, other.plans, strict=True):
        assert plan.counts.tolist() == same.counts.tolist()
        size = int(plan.counts[1])
        np.testing.assert_array_equal(plan.chances[:size], same.chances[:size])
    first, second = one.checked_program, other.checked_program
    np.testing.assert_array_equal(first.columns, second.columns)
    np.testing.assert_array_equal(first.rows, second.rows)
    np.testing.assert_array_equal(first.program.entries, second.program.entries)


def test_a_run_cut_off_after_each_round_finds_the_same_bits(tmp_path):
    whole, rounds = finished(DoubleOracle(named_game(NAME))), 0
    while True:
        oracle = DoubleOracle(named_game(NAME))
        with SavedState(tmp_path, oracle) as saved:
            assert (oracle.last.number if oracle.last else 0) == rounds
            oracle.round()
            saved.save()
        rounds += 1
        if oracle.last.settled:
            break
    assert rounds > 10
    assert_same(oracle, whole)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("threads", [2, 4])
def test_any_number_of_threads_finds_the_same_bits(threads):
    one, several = (DoubleOracle(named_game(NAME), threads=count) for count in (1, threads))
    assert_same(finished(several), finished(one))


def test_a_state_of_something_else_is_refused(tmp_path):
    oracle = DoubleOracle(named_game(NAME))
    with SavedState(tmp_path, oracle) as saved:
        oracle.round()
        saved.save()
        with pytest.raises(StoreError, match="Another run is at work"):
            SavedState(tmp_path, DoubleOracle(named_game(NAME)))
    with pytest.raises(StoreError, match="is of another game or another version of this program; delete"):
        SavedState(tmp_path, DoubleOracle(named_game("mini-2x3k2-abrupt")))
    file = tmp_path / "state.npz"
    content = file.read_bytes()
    for damaged in (content[: len(content) // 2], b"", content.replace(b"last", b"lost", 1)[100:]):
        file.write_bytes(damaged)
        with pytest.raises(StoreError, match="is damaged"):
            SavedState(tmp_path, DoubleOracle(named_game(NAME)))
    file.write_bytes(content)
    with SavedState(tmp_path, again := DoubleOracle(named_game(NAME))):  # a refusal leaves the lock free
        assert again.last.number == 1


@pytest.mark.slow
def test_a_command_killed_at_some_instants_finds_the_same_bits(tmp_path):
    chance = random.Random(1)
    command = [sys.executable, "-m", "pttt_ooc.cli", "exact", "--game", "pttt-2x4k3-abrupt", "--state", str(tmp_path)]
    whole = finished(DoubleOracle(named_game("pttt-2x4k3-abrupt")))
    for _ in range(3):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        begin, wait = time.monotonic(), chance.uniform(1.5, 6)
        while process.poll() is None and time.monotonic() < begin + wait:
            time.sleep(0.01)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
    oracle = DoubleOracle(named_game("pttt-2x4k3-abrupt"))
    with SavedState(tmp_path, oracle):
        assert_same(finished(oracle), whole)


@pytest.mark.slow
def test_the_command_goes_on(tmp_path, capsys):
    def run(*options):
        with pytest.raises(SystemExit) as end:
            main(["exact", "--game", NAME, "--state", str(tmp_path), *options])
        assert not end.value.code
        return "".join(capsys.readouterr())

    assert "Going on" not in run("--max-minutes", "0")
    assert "Going on after round 1." in run("--json")
    assert "Going on after round" in run("--json")  # nothing is left to do
