"""Snapshots of the solver: which are kept, their contents, kills, and disk budgets."""

import json
import os
import shutil
import signal
import sys
from itertools import takewhile

import pytest

from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.contents import content_digest
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.disk.resources import MB
from pttt_ooc.errors import ConfigError, DiskBudgetError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.api.solutions import solve as library_solve
from pttt_ooc.library.api.solver_session import iterate
from pttt_ooc.pipeline.files.file_headers import solution_attrs
from pttt_ooc.pipeline.stages import fsck, product_check, snapshots, solve
from pttt_ooc.pipeline.stages.directories import SNAPSHOTS
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.pipeline.stages.snapshots import due, most_bytes, thin_out
from tests.faults.solver import STEPS

GAME = "mini-2x3k2-abrupt"
EXIT_FINISHED = 7
SIZE = 15_000  # bytes, more than a snapshot of this game


def settings(**changes):
    known = {"target_nashconv": 0, "max_iterations": 14, "commit_seconds": 1000, "snapshot_every": 1.3}
    return SolveConfig(**{**known, **changes})


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """Makes directories of the game's results, with its index: copies of one."""
    index = prepare_index(tmp_path_factory.mktemp("index"), GAME, "full")
    return lambda directory: shutil.copytree(index, directory / GAME / "full")


@pytest.fixture
def place(fresh, in_memory):
    """The directory of the game's results, with its index."""
    return fresh(in_memory)


def run(directory, **changes):
    solve.run(GAME, "full", settings(**changes), directory, 2)
    return made(directory)


def made(directory):
    """The iterations of the snapshots among the products."""
    return sorted(int(path.stem) for path in (directory / SNAPSHOTS).glob("*.zarr"))


def product(directory, name):
    return json.loads((directory / "solve.json").read_text())["products"][name]


def until(iteration, **changes):
    return list(takewhile(lambda t: t <= iteration, due(settings(**changes))))


def test_snapshots_are_made_at_evaluations():
    assert until(60, evaluate_every=1.2, snapshot_every=1.01) == [*range(1, 11), 12, 14, 16, 19, 22, 26, 31, 37, 44, 52]
    assert until(60, evaluate_every=1.2, snapshot_every=2) == [1, 2, 4, 8, 16, 37]
    assert until(60, evaluate_every=3, snapshot_every=1.5) == [1, 3, 9, 27]


def test_thinning_deletes_every_second_one():
    sizes = {1: 10, 2: 20, 4: 30, 8: 40, 16: 50}
    assert thin_out(sizes, 150) == [1, 2, 4, 8, 16]
    assert thin_out(sizes, 149) == thin_out(sizes, 90) == [1, 4, 16]
    assert thin_out(sizes, 89) == [1, 16]
    assert thin_out(sizes, 59) == [1] and thin_out(sizes, 9) == []


def test_thinning_never_needs_a_deleted_snapshot():
    sizes = {t: 7 + t % 5 for t in range(1, 60)}
    kept = [set(thin_out({t: s for t, s in sizes.items() if t <= last}, 100)) for last in range(1, 60)]
    for last, (before, after) in enumerate(zip(kept, kept[1:], strict=False), 1):
        assert after <= before | {last + 1}


@pytest.mark.slow
def test_a_snapshot_is_the_solution_of_a_run_that_ends_there(place, fresh, tmp_path):
    assert run(place) == until(14) == [1, 2, 3, 4, 6, 8, 12]
    for iteration in (2, 8):
        shorter = fresh(tmp_path / str(iteration))
        solve.run(GAME, "full", settings(max_iterations=iteration, snapshot_every=None), shorter, 1)
        whole = shorter / "solution.zarr"
        assert content_digest(place / SNAPSHOTS / f"{iteration}.zarr") == content_digest(whole)
        assert solution_attrs(whole)["iteration"] == iteration
    assert product(place, SNAPSHOTS)["digest"] == content_digest(place / SNAPSHOTS)
    assert fsck.check(place).problems == []


@pytest.mark.long
def test_the_option_changes_nothing_else(place, fresh, tmp_path):
    run(place)
    other = fresh(tmp_path)
    solve.run(GAME, "full", settings(snapshot_every=None), other, 2)
    assert product(place, "solution.zarr") == product(other, "solution.zarr")
    assert (
        not (other / SNAPSHOTS).exists() and SNAPSHOTS not in json.loads((other / "solve.json").read_text())["products"]
    )
    assert not any((other / "work").rglob(f"*{SNAPSHOTS}*"))


def killed_after(steps, directory):
    """Run in a separate process that is killed at a given call that changes the disk; return its exit code."""
    child = os.fork()
    if child == 0:
        left = [steps]

        def count(event, _):
            if event in STEPS:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        try:
            run(directory, snapshots_mb=TIGHT)
        finally:
            os._exit(EXIT_FINISHED)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


TIGHT = 0.03  # MB: about four snapshots fit


@pytest.mark.long
@pytest.mark.parametrize("strides", [(401,), pytest.param((97, 173), marks=pytest.mark.long)])
def test_kills_change_neither_the_snapshots_nor_a_bit(place, fresh, tmp_path, monkeypatch, strides):
    monkeypatch.setattr(snapshots, "most_bytes", lambda index: SIZE)
    whole = fresh(tmp_path)
    assert run(whole, snapshots_mb=TIGHT) != until(14), "some are deleted on the way"
    kills = 0
    for stride in strides:
        steps, finished = stride, False
        while not finished:
            finished = killed_after(steps, place) == EXIT_FINISHED
            kills += not finished
            steps += stride
            total = sum(snapshots._size(path) for path in place.glob(f"work/*/{SNAPSHOTS}/*.zarr"))
            assert total <= TIGHT * MB + 2 * SIZE  # plus one in the making, and one not yet deleted
        for name in ("solution.zarr", SNAPSHOTS):
            assert product(place, name) == product(whole, name)
        shutil.rmtree(place / "work")
        (place / "solve.json").unlink()
    assert kills > 4 * len(strides)


