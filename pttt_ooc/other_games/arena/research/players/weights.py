"""Files of learnt weights: a line that names format and version, a line of JSON with metadata, and the numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.disk.files import atomic_write_bytes, explain_errors
from pttt_ooc.other_games.arena.games.base import ArenaError


def write_weights(path: Path, head: bytes, header: dict[str, Any], weights: NDArray[np.float64], kind: Any) -> None:
    """Write weights as numbers of a kind, atomically."""
    numbers = weights.astype(np.dtype(kind).newbyteorder("<"))
    atomic_write_bytes(path, head + json.dumps(header).encode() + b"\n" + numbers.tobytes())


def read_weights(path: Path, head: bytes, count: int, kind: Any) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """The metadata and the weights of a file.

    Raises
    ------
    ArenaError
        The file is damaged, or of another format.
    """
    stored = np.dtype(kind).newbyteorder("<")
    size = count * stored.itemsize
    with explain_errors(f"read {path}"), open(path, "rb") as file:
        data = file.read(len(head) + 200 + size)
    second, _, rest = data[len(head) :].partition(b"\n")
    if not data.startswith(head) or len(rest) != size:
        raise ArenaError(f"{path} is not a file of such weights of this version: train anew.")
    try:
        header = dict(json.loads(second))
    except (ValueError, TypeError):
        raise ArenaError(f"{path} is damaged: its second line does not say what it holds; train anew.") from None
    weights = np.frombuffer(rest, dtype=stored).astype(np.float64)
    if not np.all(np.isfinite(weights)):
        raise ArenaError(f"{path} is damaged: it has weights that are no numbers; train anew.")
    return header, weights
