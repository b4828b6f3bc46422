"""States that survive kills, damage, full and read-only disks."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from mmap import PAGESIZE
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

from pttt_ooc.disk import commits, piece_buffers
from pttt_ooc.disk.block_mover import BlockMover
from pttt_ooc.disk.commits import Choice, ResumableState, fsck, latest
from pttt_ooc.disk.memory import virtual_array
from pttt_ooc.disk.snapshot_record import Commit, SnapshotRecord
from pttt_ooc.disk.store import Array, chunk_file
from pttt_ooc.errors import StoreError
from tests.kits.disks import Disk

ARRAYS = {
    "regret/0/1": virtual_array((300, 7), "f8"),
    "reach/1": virtual_array(500, "f4"),
    "empty": virtual_array(0, "f8"),
}


def fill(state: ResumableState, iteration: int) -> None:
    """Fill the arrays with an iteration's content: different bits everywhere in each."""
    for i, name in enumerate(sorted(state.arrays)):
        array = state.arrays[name]
        array[...] = np.random.default_rng([iteration, i]).random(array.shape)


def assert_holds(state: ResumableState, iteration: int) -> None:
    assert state.iteration == iteration
    assert state.extra == ({"weight": iteration / 3} if iteration else {})
    for i, name in enumerate(sorted(ARRAYS)):
        wanted = ARRAYS[name]
        expected = np.random.default_rng([iteration, i]).random(wanted.shape) if iteration else np.zeros(wanted.shape)
        assert np.array_equal(state.arrays[name], expected.astype(wanted.dtype)), name


def commit(state: ResumableState, iteration: int) -> None:
    fill(state, iteration)
    state.commit(iteration, {"weight": iteration / 3})


def committed(path: Path, iterations: int = 1, arrays: Mapping[str, Array] = ARRAYS) -> Path:
    with ResumableState.open(path, arrays, "f") as state:
        for iteration in range(1, iterations + 1):
            commit(state, iteration)
    return path


def in_child(work: Callable[[], None]) -> int:
    """Run `work` in a forked process; its process number."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return child


def was_killed(child: int) -> bool:
    """Wait for a child's end: by SIGKILL, or after it has finished its work."""
    _, status = os.waitpid(child, 0)
    assert status in (0, signal.SIGKILL)
    return status != 0


def snapshots(path: Path) -> list[str]:
    return sorted(p.name for p in (path / "commits").iterdir())


# ---------------------------------------------------------------------------------------------
# Committing and resuming


def test_a_new_state_is_zero_and_uncommitted_work_is_lost(tmp_path: Path) -> None:
    for _ in range(2):
        with ResumableState.open(tmp_path / "w", ARRAYS, "f") as state:
            assert_holds(state, 0)
            fill(state, 1)
    assert fsck(tmp_path / "w") == []


def test_resuming_continues_from_the_last_commit(tmp_path: Path) -> None:
    for last in range(4):
        with ResumableState.open(tmp_path, ARRAYS, "f") as state:
            assert_holds(state, last)
            commit(state, last + 1)
            assert_holds(state, last + 1)
            fill(state, 99)
        assert snapshots(tmp_path) == [f"{last + 1:08d}"]
        assert fsck(tmp_path) == []


def test_commits_and_working_arrays_open_with_plain_zarr(tmp_path: Path) -> None:
    with ResumableState.open(tmp_path, ARRAYS, "f") as state:
        commit(state, 1)
        for group in (tmp_path / "working", tmp_path / "commits" / "00000001"):
            root = zarr.open(group, mode="r")
            assert sorted(root.group_keys()) == ["reach", "regret"]
            for name in ARRAYS:
                assert np.array_equal(root[name][...], state.arrays[name])


