"""Checks everything on disk: the solver's saved states, and the products of the stages.

All files are read and compared with their checksums; nothing is written.  It reports what it cannot compare: a product
without its manifest, a manifest without those that it was made from, and, as facts, files that no stage writes.

The digest of a run covers contents, so equal runs have the same one, with any Python and any budgets;
``docs/files.md`` says on which machines: see "What 'the same bits' means".
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pttt_ooc.disk import commits
from pttt_ooc.disk.files import explain_errors
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.disk.store import read_attrs
from pttt_ooc.errors import StoreError
from pttt_ooc.pipeline.stages import STAGES, UNLISTED_STAGES, product_check
from pttt_ooc.pipeline.stages.directories import RUNS, SHARED, SOLUTION, home_of, manifest_of, runs_of, structure_of
from pttt_ooc.pipeline.stages.product_check import timeless
from pttt_ooc.pipeline.stages.stage_context import (
    Facts,
    block_stages,
    check_product,
    contents,
    inputs,
    made_from_others,
)
from pttt_ooc.pipeline.stages.stage_sets import UNLISTED, WORKFLOW, StageSet
from pttt_ooc.pipeline.stages.strategy_store import finish_if_run

OWN_SETS = (WORKFLOW, UNLISTED)
_WORK = "work"
_FOLDERS = (RUNS, _WORK, "logs")  # of a directory of results, besides its products
_LEFTOVERS = (".wip", ".old", ".tmp")  # of a killed process; the next one deletes them


@dataclass
class Findings:
    """What :func:`check` found.

    Attributes
    ----------
    problems
        One sentence for each, directories in use included; empty if all is well.
    facts
        One sentence for each thing that is no problem, but should be known: stages that have not run, files that are
        not checked.
    states, products
        Numbers of checked states and products.
    """

    problems: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    states: int = 0
    products: int = 0

    @property
    def summary(self) -> str:
        """One line about the result."""
        problems = f"{_number(len(self.problems), 'problem')}." if self.problems else "all is well."
        return f"Checked {_number(self.states, 'saved state')} and {_number(self.products, 'product')}: {problems}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def check(root: Path, sets: Sequence[StageSet] = OWN_SETS) -> Findings:
    """Check a work directory, or all work directories and products of stages below `root`.

    Parameters
    ----------
    sets
        The sets of stages whose results are looked for.

    Raises
    ------
    StoreError
        If there is no such directory, it cannot be read, or it has neither states nor products.
    """
    if not root.is_dir():
        raise StoreError(f"There is no directory {root} to check; name one that the solver or the workflow has made.")
    whole = Path(os.path.abspath(root))
    if structure_of(root) == root and structure_of(whole) != whole:  # such as "." in the directory of a named run
        root = whole
    checkup = _Checkup(root, sets)
    if not checkup.check_below(root):
        raise StoreError(
            f"There is no state of the solver and no product of the workflow in {root}; name the directory of one."
        )
    return checkup.findings


class _Checkup:
    """One check of all directories below a root."""

    def __init__(self, root: Path, sets: Sequence[StageSet]) -> None:
        self.root, self.sets, self.findings = root, sets, Findings()
        self.stages = list(dict.fromkeys(stage for one in sets for stage in one.products))

    def check_below(self, directory: Path) -> bool:
        """Check a directory and those below; return whether there was any state or product."""
        if commits.is_state(directory):
            self._check_state(directory)
            return True
        try:
            with block_stages(directory):
                with explain_errors(f"read {directory}"), os.scandir(directory) as entries:
                    folders = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
                kind = self._kind_of(directory, folders)
                wanted = kind.products if kind else self.stages
                stages = [stage for stage in self._own(directory) if stage in wanted and f"{stage}.json" in folders]
                for stage in stages:
                    self._check_products(directory, stage)
                if kind:
                    self._compare_set(directory, kind)
                # Stores hold only the arrays of a product; records of verification are no products.
                below = sorted(
                    name
                    for name, is_folder in folders.items()
                    if is_folder and ".zarr" not in name and name != product_check.DIRECTORY
                )
                checked = {name for name in below if self.check_below(directory / name)}
                ours = bool(stages or kind or checked)
                if ours:
                    self._tell_unchecked(directory, kind, folders.keys() - checked, below)
                return ours
        except StoreError as error:
            self.findings.problems.append(str(error))
            return True

    def _own(self, directory: Path) -> list[str]:
        """The stages whose manifests would be in a directory."""
        return [stage for stage in self.stages if home_of(directory, stage) == directory]

    def _check_state(self, path: Path) -> None:
        self.findings.states += 1
        try:
            self.findings.problems += commits.fsck(path)
        except StoreError as error:
            self.findings.problems.append(str(error))

    def _check_products(self, directory: Path, stage: str) -> None:
        file = manifest_of(directory, stage)
        try:
            manifest = read_manifest(file, stage)
            products = [name for name, described in manifest["products"].items() if described["digest"]]
        except StoreError as error:
            self.findings.problems.append(str(error))
            return
        except (KeyError, TypeError, AttributeError):
            self.findings.problems.append(
                f"{file} is damaged: it does not describe its products; delete it, and the next run makes them again."
            )
            return
        for product in products:
            self.findings.products += 1
            try:
                check_product(directory, stage, manifest, product)
            except StoreError as error:
                self.findings.problems.append(str(error))

    def _kind_of(self, directory: Path, entries: Mapping[str, bool]) -> StageSet | None:
        """The set of stages whose results are in a directory, by its manifests; if none can be read, by its stores.

        Pages and tables alone say nothing: results of wings that have no manifests have the same names.
        """
        manifests = [facts for run in runs_of(directory) for facts in _manifests(run, self.stages).values()]
        stores = {name for name, is_folder in entries.items() if is_folder and name.endswith(".zarr")}
        if not manifests and SOLUTION in stores and _is_unnamed(directory / SOLUTION):
            return None

        def evidence(one: StageSet) -> tuple[int, int]:
            fitting = sum(map(one.fits, manifests)) if manifests else len(one.all_products & stores)
            return fitting, len(one.all_products & entries.keys())

        best = max(self.sets, key=evidence)
        return best if evidence(best)[0] else None

    def _compare_set(self, directory: Path, kind: StageSet) -> None:
        """Compare the manifests of a set of stages with each other, and with the products that are there."""
        unrun, before = list[str](), dict[str, dict[str, Any]]()
        manifests = _manifests(directory, kind.products)
        for stage, products in kind.products.items():
            file, home = manifest_of(directory, stage), home_of(directory, stage)
            if home == directory or not structure_of(directory).is_relative_to(self.root):
                there = [name for name in products if (home / name).exists()]
                if file.exists():
                    self._compare_products(file, manifests.get(stage), there)
                elif witnesses := [*there, *_dependents(directory, kind, stage)]:
                    self.findings.problems.append(
                        f"{file}, the manifest of stage {stage!r}, is missing beside {', '.join(witnesses)}: "
                        "the stage was interrupted, or the file was deleted; run that stage again, or delete what is "
                        "left of it."
                    )
                elif home == directory and stage not in kind.optional:
                    unrun.append(stage)
            if stage in manifests:
                if other := made_from_others(manifests[stage], before):
                    self.findings.facts.append(
                        f"{other} has changed since {file} was made from it; the next run makes it again."
                    )
                before[stage] = manifests[stage]
        if unrun:
            self.findings.facts.append(f"{directory}: not run yet: {', '.join(unrun)}.")

    def _compare_products(self, file: Path, manifest: Mapping[str, Any] | None, there: Sequence[str]) -> None:
        for product in there:
            if manifest is not None and product not in manifest["products"]:
                self.findings.problems.append(
                    f"{file.parent / product} is there, but {file} does not describe it; delete it, or run stage "
                    f"{file.stem!r} again."
                )

    def _tell_unchecked(
        self, directory: Path, kind: StageSet | None, unchecked: set[str], folders: Sequence[str]
    ) -> None:
        """Report what was compared with nothing: everything in a directory of results, only folders in others."""
        if _WORK in directory.relative_to(self.root).parts or directory.name == _WORK:
            return
        if kind:
            named = {name for stage, products in kind.products.items() for name in (f"{stage}.json", *products)}
            others = unchecked - named - {*_FOLDERS}
        else:
            others = unchecked & {*folders}
        told = sorted(name for name in others if not name.startswith(".") and not name.endswith(_LEFTOVERS))
        if told:
            self.findings.facts.append(f"{directory}: not checked, since no manifest describes it: {', '.join(told)}.")


def _manifests(directory: Path, stages: Sequence[str] | Mapping[str, object]) -> dict[str, dict[str, Any]]:
    """The manifests of stages that are there and can be read."""
    found = {}
    for stage in stages:
        try:
            manifest = read_manifest(manifest_of(directory, stage), stage)
            {name: described["digest"] for name, described in manifest["products"].items()}
            manifest.get("made_from", {}).keys()
        except (StoreError, KeyError, TypeError, AttributeError):
            continue
        found[stage] = manifest
    return found


def _dependents(directory: Path, kind: StageSet, stage: str) -> list[str]:
    """The manifests of stages that cannot have run without a stage, as paths if they are in other directories."""
    found = []
    for run in runs_of(directory) if stage in SHARED else [directory]:
        manifests = _manifests(run, kind.later(stage))
        for later in kind.later(stage):
            file = manifest_of(run, later)
            reads = {*kind.products[stage]} & {*manifests.get(later, {}).get("made_from", {})}
            if file.exists() and (reads or stage not in kind.optional):
                found.append(file.name if file.parent == home_of(directory, stage) else str(file))
    return list(dict.fromkeys(found))


def _is_unnamed(store: Path) -> bool:
    """Whether a solution belongs to a game without a name, which the library solves without stages and manifests."""
    try:
        return "rules" in read_attrs(store)
    except StoreError:
        return False


MEASURED = ("usage", "memory", "versions")
"""Keys of manifests that describe the run, not its results."""
NAMES = ("sources", "work", "made_from")
"""Digests of code, which comments change, and of products, whose own digests count already."""


def content_of(manifest: Facts) -> Facts:
    """The part of a manifest that is the same in all equal runs."""
    content = {name: value for name, value in manifest.items() if name not in (*MEASURED, *NAMES)}
    return timeless({**content, "products": contents({"": manifest})})


def run_digest(directory: Path) -> str:
    """The digest of a run, after a check of its products against their manifests.

    The report is checked, but does not count: another version may say the same in other words.

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
        manifests = inputs(directory, *stages)
    found = {name: content_of(manifest) for name, manifest in manifests.items() if name != "report"}
    return hashlib.blake2b(json.dumps(found, sort_keys=True).encode(), digest_size=16).hexdigest()
