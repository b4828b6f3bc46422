"""Deflate compression by the fastest library for each level.

Level 1, the default of exports, is ISA-L's: four times as fast as zlib's, with smaller zips.  The other levels are
zlib's.  Data are compressed in independent parts, by any thread.  The bytes depend on the library, its version and the
processor, and are part of no promise; see :mod:`pttt_ooc.disk.contents`.
"""

from __future__ import annotations

import zlib
from typing import Any

from isal import isal_zlib

_RAW = -zlib.MAX_WBITS  # without header and checksum
END = b"\x03\x00"
"""An empty last part, which ends a stream."""


def part(data: Any, level: int) -> bytes:
    """A part of a raw deflate stream, independent of other parts, that does not end the stream; see :data:`END`."""
    packer: Any = (isal_zlib if level == 1 else zlib).compressobj(level, zlib.DEFLATED, _RAW)
    return bytes(packer.compress(data) + packer.flush(zlib.Z_FULL_FLUSH))


def whole(data: Any) -> bytes:
    """A zlib stream, with its checksum, at level 1."""
    return bytes(isal_zlib.compress(data, 1))


def crc32(data: Any, before: int = 0) -> int:
    """The checksum of zip files, continued from the checksum of the preceding data."""
    return int(isal_zlib.crc32(data, before))


def crc32_of_both(first: int, second: int, length: int) -> int:
    """The checksum of two consecutive parts, from the checksum of each; the second part has `length` bytes."""
    return int(isal_zlib.crc32_combine(first, second, length))
