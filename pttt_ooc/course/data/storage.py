"""The data directory: uploads, files being received, gradients, the index; and what is handed out to everybody.

The server chooses all names of files; names of uploaded files are not used.  The lists of infosets are compressed in
the starter kit's zip as gzip would compress them, so that they can be sent from there: as they are to a browser that
takes gzip, inflated to others.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import secrets
import shutil
import struct
import time
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pttt_ooc.course.data.settings import SETTINGS
from pttt_ooc.disk.files import atomic_write_bytes, explain_errors, fresh_store, fsync_path, remove
from pttt_ooc.disk.locks import lock_open
from pttt_ooc.errors import CourseError, StoreError
from pttt_ooc.site.service.pulse import read_sign

if TYPE_CHECKING:
    from pttt_ooc.cfr.solving.assessment import Gradient

log = logging.getLogger("pttt.course.storage")
RESERVE = 200_000_000
"""Bytes of the disk that uploads must leave free."""

_FEW = 10
_ABANDONED_SECONDS = 3600.0  # seconds after which a whole upload without a row in the database is deleted


class FullDiskError(CourseError):
    """There is no room on the disk."""

    def __init__(self) -> None:
        super().__init__("The course's disk is full; tell the instructors.")


def is_full_disk(error: BaseException | None) -> bool:
    """Whether an error, or one of its causes, says that the disk or a quota is full."""
    while error is not None:
        if isinstance(error, FullDiskError) or getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
            return True
        # SQLite has a code of its own for it, PostgreSQL a state.
        original = getattr(error, "orig", None)
        if getattr(original, "sqlite_errorname", None) == "SQLITE_FULL" or getattr(original, "sqlstate", "") == "53100":
            return True
        error = error.__cause__ or error.__context__
    return False


class Storage:
    """Files of one course.

    Attributes
    ----------
    uploads, incoming, gradients, index, certificates, samples
        Directories: whole uploads, uploads being received, a Zarr group for each gradient, the index of the game,
        certificates that teams have asked for, sampled games of each strategy.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.uploads, self.incoming = data / "uploads", data / "incoming"
        self.gradients, self.index, self.certificates = (data / name for name in ("gradients", "index", "certificates"))
        self.samples = data / "samples"
        with explain_errors(f"make directories in {data}"):
            for directory in self._directories:
                directory.mkdir(parents=True, exist_ok=True)

    @property
    def _directories(self) -> tuple[Path, ...]:
        return self.uploads, self.incoming, self.gradients, self.index, self.certificates, self.samples

    @property
    def kit(self) -> Path:
        """The starter kit."""
        return self.data / KIT

    @property
    def alive(self) -> Path:
        """The file that the worker touches every few seconds."""
        return self.data / "worker.alive"

    def private_paths(self) -> Iterator[Path]:
        """The directory, and all of the course's own files in it."""
        yield self.data.resolve()
        for name in (SETTINGS, "secret", "course.sqlite*", "worker.*", "serve.lock", f"{KIT}*"):
            yield from self.data.glob(name)
        for directory in self._directories:
            yield directory
            yield from directory.rglob("*")

    def seconds_since_beat(self) -> float | None:
        """Seconds since the worker's last sign of life; None if there is none."""
        return read_sign(self.alive).age

    def secret(self) -> bytes:
        """The key of forms; made on first use, readable by the owner only."""
        path = self.data / "secret"
        try:
            return path.read_bytes()
        except FileNotFoundError:
            previous = os.umask(0o077)
            try:
                atomic_write_bytes(path, secrets.token_bytes(32))
            finally:
                os.umask(previous)
            return path.read_bytes()

    def free_bytes(self) -> int:
        """Free bytes on the disk."""
        return shutil.disk_usage(self.data).free

    def upload(self, file: str) -> Path:
        """The file of a submission."""
        return self.uploads / file

    def sweep(self, known: Iterable[str]) -> int:
        """Delete whole uploads without a row; returns how many.

        If most have no row, none is deleted: the database may be the wrong one, or an earlier copy.
        """
        keep, old = set(known), time.time() - _ABANDONED_SECONDS
        there = list(self.uploads.iterdir())
        lost = [f for f in there if f.name not in keep and f.stat().st_mtime < old]
        if 2 * len(lost) > max(len(there), _FEW):
            log.error("most uploads have no row in the database: none is deleted", extra={"files": len(lost)})
            return 0
        for file in lost:
            file.unlink(missing_ok=True)
        return len(lost)

    def sweep_incoming(self) -> int:
        """Delete partial uploads that no process is writing; returns how many."""
        swept = 0
        for path in self.incoming.iterdir():
            with suppress(FileNotFoundError), open(path, "rb") as file:
                if lock_open(file):  # its writer holds this lock
                    path.unlink()
                    swept += 1
        return swept

    # -----------------------------------------------------------------------------------------
    # Gradients

    def write_gradient(self, key: str, gradient: Gradient) -> None:
        """Keep a gradient, in single precision and compressed; `key` identifies all that it depends on."""
        from pttt_ooc.disk import store  # takes long to import, and only the worker needs it

        with fresh_store(self._gradient(key)) as root:
            store.write_array(root, "sequences", gradient.sequences.astype("float32"), compress=True)
            store.write_attrs(root, {"constant": gradient.constant})

    def read_gradient(self, key: str) -> Gradient | None:
        """A gradient; None if there is none that can be read."""
        from pttt_ooc.cfr.solving.assessment import Gradient
        from pttt_ooc.disk import store

        root = self._gradient(key)
        try:
            return Gradient(float(store.read_attrs(root)["constant"]), store.read_array(root, "sequences"))
        except (StoreError, KeyError):
            return None

    def forget_gradients(self, keep: Iterable[str]) -> None:
        """Delete all gradients except the ones with the keys `keep`."""
        names = {self._gradient(key) for key in keep}
        for root in self.gradients.iterdir():
            if root not in names:
                remove(root)

    def _gradient(self, key: str) -> Path:
        return self.gradients / f"{key}.zarr"


