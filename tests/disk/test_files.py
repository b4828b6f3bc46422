"""Atomic writing of files and directories, and digests."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pttt_ooc.disk.files import atomic_write_text, digest, fresh_store, fsync_tree, make_directory, replacing
from pttt_ooc.disk.store import array_names, write_array
from pttt_ooc.errors import StoreError


def contents(path: Path) -> dict[str, bytes]:
    return {f.relative_to(path).as_posix(): f.read_bytes() for f in sorted(path.rglob("*")) if f.is_file()}


def test_a_fresh_store_replaces_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "data" / "strategy.zarr"
    for value in (1, 2):
        with fresh_store(target) as wip:
            assert wip.name == "strategy.zarr.wip" and not any(wip.iterdir())
            write_array(wip, f"a{value}", np.full(3, value), compress=False)
        assert array_names(target) == [f"a{value}"]
        assert [p.name for p in target.parent.iterdir()] == ["strategy.zarr"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failed_store_leaves_the_old_one(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "s"
    with fresh_store(target) as wip:
        (wip / "old").write_text("old")
    with pytest.raises(error), fresh_store(target) as wip:
        (wip / "new").write_text("new")
        raise error
    assert contents(tmp_path) == {"s/old": b"old"}


def test_leftovers_of_a_killed_store_are_wiped(tmp_path: Path) -> None:
    (tmp_path / "s.wip").mkdir()
    (tmp_path / "s.wip" / "half").write_text("")
    with fresh_store(tmp_path / "s") as wip:
        (wip / "new").write_text("new")
    assert contents(tmp_path) == {"s/new": b"new"}


def test_a_kill_between_the_two_renames_is_repaired(tmp_path: Path) -> None:
    (tmp_path / "s.old").mkdir()
    (tmp_path / "s.old" / "old").write_text("old")
    (tmp_path / "s.wip").mkdir()
    with pytest.raises(ValueError), fresh_store(tmp_path / "s"):
        raise ValueError
    assert contents(tmp_path) == {"s/old": b"old"}


@pytest.mark.parametrize("call", ["fsync", "rename"])
def test_any_failing_call_leaves_a_whole_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    original = getattr(os, call)
    for k in range(10):
        target = tmp_path / str(k) / "s"
        with fresh_store(target) as wip:
            (wip / "a").write_text("old")
        calls = iter(range(100))

        def failing(*args: object, k: int = k, calls: object = calls) -> None:
            if next(calls) == k:  # type: ignore[call-overload]
                raise OSError(errno.ENOSPC, "No space left on device")
            original(*args)

        monkeypatch.setattr(os, call, failing)
        try:
            with fresh_store(target) as wip:
                (wip / "a").write_text("new")
            failed = False
        except StoreError as error:
            failed = True
            assert "No space left on device; free some space" in str(error)
        monkeypatch.undo()
        assert (target / "a").read_text() in ("old", "new")
        if not failed:
            assert k > 0 and (target / "a").read_text() == "new"
            return
    pytest.fail("never ran to the end")


def test_atomic_writing_keeps_the_old_file_when_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "f"
    atomic_write_text(file, "ä\n")
    assert file.read_bytes() == "ä\n".encode()

    def failing(descriptor: int) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(StoreError, match=r"Cannot write .*/f: Read-only file system; choose a directory"):
        atomic_write_text(file, "new")
    assert contents(tmp_path) == {"f": "ä\n".encode()}


# ---------------------------------------------------------------------------------------------
# Power cuts


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The sequence of syncs and renames, with names in `tmp_path`."""
    calls: list[str] = []
    fsync, rename, replace = os.fsync, os.rename, os.replace

    def name(path: Any) -> str:
        return str(Path(path).relative_to(tmp_path))

    def noted_fsync(descriptor: int) -> None:
        calls.append(f"sync {name(os.readlink(f'/proc/self/fd/{descriptor}'))}")
        fsync(descriptor)

    def noted(call: Callable[..., None]) -> Callable[..., None]:
        def renaming(old: Any, new: Any, **options: Any) -> None:
            calls.append(f"{name(old)} becomes {name(new)}")
            call(old, new, **options)

        return renaming

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "rename", noted(rename))
    monkeypatch.setattr(os, "replace", noted(replace))
    yield calls


def test_a_written_file_is_on_disk(tmp_path: Path, told: list[str]) -> None:
    atomic_write_text(tmp_path / "f", "text")
    assert told == ["sync f.tmp", "f.tmp becomes f", "sync ."]


def test_a_replaced_file_is_on_disk(tmp_path: Path, told: list[str]) -> None:
    with replacing(tmp_path / "f") as aside:
        aside.write_text("text")
    assert told == ["sync f.tmp", "f.tmp becomes f", "sync ."]


def test_a_new_store_is_on_disk(tmp_path: Path, told: list[str]) -> None:
    for number in (1, 2):
        with fresh_store(tmp_path / "s") as wip:
            (wip / "a").write_text(str(number))
            told.append("written")
    first = ["sync .", "written", "sync s.wip/a", "sync s.wip", "s.wip becomes s", "sync ."]
    assert told == [*first, *first[:4], "s becomes s.old", *first[4:]]


def test_new_directories_are_on_disk(tmp_path: Path, told: list[str]) -> None:
    make_directory(tmp_path / "a" / "b" / "c")
    assert told == ["sync .", "sync a", "sync a/b"]
    make_directory(tmp_path / "a" / "b" / "c")
    assert len(told) == 3 and (tmp_path / "a/b/c").is_dir()


def test_a_tree_is_synced_from_its_leaves(tmp_path: Path, told: list[str]) -> None:
    (tmp_path / "t" / "inner").mkdir(parents=True)
    (tmp_path / "t" / "inner" / "f").write_text("")
    fsync_tree(tmp_path / "t")
    assert told == ["sync t/inner/f", "sync t/inner", "sync t"]


# ---------------------------------------------------------------------------------------------
# Digests


def test_digests_depend_on_names_and_contents_only(tmp_path: Path) -> None:
    for tree in ("x", "y"):
        (tmp_path / tree / "sub").mkdir(parents=True)
        (tmp_path / tree / "sub" / "a").write_text("1")
        (tmp_path / tree / "b").write_text("2")
    os.utime(tmp_path / "x" / "b", (0, 0))
    first = digest(tmp_path / "x")
    assert first == digest(tmp_path / "y") and len(first) == 64
    (tmp_path / "y" / "b").write_text("3")
    assert digest(tmp_path / "y") != first
    (tmp_path / "y" / "b").write_text("2")
    (tmp_path / "y" / "b").rename(tmp_path / "y" / "c")
    assert digest(tmp_path / "y") != first
    assert digest(tmp_path / "x" / "sub" / "a") == digest(tmp_path / "y" / "sub" / "a")
    with pytest.raises(StoreError, match="Cannot read .*nowhere: No such file"):
        digest(tmp_path / "nowhere")
