"""A zip that is sent while it is written."""

from __future__ import annotations


class Pieces:
    """A file that only grows, whose bytes are taken away as they come."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Add bytes; returns how many."""
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def take(self) -> bytes:
        """The bytes since the last call."""
        found = b"".join(self._pieces)
        self._pieces.clear()
        return found
