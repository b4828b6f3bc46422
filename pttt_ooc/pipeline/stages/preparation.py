"""Prepares the structure of a game for a command: opens it, or makes it if it is missing."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path

from pttt_ooc.config import Config
from pttt_ooc.errors import StoreError
from pttt_ooc.games.rules.catalogue import check_listable
from pttt_ooc.games.structure.index import Index
from pttt_ooc.pipeline.stages import enumerate, index, stage_context
from pttt_ooc.pipeline.stages.compilation import ensure_compiled
from pttt_ooc.pipeline.stages.directories import SHARED, manifest_of, results_of
from pttt_ooc.pipeline.stages.engines import index_of
from pttt_ooc.pipeline.stages.staleness import reasons, requested_stages
from pttt_ooc.types import Symmetry

READING = ("evaluation", "files")
"""The kernels that read strategies and evaluate them."""


def prepare_index(
    data: Path, game: str, symmetry: Symmetry, memory_mb: float = math.inf, kernels: Sequence[str] = READING
) -> Path:
    """The directory with the products of the stages "enumerate" and "index", which run if they are stale.

    Parameters
    ----------
    data
        The directory of all games; the workflow's is ``data``.
    memory_mb
        Memory budget of these stages, MB.
    kernels
        Parts of :data:`.compilation.KERNELS` that the caller runs, besides those that make the structure.

    Raises
    ------
    PtttError
        If the game is unknown, a product is damaged, another run uses the directory, or the disk cannot be written to.
    """
    check_listable(game)
    directory = results_of(data, game, symmetry)
    _check_directory(directory)
    config = Config(game=game, symmetry=symmetry)
    stale = [
        stage for stage, reason in reasons(directory, requested_stages(config, directory, SHARED)).items() if reason
    ]
    ensure_compiled([*(["index"] if stale else []), *kernels])
    if stale:
        print(
            f"Building the index of {game} once, in {directory}; a big game takes about a minute ...", file=sys.stderr
        )
    if "enumerate" in stale:
        enumerate.run(game, directory, memory_mb)
    if stale:
        index.run(game, symmetry, directory, memory_mb)
    stage_context.inputs(directory, *SHARED)
    return directory


def _check_directory(directory: Path) -> None:
    """Raise a StoreError early if no products can be made in the directory."""
    there = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not there.is_dir():
        raise StoreError(f"Cannot make {directory}: {there} is a file; choose another directory.")
    if not all(manifest_of(directory, stage).exists() for stage in SHARED):
        stage_context.check_writable(directory)


def open_index(data: Path, game: str, symmetry: Symmetry = "none") -> Index:
    """The index of a game, from the products in `data`; for errors see :func:`prepare_index`."""
    return index_of(prepare_index(data, game, symmetry, kernels=("files",)), game, symmetry)
