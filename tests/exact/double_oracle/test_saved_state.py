"""A run that is cut off goes on from its saved state, and finds the same bits."""

import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

from pttt_ooc import jit
from pttt_ooc.errors import StoreError
from pttt_ooc.exact.double_oracle import saved_state
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.saved_state import SavedState
from pttt_ooc.exact.double_oracle.state_arrays import as_bytes, from_bytes
from pttt_ooc.games.rules.catalogue import named_game
from tests.exact.double_oracle.oracles import assert_same, finished, solved
from tests.kits.cli_runner import main

pytest.importorskip("highspy")

NAME = "mini-2x3k3-abrupt"


def test_a_run_cut_off_after_each_round_finds_the_same_bits(tmp_path):
    whole, rounds = solved(NAME), 0
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


def test_a_state_of_something_else_is_refused(tmp_path, monkeypatch):
    oracle = DoubleOracle(named_game(NAME))
    with SavedState(tmp_path, oracle) as saved:
        oracle.round()
        saved.save()
        with pytest.raises(StoreError, match="Another run is at work"):
            SavedState(tmp_path, DoubleOracle(named_game(NAME)))
    with pytest.raises(StoreError, match="is of another game; delete"):
        SavedState(tmp_path, DoubleOracle(named_game("mini-2x3k2-abrupt")))
    file = tmp_path / "state.npz"
    content = file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(saved_state, "version", lambda: "another")
        with pytest.raises(StoreError, match="is of another version of this program; delete"):
            SavedState(tmp_path, DoubleOracle(named_game(NAME)))
    earlier = {name: array for name, array in from_bytes(content).items() if name not in ("game", "version")}
    file.write_bytes(as_bytes(earlier | {"fingerprint": np.array("[]")}))
    with pytest.raises(StoreError, match="is of another version of this program; delete"):
        SavedState(tmp_path, DoubleOracle(named_game(NAME)))
    for damaged in (content[: len(content) // 2], b"", content.replace(b"last", b"lost", 1)[100:]):
        file.write_bytes(damaged)
        with pytest.raises(StoreError, match="is damaged"):
            SavedState(tmp_path, DoubleOracle(named_game(NAME)))
    file.write_bytes(content)
    with SavedState(tmp_path, again := DoubleOracle(named_game(NAME))):  # a refusal leaves the lock free
        assert again.last.number == 1


def test_a_state_goes_on_on_another_processor_and_with_another_python_or_numpy(tmp_path, monkeypatch):
    """These name compiled code; see also the test of a real state by code for an older processor."""
    game, compiled = named_game(NAME), jit.version(["exact/double_oracle/oracle"])
    with SavedState(tmp_path, oracle := DoubleOracle(game)) as saved:
        oracle.round()
        saved.save()
    monkeypatch.setattr(jit, "_environment", lambda: ("another",))
    saved_state.version.cache_clear()
    assert jit.version(["exact/double_oracle/oracle"]) != compiled
    with SavedState(tmp_path, again := DoubleOracle(game)):
        assert again.last == replace(oracle.last, program_seconds=0, response_seconds=0)


def test_the_version_of_a_state_is_that_of_what_its_numbers_come_from(monkeypatch):
    asked = []
    saved_state.version.cache_clear()
    monkeypatch.setattr(saved_state, "code_digest", lambda names: asked.append(names) or "x")
    assert saved_state.version() == "x"
    [names] = asked
    numerical = {"restricted_program", "lazy_response", "oracle", "sparse_plan", "state_arrays", "transpositions"}
    assert {f"exact/double_oracle/{name}" for name in numerical} | {
        "cfr/solving/highs_solver",
        "games/rules/game",
    } <= names
    assert not any(name.startswith(("disk/", "errors")) for name in names)
    saved_state.version.cache_clear()


OTHER_PROCESSOR = """
import sys
from pathlib import Path
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.saved_state import SavedState
from pttt_ooc.exact.double_oracle.state_arrays import as_bytes, from_bytes
from pttt_ooc.games.rules.catalogue import named_game
oracle = DoubleOracle(named_game(sys.argv[1]))
with SavedState(Path(sys.argv[2]), oracle) as saved:
    assert oracle.last.number == int(sys.argv[3])
    list(oracle.rounds())
    saved.save()
"""


@pytest.mark.full
def test_code_for_an_older_processor_goes_on_to_the_same_bits(tmp_path):
    """Numba compiles for a Nehalem of 2008, and numpy uses nothing newer; HiGHS has one code for all."""
    from numpy._core import _multiarray_umath as features

    whole, part = solved(NAME), DoubleOracle(named_game(NAME))
    with SavedState(tmp_path, part) as saved:
        for _ in range(5):
            part.round()
        saved.save()
    newer = " ".join(name for name in features.__cpu_dispatch__ if features.__cpu_features__[name])
    older = {"NUMBA_CPU_NAME": "nehalem", "NUMBA_CPU_FEATURES": "", "NPY_DISABLE_CPU_FEATURES": newer}
    command = [sys.executable, "-c", OTHER_PROCESSOR, NAME, str(tmp_path), "5"]
    subprocess.run(command, env={**os.environ, **older}, check=True)
    with SavedState(tmp_path, found := DoubleOracle(named_game(NAME))):
        assert found.last.settled
        assert_same(found, whole)


@pytest.mark.slow
def test_a_command_killed_at_some_instants_finds_the_same_bits(tmp_path):
    chance = random.Random(1)
    command = [sys.executable, "-m", "pttt_ooc.cli", "exact", "--game", "pttt-2x4k3-abrupt", "--state", str(tmp_path)]
    whole = solved("pttt-2x4k3-abrupt")
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
