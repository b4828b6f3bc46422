"""An index, or an engine, from the products of the stage "index"."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.aliases import Symmetry
from pttt_ooc.products.tables import read_index, read_timings
from pttt_ooc.stages.directories import INDEX, structure_of
from pttt_ooc.structure.index import Index
from pttt_ooc.sweep.engine import Engine


def index_of(directory: Path, game: str, symmetry: Symmetry) -> Index:
    """The index that belongs to a directory of results, its arrays mapped.

    Raises
    ------
    StoreError
        If it is missing or damaged, or belongs to another game.
    """
    return read_index(structure_of(directory) / INDEX, game, symmetry)


@contextmanager
def open_engine(
    directory: Path, game: str, symmetry: Symmetry, dtype: type[np.floating[Any]], threads: int
) -> Iterator[Engine]:
    """An engine around that index and the timing operators beside it, for the block; errors as :func:`index_of`."""
    index = index_of(directory, game, symmetry)
    engine = Engine(index, read_timings(structure_of(directory) / INDEX, game), dtype, threads)
    try:
        yield engine
    finally:
        engine.close()
