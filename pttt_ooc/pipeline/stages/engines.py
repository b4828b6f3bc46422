"""Opens an index or an engine from the products of the stage "index"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pttt_ooc.cfr.sweep.engine import Engine, engine_needs
from pttt_ooc.disk.memory import MemoryNeeds, Tree, Workspace, process_needs
from pttt_ooc.games.structure.index import Index
from pttt_ooc.pipeline.files.structure_store import read_index, read_timings
from pttt_ooc.pipeline.stages.directories import INDEX, structure_of
from pttt_ooc.pipeline.stages.stage_context import Facts, tell, workspace_of
from pttt_ooc.types import Symmetry


def index_of(directory: Path, game: str, symmetry: Symmetry) -> Index:
    """The index for a directory of results, its arrays mapped.

    Raises
    ------
    StoreError
        If it is missing or damaged, or is for another game.
    """
    return read_index(structure_of(directory) / INDEX, game, symmetry)


@contextmanager
def open_engine(
    directory: Path, game: str, symmetry: Symmetry, dtype: type[np.floating[Any]], threads: int
) -> Iterator[Engine]:
    """An engine on this index and its timing operators, for the block; for errors see :func:`index_of`."""
    index = index_of(directory, game, symmetry)
    engine = Engine(index, read_timings(structure_of(directory) / INDEX, game), dtype, threads)
    try:
        yield engine
    finally:
        engine.close()


def fit_engine(
    engine: Engine,
    name: str,
    needs: MemoryNeeds[Tree],
    memory_mb: float,
    directory: Path,
    facts: Facts,
    log: Path | None = None,
    besides: int = 0,
) -> Workspace[Tree]:
    """The arrays of a stage that computes with an engine; see :func:`.workspace_of`, also for errors.

    The engine gets the threads that the budget holds, and moves what does not fit through a part of the budget.

    Parameters
    ----------
    besides
        Bytes of other arrays that are mapped if the budget does not hold all.
    """
    room = needs.room_for_pieces(memory_mb, besides)
    workspace = workspace_of(name, needs, memory_mb, directory, facts, engine.threads, log, room)
    engine.workers.limit(workspace.threads)
    engine.move_mapped(workspace.room)
    return workspace


def arrays_for(
    engine: Engine,
    what: str,
    reading: Mapping[str, int],
    arrays: Tree,
    memory_mb: float,
    scratch: Path,
    moves: bool = False,
) -> Tree:
    """Allocate the arrays for an engine's work within a memory budget.

    The engine gets at most as many threads as the budget holds; a message on stderr says if there are fewer.

    Parameters
    ----------
    what
        The work, for the message.
    reading
        Bytes needed besides the process, its threads and the arrays, by purpose.
    arrays
        Tree of virtual arrays.
    scratch
        Directory for the files of mapped arrays.
    moves
        Whether the engine moves mapped arrays block by block; then it is for these arrays only.

    Raises
    ------
    MemoryBudgetError
        If the budget is too small, even for one thread.
    """
    needs = MemoryNeeds({**process_needs(), **reading}, arrays, engine_needs(engine))
    room = needs.room_for_pieces(memory_mb) if moves else 0
    workspace = needs.within(memory_mb, scratch, engine.threads, room)
    if message := workspace.fewer_threads(what, memory_mb, engine.threads):
        tell(message)
    engine.workers.limit(workspace.threads)
    engine.move_mapped(workspace.room)
    return workspace.allocate()