@pytest.mark.slow
def test_the_state_is_saved_with_each_snapshot(place, monkeypatch, capfd):
    """Otherwise a run that is killed after deleting some would have to restart."""
    monkeypatch.setattr(snapshots, "most_bytes", lambda index: SIZE)
    make_space = snapshots.Snapshots.make_space

    def stopping(self, iteration):
        make_space(self, iteration)
        if iteration == 8:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(snapshots.Snapshots, "make_space", stopping)
        run(place, snapshots_mb=TIGHT)
    capfd.readouterr()
    run(place, snapshots_mb=TIGHT)
    assert "Continuing from iteration 8." in capfd.readouterr().err


@pytest.mark.long
def test_snapshots_deleted_by_a_smaller_budget_are_made_anew(place, monkeypatch):
    monkeypatch.setattr(snapshots, "most_bytes", lambda index: SIZE)
    assert run(place, snapshots_mb=TIGHT) != until(14)
    assert run(place) == until(14)


@pytest.mark.long
def test_a_budget_thins_the_schedule(place, monkeypatch):
    sizes = {}
    run(place)
    for t in until(14):
        sizes[t] = snapshots._size(place / SNAPSHOTS / f"{t}.zarr")
    assert all(0 < size < SIZE for size in sizes.values())
    monkeypatch.setattr(snapshots, "most_bytes", lambda index: SIZE)
    for budget in (sum(sizes.values()), sum(sizes.values()) - 1, 2 * SIZE):
        found = run(place, snapshots_mb=budget / MB)
        assert found == thin_out(sizes, budget) and sum(sizes[t] for t in found) <= budget
    [work] = (place / "work").iterdir()
    assert sorted(int(p.stem) for p in (work / SNAPSHOTS).glob("*.zarr")) == found, "on disk there are no others"


@pytest.mark.slow
def test_a_budget_that_is_too_small_is_refused_before_anything_is_touched(place):
    run(place, snapshot_every=None)
    before = (place / "solve.json").read_bytes()
    with pytest.raises(
        DiskBudgetError, match=r"snapshots_mb is 0\.001, but a snapshot may take 0\.05 MB and two have to"
    ):
        run(place, snapshots_mb=0.001)
    assert (place / "solve.json").read_bytes() == before
    assert not any((place / "work").rglob(SNAPSHOTS))


@pytest.mark.slow
def test_no_snapshot_is_larger_than_its_bound(place):
    run(place)
    from tests.kits.helpers import small_engine

    bound = most_bytes(small_engine(GAME, "full").index)
    assert max(snapshots._size(path) for path in (place / SNAPSHOTS).iterdir()) <= bound < 4 * SIZE


@pytest.mark.long
def test_a_run_without_snapshots_is_neither_resumed_nor_lost(place, capfd):
    run(place, snapshot_every=None, max_iterations=8)
    capfd.readouterr()
    assert run(place) == until(14)
    told = capfd.readouterr().err
    assert "Starting from the first iteration." in told
    assert (
        "to go on from there, set target_nashconv: 0, max_iterations: 8, evaluate_every: 1.2, snapshot_every: null."
        in told
    )
    run(place, max_iterations=30)
    assert "Continuing from iteration 14." in capfd.readouterr().err
    assert made(place) == until(30)


@pytest.mark.long
def test_snapshots_after_the_end_of_a_run_are_not_published(place):
    run(place, max_iterations=30)
    assert run(place) == until(14)
    assert run(place, max_iterations=30) == until(30)


@pytest.mark.slow
def test_a_run_without_the_option_deletes_the_product(place):
    run(place)
    run(place, snapshot_every=None)
    assert not (place / SNAPSHOTS).exists() and not product_check.problem(
        place, "solve", read_manifest(place / "solve.json", "solve")["products"]
    )
    [work] = (place / "work").iterdir()
    assert len(list((work / SNAPSHOTS).glob("*.zarr"))) == len(until(14)), "the run can be gone on from"


@pytest.mark.slow
def test_files_are_shared_and_survive_the_work_directory(place):
    run(place)
    files = [file for file in (place / SNAPSHOTS).rglob("*") if file.is_file()]
    assert {file.stat().st_nlink for file in files} == {2}


@pytest.mark.slow
def test_a_file_system_without_hard_links_gets_copies(place, monkeypatch):
    link = os.link

    def refused(source, target, **options):
        if f"{SNAPSHOTS}.wip" in str(target):
            raise OSError(1, "Operation not permitted")
        link(source, target, **options)

    monkeypatch.setattr(os, "link", refused)
    assert run(place) == until(14)
    assert content_digest(place / SNAPSHOTS) == product(place, SNAPSHOTS)["digest"]


@pytest.mark.slow
def test_the_library_refuses_snapshots_without_a_directory(tmp_path):
    game = named_game(GAME)
    for call in (lambda: iterate(game, snapshot_every=2), lambda: library_solve(game, snapshot_every=2)):
        with pytest.raises(ConfigError, match="Snapshots are kept on disk"):
            call()
    library_solve(game, directory=tmp_path, max_iterations=5, snapshot_every=2)
    assert made(tmp_path / GAME / "full") == [1, 2, 4]
