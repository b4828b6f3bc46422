"""The start of a run of the workflow: it locks the directories that it will write to.

A stage holds its own locks while it runs.  But a workflow engine deletes the products of a stage before it starts the
stage, and expects the products of earlier stages to stay.  So the whole run has locks too, which end with its process.
A run that does not get them changes nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from pttt_ooc.disk.files import explain_errors
from pttt_ooc.disk.locks import hold, only_here
from pttt_ooc.errors import StoreError
from pttt_ooc.pipeline.stages.directories import SHARED, manifest_of, structure_of
from pttt_ooc.pipeline.stages.stage_context import LOCK, RUN_LOCK, STRUCTURE_LOCK, busy, check_writable, forget_future

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
    """Refuse locks that hold within one machine only if jobs run on others; else say so."""
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
