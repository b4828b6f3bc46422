"""The real solver, killed repeatedly, and on one thread or many."""

import random
from dataclasses import replace

import pytest

from pttt_ooc.cfr.sweep import engine
from pttt_ooc.config import SolveConfig
from pttt_ooc.disk import commits
from pttt_ooc.disk.commits import SnapshotRecord
from tests.faults import solver as faults
from tests.faults.solver import Board, FaultError, Job, Killer
from tests.kits import helpers
from tests.kits.disks import in_memory_if_possible

GAME = "mini-2x3k2-abrupt"
SETTINGS = SolveConfig(target_nashconv=0, max_iterations=20, commit_seconds=0)


def job(name=GAME, **changes):
    made = helpers.small_engine(name, "full")
    return Job(made.index, made.timings, SETTINGS.model_copy(update=changes))


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    with in_memory_if_possible(tmp_path_factory.mktemp("whole")) as place:
        return faults.reference(job(), place / "work")


@pytest.fixture
def killer(reference, in_memory):
    return Killer(job(), reference, in_memory)


@pytest.mark.parametrize("kills", [4, pytest.param(50, marks=pytest.mark.long)])
def test_kills_at_random_instants(killer, kills):
    """Instants of processor time, so that neither the machine's speed nor its load matters."""
    killer.random_instants(kills, random.Random(3))
    tally = killer.tally
    assert tally.killed == kills and tally.finished
    assert kills < 50 or tally.resumed > 5 and tally.starting and tally.committing


@pytest.mark.slow
def test_a_kill_at_every_slice_of_an_iteration(killer):
    slices = sum(player.slices for player in killer.job.index.players)
    # The initial strategy; within the iteration, gradients and regrets upward, and the strategy downward.
    found = killer.every_slice()
    assert found == 4 * slices
    assert killer.tally.killed >= found and killer.tally.finished


@pytest.mark.long
@pytest.mark.parametrize("stride", [pytest.param(1, marks=pytest.mark.full), 23])
def test_a_kill_at_steps_of_a_commit(killer, stride):
    steps = killer.every_step_of_a_commit(stride)
    assert steps > 200 and killer.tally.killed >= steps // stride
    assert killer.tally.finished and 2 < killer.tally.committing < killer.tally.killed


@pytest.mark.slow
def test_work_in_a_damaged_map_is_never_resumed(killer, monkeypatch):
    """The harness itself: it notices a solver that resumes without reading the saved state."""
    monkeypatch.setattr(commits, "_restore", lambda *arguments: None)
    with pytest.raises(FaultError, match="The bits of iteration .* are not those"):
        killer.random_instants(100, random.Random(3))


@pytest.mark.slow
def test_a_lost_commit_is_noticed(killer, monkeypatch):
    monkeypatch.setattr(commits, "atomic_write_text", lambda path, text: path.exists() or path.write_text(text))
    with pytest.raises((FaultError, AssertionError)):
        killer.random_instants(100, random.Random(3))


@pytest.mark.long_but("pdcfr+")
@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["dcfr", "pdcfr+"])
def test_threads_do_not_change_a_bit_of_slices_of_many_runs(in_memory, monkeypatch, algorithm):
    wanted = job("mini-2x3k3-abrupt", max_iterations=6, commit_seconds=1000, algorithm=algorithm)

    def checksums(name, threads):
        faults.run(replace(wanted, threads=threads), in_memory / name, Board())
        return SnapshotRecord.read(in_memory / name).checksums, faults.result(in_memory / name)

    whole = checksums("whole", 1)
    monkeypatch.setattr(engine, "RUN_WORK", 200)
    runs = wanted.engine()._runs
    assert max(len(part) for player in runs for part in player) > 10
    assert all(checksums(f"{threads}", threads) == whole for threads in (1, 2, 3, 5))


@pytest.mark.full
@pytest.mark.slow
def test_kills_in_the_full_game(tmp_path, capsys):
    faults.main(["--data", str(tmp_path)])
    told = capsys.readouterr().out
    assert "20 kills at random instants" in told and "all bits are the same" in told
