"""Directories of the stages' products: one structure for each game and symmetry, and results for each run.

The default run has its results beside the structure, in ``data/GAME/SYMMETRY``; every other run in ``runs/NAME`` below
that directory.  All runs share the structure: views, index and operators.
"""

from __future__ import annotations

from pathlib import Path

DEFAULT_RUN = "default"
"""The name of the run whose results are beside the structure."""

SHARED = ("enumerate", "index")
"""The stages whose products all runs share."""

RUNS = "runs"
SNAPSHOTS = "snapshots"  # of the products of the stage "solve", and in its work directory
SOLUTION = "solution.zarr"  # of the products of the stage "solve": the average strategies
EQUILIBRIUM = "equilibrium.zarr"  # of the products of the stage "finish"
INDEX = "index.zarr"  # of the products of the stage "index": index and timing operators


def results_of(data: Path, game: str, symmetry: str, run: str = DEFAULT_RUN) -> Path:
    """The directory of a run's results."""
    structure = data / game / symmetry
    return structure if run == DEFAULT_RUN else structure / RUNS / run


def structure_of(results: Path) -> Path:
    """The directory with views and index for a directory of results."""
    return results.parent.parent if results.parent.name == RUNS else results


def home_of(results: Path, stage: str) -> Path:
    """The directory of a stage's manifest and products."""
    return structure_of(results) if stage in SHARED else results


def run_of(results: Path) -> str:
    """The name of the run with this directory of results."""
    return DEFAULT_RUN if structure_of(results) == results else results.name


def sibling(results: Path, run: str) -> Path:
    """The results of another run of the same game and symmetry."""
    structure = structure_of(results)
    return results_of(structure.parent.parent, structure.parent.name, structure.name, run)


def runs_of(structure: Path) -> list[Path]:
    """The directories of results of a structure: the default run's, then those of all named runs."""
    named = sorted(path for path in (structure / RUNS).glob("*") if path.is_dir())
    return [structure, *named]


def manifest_of(results: Path, stage: str) -> Path:
    """The manifest of a stage."""
    return home_of(results, stage) / f"{stage}.json"
