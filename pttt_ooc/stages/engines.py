"""An engine from the product of the stage "index"."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.engine import Engine
from pttt_ooc.tables import read_index, read_timings


@contextmanager
def open_engine(directory: Path, game: str, dtype: type[np.floating[Any]], threads: int) -> Iterator[Engine]:
    """Read the index and the timing operators, and build an engine around them, for the block.

    Raises
    ------
    StoreError
        If they are missing or damaged.
    """
    store = directory / "index.zarr"
    engine = Engine(read_index(store, game), read_timings(store, game), dtype, threads)
    try:
        yield engine
    finally:
        engine.close()
