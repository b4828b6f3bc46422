"""Dependencies of results: the sources of each stage, the solver's fingerprint, versions of libraries.

A workflow engine sees that a script has changed, but not the modules that it imports.  So each rule
carries a digest of its stage's sources as a parameter.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pttt_ooc.disk.manifests import FORMAT_VERSION
from pttt_ooc.imports import code_digest, dependencies, module_digest, without_plain


def stage_sources(stage: str) -> frozenset[str]:
    """The modules of the package that a stage depends on."""
    return dependencies(f"pipeline/stages/{stage}")


def iterate_sources() -> frozenset[str]:
    """The modules that determine the solver's numbers, and so the iteration at which it stops."""
    return without_plain(dependencies("cfr/solving/solve_run"))


def source_digest(stage: str) -> str:
    """A digest of all modules that `stage` depends on: any edit changes it, even of a comment."""
    return module_digest(f"pipeline/stages/{stage}")


def fingerprint(iterates: Mapping[str, Any]) -> str:
    """A short name for all that a solver's state depends on, for its work directory.

    Parameters
    ----------
    iterates
        JSON values: game, symmetry, algorithm and its parameters, precision, digest of the index.  No
        budgets, for these only say when to stop.  The format version and the code of the modules
        :func:`iterate_sources` are added here.
    """
    known = {"format_version": FORMAT_VERSION, "code": code_digest(iterate_sources()), **iterates}
    return hashlib.blake2b(json.dumps(known, sort_keys=True).encode(), digest_size=8).hexdigest()


def versions() -> dict[str, str]:
    """Versions of Python, the libraries and the package, and the kind of machine."""
    found = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    for name in ("pttt-ooc", "numpy", "numba", "zarr", "h5py", "snakemake"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