@pytest.mark.parametrize("in_memory", [False, True])
def test_commits_link_the_files_of_unchanged_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    def files() -> list[int]:
        snapshot = tmp_path / "commits" / snapshots(tmp_path)[-1]
        return [chunk_file(snapshot, name, ARRAYS[name].ndim).stat().st_ino for name in ("regret/0/1", "reach/1")]

    def refuse(old: Path, new: Path) -> None:
        raise OSError(errno.EPERM, "no links here")

    with ResumableState.open(tmp_path, ARRAYS, "f", in_memory=in_memory) as state:
        fill(state, 1)
        state.commit(1, {}, {"reach/1"})  # there is nothing to link yet
        (changed, kept), reach = files(), state.arrays["reach/1"].tobytes()
        state.arrays["regret/0/1"][...] = 7
        state.commit(2, {}, {"reach/1", "empty"})
        assert files()[1] == kept and files()[0] != changed
        with monkeypatch.context() as patch:
            patch.setattr(os, "link", refuse)
            state.commit(3, {}, {"reach/1", "empty"})
        assert files()[1] != kept
        assert bool([file for file in (tmp_path / "working").rglob("c/**/*") if file.is_file()]) != in_memory
    assert fsck(tmp_path) == []
    with ResumableState.open(tmp_path, ARRAYS, "f", in_memory=in_memory) as state:
        assert state.iteration == 3 and state.arrays["reach/1"].tobytes() == reach
        assert (state.arrays["regret/0/1"] == 7).all()


def test_maps_that_outlive_the_state_are_harmless(tmp_path: Path) -> None:
    committed(tmp_path)
    with ResumableState.open(tmp_path, ARRAYS, "f") as state:
        stale = state.arrays["reach/1"]
    with ResumableState.open(tmp_path, ARRAYS, "f") as state:
        stale[:] = -1
        assert_holds(state, 1)
    with pytest.raises(ValueError, match="is closed"):
        state.commit(2)


def test_time_stamps_do_not_matter(tmp_path: Path) -> None:
    committed(tmp_path, 2)
    for file in tmp_path.rglob("*"):
        os.utime(file, (2**32, 2**32))
    with ResumableState.open(tmp_path, ARRAYS, "f") as state:
        assert_holds(state, 2)
        commit(state, 3)


def test_extra_must_be_json_and_is_a_copy(tmp_path: Path) -> None:
    with ResumableState.open(tmp_path, ARRAYS, "f") as state:
        with pytest.raises(TypeError):
            state.commit(1, {"x": object()})
        state.commit(1, {"x": [1]})
        state.extra["x"].append(2)
        assert state.extra == {"x": [1]}


def test_kept_commits_stay_until_a_run_continues_them(tmp_path: Path) -> None:
    def only(iteration: int) -> Callable[[Sequence[Commit]], Choice]:
        def choose(saved: Sequence[Commit]) -> Choice:
            base = next((commit for commit in saved if commit.iteration == iteration), None)
            return base, [commit for commit in saved if commit is not base]

        return choose

    committed(tmp_path, 5)
    with ResumableState.open(tmp_path, ARRAYS, "f", only(0)) as state:  # none: from the start
        assert_holds(state, 0)
        assert [run.iteration for run in state.kept] == [5]
        assert state.nbytes == 300 * 7 * 8 + 500 * 4
        for iteration in (1, 2, 3):
            commit(state, iteration)
        assert len(snapshots(tmp_path)) == 2
    assert not (tmp_path / "working").exists(), "it takes room and is worth nothing"
    assert fsck(tmp_path) == []
    with ResumableState.open(tmp_path, ARRAYS, "f") as state:  # the newest, though another has a higher iteration
        assert_holds(state, 3)
        assert [run.iteration for run in state.kept] == [5]
    with ResumableState.open(tmp_path, ARRAYS, "f", only(5)) as state:
        assert_holds(state, 5)
        commit(state, 6)
    with ResumableState.open(tmp_path, ARRAYS, "f", only(3)) as state:
        assert_holds(state, 3)
        assert [run.iteration for run in state.kept] == [6]
    (tmp_path / "commits" / "00000009" / "reach/1/c/0").unlink()
    assert "00000009/reach/1/c/0 is missing" in fsck(tmp_path)[0]
    with ResumableState.open(tmp_path, ARRAYS, "f", only(3)) as state:  # other commits may be damaged
        assert_holds(state, 3)


