"""Locks between processes."""

import errno
import fcntl
import os
import socket
import subprocess
import sys

import pytest

from pttt_ooc.disk.locks import free_here, hold, only_here
from pttt_ooc.errors import CourseError, StoreError

MACHINE = socket.gethostname()
BUSY = "Somebody is at work (process {}).".format


def test_one_process_at_a_time_holds_a_lock_and_is_named_to_others(tmp_path):
    with hold(tmp_path / "lock", BUSY):
        with pytest.raises(StoreError, match=rf"^Somebody is at work \(process {os.getpid()}, since \d\d:\d\d\)\.$"):
            hold(tmp_path / "lock", BUSY)
        with pytest.raises(StoreError):
            hold(tmp_path / "lock", BUSY, shared=True)
        with pytest.raises(CourseError):
            hold(tmp_path / "lock", BUSY, error=CourseError)
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


def test_a_lock_of_another_machine_is_reported_with_its_name(tmp_path, monkeypatch):
    with hold(tmp_path / "lock", BUSY):
        monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
        with pytest.raises(StoreError, match=rf"\(process {os.getpid()} on \S+, since \d\d:\d\d\)\.$"):
            hold(tmp_path / "lock", BUSY)


def test_a_lock_that_another_machine_holds_but_is_free_here_is_found(tmp_path, monkeypatch):
    lock = tmp_path / "lock"
    assert free_here(lock) == "" and not lock.exists()
    with hold(lock, BUSY):
        assert free_here(lock) == ""
        monkeypatch.setattr("socket.gethostname", lambda: "elsewhere")
        assert free_here(lock) == ""  # it holds there too
    assert free_here(lock) == MACHINE
    monkeypatch.setattr("socket.gethostname", lambda: MACHINE)
    assert free_here(lock) == ""  # of this machine: it says nothing


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_told(tmp_path, monkeypatch, number):
    def refuse(file, kind):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(CourseError, match=r"lock cannot be locked: .*Mount its file system with locks"):
        hold(tmp_path / "lock", BUSY, error=CourseError)


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:50 / {data} rw,relatime shared:2 - {system}
24 23 0:51 / {data}/in\\040side rw - tmpfs tmpfs rw,size=1g
25 22 0:52 / /elsewhere rw - nfs server:/x rw,nolock
"""


@pytest.mark.parametrize(
    ("system", "found"),
    [
        ("ext4 /dev/sdb1 rw", ""),
        ("nfs4 server:/data rw,vers=4.2,local_lock=none", ""),
        ("nfs server:/data rw,vers=3,local_lock=posix", ""),
        ("nfs server:/data rw,vers=3,nolock,local_lock=all", "nfs, mounted with local_lock=all, nolock"),
        ("nfs server:/data rw,vers=3,local_lock=flock", "nfs, mounted with local_lock=flock"),
        ("lustre 10.0.0.1@tcp:/fs rw,flock,lazystatfs", ""),
        ("lustre 10.0.0.1@tcp:/fs rw,localflock", "lustre, mounted with localflock"),
        ("cifs //server/data rw,vers=3.0,nobrl", "cifs, mounted with nobrl"),
        ("cifs //server/data rw,vers=3.0", ""),
        ("fuse.sshfs me@server:/data rw,user_id=0", "fuse.sshfs"),
    ],
)
def test_file_systems_whose_locks_hold_only_here(tmp_path, system, found):
    data, mounts = tmp_path / "data", tmp_path / "mountinfo"
    (data / "game/full").mkdir(parents=True)
    (data / "in side").mkdir()
    mounts.write_text(MOUNTS.format(data=data, system=system))
    assert only_here(data / "game/full", mounts) == found
    assert only_here(data, mounts) == found
    assert only_here(data / "in side", mounts) == only_here(tmp_path, mounts) == ""
    (tmp_path / "link").symlink_to(data)
    assert only_here(tmp_path / "link/game", mounts) == found
    assert only_here(data, tmp_path / "none") == ""


def test_the_mounts_of_this_machine_can_be_read(tmp_path):
    assert isinstance(only_here(tmp_path), str)