def upload_hash() -> hashlib.blake2b:
    """The hash of uploads' contents, still empty."""
    return hashlib.blake2b(digest_size=32)


class Incoming:
    """A file being received: hashed and counted while it is written, deleted unless it is kept.

    Parameters
    ----------
    given
        The sender's name of the file; no file here gets this name.
    begun_at
        When the upload began; None: now.
    """

    def __init__(self, storage: Storage, name: str = "", begun_at: float | None = None) -> None:
        self._storage, self.given = storage, name
        self.begun_at = time.time() if begun_at is None else begun_at
        self.name = f"{secrets.token_hex(16)}.zip"
        self._path = storage.incoming / self.name
        self._file: BinaryIO = open(self._path, "xb")  # noqa: SIM115
        lock_open(self._file, wait=True)  # ends with this process
        self._hash = upload_hash()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Add bytes."""
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    @property
    def digest(self) -> str:
        """Content hash of what was written."""
        return self._hash.hexdigest()

    def content(self) -> bytes:
        """All that was written, for small files."""
        self._file.flush()
        return self._path.read_bytes()

    def keep(self) -> None:
        """Move the file to the uploads; from then on it survives a power cut."""
        with explain_errors("keep the upload"):
            self._file.flush()
            os.fsync(self._file.fileno())
            os.replace(self._path, self._storage.upload(self.name))
            self._file.close()
            fsync_path(self._storage.uploads)

    def discard(self) -> None:
        """Delete the file, in either directory."""
        with suppress(OSError):  # a full disk refuses the rest of the buffer too
            self._file.close()
        self._path.unlink(missing_ok=True)
        self._storage.upload(self.name).unlink(missing_ok=True)


# ---------------------------------------------------------------------------------------------
# What is handed out


KIT = "starter-kit.zip"
LISTS = ("player0-infosets.txt", "player1-infosets.txt")
_PIECE = 1 << 18  # bytes
_GZIP = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # the header: deflate, no name, no time, any system


@dataclass(frozen=True)
class Handout:
    """A starter kit on disk.

    Attributes
    ----------
    file
        The zip.
    revision
        Changes with the content of the kit.
    size
        Bytes of the kit.
    lists
        The zip's entries of both lists.
    """

    file: Path
    revision: str
    size: int
    lists: tuple[zipfile.ZipInfo, zipfile.ZipInfo]

    def text(self, player: int) -> Iterator[bytes]:
        """A player's list, piece by piece."""
        with zipfile.ZipFile(self.file) as archive, archive.open(self.lists[player]) as source:
            while data := source.read(_PIECE):
                yield data

    def gzip_text(self, player: int) -> Iterator[bytes]:
        """A player's list as a gzip file, piece by piece; see :meth:`gzipped_size`."""
        entry, packed = self.lists[player], copy(self.lists[player])
        # Declared as uncompressed, so that `zipfile` gives the compressed bytes; it has no checksum of them.
        packed.compress_type, packed.file_size = zipfile.ZIP_STORED, entry.compress_size
        del packed.CRC
        yield _GZIP
        with zipfile.ZipFile(self.file) as archive, archive.open(packed) as source:
            while data := source.read(_PIECE):
                yield data
        yield struct.pack("<II", entry.CRC, entry.file_size & 0xFFFFFFFF)

    def gzipped_size(self, player: int) -> int:
        """Bytes of :meth:`gzip_text`."""
        return len(_GZIP) + self.lists[player].compress_size + 8


def find_handout(file: Path) -> Handout | None:
    """The starter kit in a file; None if there is none, or none that can be read."""
    try:
        with zipfile.ZipFile(file) as archive:
            entries = {Path(entry.filename).name: entry for entry in archive.infolist()}
            first, second = (entries[name] for name in LISTS)
            return Handout(file, archive.comment.decode("ascii"), file.stat().st_size, (first, second))
    except (OSError, zipfile.BadZipFile, KeyError, ValueError):
        return None
