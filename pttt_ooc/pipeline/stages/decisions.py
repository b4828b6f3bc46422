"""Which stages Snakemake runs: those that :mod:`pttt_ooc.pipeline.stages.staleness` finds stale, whatever the times of
files.

The Snakefile gets the inputs of each stage from this module.  If the stage is up to date, they are marked as ancient,
so that their times do not count; if it is stale although its manifest exists, the job is forced.  So a dry run and a
real run have the same plan, and neither changes anything on disk before the first job begins.

Snakemake itself (9.18 and newer) does not run a job again if its small inputs are newer but have the content that the
records in ``.snakemake`` name.  That replaces nothing here.  Each of three parts was taken out, and the 57 tests of the
workflow were run with Snakemake 9.27.  Without ancient inputs, copied products and those of ``pttt solve``, which have
no such records, are made again (2 tests fail).  Without corrected times (:func:`~.stage_context.forget_future`), jobs
fail after a clock was set back (2).  Without forced jobs, a missing or damaged product stays so, because Snakemake sees
manifests only (18).

At its start, a run locks the directories that it will write to.  A stage holds its own locks while it runs.  But a
workflow engine deletes the products of a stage before it starts the stage, and expects the products of earlier stages
to stay.  So the whole run has locks too, which end with its process.  A run that does not get them changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import explain_errors
from pttt_ooc.disk.locks import hold, only_here
from pttt_ooc.errors import PtttError, StoreError
from pttt_ooc.pipeline.stages.directories import SHARED, manifest_of, structure_of
from pttt_ooc.pipeline.stages.stage_context import LOCK, RUN_LOCK, STRUCTURE_LOCK, busy, check_writable, forget_future
from pttt_ooc.pipeline.stages.staleness import StageRequest, reasons, sentence

STRUCTURE_RUN_LOCK = ".structure.run.lock"  # beside an index; shared by runs that do not make the index


def begin(files: Collection[Path], homes: Iterable[Path], elsewhere: bool = False) -> ExitStack:
    """Lock the directories of a run, and correct file times in the future.

    Parameters
    ----------
    files
        The files that the run will make.
    homes
        Directories of results and of structures; those that hold some of the files are locked.
    elsewhere
        Whether jobs run on other machines: then the locks must hold between machines.

    Returns
    -------
    The locks, which are held until the stack is closed or the process ends.

    Raises
    ------
    StoreError
        If another run or stage is at work in one of the directories, or it cannot be written to, or its locks do not
        hold between machines although jobs run on others.
    """
    # The directories of results and structures that hold a file of this run must be writable.
    known = set(homes)
    wanted = {home for file in files if (home := next((place for place in file.parents if place in known), None))}
    for home in sorted(wanted):
        check_writable(home)
    # The structure on which each of them depends, and the structures that this run makes itself.
    structures = {home: structure_of(home) if structure_of(home) in known else home for home in wanted}
    made = {structures[home] for home in wanted if any(manifest_of(home, stage) in files for stage in SHARED)}
    with ExitStack() as stack:
        # One run at a time in a directory, and none while a stage of another is still at work there.
        for home in sorted(wanted):
            with explain_errors(f"lock the directory {home}"):
                home.mkdir(parents=True, exist_ok=True)
                _check_reach(home, elsewhere)
                stack.enter_context(hold(home / RUN_LOCK, partial(busy, home)))
                _check_free(home / LOCK, home)
        # A structure that is only read may be shared with other such runs; one that is made may not.
        for structure in sorted(set(structures.values())):  # once each: runs of one game share it
            shared = structure not in made
            with explain_errors(f"lock the directory {structure}"):
                stack.enter_context(hold(structure / STRUCTURE_RUN_LOCK, partial(busy, structure), shared=shared))
                _check_free(structure / STRUCTURE_LOCK, structure, shared)
        # All locks are there: now file times may be corrected, and the locks outlive this function.
        for directory in {*structures, *structures.values()}:
            forget_future(directory)
        return stack.pop_all()


def _check_reach(home: Path, elsewhere: bool) -> None:
    """If locks hold only within one machine, refuse them where jobs run on others, else say so."""
    if not (system := only_here(home)):
        return
    sentence = f"Locks in {home} hold only within one machine ({system})"
    if elsewhere:
        raise StoreError(f"{sentence}, but jobs run on several: mount it so that they hold between machines.")
    print(f"{sentence}: do not use it on another machine at the same time.", file=sys.stderr)


def _check_free(lock: Path, directory: Path, shared: bool = False) -> None:
    """Raise a StoreError if a stage is at work; it may have outlived its run."""
    if lock.exists():
        hold(lock, partial(busy, directory), shared=shared, touch=False).close()


Lazy = Callable[[], Mapping[str, StageRequest]]


async def _skip_check(job: Any) -> None:
    """Check nothing: Snakemake's own check refuses even to plan a job with read-only products."""


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
