"""What a course hands out to everybody: the starter kit, and the lists of infosets that are in it.

The lists are compressed in the zip of the kit as gzip would compress them, so that they are sent from there: to a
browser that takes gzip as they are, to others inflated.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

KIT = "starter-kit.zip"
LISTS = ("player0-infosets.txt", "player1-infosets.txt")
_PIECE = 1 << 18  # bytes
_GZIP = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"  # the header: deflate, no name, no time, any system
_LOCAL = 30  # bytes of a zip's local header before the name


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
        entry = self.lists[player]
        with open(self.file, "rb") as source:
            source.seek(entry.header_offset)
            name, extra = struct.unpack("<HH", source.read(_LOCAL)[-4:])
            source.seek(name + extra, 1)
            yield _GZIP
            left = entry.compress_size
            while left and (data := source.read(min(_PIECE, left))):
                left -= len(data)
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
