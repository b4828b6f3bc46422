"""The data directory: uploads, gradients, the index, and what is on its way in.

Names of files are the server's own; nothing that was uploaded names anything.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from pttt_ooc.course.settings import SETTINGS
from pttt_ooc.disk.files import atomic_write_bytes, explained, fresh_store, fsync_path, remove
from pttt_ooc.disk.locks import lock_open
from pttt_ooc.errors import GraderError, StoreError
from pttt_ooc.service.pulse import read_sign

if TYPE_CHECKING:
    from pttt_ooc.solving.assessment import Gradient

log = logging.getLogger("pttt.grader.storage")
RESERVE = 200_000_000
"""Bytes of the disk that uploads leave free."""

_FEW = 10
_ABANDONED = 3600.0  # seconds after which a whole upload that has no row in the database is nobody's


class FullDiskError(GraderError):
    """There is no room on the disk."""

    def __init__(self) -> None:
        super().__init__("The grader's disk is full; tell the instructors.")


def is_full_disk(error: BaseException | None) -> bool:
    """Whether an error, or what it was raised from, says that there is no room on the disk, or no more of a quota."""
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
    """Files of one grader.

    Attributes
    ----------
    uploads, incoming, gradients, index
        Directories: whole uploads, those under way, a Zarr group for each gradient, the index of the game.
    """

    def __init__(self, data: Path) -> None:
        self.data = data
        self.uploads, self.incoming = data / "uploads", data / "incoming"
        self.gradients, self.index = data / "gradients", data / "index"
        with explained(f"make directories in {data}"):
            for directory in (self.uploads, self.incoming, self.gradients, self.index):
                directory.mkdir(parents=True, exist_ok=True)

    @property
    def alive(self) -> Path:
        """The file that the worker touches every few seconds."""
        return self.data / "worker.alive"

    def private_paths(self) -> Iterator[Path]:
        """The directory, and all in it that is the grader's own."""
        yield self.data.resolve()
        for name in (SETTINGS, "secret", "grader.sqlite*", "worker.*", "serve.lock"):
            yield from self.data.glob(name)
        for directory in (self.uploads, self.incoming, self.gradients, self.index):
            yield directory
            yield from directory.rglob("*")

    def seconds_since_beat(self) -> float | None:
        """How long ago the worker gave a sign of life; None if there is none."""
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
        """What is left of the disk."""
        return shutil.disk_usage(self.data).free

    def upload(self, file: str) -> Path:
        """The file of a submission."""
        return self.uploads / file

    def sweep(self, known: Iterable[str]) -> int:
        """Delete whole uploads that have no row; returns how many.

        Where most have none, none is deleted: the database may be another one, or an earlier copy.
        """
        keep, old = set(known), time.time() - _ABANDONED
        there = list(self.uploads.iterdir())
        lost = [f for f in there if f.name not in keep and f.stat().st_mtime < old]
        if 2 * len(lost) > max(len(there), _FEW):
            log.error("most uploads have no row in the database: none is deleted", extra={"files": len(lost)})
            return 0
        for file in lost:
            file.unlink(missing_ok=True)
        return len(lost)

    def sweep_incoming(self) -> int:
        """Delete uploads that nobody is writing any more; returns how many."""
        swept = 0
        for path in self.incoming.iterdir():
            with suppress(FileNotFoundError), open(path, "rb") as file:
                if lock_open(file):  # whoever writes it holds this lock
                    path.unlink()
                    swept += 1
        return swept

    # -----------------------------------------------------------------------------------------
    # Gradients

    def write_gradient(self, key: str, gradient: Gradient) -> None:
        """Keep a gradient, in single precision and compressed; `key` names all that it depends on."""
        from pttt_ooc.disk import store  # takes long to import, and only the worker needs it

        with fresh_store(self._gradient(key)) as root:
            store.write_array(root, "sequences", gradient.sequences.astype("float32"), compress=True)
            store.write_attrs(root, {"constant": gradient.constant})

    def read_gradient(self, key: str) -> Gradient | None:
        """A gradient; None if there is none that can be read, so that it has to be made again."""
        from pttt_ooc.disk import store
        from pttt_ooc.solving.assessment import Gradient

        root = self._gradient(key)
        try:
            return Gradient(float(store.read_attrs(root)["constant"]), store.read_array(root, "sequences"))
        except (StoreError, KeyError):
            return None

    def forget_gradients(self, keep: Iterable[str]) -> None:
        """Delete all gradients but those with the keys `keep`."""
        kept = {self._gradient(key) for key in keep}
        for root in self.gradients.iterdir():
            if root not in kept:
                remove(root)

    def _gradient(self, key: str) -> Path:
        return self.gradients / f"{key}.zarr"


def upload_hash() -> hashlib.blake2b:
    """What names the content of uploads, still of nothing."""
    return hashlib.blake2b(digest_size=32)


class Incoming:
    """A file on its way in: hashed and counted while it is written, deleted unless it is kept.

    Parameters
    ----------
    given
        The name that the sender gave it; it names nothing here.
    """

    def __init__(self, storage: Storage, given: str = "") -> None:
        self._storage, self.given = storage, given
        self.name = f"{secrets.token_hex(16)}.zip"
        self._path = storage.incoming / self.name
        self._file: BinaryIO = open(self._path, "xb")  # noqa: SIM115
        lock_open(self._file, wait=True)  # ends with this process, however it ends
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
        """Put the file among the uploads; from then on it survives a power cut."""
        with explained("keep the upload"):
            self._file.flush()
            os.fsync(self._file.fileno())
            os.replace(self._path, self._storage.upload(self.name))
            self._file.close()
            fsync_path(self._storage.uploads)

    def discard(self) -> None:
        """Delete the file, wherever it is by now."""
        with suppress(OSError):  # a full disk does not take what is still in the buffer either
            self._file.close()
        self._path.unlink(missing_ok=True)
        self._storage.upload(self.name).unlink(missing_ok=True)
