"""Sets of stages that share a directory of results: their order, and the products that each of them may leave there.

A wing with stages of its own describes them in the same way; its :class:`~pttt_ooc.site.service.wing.Wing` names the
set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pttt_ooc.pipeline.files.export_names import BUNDLE, COURSE_FILES
from pttt_ooc.pipeline.stages import UNLISTED_STAGES
from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM, INDEX, SNAPSHOTS, SOLUTION

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class StageSet:
    """The stages of one kind of directory.

    Attributes
    ----------
    products
        The products that each stage may leave, by stage, in an order in which each reads only earlier ones.
    optional
        Stages that later ones can run without.
    owns
        Whether a manifest belongs to this set, if names of stages and products do not tell.
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
