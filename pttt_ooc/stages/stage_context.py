"""Shared by all stages: manifests, locks, measurements of time and memory, and errors as one sentence."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pttt_ooc.disk.files import atomic_write_text, digest, explained
from pttt_ooc.disk.locks import hold
from pttt_ooc.disk.manifests import read_manifest, write_manifest
from pttt_ooc.disk.resources import MB, measured, small_threads
from pttt_ooc.disk.stop_signals import interruptible
from pttt_ooc.errors import BudgetError, StoreError, exit_on_error
from pttt_ooc.stages.directories import SHARED, home_of, manifest_of, structure_of
from pttt_ooc.stages.product_check import described, remember, stamp
from pttt_ooc.stages.provenance import source_digest, versions

if TYPE_CHECKING:  # the Snakefile imports this module, and has no time for numpy and Zarr
    from pttt_ooc.disk.memory import MemoryNeeds, Tree, Workspace

Facts = dict[str, Any]
LOCK = ".lock"  # of a directory of results
STRUCTURE_LOCK = ".structure.lock"  # beside an index: runs that read it share it
MEASURED_FILES = ("measurements.html",)  # products that hold nothing but what a run measured


@contextmanager
def stage(
    name: str,
    directory: Path,
    products: Sequence[str],
    sources: Callable[[str], str] = source_digest,
) -> Iterator[Facts]:
    """Run a stage: measure the block, then describe its products in the manifest.

    Parameters
    ----------
    name
        Of the stage.
    directory
        Directory of the results.  One stage at a time may be at work there, and none while another run makes the index.
    products
        Names of the files and stores that the block makes there.
    sources
        Gives the digest of all that a stage is made of, by its name.

    Yields
    ------
    dict to be filled with further facts, JSON values, for the manifest.

    Raises
    ------
    StoreError
        If another stage is at work in the directory, or it cannot be written.
    """
    with _locked(directory, name):
        # Without a manifest, nothing that an interruption leaves behind passes for a product.
        manifest = manifest_of(directory, name)
        before = manifest.read_text(encoding="utf-8") if manifest.exists() else None
        with explained(f"delete {manifest}"):
            manifest.unlink(missing_ok=True)
        facts: Facts = {}
        with measured() as usage:
            try:
                yield facts
            except BudgetError:
                if before is not None:  # refused before anything was touched
                    atomic_write_text(manifest, before)
                raise
            with explained(f"read the products in {directory}"):
                stamps = {product: stamp(directory / product) for product in products}
            made_now = {product: described(directory / product) for product in products}
            remember(directory, name, made_now, stamps)
        spent = {**asdict(usage), "threads": facts.pop("threads", 1)}
        made = {"products": made_now, "usage": spent, "versions": versions(), "sources": sources(name)}
        write_manifest(manifest, name, **made, **facts)


def allocated(needs: MemoryNeeds[Tree], memory_mb: float, directory: Path, facts: Facts) -> Tree:
    """The arrays of a stage that works on one thread, as of :func:`workspace_of`."""
    return workspace_of("", needs, memory_mb, directory, facts).allocate()


def workspace_of(
    name: str,
    needs: MemoryNeeds[Tree],
    memory_mb: float,
    directory: Path,
    facts: Facts,
    threads: int = 1,
    log: Path | None = None,
) -> Workspace[Tree]:
    """A stage's arrays and threads within its budget; the manifest's facts say how many, and how much memory they take.

    A person is told, on stderr and in the `log`, if there are fewer than `threads`.

    Raises
    ------
    MemoryBudgetError
        If the stage cannot do with the budget, even on one thread.
    """
    workspace = needs.within(memory_mb, directory, threads)
    if told := workspace.fewer_threads(name, memory_mb, threads):
        tell(told, log)
    facts["threads"] = workspace.threads
    facts["memory"] = {
        "budget_mb": memory_mb if math.isfinite(memory_mb) else None,
        "projected_mb": workspace.projected_mb,
        "smallest_mb": needs.smallest_mb,
        "mapped_mb": round(workspace.mapped / MB, 1),
    }
    return workspace


def inputs(directory: Path, *stages: str) -> dict[str, Facts]:
    """The manifests of earlier stages, whose products are checked to be the ones that they describe.

    Raises
    ------
    StoreError
        If a manifest or product is missing, a product differs from its manifest, or was made from other products
        than the present ones.
    """
    manifests: dict[str, Facts] = {}
    for name in stages:
        manifest = read_manifest(manifest_of(directory, name), name)
        if other := made_from_others(manifest, manifests):
            raise StoreError(
                f"{manifest_of(directory, name)} was made from another {other} than the one that is there; "
                "delete it to make it anew."
            )
        manifests[name] = manifest
        for product in manifests[name]["products"]:
            check_product(directory, name, manifests[name], product)
    return manifests


def check_product(directory: Path, name: str, manifest: Facts, product: str) -> None:
    """Raise a StoreError unless a product of the stage `name` is the one that its manifest describes."""
    path = home_of(directory, name) / product
    if digest(path) != manifest["products"][product]["digest"]:
        raise StoreError(
            f"{path} is not what stage {name!r} made: it was changed or damaged; "
            f"delete {manifest_of(directory, name)} to make it anew."
        )


def digests(manifests: Mapping[str, Facts]) -> dict[str, str]:
    """Content hashes of all products of some manifests, by name."""
    return {name: d["digest"] for facts in manifests.values() for name, d in facts["products"].items()}


def contents(manifests: Mapping[str, Facts]) -> dict[str, str]:
    """The same, but equal for equal runs: run times do not count, and files that hold nothing else are left out."""
    described = {name: d for facts in manifests.values() for name, d in facts["products"].items()}
    return {name: d.get("content", d["digest"]) for name, d in described.items() if name not in MEASURED_FILES}


def made_from_others(manifest: Facts, before: Mapping[str, Facts]) -> str:
    """The name of a product in the manifests `before` of earlier stages that is not the one that was used; or empty."""
    there = digests(before)
    used = manifest.get("made_from", {})
    return next((name for name in sorted(there.keys() & used.keys()) if there[name] != used[name]), "")


def check_writable(directory: Path) -> None:
    """Raise a StoreError if nothing can be written to the directory, or made where it is to be."""
    there = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    if not os.access(there, os.W_OK):
        raise StoreError(
            f"Cannot write to {there}: it is read-only, or not yours; choose a directory that can be written to."
        )


def forget_future(directory: Path) -> None:
    """Give files from the future a time just before now, in the same sequence.

    Such files exist if the clock was wrong and has been set back.  Snakemake compares times to decide what is stale,
    and would run everything that depends on such a file again and again.
    """
    now = time.time_ns()
    with explained(f"correct the times of files in {directory}"):
        changed = {f: f.stat().st_mtime_ns for f in directory.glob("*") if f.is_file()}
        future = sorted({at for at in changed.values() if at > now}, reverse=True)
        for file, at in changed.items():
            if at > now:
                past = now - (future.index(at) + 1) * 1_000_000
                os.utime(file, ns=(past, past))


@contextmanager
def _locked(directory: Path, name: str) -> Iterator[None]:
    structure, shared = structure_of(directory), name not in SHARED
    with ExitStack() as stack:
        with explained(f"lock the directory {directory}"):
            directory.mkdir(parents=True, exist_ok=True)
            stack.enter_context(hold(structure / STRUCTURE_LOCK, partial(busy, structure), shared=shared))
            if shared:
                stack.enter_context(hold(directory / LOCK, partial(busy, directory)))
        yield


@contextmanager
def undisturbed(directory: Path) -> Iterator[None]:
    """Prevent stages from starting in the directory while the block reads there; nothing is written.

    Raises
    ------
    StoreError
        If a stage is at work there.
    """
    with ExitStack() as stack:
        for file in (directory / LOCK, directory / STRUCTURE_LOCK):
            if file.exists():
                with explained(f"lock the directory {directory}"):
                    stack.enter_context(hold(file, partial(busy, directory), shared=True, touch=False))
        yield


def busy(directory: Path, process: str) -> str:
    """What is said where another process holds a lock of a directory."""
    return f"Another run is at work in {directory} (process {process}); wait for it or stop it."


def tell(sentence: str, log: Path | None = None) -> None:
    """Print a sentence on stderr and, if there is one, into a log."""
    print(sentence, file=sys.stderr, flush=True)
    # On a disk that is full or read-only, the terminal has to do.
    if log:
        with suppress(OSError), open(log, "a", encoding="utf-8") as file:
            print(sentence, file=file)


@contextmanager
def told(log: Path) -> Iterator[None]:
    """End the program with one sentence, on stderr and in the log, where a person can do something about it."""
    small_threads()

    with interruptible(), exit_on_error(partial(tell, log=log)):
        with explained(f"write the log {log}"):
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text("", encoding="utf-8")
        yield
