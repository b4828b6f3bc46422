"""An engine from the product of the stage "index"."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.products.tables import read_timings
from pttt_ooc.structure.index import Index
from pttt_ooc.sweep.engine import Engine


@contextmanager
def open_engine(index: Index, directory: Path, dtype: type[np.floating[Any]], threads: int) -> Iterator[Engine]:
    """An engine around an index and the timing operators that belong to it, for the block.

    Raises
    ------
    StoreError
        If they are missing or damaged.
    """
    engine = Engine(index, read_timings(directory / "index.zarr", index.game.name), dtype, threads)
    try:
        yield engine
    finally:
        engine.close()
