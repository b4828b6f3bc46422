"""What all stages share: manifests, locks, measurements of time and memory, and errors as one sentence."""

from __future__ import annotations

import math
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pttt_ooc.disk.files import atomic_write_text, explain_errors
from pttt_ooc.disk.locks import free_here, hold
from pttt_ooc.disk.manifests import read_manifest, write_manifest
from pttt_ooc.disk.resources import MB, measure_usage, small_threads
from pttt_ooc.disk.stop_signals import interruptible
from pttt_ooc.errors import BudgetError, StoreError, exit_on_error, keep_interrupts
from pttt_ooc.pipeline.stages.directories import SHARED, home_of, manifest_of, structure_of
from pttt_ooc.pipeline.stages.product_check import describe_product, is_as_described, remember, stamp
from pttt_ooc.pipeline.stages.provenance import source_digest, versions

if TYPE_CHECKING:  # the Snakefile imports this module; numpy and Zarr would slow it down
    from pttt_ooc.disk.memory import MemoryNeeds, Tree, Workspace

Facts = dict[str, Any]
LOCK = ".lock"  # in a directory of results
STRUCTURE_LOCK = ".structure.lock"  # beside an index; shared by runs that read the index
RUN_LOCK = ".run.lock"  # in a directory of results, for the whole run of the workflow
MEASURED_FILES = ("measurements.html",)  # products with nothing but measurements

_BEGINS_ANEW = "Interrupted. The same command begins stage {} again; earlier stages are kept."


@contextmanager
def stage(
    name: str,
    directory: Path,
    products: Sequence[str],
    sources: Callable[[str], str] = source_digest,
    continues: bool = False,
) -> Iterator[Facts]:
    """Run a stage: measure the block, then describe its products in the manifest.

    Parameters
    ----------
    name
        The stage's name.
    directory
        Directory of the results.  One stage at a time may run there, and none while another run makes the index.
    products
        Names of the files and stores that the block makes there.
    sources
        Gives the digest of a stage's sources, by the stage's name.
    continues
        Whether the block goes on, after an interruption, from what it has saved; if not, the interrupt says so.

    Yields
    ------
    dict for further facts, JSON values, for the manifest.  Only ``array_digests`` is left out: for each product that
    was written array by array, digests of these arrays.

    Raises
    ------
    StoreError
        If another stage is at work in the directory, or it cannot be written to.
    """
    with _lock_directory(directory, name):
        # Without a manifest, the leftovers of an interruption do not count as products.
        manifest = manifest_of(directory, name)
        before = manifest.read_text(encoding="utf-8") if manifest.exists() else None
        with explain_errors(f"delete {manifest}"):
            manifest.unlink(missing_ok=True)
        facts: Facts = {}
        # The stage itself, measured.
        with measure_usage() as usage:
            try:
                with keep_interrupts():
                    yield facts
            except BudgetError:
                if before is not None:  # refused before anything was touched
                    atomic_write_text(manifest, before)
                raise
            except KeyboardInterrupt as interrupt:
                if not continues:
                    interrupt.args = (_BEGINS_ANEW.format(name),)
                raise
            with explain_errors(f"read the products in {directory}"):
                # Each product is described by its digest. With a stamp from just before, later commands see that it has
                # not changed, and need not read it again.
                stamps = {product: stamp(directory / product) for product in products}
            arrays = facts.pop("array_digests", {})
            made_now = {product: describe_product(directory / product, arrays.get(product)) for product in products}
            remember(directory, name, made_now, stamps)
        # The manifest comes last: where it is, the stage is complete.
        spent = {**asdict(usage), "threads": facts.pop("threads", 1)}
        made = {"products": made_now, "usage": spent, "versions": versions(), "sources": sources(name)}
        write_manifest(manifest, name, **made, **facts)


def allocate(needs: MemoryNeeds[Tree], memory_mb: float, directory: Path, facts: Facts) -> Tree:
    """The arrays of a stage on one thread; see :func:`workspace_of`."""
    return workspace_of("", needs, memory_mb, directory, facts).allocate()


def workspace_of(
    name: str,
    needs: MemoryNeeds[Tree],
    memory_mb: float,
    directory: Path,
    facts: Facts,
    threads: int = 1,
    log: Path | None = None,
    room: int = 0,
) -> Workspace[Tree]:
    """A stage's arrays and threads within its budget; their number and memory are added to the manifest's facts.

    A message on stderr and in the `log` says if there are fewer than `threads`; for `room` see :class:`.MemoryNeeds`.

    Raises
    ------
    MemoryBudgetError
        If the budget is too small, even for one thread.
    """
    workspace = needs.within(memory_mb, directory, threads, room)
    if message := workspace.fewer_threads(name, memory_mb, threads):
        tell(message, log)
    facts["threads"] = workspace.threads
    facts["memory"] = {
        "budget_mb": memory_mb if math.isfinite(memory_mb) else None,
        "projected_mb": workspace.projected_mb,
        "smallest_mb": needs.smallest_mb,
        "mapped_mb": round(workspace.mapped / MB, 1),
    }
    return workspace


