"""Directories of the stages' products: one structure for each game and symmetry, and results for each run.

The default run has its results beside the structure, in ``data/GAME/SYMMETRY``; every other run in ``runs/NAME`` below
that directory.  All runs share the structure: views, index and operators.

Stages that share a directory are a set, with the products that each of them may leave there.  A wing with stages of its
own describes them in the same way; its :class:`~pttt_ooc.site.service.wing.Wing` names the set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import StoreError
from pttt_ooc.pipeline.files.names import BUNDLE, COURSE_FILES
from pttt_ooc.pipeline.stages import UNLISTED_STAGES

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


def finish_if_run(results: Path) -> tuple[str, ...]:
    """The stage "finish", if it has run; a run without it has the solver's strategies."""
    return ("finish",) if manifest_of(results, "finish").exists() else ()


def store_of(results: Path, manifests: Mapping[str, Mapping[str, Any]]) -> Path:
    """The store of a run's strategies, from the manifests of its stages."""
    made = manifests["finish"]["products"] if "finish" in manifests else {}
    return results / (EQUILIBRIUM if EQUILIBRIUM in made else SOLUTION)


def strategies_of(results: Path) -> Path:
    """The store of a run's strategies; it may be missing.

    It is the equilibrium if there is one, unless it was made from another solution than the one that is there.
    """
    equilibrium, solution = results / EQUILIBRIUM, results / SOLUTION
    if not equilibrium.is_dir():
        return solution
    if not solution.is_dir():
        return equilibrium
    with suppress(StoreError, KeyError, TypeError):
        finish, solve = (read_manifest(manifest_of(results, stage), stage) for stage in ("finish", "solve"))
        if finish["made_from"][SOLUTION] == solve["products"][SOLUTION]["digest"]:
            return equilibrium
    return solution


Facts = Mapping[str, Any]


@dataclass(frozen=True)
class StageSet:
    """The stages of one kind of directory.

    Attributes
    ----------
    products
        By stage, in an order in which each stage reads only earlier ones: the products that it may leave.
    optional
        Stages without which later ones run too.
    owns
        Whether a manifest belongs to this set, where names of stages and products do not tell.
    """

    products: Mapping[str, tuple[str, ...]]
    optional: tuple[str, ...] = ()
    owns: Callable[[Facts], bool] = lambda manifest: True

    @property
    def all_products(self) -> set[str]:
        """The products of all stages."""
        return {product for products in self.products.values() for product in products}

    def fits(self, manifest: Facts) -> bool:
        """Whether a stage of this set may have written the manifest."""
        products = self.products.get(manifest["stage"])
        return products is not None and {*manifest["products"]} <= {*products} and self.owns(manifest)

    def later(self, stage: str) -> list[str]:
        """The stages that run after a stage."""
        stages = list(self.products)
        return stages[stages.index(stage) + 1 :]


WORKFLOW = StageSet(
    {
        "enumerate": ("views.zarr",),
        "index": (INDEX,),
        "solve": (SOLUTION, "convergence.jsonl", SNAPSHOTS),
        "finish": (EQUILIBRIUM, "rounds.jsonl"),
        "evaluate": (),
        "export": (*COURSE_FILES, BUNDLE),
        "report": ("report.html", "measurements.html", "convergence.svg", "opening.svg"),
    },
    optional=("finish",),
    owns=lambda manifest: bool(manifest.get("listed", True)),
)
"""The stages of the workflow."""

UNLISTED = StageSet({stage: WORKFLOW.products[stage] for stage in UNLISTED_STAGES})
"""Those of a game whose infosets are not listed."""
