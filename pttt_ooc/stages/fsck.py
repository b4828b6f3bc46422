"""Checks everything on disk: the solver's saved states, and the products of the stages.

All files are read and compared with their checksums; nothing is written.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from pttt_ooc.disk import commits
from pttt_ooc.disk.files import explained
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import StoreError
from pttt_ooc.stages import STAGES, product_check
from pttt_ooc.stages.directories import home_of, manifest_of
from pttt_ooc.stages.stage_context import check_product, undisturbed


@dataclass
class Findings:
    """What :func:`check` found.

    Attributes
    ----------
    problems
        One sentence for each, directories in use included; empty if all is well.
    states, products
        Numbers of checked states and products.
    """

    problems: list[str] = field(default_factory=list)
    states: int = 0
    products: int = 0

    @property
    def summary(self) -> str:
        """One line about the result."""
        problems = f"{_number(len(self.problems), 'problem')}." if self.problems else "all is well."
        return f"Checked {_number(self.states, 'saved state')} and {_number(self.products, 'product')}: {problems}"


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def check(root: Path) -> Findings:
    """Check a work directory, or all work directories and products of stages below `root`.

    Raises
    ------
    StoreError
        If there is no such directory, it cannot be read, or it has neither states nor products.
    """
    if not root.is_dir():
        raise StoreError(f"There is no directory {root} to check; name one that the solver or the workflow has made.")
    found = Findings()
    ours = _check_below(root, found)
    if not ours:
        raise StoreError(
            f"Neither a state of the solver nor a product of the workflow is in {root}; name the directory of one."
        )
    return found


def _check_below(directory: Path, findings: Findings) -> bool:
    """Check a directory and those below; return whether there was any state or product."""
    if commits.is_state(directory):
        _check_state(directory, findings)
        return True
    own = [stage for stage in STAGES if home_of(directory, stage) == directory]
    stages = [stage for stage in own if manifest_of(directory, stage).exists()]
    try:
        with undisturbed(directory):
            for stage in stages:
                _check_products(directory, stage, findings)
            with explained(f"read {directory}"), os.scandir(directory) as entries:
                # Stores hold only the arrays of a product; records of verification are no products.
                folders = [e for e in entries if e.is_dir(follow_symlinks=False) and e.name != product_check.DIRECTORY]
                below = sorted(e.path for e in folders if ".zarr" not in e.name)
            return any([_check_below(Path(path), findings) for path in below]) or bool(stages)
    except StoreError as error:
        findings.problems.append(str(error))
        return True


def _check_state(path: Path, findings: Findings) -> None:
    findings.states += 1
    try:
        findings.problems += commits.fsck(path)
    except StoreError as error:
        findings.problems.append(str(error))


def _check_products(directory: Path, stage: str, findings: Findings) -> None:
    file = manifest_of(directory, stage)
    try:
        manifest = read_manifest(file, stage)
        products = [name for name, described in manifest["products"].items() if described["digest"]]
    except StoreError as error:
        findings.problems.append(str(error))
        return
    except (KeyError, TypeError, AttributeError):
        findings.problems.append(f"{file} is damaged: it does not describe its products; delete it to make them anew.")
        return
    for product in products:
        findings.products += 1
        try:
            check_product(directory, stage, manifest, product)
        except StoreError as error:
            findings.problems.append(str(error))
