"""Which store has the strategies of a run: the solver's solution, or the equilibrium that it became."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import StoreError
from pttt_ooc.pipeline.stages.directories import EQUILIBRIUM, SOLUTION, manifest_of


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