def test_other_commits_are_deleted_by_the_next_commit_only(tmp_path: Path) -> None:
    committed(tmp_path, 5)
    with ResumableState.open(tmp_path, ARRAYS, "f", lambda saved: (None, ())) as state:
        assert_holds(state, 0)
        assert len(snapshots(tmp_path)) == 1
    with ResumableState.open(tmp_path, ARRAYS, "f") as state:
        assert_holds(state, 5)
    with ResumableState.open(tmp_path, ARRAYS, "f", lambda saved: (None, ())) as state:
        commit(state, 1)
    with ResumableState.open(tmp_path, ARRAYS, "f", lambda saved: latest(saved)) as state:
        assert_holds(state, 1)
        assert not state.kept and snapshots(tmp_path) == ["00000006"]


# ---------------------------------------------------------------------------------------------
# Kills


STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "mmap.__new__", "fcntl.flock", "sync"}


def die_at_step(last: int) -> None:
    """Kill this process just before the `last`-th call, in any thread, that changes or syncs anything on disk."""
    count, fsync = [0], os.fsync

    def hook(event: str, _: tuple[Any, ...]) -> None:
        if event in STEPS:
            count[0] += 1
            if count[0] == last:
                os.kill(os.getpid(), signal.SIGKILL)

    def audited_fsync(descriptor: int) -> None:
        sys.audit("sync")
        fsync(descriptor)

    os.fsync = audited_fsync  # type: ignore[assignment]
    sys.addaudithook(hook)


@pytest.mark.parametrize("moved", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_kill_at_every_step_of_a_commit(in_memory: Path, monkeypatch: pytest.MonkeyPatch, moved: bool) -> None:
    """With a mover, which has room for two of the pieces, at every fifth step."""
    monkeypatch.setattr(commits, "PIECE", PAGESIZE)
    monkeypatch.setattr(piece_buffers, "PIECE", PAGESIZE)
    iteration, survived, k = 1, 0, 1
    committed(in_memory)
    while survived < 2:
        with ResumableState.open(in_memory, ARRAYS, "f") as state:
            if k > 1 and state.iteration > iteration:
                iteration += 1
            assert_holds(state, iteration)
            assert len(snapshots(in_memory)) == 1
            fill(state, iteration + 1)

            def work(state: ResumableState = state, k: int = k, iteration: int = iteration) -> None:
                with BlockMover(2 * PAGESIZE) if moved else nullcontext() as state.mover:
                    die_at_step(k)
                    state.commit(iteration + 1, {"weight": (iteration + 1) / 3})

            survived += not was_killed(in_child(work))
        k += 5 if moved else 1
    assert k > 50 and iteration > 2


def test_a_kill_at_every_write_halves_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path)
    for block in range(1, 6):
        with ResumableState.open(tmp_path, ARRAYS, "f") as state:
            assert_holds(state, 1)
            fill(state, 2)
            monkeypatch.setattr(commits, "_BLOCK", 4096)
            calls = [0]

            def crc(data: memoryview, value: int, calls: list[int] = calls, block: int = block) -> int:
                calls[0] += 1
                if calls[0] == block:
                    os.kill(os.getpid(), signal.SIGKILL)
                return zlib.crc32(data, value)

            def work(state: ResumableState = state, crc: Callable[..., int] = crc) -> None:
                commits.zlib = type("zlib", (), {"crc32": staticmethod(crc)})  # type: ignore[assignment]
                state.commit(2)

            assert was_killed(in_child(work))
        monkeypatch.undo()


@pytest.mark.slow
def test_a_kill_at_steps_of_creating_and_resuming(in_memory: Path) -> None:
    resumable = committed(in_memory / "resumable")
    for iterations in (0, 1):
        survived, k = False, 1
        while not survived:
            path = in_memory / f"{iterations}-{k}"
            if iterations:
                shutil.copytree(resumable, path)

            def work(path: Path = path, k: int = k) -> None:
                die_at_step(k)
                ResumableState.open(path, ARRAYS, "f")

            survived = not was_killed(in_child(work))
            with ResumableState.open(path, ARRAYS, "f") as state:
                assert_holds(state, iterations)
            shutil.rmtree(path)
            k += 3
        assert k > 30


