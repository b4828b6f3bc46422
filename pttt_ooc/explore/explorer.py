"""What the pages of the wing work on: the game, the answerer, and the strategies that may be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.concurrency import run_in_threadpool

from pttt_ooc.explore.sources import UNIFORM, Source, Sources
from pttt_ooc.explore.wire import Client
from pttt_ooc.rules.game import Game
from pttt_ooc.web.shell import Account


@dataclass
class Explorer:
    """The web process's side of the wing.

    Attributes
    ----------
    game
        The game of all strategies.
    client
        Asks the answerer.
    sources
        Where strategies come from.
    """

    game: Game
    client: Client
    sources: Sources

    async def offered(self, account: Account | None) -> Sequence[Source]:
        """The strategies that somebody may look at."""
        return await run_in_threadpool(self.sources.offered, account)


def chosen(offered: Sequence[Source], key: str, player: int) -> Source:
    """The strategy of a player with a key; the first one if the key is empty.

    Raises
    ------
    HTTPException
        404, if there is none that may be seen: nothing tells whether it exists.
    """
    fitting = [source for source in offered if player in source.players]
    if not key:
        return next((source for source in fitting if source.key != UNIFORM), fitting[0])
    for source in fitting:
        if source.key == key:
            return source
    raise HTTPException(404, f"There is no strategy {key[:40]!r} of player {player} that you may look at.")


def explorer_of(request: Request) -> Explorer:
    """The explorer that the application is for."""
    explorer: Explorer = request.app.state.explore
    return explorer


async def _explorer_of(request: Request) -> Explorer:
    return explorer_of(request)


UsedExplorer = Annotated[Explorer, Depends(_explorer_of)]
