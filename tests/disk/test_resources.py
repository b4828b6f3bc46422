"""Time and memory of a block."""

import ast
import mmap
import os
import sys

import numpy as np
import pytest

from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.disk import resources, store
from pttt_ooc.disk.resources import MB, anonymous_bytes, available_bytes, cores, measure_usage, peak_rss_bytes
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.imports import PACKAGE
from tests.kits.patience import wait_until


@pytest.fixture
def samples_of(monkeypatch):
    """A condition: the other thread has sampled the memory this many times from now on."""
    looks = []

    def counted():
        found = anonymous_bytes()
        looks.append(found)
        return found

    monkeypatch.setattr(resources, "anonymous_bytes", counted)

    def condition(count):
        before = len(looks)
        return lambda: len(looks) >= before + count

    return condition


def test_anonymous_memory_is_measured_at_its_peak(samples_of):
    with measure_usage(interval=0.01) as usage:
        block = mmap.mmap(-1, 100 * MB, mmap.MAP_PRIVATE)  # new pages: an array may be where another one was
        np.frombuffer(block, np.uint8)[:] = 1
        wait_until(samples_of(2))
        block.close()
        after = anonymous_bytes() / MB  # not before: the system may take what this process has not used for long
    assert usage.seconds >= 0.01
    assert usage.peak_anonymous_mb >= after + 90
    assert usage.peak_rss_mb >= usage.peak_anonymous_mb - 1


def test_mapped_files_are_not_anonymous(tmp_path, samples_of):
    np.ones(100 * MB, np.uint8).tofile(tmp_path / "big")
    before = anonymous_bytes() / MB
    with measure_usage(interval=0.01) as usage:
        mapped = np.memmap(tmp_path / "big", np.uint8, "r")
        assert mapped.sum() == 100 * MB
        wait_until(samples_of(2))
    assert usage.peak_anonymous_mb < before + 50
    assert peak_rss_bytes() > 0


def test_usage_is_filled_in_after_an_error():
    try:
        with measure_usage() as usage:
            raise KeyError
    except KeyError:
        assert usage.peak_rss_mb > 0


ONLY_ON_LINUX = {
    *("sched_getaffinity", "sched_setaffinity", "posix_fallocate", "posix_fadvise", "fdatasync", "memfd_create"),
    *("getrandom", "copy_file_range", "splice", "pidfd_open", "eventfd", "getxattr", "setxattr", "O_TMPFILE", "pipe2"),
}


@pytest.mark.slow
def test_functions_that_other_systems_lack_are_called_in_one_place_each():
    found = set()
    for file in PACKAGE.rglob("*.py"):
        if file.parent.name == "extreme":  # its walls are those of Linux, and it says so where they are missing
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ONLY_ON_LINUX and ast.unparse(node.value) == "os":
                found.add((file.stem, node.attr))
    assert found == {("resources", "sched_getaffinity"), ("store", "posix_fallocate")}


def test_systems_without_them_are_supported(monkeypatch, tmp_path):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    engine = Engine.of_game(named_game("mini-2x2k2-abrupt"))
    engine.close()
    assert cores() == engine.threads == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1
    with open(tmp_path / "reserved", "wb") as file:
        store._reserve(file, 100)
    assert (tmp_path / "reserved").stat().st_size == 100


def test_cores_are_the_ones_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {2, 5} if process == 0 else set(), raising=False)
    assert cores() == 2


@pytest.fixture
def group(tmp_path, monkeypatch):
    """A control group with a limit and a use, as files of both versions would say."""
    places = [tmp_path / "2", tmp_path / "1"]
    monkeypatch.setattr(resources, "_GROUPS", [(place, "max", "current", ("inactive", "active")) for place in places])
    monkeypatch.setattr(resources, "_OWN_GROUPS", tmp_path / "own")

    def say(version, most, used, below="."):
        place = places[2 - version] / below
        place.mkdir(parents=True, exist_ok=True)
        for name, text in (("max", most), ("current", used)):
            (place / name).write_text(f"{text}\n")
        return place

    return say


def test_the_groups_of_this_process_count_and_pages_of_files_do_not(group, tmp_path):
    group(2, 90 * MB, 10 * MB)
    group(2, 50 * MB, 20 * MB, "a")
    place = group(2, 30 * MB, 25 * MB, "a/b")
    group(2, 1 * MB, 1 * MB, "another")
    assert available_bytes() == 80 * MB
    (tmp_path / "own").write_text("9:name=systemd:/another\n4:cpu,cpuacct:/another\n0::/a/b\n")
    assert available_bytes() == 5 * MB
    (place / "memory.stat").write_text(f"anon 7\ninactive {3 * MB}\nactive {11 * MB}\nactive_anon 99\n")
    assert available_bytes() == 19 * MB
    (place / "memory.stat").write_text(f"inactive {99 * MB}\n")  # more than it uses: they do not fit together
    assert available_bytes() == 30 * MB
    (tmp_path / "own").write_text("4:memory:/a\n")
    assert available_bytes() == 30 * MB


def test_what_disks_move_is_measured(monkeypatch, tmp_path):
    monkeypatch.setattr(resources, "_IO", tmp_path / "io")
    with measure_usage() as usage:
        (tmp_path / "io").write_text(
            f"rchar: 5\nread_bytes: {3 * MB}\nwrite_bytes: {4 * MB}\ncancelled_write_bytes: 1\n"
        )
    assert (usage.read_mb, usage.written_mb) == (3, 4)


@pytest.mark.parametrize("version", [1, 2])
def test_what_a_container_already_uses_is_not_available(group, version):
    machine = available_bytes()
    group(version, 5 * MB, 2 * MB)
    assert available_bytes() == 3 * MB
    group(version, 5 * MB, 5 * MB)
    assert available_bytes() == 0
    group(version, 5 * MB, 6 * MB)  # a limit that was lowered
    assert available_bytes() == 0
    group(version, "max", 2 * MB)
    assert available_bytes() > machine / 2
    group(version, machine * 100, 2 * MB)
    assert machine / 2 < available_bytes() < machine * 2


def test_of_several_limits_the_lowest_counts(group, monkeypatch):
    group(2, 9 * MB, 2 * MB)
    group(1, 5 * MB, 1 * MB)
    assert available_bytes() == 4 * MB
    group(1, 50 * MB, 1 * MB)
    assert available_bytes() == 7 * MB
    number = resources._number
    monkeypatch.setattr(
        resources, "_number", lambda file, *rest: 1 * MB if rest == ("MemAvailable:",) else number(file, *rest)
    )
    assert available_bytes() == 1 * MB


def test_where_the_system_does_not_say_all_memory_is_available(group, monkeypatch, tmp_path):
    assert resources._number(tmp_path / "missing") is None
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   7 kB\n")
    assert resources._number(tmp_path / "meminfo", "MemAvailable:") == 7 * 1024
    assert resources._number(tmp_path / "meminfo", "Missing:") is None
    monkeypatch.setattr(resources, "_number", lambda *arguments: None)
    assert available_bytes() == sys.maxsize