@pytest.mark.long
def test_random_kills_of_a_busy_solver(in_memory: Path) -> None:
    """Kills at random processor times within the duration of six commits: each run makes about three."""
    chance = random.Random(5)
    begun = time.process_time()
    committed(in_memory / "measured", 10)
    six = (time.process_time() - begun) * 6 / 10
    work, iteration, runs = in_memory / "work", 0, 0
    while runs < 30 or iteration <= 30:

        def solver(seconds: float = chance.uniform(1e-6, six)) -> None:
            with ResumableState.open(work, ARRAYS, "f") as state:
                signal.setitimer(signal.ITIMER_PROF, seconds)
                while True:
                    commit(state, state.iteration + 1)

        _, status = os.waitpid(in_child(solver), 0)
        assert status == signal.SIGPROF
        assert fsck(work) == []
        with ResumableState.open(work, ARRAYS, "f") as state:
            assert state.iteration >= iteration
            iteration = state.iteration
            assert_holds(state, iteration)
        runs += 1


def test_after_a_power_cut_the_recorded_commit_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    committed(tmp_path)
    synced: dict[Path, int] = {}  # time of the last change before the last sync
    told: list[str] = []
    fsync, replace, rmtree = os.fsync, os.replace, shutil.rmtree

    def watched_fsync(descriptor: int) -> None:
        fsync(descriptor)
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        synced[path] = os.stat(path).st_mtime_ns
        if path == tmp_path:
            told.append("the name is on disk")

    def watched_replace(old: Path, new: Path) -> None:
        snapshot = tmp_path / "commits" / "00000002"
        for path in [old, snapshot, snapshot.parent, *snapshot.rglob("*")]:
            assert synced.get(path) == path.stat().st_mtime_ns, path
        assert len(list(snapshot.rglob("*"))) > 10
        told.append(f"named {new.name}")
        replace(old, new)

    def watched_rmtree(path: Path, **options: Any) -> None:
        told.append(f"deleted {path.name}")
        rmtree(path, **options)

    with ResumableState.open(tmp_path, ARRAYS, "f") as state:
        monkeypatch.setattr(os, "fsync", watched_fsync)
        monkeypatch.setattr(os, "replace", watched_replace)
        monkeypatch.setattr(shutil, "rmtree", watched_rmtree)
        commit(state, 2)
        assert told == ["named CURRENT.json", "the name is on disk", "deleted 00000001"]


def test_after_a_power_cut_a_new_work_directory_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        fsync(descriptor)
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")))

    monkeypatch.setattr(os, "fsync", watched)
    path = tmp_path / "new" / "work" / "w"
    ResumableState.open(path, ARRAYS, "f").close()
    assert synced == [tmp_path, path.parent.parent, path.parent, path / "CURRENT.json.tmp", path, path.parent]


# ---------------------------------------------------------------------------------------------
# Refusals