def inputs(directory: Path, *stages: str) -> dict[str, Facts]:
    """The manifests of earlier stages, after a check of their products.

    Raises
    ------
    StoreError
        If a manifest or product is missing, or a product differs from its manifest or was made from other products than
        the present ones.
    """
    manifests: dict[str, Facts] = {}
    for name in stages:
        manifest = read_manifest(manifest_of(directory, name), name)
        if other := made_from_others(manifest, manifests):
            raise StoreError(
                f"{other} has changed since {manifest_of(directory, name)} was made from it; delete "
                f"{manifest_of(directory, name).name} to make it again."
            )
        manifests[name] = manifest
        for product in manifests[name]["products"]:
            check_product(directory, name, manifests[name], product)
    return manifests


def check_product(directory: Path, name: str, manifest: Facts, product: str) -> None:
    """Raise a StoreError if a product of the stage `name` differs from its manifest."""
    path = home_of(directory, name) / product
    if not is_as_described(path, manifest["products"][product]):
        raise StoreError(
            f"{path} was changed or damaged after stage {name!r} had made it; "
            f"delete {manifest_of(directory, name)} to make it again."
        )


def digests(manifests: Mapping[str, Facts]) -> dict[str, str]:
    """Digests of the contents of all products of some manifests, by name."""
    return {name: d["digest"] for facts in manifests.values() for name, d in facts["products"].items()}


def contents(manifests: Mapping[str, Facts]) -> dict[str, str]:
    """Like :func:`digests`, but equal for equal runs: without run times, and without files of measurements."""
    described = {name: d for facts in manifests.values() for name, d in facts["products"].items()}
    return {name: d.get("content", d["digest"]) for name, d in described.items() if name not in MEASURED_FILES}


def made_from_others(manifest: Facts, before: Mapping[str, Facts]) -> str:
    """The name of a product of earlier stages (`before`) that differs from the one used; empty if there is none."""
    there = digests(before)
    used = manifest.get("made_from", {})
    return next((name for name in sorted(there.keys() & used.keys()) if there[name] != used[name]), "")


def check_writable(directory: Path) -> None:
    """Raise a StoreError if the directory cannot be written to, or cannot be made."""
    there = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not os.access(there, os.W_OK):
        raise StoreError(
            f"Cannot write to {there}: it is read-only, or not yours; choose a directory that can be written to."
        )


def forget_future(directory: Path) -> None:
    """Give files with a time in the future a time just before now, in the same order.

    Such files exist if the clock was wrong and has been set back.  Snakemake compares times to decide what is stale,
    and would run everything that depends on such a file again and again.
    """
    now = time.time_ns()
    with explain_errors(f"correct the times of files in {directory}"):
        changed = {f: f.stat().st_mtime_ns for f in directory.glob("*") if f.is_file()}
        future = sorted({at for at in changed.values() if at > now}, reverse=True)
        for file, at in changed.items():
            if at > now:
                past = now - (future.index(at) + 1) * 1_000_000
                os.utime(file, ns=(past, past))


@contextmanager
def _lock_directory(directory: Path, name: str) -> Iterator[None]:
    structure, shared = structure_of(directory), name not in SHARED
    with ExitStack() as stack:
        with explain_errors(f"lock the directory {directory}"):
            directory.mkdir(parents=True, exist_ok=True)
            stack.enter_context(hold(structure / STRUCTURE_LOCK, partial(busy, structure), shared=shared))
            if shared:
                stack.enter_context(hold(directory / LOCK, partial(busy, directory)))
        yield


@contextmanager
def block_stages(directory: Path) -> Iterator[None]:
    """Prevent stages from starting in the directory while the block reads it; nothing is written.

    Raises
    ------
    StoreError
        If a stage is at work there.
    """
    with ExitStack() as stack:
        for file in (directory / LOCK, directory / STRUCTURE_LOCK):
            if file.exists():
                with explain_errors(f"lock the directory {directory}"):
                    stack.enter_context(hold(file, partial(busy, directory), shared=True, touch=False))
        yield


def busy(directory: Path, process: str) -> str:
    """The message if another process holds a directory's lock."""
    return f"Another run is at work in {directory} (process {process}); wait for it or stop it."


def tell(sentence: str, log: Path | None = None) -> None:
    """Print a sentence on stderr and to the log, if there is one."""
    print(sentence, file=sys.stderr, flush=True)
    # If the disk is full or read-only, only the terminal gets the sentence.
    if log:
        with suppress(OSError), open(log, "a", encoding="utf-8") as file:
            print(sentence, file=file)


@contextmanager
def errors_to(log: Path) -> Iterator[None]:
    """Run a job of the workflow: on an error for people, end it with a sentence, on stderr and in the log.

    Parameters
    ----------
    log
        It is in the folder ``logs`` of the directory that the job writes to, which the run has locked.
    """
    small_threads()

    with interruptible(), exit_on_error(partial(tell, log=log)):
        with explain_errors(f"write the log {log}"):
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text("", encoding="utf-8")
        _check_run_lock(log.parent.parent)
        yield


def _check_run_lock(home: Path) -> None:
    """Raise a StoreError if this machine does not see the lock of the run, which another machine holds."""
    with explain_errors(f"look at the locks in {home}"):
        machine = free_here(home / RUN_LOCK)
    if machine:
        raise StoreError(
            f"The run on {machine} has locked {home}, but on {socket.gethostname()} that lock is free: locks do not "
            "hold between these machines, or that run has ended. Nothing was changed. Mount the file system so that "
            "locks hold between machines, or use one machine."
        )
