"""Sources of strategies, which visitors may look at, with what a solver's run has left beside a solution."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import StoreError
from pttt_ooc.pipeline.stages.directories import SNAPSHOTS, manifest_of

if TYPE_CHECKING:  # the terminal needs no web server
    from pttt_ooc.site.shell.shell import Account

_CURVE = "convergence.jsonl"
SOLUTION, UNIFORM = "solution", "uniform"


@dataclass(frozen=True)
class Snapshot:
    """The strategies of a run after an earlier iteration.

    Attributes
    ----------
    iteration
        The number of iterations.
    gap
        NashConv of both players' strategies.
    name, digest
        See :class:`Source`.
    """

    iteration: int
    gap: float
    name: str
    digest: str


@dataclass(frozen=True)
class Source:
    """A strategy, or one for each player.

    Attributes
    ----------
    key
        Its name in addresses.
    label
        Its name on pages.
    name
        A file, the directory of a solution, or ``uniform``, as for `pttt evaluate`.
    digest
        Changes with the content.
    players
        The players of which it has strategies.
    snapshots
        The snapshots of its run, the earliest first; the last one is the strategy itself.  Empty if there are none.
    curve
        Iteration and gap of each evaluation of its run.
    infosets
        The file that gives the order of a tensor's rows; None: the default order.
    """

    key: str
    label: str
    name: str
    digest: str
    players: tuple[int, ...] = (0, 1)
    snapshots: tuple[Snapshot, ...] = ()
    curve: tuple[tuple[int, float], ...] = ()
    infosets: str | None = None

    def after(self, iteration: int | None) -> Source:
        """The source after an earlier iteration; itself if there is no such snapshot."""
        for one in self.snapshots:
            if one.iteration == iteration:
                return replace(self, label=f"{self.label}, iteration {iteration}", name=one.name, digest=one.digest)
        return self

    def has(self, iteration: int) -> bool:
        """Whether there is a snapshot of an iteration."""
        return any(one.iteration == iteration for one in self.snapshots)

    def as_record(self, best: bool = False) -> dict[str, Any]:
        """The source, or the best response in its place, as the answerer identifies it."""
        found = {"name": self.name, "digest": self.digest, **({"best": True} if best else {})}
        return found if self.infosets is None else {**found, "infosets": self.infosets}


class Sources(Protocol):
    """A source of strategies.  Methods may block; they are called in threads."""

    def list_sources(self, account: Account | None) -> Sequence[Source]:
        """The strategies that an account may look at, the most interesting first."""


@dataclass(frozen=True)
class FixedSources:
    """The same strategies for everybody."""

    sources: tuple[Source, ...]

    def list_sources(self, account: Account | None) -> Sequence[Source]:
        """All strategies."""
        return self.sources


def first_of(sources: Sequence[Source], player: int) -> Source:
    """The first strategy of a player that is not uniform, or else the first one."""
    fitting = [source for source in sources if player in source.players]
    return next((source for source in fitting if source.key != UNIFORM), fitting[0])


def uniform() -> Source:
    """The strategy that attempts all legal squares with the same probability."""
    return Source(UNIFORM, "Uniform", UNIFORM, UNIFORM)


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


def _curve(file: Path) -> tuple[tuple[int, float], ...]:
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return tuple((int(row["iteration"]), float(row["nashconv"])) for row in rows)


def _snapshots(directory: Path, digest: str, gaps: dict[int, float], last: int) -> Iterator[Snapshot]:
    for iteration in sorted(int(path.stem) for path in directory.glob("*.zarr")):
        if iteration in gaps and iteration != last:
            path = directory / f"{iteration}.zarr"
            yield Snapshot(iteration, gaps[iteration], str(path.absolute()), f"{digest} {iteration}")
