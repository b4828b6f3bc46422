"""The record of a solver's snapshots: the valid ones, and their contents.

It is the file ``CURRENT.json`` of a work directory; see :mod:`pttt_ooc.disk.commits`.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pttt_ooc.disk.manifests import FORMAT_VERSION, check_version, read_json
from pttt_ooc.errors import StoreError


@dataclass(frozen=True)
class Commit:
    """One snapshot of the arrays.

    Attributes
    ----------
    generation
        Its number, which is also the name of its directory.
    iteration, extra
        The arguments of ``ResumableState.commit``.
    checksums
        CRC-32 of each array's bytes, in hex.
    """

    generation: int
    iteration: int
    extra: dict[str, Any]
    checksums: dict[str, str]


@dataclass(frozen=True)
class SnapshotRecord:
    """The content of ``CURRENT.json``.

    Attributes
    ----------
    fingerprint
        Fingerprint of the state.
    saved
        All valid snapshots, the newest first.  If there are none, the state is new: zeros at iteration 0.
    """

    fingerprint: str
    saved: tuple[Commit, ...]

    @property
    def generation(self) -> int:
        """The number of the newest snapshot, 0 if there is none."""
        return self.saved[0].generation if self.saved else 0

    @property
    def iteration(self) -> int:
        """The iteration of the newest snapshot, 0 if there is none."""
        return self.saved[0].iteration if self.saved else 0

    @property
    def checksums(self) -> dict[str, str]:
        """The checksums of the newest snapshot."""
        return self.saved[0].checksums if self.saved else {}

    def text(self) -> str:
        """The record as JSON, with the format version and a checksum of its own content."""
        last, earlier = (self.saved or (Commit(0, 0, {}, {}),))[0], [asdict(commit) for commit in self.saved[1:]]
        content = {"format_version": FORMAT_VERSION, "fingerprint": self.fingerprint, **asdict(last), "kept": earlier}
        return json.dumps({**content, "checksum": _checksum_of(content)}, sort_keys=True, indent=2) + "\n"

    @classmethod
    def read(cls, path: Path) -> SnapshotRecord:
        """Read the record from the work directory `path`; StoreError if missing, damaged or of another version."""
        file = path / "CURRENT.json"
        content = read_json(file, "the record of the last commit", advice(path))
        check_version(content, file, advice(path))
        stated = content.pop("checksum", None)
        if stated != _checksum_of(content):
            raise StoreError(f"{file} is damaged: its content does not match its checksum; {advice(path)}.")
        fingerprint, earlier = content.pop("fingerprint"), content.pop("kept", [])
        del content["format_version"]
        saved = [Commit(**one) for one in (content, *earlier)]
        return cls(fingerprint, tuple(commit for commit in saved if commit.generation))


def advice(path: Path) -> str:
    """The advice to give about an unusable work directory."""
    return f"delete the work directory {path} to start anew"


def crc_text(crc: int) -> str:
    """A CRC-32 in hex."""
    return f"{crc:08x}"


def _checksum_of(content: Mapping[str, Any]) -> str:
    return crc_text(zlib.crc32(json.dumps(content, sort_keys=True).encode()))
