"""Which stages Snakemake runs: those that :mod:`pttt_ooc.pipeline.stages.staleness` finds stale, whatever the times of
files.

The Snakefile gets the inputs of each stage from this module.  If the stage is up to date, they are marked as ancient,
so that their times do not count; if it is stale although its manifest exists, the job is forced.  So a dry run and a
real run have the same plan, and neither changes anything on disk before the first job begins.

Snakemake itself (9.18 and newer) does not run a job again whose small inputs are newer but have the content that its
records in ``.snakemake`` name.  That replaces nothing here.  Each of three parts was taken out, and the 57 tests of the
workflow were run with Snakemake 9.27.  Without ancient inputs, copied products, and those of ``pttt solve``, which have
no such records, run again (2 tests fail).  Without corrected times (:func:`~.stage_context.forget_future`), a clock
that was set back makes jobs fail (2).  Without forced jobs, a product that is missing or damaged stays so, because
Snakemake sees manifests only (18).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pttt_ooc.errors import PtttError
from pttt_ooc.pipeline.stages.directories import manifest_of
from pttt_ooc.pipeline.stages.run_start import begin
from pttt_ooc.pipeline.stages.stage_context import check_writable
from pttt_ooc.pipeline.stages.staleness import StageRequest, reasons, sentence

Lazy = Callable[[], Mapping[str, StageRequest]]


async def _skip_check(job: Any) -> None:
    """Check nothing: in place of the check by which Snakemake refuses even to plan a job with read-only products."""


class Decisions:
    """Decides which stages of a workflow run.

    Parameters
    ----------
    workflow, ancient, job
        Snakemake's workflow object, its function that marks a file whose time does not count, and its class of jobs.
    """

    def __init__(self, workflow: Any, ancient: Callable[[str], str], job: Any) -> None:
        self._workflow, self._ancient = workflow, ancient
        self._requests: dict[Path, tuple[Lazy, str]] = {}
        self._found: dict[Path, tuple[Mapping[str, StageRequest], Mapping[str, str]]] = {}
        self._printed: set[str] = set()
        self._reserved = ExitStack()  # until the process ends
        self._homes: set[Path] = set()
        if workflow.output_settings.dryrun:
            job.check_protected_output = _skip_check

    def add(self, directory: str, requests: Lazy, prefix: str = "") -> None:
        """Register the requested stages of a directory of results; the names of their rules begin with `prefix`."""
        self._requests[Path(directory)] = requests, prefix
        self.reserve(directory)

    def reserve(self, directory: str) -> None:
        """Reserve a directory for the run, if the run makes something in it."""
        self._homes.add(Path(directory))

    def inputs(self, directory: str, stage: str) -> list[str]:
        """The manifests that a stage reads, for its rule's `input`; this decides whether the stage runs."""
        place = Path(directory)
        requests, found = self._reasons(place)
        files = [str(manifest_of(place, before)) for before in requests[stage].after]
        if not found[stage]:
            return [self._ancient(file) for file in files]
        manifest = manifest_of(place, stage)
        self.run_again(str(manifest), found[stage])
        self._check_writable(manifest)
        return files

    def _reasons(self, place: Path) -> tuple[Mapping[str, StageRequest], Mapping[str, str]]:
        if place not in self._found:
            workflow, (lazy, prefix) = self._workflow, self._requests[place]
            requests = lazy()
            if not workflow.is_main_process:  # a job follows the run's decisions
                return requests, dict.fromkeys(requests, "")
            named = workflow.dag_settings.forcerun
            forced = {stage for stage in requests if prefix + stage in named or str(manifest_of(place, stage)) in named}
            looking = workflow.executor_plugin is None or workflow.dryrun
            self._found[place] = requests, reasons(place, requests, forced, remember=not looking)
        return self._found[place]

    def _check_writable(self, manifest: Path) -> None:
        """End a run with a sentence, where Snakemake would raise an exception; in a dry run, only print it."""
        if not self._workflow.executor_plugin:
            return
        try:
            check_writable(manifest.parent)
        except PtttError as error:
            if not self._workflow.dryrun:
                sys.exit(str(error))
            self._print_once(f"A run would be refused: {error}")

    def run_again(self, file: str, reason: str) -> list[str]:
        """Force the job that makes a file, and print why, unless another message implies it.

        Returns
        -------
        An empty list, so that a rule's `input` can call it.
        """
        if (message := sentence(file, reason)) and self._workflow.is_main_process:
            self._workflow.dag.forcefiles.add(file)
            self._print_once(message)
        return []

    def _print_once(self, message: str) -> None:
        if message not in self._printed:
            self._printed.add(message)
            print(message, file=sys.stderr)

    def begin(self) -> None:
        """Reserve all directories that jobs will write to, or end the process with a sentence."""
        files = [Path(file) for job in self._workflow.dag.needrun_jobs() for file in job.output]
        try:
            self._reserved.push(begin(files, self._homes, self._workflow.non_local_exec))
        except PtttError as error:
            sys.exit(str(error))

    def end(self) -> None:
        """Record that all products are verified: Snakemake has given some of them new times."""
        for place, (requests, _) in self._found.items():
            reasons(place, requests, remember=True)
