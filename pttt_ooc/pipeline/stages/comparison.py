"""Other runs of the same game and symmetry, for the report's comparison."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import ConfigError, StoreError
from pttt_ooc.pipeline.show.comparison import RunFacts
from pttt_ooc.pipeline.stages.directories import manifest_of, run_of, sibling
from pttt_ooc.pipeline.stages.stage_context import Facts, check_product

CONVERGENCE = "convergence.jsonl"


def compared_runs(results: Path, names: Sequence[str]) -> dict[str, Path]:
    """Directories of the runs that `results` is compared with, by name, without itself."""
    return {name: sibling(results, name) for name in names if name != run_of(results)}


def compared_files(results: Path, names: Sequence[str]) -> list[Path]:
    """The files that a comparison reads."""
    runs = compared_runs(results, names).values()
    return [file for run in runs for file in (manifest_of(run, "solve"), run / CONVERGENCE)]


def compared_digests(results: Path, names: Sequence[str]) -> dict[str, str]:
    """Content hashes of the convergence of the runs that `results` is compared with; empty for a missing run.

    The keys are those of a report's ``made_from``.
    """
    found = {}
    for name, run in compared_runs(results, names).items():
        found[_key(name)] = ""
        with suppress(StoreError, KeyError):
            found[_key(name)] = _digest(read_manifest(manifest_of(run, "solve"), "solve"))
    return found


def _key(name: str) -> str:
    return f"{CONVERGENCE} of run {name}"


def _digest(manifest: Facts) -> str:
    return str(manifest["products"][CONVERGENCE]["digest"])


def check_compared(results: Path, names: Sequence[str]) -> None:
    """Raise a ConfigError unless all runs to be compared have been solved."""
    for name, run in compared_runs(results, names).items():
        if not (manifest_of(run, "solve").exists() and (run / CONVERGENCE).exists()):
            raise ConfigError(
                f"report.compare names the run {name}, but there is no solution in {run}; "
                f"solve it first, with run: {name}, or leave it out."
            )


def read_comparison(results: Path, names: Sequence[str], own: Facts) -> tuple[list[RunFacts], dict[str, str]]:
    """The run itself and the runs to compare it with, and digests of the files read.

    Parameters
    ----------
    own
        The manifest of this run's stage "solve".

    Raises
    ------
    PtttError
        If a run is missing, or its products differ from its manifest.
    """
    check_compared(results, names)
    runs, read = [run_facts(results, run_of(results), own)], {}
    for name, run in compared_runs(results, names).items():
        manifest = read_manifest(manifest_of(run, "solve"), "solve")
        check_product(run, "solve", manifest, CONVERGENCE)
        read[_key(name)] = _digest(manifest)
        runs.append(run_facts(run, name, manifest))
    return runs, read


def run_facts(results: Path, name: str, manifest: Facts) -> RunFacts:
    """The facts of a run for the comparison, from the manifest of its stage "solve" and its convergence."""
    settings, parameters = manifest["settings"], manifest["parameters"]
    rows = [json.loads(row) for row in (results / CONVERGENCE).read_text(encoding="utf-8").splitlines()]
    stopped_by = manifest["result"]["stopped_by"]
    return RunFacts(name, settings["algorithm"], parameters, settings["precision"], rows, stopped_by)
