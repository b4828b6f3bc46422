"""The digest of a run: of contents, so that it is the same in equal runs, with any Python and any budgets.

``docs/formats.md`` says on which machines: see "What 'the same bits' means".
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.pipeline.stages import STAGES, UNLISTED_STAGES
from pttt_ooc.pipeline.stages.directories import manifest_of
from pttt_ooc.pipeline.stages.product_check import timeless
from pttt_ooc.pipeline.stages.stage_context import Facts, block_stages, contents, inputs
from pttt_ooc.pipeline.stages.strategy_store import finish_if_run

MEASURED = ("usage", "memory", "versions")
"""Keys of manifests that describe the run, not its results."""
NAMES = ("sources", "work", "made_from")
"""Digests of code, which comments change, and of products, whose own digests count already."""


def content_of(manifest: Facts) -> Facts:
    """The part of a manifest that is the same in all equal runs."""
    content = {name: value for name, value in manifest.items() if name not in (*MEASURED, *NAMES)}
    return timeless({**content, "products": contents({"": manifest})})


def run_digest(directory: Path) -> str:
    """The digest of a whole run, after a check of its products against their manifests.

    Parameters
    ----------
    directory
        The results, with the report.

    Raises
    ------
    StoreError
        If a manifest or product is missing or damaged, or a stage is running there.
    """
    with block_stages(directory):
        listed = read_manifest(manifest_of(directory, "report"), "report").get("listed", True)
        stages = (
            [name for name in STAGES if name != "finish" or finish_if_run(directory)] if listed else UNLISTED_STAGES
        )
        found = {name: content_of(manifest) for name, manifest in inputs(directory, *stages).items()}
    return hashlib.blake2b(json.dumps(found, sort_keys=True).encode(), digest_size=16).hexdigest()
