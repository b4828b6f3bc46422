"""What a run of the workflow does before its first job: it reserves the directories that it is going to write to.

A stage holds locks of its own while it is at work.  But a workflow engine deletes the products of a stage before it
starts the stage, and expects the ones of earlier stages to stay.  So a run as a whole has locks too, which end with its
process.  A run that cannot have them has changed nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from pttt_ooc.disk.files import explained
from pttt_ooc.disk.locks import hold
from pttt_ooc.stages.directories import SHARED, manifest_of, structure_of
from pttt_ooc.stages.stage_context import LOCK, STRUCTURE_LOCK, busy, check_writable, forget_future

RUN_LOCK = ".run.lock"  # of a directory of results
STRUCTURE_RUN_LOCK = ".structure.run.lock"  # beside an index: runs that do not make it share it


def begin(files: Collection[Path], homes: Iterable[Path]) -> ExitStack:
    """Reserve the directories of a run, and set times in the future right.

    Parameters
    ----------
    files
        What the run is going to make.
    homes
        Directories of results and of structures; the ones are reserved that some of the files are in.

    Returns
    -------
    What keeps them until it is closed, or the process ends.

    Raises
    ------
    StoreError
        If another run, or a stage, is at work in one of them, or it cannot be written to.
    """
    known = set(homes)
    wanted = {home for file in files if (home := next((place for place in file.parents if place in known), None))}
    for home in sorted(wanted):
        check_writable(home)
    structures = {home: structure_of(home) if structure_of(home) in known else home for home in wanted}
    made = {structures[home] for home in wanted if any(manifest_of(home, stage) in files for stage in SHARED)}
    with ExitStack() as stack:
        for home in sorted(wanted):
            with explained(f"lock the directory {home}"):
                home.mkdir(parents=True, exist_ok=True)
                stack.enter_context(hold(home / RUN_LOCK, partial(busy, home)))
                _check_free(home / LOCK, home)
        for structure in sorted(set(structures.values())):  # once each: several runs of one game may share it
            shared = structure not in made
            with explained(f"lock the directory {structure}"):
                stack.enter_context(hold(structure / STRUCTURE_RUN_LOCK, partial(busy, structure), shared=shared))
                _check_free(structure / STRUCTURE_LOCK, structure, shared)
        for directory in {*structures, *structures.values()}:
            forget_future(directory)
        return stack.pop_all()


def _check_free(lock: Path, directory: Path, shared: bool = False) -> None:
    """Raise a StoreError if a stage is at work, which may have outlived its run."""
    if lock.exists():
        hold(lock, partial(busy, directory), shared=shared, touch=False).close()
