"""Results of a solver's run beside its solution: the convergence curve, and snapshots if there are any."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import StoreError
from pttt_ooc.explore.sources import Snapshot, Source
from pttt_ooc.stages.directories import SNAPSHOTS, manifest_of

_CURVE = "convergence.jsonl"
Curve = tuple[tuple[int, float], ...]


def with_run(source: Source) -> Source:
    """A solution with the snapshots of its run, if its stage has finished with any; else the source itself."""
    place = Path(source.name)
    try:
        manifest = read_manifest(manifest_of(place, "solve"), "solve")
        product: dict[str, Any] | None = manifest["products"].get(SNAPSHOTS)
        last = manifest["result"]
        curve = _curve(place / _CURVE)
    except (StoreError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return source  # not a directory of the workflow
    if not product:
        return source
    earlier = list(_snapshots(place / SNAPSHOTS, product["digest"], dict(curve), last["iteration"]))
    latest = Snapshot(last["iteration"], last["nashconv"], source.name, source.digest)
    return replace(source, snapshots=(*earlier, latest), curve=curve)


def _curve(file: Path) -> Curve:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return tuple((int(row["iteration"]), float(row["nashconv"])) for row in rows)


def _snapshots(directory: Path, digest: str, gaps: dict[int, float], last: int) -> Iterator[Snapshot]:
    for iteration in sorted(int(path.stem) for path in directory.glob("*.zarr")):
        if iteration in gaps and iteration != last:
            path = directory / f"{iteration}.zarr"
            yield Snapshot(iteration, gaps[iteration], str(path.absolute()), f"{digest} {iteration}")
