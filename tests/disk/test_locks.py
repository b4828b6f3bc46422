"""Locks between processes."""

import os
import subprocess
import sys

import pytest

from pttt_ooc.disk.locks import hold
from pttt_ooc.errors import GraderError, StoreError

BUSY = "Somebody is at work (process {}).".format


def test_one_process_at_a_time_holds_a_lock_and_is_named_to_others(tmp_path):
    with hold(tmp_path / "lock", BUSY):
        with pytest.raises(StoreError, match=rf"^Somebody is at work \(process {os.getpid()}, since \d\d:\d\d\)\.$"):
            hold(tmp_path / "lock", BUSY)
        with pytest.raises(StoreError):
            hold(tmp_path / "lock", BUSY, shared=True)
        with pytest.raises(GraderError):
            hold(tmp_path / "lock", BUSY, error=GraderError)
    hold(tmp_path / "lock", BUSY).close()


def test_readers_share_a_lock_and_keep_writers_out(tmp_path):
    readers = [hold(tmp_path / "lock", BUSY, shared=True) for _ in range(2)]
    with pytest.raises(StoreError, match=str(os.getpid())):
        hold(tmp_path / "lock", BUSY)
    for reader in readers:
        reader.close()
    hold(tmp_path / "lock", BUSY).close()


def test_a_reader_writes_nothing(tmp_path):
    file = tmp_path / "lock"
    with pytest.raises(FileNotFoundError):
        hold(file, BUSY, shared=True, touch=False)
    file.write_text("7\n")
    with hold(file, BUSY, shared=True, touch=False), pytest.raises(StoreError, match="process 7, since "):
        hold(file, BUSY)
    assert file.read_text() == "7\n"


def test_a_lock_of_another_day_is_reported_with_its_date(tmp_path):
    with hold(tmp_path / "lock", BUSY):
        os.utime(tmp_path / "lock", (86400, 86400))
        with pytest.raises(StoreError, match=rf"process {os.getpid()}, since 1970-01-0\d \d\d:\d\d\)"):
            hold(tmp_path / "lock", BUSY)


def test_a_lock_ends_with_its_process(tmp_path):
    script = (
        f"import os; from pathlib import Path; from pttt_ooc.disk.locks import hold\n"
        f"lock = hold(Path({str(tmp_path / 'lock')!r}), str); os._exit(3)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 3
    hold(tmp_path / "lock", BUSY).close()