@pytest.mark.slow
def test_a_second_solver_is_refused(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; import numpy as np; from pttt_ooc.disk.commits import ResumableState\n"
        "with ResumableState.open(Path(sys.argv[1]), {'a': np.zeros(2)}, 'f'):\n"
        "    print('open', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    root = Path(commits.__file__).parents[2]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, text=True) as first:
        assert first.stdout and first.stdout.readline() == "open\n"
        sentence = rf"at work on {tmp_path} \(process {first.pid}, since \d\d:\d\d\); wait for it or stop it"
        with pytest.raises(StoreError, match=sentence):
            ResumableState.open(tmp_path, {"a": virtual_array(2, "f8")}, "f")
        with pytest.raises(StoreError, match=sentence):
            fsck(tmp_path)
        first.kill()
    with (
        ResumableState.open(tmp_path, {"a": virtual_array(2, "f8")}, "f"),
        pytest.raises(StoreError, match=f"process {os.getpid()}"),
    ):
        ResumableState.open(tmp_path, {"a": virtual_array(2, "f8")}, "f")


def test_another_fingerprint_or_other_arrays_are_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    committed(tmp_path)
    other = {**ARRAYS, "reach/1": virtual_array(500, "f8")}
    more = {**ARRAYS, "more": virtual_array(1, "f8")}
    for arrays, fingerprint, sentence in (
        (ARRAYS, "g", r"made for another configuration \(fingerprint f, now g\).* delete the work directory"),
        (other, "f", r"The array reach/1 in .* is float32\[500\], but float64\[500\] is asked for"),
        (more, "f", "holds arrays of other names"),
    ):
        with pytest.raises(StoreError, match=sentence):
            ResumableState.open(tmp_path, arrays, fingerprint)
    with ResumableState.open(tmp_path, ARRAYS, "f") as state:
        assert_holds(state, 1)


def test_another_format_version_is_refused(tmp_path: Path) -> None:
    committed(tmp_path)
    file = tmp_path / "CURRENT.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "format_version": 0}))
    with pytest.raises(StoreError, match="CURRENT.json is of format version 0.*delete the work directory"):
        ResumableState.open(tmp_path, ARRAYS, "f")
    assert len(fsck(tmp_path)) == 1


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 4
    file.write_bytes(content)


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


def lengthen(file: Path) -> None:
    os.truncate(file, file.stat().st_size + 1)


@pytest.mark.parametrize("harm", [flip, truncate, lengthen, Path.unlink])
def test_a_damaged_array_is_named(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    file = committed(tmp_path, 2) / "commits" / "00000002" / "regret/0/1/c/0/0"
    harm(file)
    sentence = rf"regret/0/1.*{file}.*; delete the work directory {tmp_path} to start anew\.$"
    with pytest.raises(StoreError, match=sentence):
        ResumableState.open(tmp_path, ARRAYS, "f")
    (problem,) = fsck(tmp_path)
    with pytest.raises(StoreError, match=sentence):
        raise StoreError(problem)


@pytest.mark.parametrize("name", ["reach/1/zarr.json", "regret/0/1/zarr.json"])
def test_a_damaged_description_is_found(tmp_path: Path, name: str) -> None:
    file = committed(tmp_path) / "commits" / "00000001" / name
    file.write_text(file.read_text().replace('"data_type"', '"data-type"'))
    with pytest.raises(StoreError, match=r"is damaged: its description .*zarr.json cannot be read .*delete the work"):
        ResumableState.open(tmp_path, ARRAYS, "f")
    assert len(fsck(tmp_path)) == 1


@pytest.mark.filterwarnings("ignore:Object at regret")
def test_arrays_that_zarr_does_not_find_are_a_problem(tmp_path: Path) -> None:
    (committed(tmp_path) / "commits" / "00000001" / "regret" / "zarr.json").unlink()
    (problem,) = fsck(tmp_path)
    assert "are not those committed" in problem


def test_every_flipped_bit_of_the_record_is_found(tmp_path: Path) -> None:
    file = committed(tmp_path) / "CURRENT.json"
    good = file.read_bytes()
    content = json.loads(good)
    for position in range(0, len(good), 3):
        bad = bytearray(good)
        bad[position] ^= 1
        file.write_bytes(bad)
        try:
            assert json.loads(bad) == content  # white space
        except (ValueError, AssertionError):
            with pytest.raises(StoreError, match="CURRENT.json"):
                SnapshotRecord.read(tmp_path)
    file.write_bytes(good)
    assert fsck(tmp_path) == []


def test_a_lost_record_is_not_taken_for_a_new_state(tmp_path: Path) -> None:
    (committed(tmp_path) / "CURRENT.json").unlink()
    with pytest.raises(StoreError, match=r"CURRENT.json, the record of the last commit, is missing; delete the work"):
        ResumableState.open(tmp_path, ARRAYS, "f")
    assert len(fsck(tmp_path)) == 1


# ---------------------------------------------------------------------------------------------
# Disks


def test_a_full_disk_leaves_the_last_commit_and_allows_another_try(small_disk: Disk) -> None:
    path, ballast = small_disk.path / "w", small_disk.path / "ballast"
    arrays = {"a": virtual_array(30_000, "f8"), "b": virtual_array(1000, "f8")}
    sentence = rf"Cannot commit iteration 2 in {path}: No space left.*; free some space"
    with ResumableState.open(path, arrays, "f") as state:
        fill(state, 1)
        state.commit(1)
        expected = state.arrays["a"].tobytes()
        ballast.write_bytes(bytes(400_000))
        fill(state, 2)
        with pytest.raises(StoreError, match=sentence) as kept:
            state.commit(2)
        assert state.iteration == 1 and snapshots(path) == ["00000001"]
    assert fsck(path) == []
    with ResumableState.open(path, arrays, "f") as state:  # the error is kept, but not the space of the old arrays
        assert kept.value.__cause__ is not None
        assert state.iteration == 1 and state.arrays["a"].tobytes() == expected
        fill(state, 2)
        with pytest.raises(StoreError, match=sentence):
            state.commit(2)
        ballast.unlink()
        state.commit(2)
        expected = state.arrays["a"].tobytes()
    with ResumableState.open(path, arrays, "f") as state:
        assert state.iteration == 2 and state.arrays["a"].tobytes() == expected
    with pytest.raises(StoreError, match="No space left"):
        ResumableState.open(small_disk.path / "v", {"a": virtual_array(100_000, "f8")}, "f")


def test_a_read_only_disk(small_disk: Disk) -> None:
    path = committed(small_disk.path / "w")
    state = ResumableState.open(path, ARRAYS, "f")
    state.close()
    small_disk.read_only()
    with pytest.raises(StoreError, match=f"Cannot open the work directory {path}: Read-only file system; choose"):
        ResumableState.open(path, ARRAYS, "f")
    with pytest.raises(StoreError, match="Read-only file system; choose a directory that can be written to"):
        ResumableState.open(small_disk.path / "new", ARRAYS, "f")
    assert fsck(path) == []


@pytest.mark.slow
@pytest.mark.parametrize("call", ["fsync", "replace", "mkdir", "open"])
def test_any_call_that_fails_in_a_commit_leaves_a_whole_state(
    in_memory: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    original = getattr(os, call)
    for k in range(50):
        path = committed(in_memory / str(k))
        with ResumableState.open(path, ARRAYS, "f") as state:
            fill(state, 2)
            calls = iter(range(1000))

            def failing(*args: Any, k: int = k, calls: Iterator[int] = calls, **kwargs: Any) -> Any:
                if next(calls) == k:
                    raise OSError(errno.EIO, "Input/output error")
                return original(*args, **kwargs)

            monkeypatch.setattr(os, call, failing)
            try:
                state.commit(2, {"weight": 2 / 3})
                failed = False
            except StoreError as error:
                failed = True
                assert str(error).endswith(": Input/output error.")
            monkeypatch.undo()
        assert fsck(path) == []
        with ResumableState.open(path, ARRAYS, "f") as state:
            assert_holds(state, state.iteration)
            assert failed or state.iteration == 2
            commit(state, 3)
        if not failed:
            break
    assert k > 0 and not failed


def test_a_commit_can_be_repeated_after_any_failed_sync(in_memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync
    with ResumableState.open(in_memory, ARRAYS, "f") as state:
        for k in range(50):
            calls = iter(range(1000))

            def failing(descriptor: int, k: int = k, calls: Iterator[int] = calls) -> None:
                if next(calls) == k:
                    raise OSError(errno.EIO, "Input/output error")
                fsync(descriptor)

            monkeypatch.setattr(os, "fsync", failing)
            before = state.iteration
            try:
                commit(state, before + 1)
                break
            except StoreError:
                assert state.iteration == before
            monkeypatch.undo()
            commit(state, before + 2)
            assert len(snapshots(in_memory)) == 1
        last = state.iteration
        assert k > 10
    with ResumableState.open(in_memory, ARRAYS, "f") as state:
        assert_holds(state, last)
