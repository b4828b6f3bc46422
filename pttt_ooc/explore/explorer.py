"""The state of the pages: the game, the answerer, and the strategies that may be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, HTTPException, Query, Request
from fastapi.concurrency import run_in_threadpool

from pttt_ooc.explore.sources import Source, Sources, first_of
from pttt_ooc.rules.game import Game
from pttt_ooc.service.wire import Client
from pttt_ooc.web.shell import Account


@dataclass
class Explorer:
    """The state of the handlers of Explore.

    Attributes
    ----------
    game
        The game of all strategies.
    client
        The client of the answerer.
    sources
        The source of strategies.
    others
        Explorers of further games; this one is meant where no game is named.
    """

    game: Game
    client: Client
    sources: Sources
    others: Sequence[Explorer] = ()

    @property
    def all(self) -> tuple[Explorer, ...]:
        """The explorers of all games."""
        return (self, *self.others)

    def of(self, game: str) -> Explorer:
        """The explorer of a game; 404 if there is none.  Empty: this one."""
        found = self if not game else next((one for one in self.all if one.game.name == game), None)
        if found is None:
            raise HTTPException(404, f"There is no solution of {game!r} here.")
        return found

    async def offered(self, account: Account | None) -> Sequence[Source]:
        """The strategies that an account may look at."""
        return await run_in_threadpool(self.sources.offered, account)


def chosen(offered: Sequence[Source], key: str, player: int) -> Source:
    """A player's strategy by its key; the first one if the key is empty.

    Raises
    ------
    HTTPException
        404 if there is none that may be seen; the error does not reveal whether it exists.
    """
    if not key:
        return first_of(offered, player)
    for source in offered:
        if source.key == key and player in source.players:
            return source
    raise HTTPException(404, f"There is no strategy {key[:40]!r} of player {player} that you may look at.")


Key = Annotated[str, Query(max_length=60)]
GameName = Annotated[str, Query(max_length=60, description="The game; default: the first one.")]


async def _used(request: Request, game: GameName = "") -> Explorer:
    explorer: Explorer = request.app.state.explore
    return explorer.of(game)


UsedExplorer = Annotated[Explorer, Depends(_used)]
