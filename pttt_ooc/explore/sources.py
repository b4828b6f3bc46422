"""The strategies that somebody may look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pttt_ooc.web.shell import Account

SOLUTION, UNIFORM = "solution", "uniform"


@dataclass(frozen=True)
class Source:
    """A strategy, or one for each player.

    Attributes
    ----------
    key
        In addresses.
    label
        On pages.
    name
        As `pttt evaluate` takes it: a file, the directory of a solution, or ``uniform``.
    digest
        Changes with the content.
    players
        Whose strategies it has.
    """

    key: str
    label: str
    name: str
    digest: str
    players: tuple[int, ...] = (0, 1)

    def as_record(self) -> dict[str, Any]:
        """What the answerer has to know of it."""
        return {"name": self.name, "digest": self.digest}


class Sources(Protocol):
    """Where strategies come from.  Methods may block: they are called in threads."""

    def offered(self, account: Account | None) -> Sequence[Source]:
        """The strategies that somebody may look at, the most interesting first."""


@dataclass(frozen=True)
class Fixed:
    """The same strategies for everybody."""

    sources: tuple[Source, ...]

    def offered(self, account: Account | None) -> Sequence[Source]:
        """All of them."""
        return self.sources


def first_of(sources: Sequence[Source], player: int) -> Source:
    """The first strategy of a player that is not uniform, or else the first one."""
    fitting = [source for source in sources if player in source.players]
    return next((source for source in fitting if source.key != UNIFORM), fitting[0])


def uniform() -> Source:
    """The strategy that attempts all legal squares alike."""
    return Source(UNIFORM, "Uniform", UNIFORM, UNIFORM)
