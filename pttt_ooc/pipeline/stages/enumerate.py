"""Stage "enumerate": all pairs of views that can be true together, and the size of the game."""

from __future__ import annotations

import math
from pathlib import Path

from pttt_ooc.disk.files import fresh_store
from pttt_ooc.disk.memory import MemoryNeeds, process_needs, thread_needs
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure.counts import check_counts, counts_of
from pttt_ooc.games.structure.views import find_pairs, most_pairs
from pttt_ooc.pipeline.files.structure_store import write_pairs
from pttt_ooc.pipeline.stages.stage_context import allocate, stage

BYTES_PER_PAIR = 70  # of the search's arrays, for each pair of the bound; measured


def needs(game: Game) -> MemoryNeeds[tuple[()]]:
    """The stage's memory needs."""
    return MemoryNeeds({**process_needs(), "pairs of views": BYTES_PER_PAIR * most_pairs(game)}, (), thread_needs())


def run(game: str, directory: Path, memory_mb: float = math.inf) -> None:
    """Make ``views.zarr``; the manifest has the numbers of infosets and histories.

    Raises
    ------
    PtttError
        If the game is unknown, the counts differ from known ones, or the disk cannot be written to.
    """
    with stage("enumerate", directory, ["views.zarr"]) as facts:
        rules = named_game(game)
        allocate(needs(rules), memory_mb, directory, facts)
        pairs = find_pairs(rules)
        facts.update(game=game, counts=counts_of(rules, pairs))
        check_counts(game, facts["counts"])
        with fresh_store(directory / "views.zarr") as store:
            write_pairs(store, game, pairs)
