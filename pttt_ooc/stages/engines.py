"""An engine from the products of the stages "enumerate" and "index"."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.engine import Engine
from pttt_ooc.tables import read_index, read_pairs
from pttt_ooc.timing import build_timing


@contextmanager
def open_engine(directory: Path, game: str, dtype: type[np.floating[Any]], threads: int) -> Iterator[Engine]:
    """Build the timing operators and an engine around them, for the block.

    Raises
    ------
    StoreError
        If the stored pairs or index are missing or damaged.
    """
    pairs, index = read_pairs(directory / "views.zarr", game), read_index(directory / "index.zarr", game)
    timings = (build_timing(index, pairs, 0), build_timing(index, pairs, 1))
    engine = Engine(index, timings, dtype, threads)
    try:
        yield engine
    finally:
        engine.close()
