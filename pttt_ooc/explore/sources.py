"""Sources of strategies, which visitors may look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # the terminal needs no web server
    from pttt_ooc.web.shell import Account

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

    def offered(self, account: Account | None) -> Sequence[Source]:
        """The strategies that an account may look at, the most interesting first."""


@dataclass(frozen=True)
class FixedSources:
    """The same strategies for everybody."""

    sources: tuple[Source, ...]

    def offered(self, account: Account | None) -> Sequence[Source]:
        """All strategies."""
        return self.sources


def first_of(sources: Sequence[Source], player: int) -> Source:
    """The first strategy of a player that is not uniform, or else the first one."""
    fitting = [source for source in sources if player in source.players]
    return next((source for source in fitting if source.key != UNIFORM), fitting[0])


def uniform() -> Source:
    """The strategy that attempts all legal squares with the same probability."""
    return Source(UNIFORM, "Uniform", UNIFORM, UNIFORM)
