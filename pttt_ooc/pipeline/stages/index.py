"""Stage "index": parents, children and sequences of every node, and the timing operators."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from pttt_ooc.disk.files import fresh_store
from pttt_ooc.disk.memory import MemoryNeeds, process_needs, thread_needs
from pttt_ooc.errors import PtttError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.index import Index, build_index
from pttt_ooc.pipeline.files.structure_store import read_index, read_pairs, write_index, write_timing
from pttt_ooc.pipeline.show.progress import Shares
from pttt_ooc.pipeline.stages.stage_context import allocate, digests, inputs, stage
from pttt_ooc.types import Symmetry

BYTES_PER_PAIR = {"none": 450, "full": 200}  # while the tables are built, measured


def needs(symmetry: Symmetry, pairs: int) -> MemoryNeeds[tuple[()]]:
    """The stage's memory needs, for a number of pairs of views.

    The tables of orders, by far the largest tables, are made on disk.
    """
    return MemoryNeeds({**process_needs(), "tables": BYTES_PER_PAIR[symmetry] * pairs}, (), thread_needs())


def run(game: str, symmetry: Symmetry, directory: Path, memory_mb: float = math.inf, log: Path | None = None) -> None:
    """Make ``index.zarr``; the manifest has the numbers of views, nodes and sequences.

    With symmetry, the index without symmetry is made too, because the exported files have all infosets.  Lines of
    progress go to `log`.

    Raises
    ------
    PtttError
        If the index does not have all infosets of the game, or the disk cannot be written to.
    """
    before = inputs(directory, "enumerate")["enumerate"]
    with stage("index", directory, ["index.zarr"]) as facts:
        allocate(needs(symmetry, before["counts"]["pairs"]), memory_mb, directory, facts)
        pairs = read_pairs(directory / "views.zarr", game)
        index = build_index(named_game(game), symmetry, pairs)
        for player in (0, 1):
            _check(index, player, before["counts"]["total_infosets"][player])
        facts.update(made_from=digests({"enumerate": before}))
        facts.update(game=game, symmetry=symmetry, sizes=[_sizes(index, player) for player in (0, 1)])
        with fresh_store(directory / "index.zarr") as store:
            write_index(store, index)
            index, shares = read_index(store, game, symmetry), Shares(log)  # mapped, to free the built one
            for player in (0, 1):
                write_timing(store, index, pairs, player, shares.of(f"Order tables of player {player}"))
            if symmetry != "none":
                write_index(store, build_index(named_game(game), "none", pairs))


def _check(index: Index, player: int, infosets: int) -> None:
    mine = index.players[player]
    nodes = np.where(mine.decides, np.diff(mine.node_start), 0)
    unfolded = int(nodes[index.orbits[player].view].sum())
    if unfolded != infosets:
        raise PtttError(
            f"The index of player {player} has {unfolded} infosets instead of {infosets}; please report this."
        )


def _sizes(index: Index, player: int) -> dict[str, int]:
    mine = index.players[player]
    infosets = int(mine.infosets_by_slice().sum())
    return {"views": len(mine.placed), "infosets": infosets, "nodes": mine.nodes, "sequences": mine.sequences}
