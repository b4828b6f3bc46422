"""The state of the pages, and what a page of Explore or its JSON is made of: the request, and the answers to it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Query, Request
from fastapi.concurrency import run_in_threadpool

from pttt_ooc.disk.numbers import join_words
from pttt_ooc.errors import ImpossibleInfosetError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import first_infoset
from pttt_ooc.games.structure.infoset_parser import check_infoset
from pttt_ooc.site.explore.address import APART, AVERAGE, BEST, LAYERS, MERGED, Address
from pttt_ooc.site.explore.sources import Source, Sources, first_of
from pttt_ooc.site.service.wire import Client, Message, RefusedError
from pttt_ooc.site.shell.shell import Account


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
        Explorers of further games; this one is the default.
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
        """The explorer of a game, this one if `game` is empty; 404 if there is none."""
        found = self if not game else next((one for one in self.all if one.game.name == game), None)
        if found is None:
            raise HTTPException(404, f"There is no solution of {game!r} here.")
        return found

    async def list_sources(self, account: Account | None) -> Sequence[Source]:
        """The strategies that an account may look at."""
        return await run_in_threadpool(self.sources.list_sources, account)


def find_source(offered: Sequence[Source], key: str, player: int) -> Source:
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

Kind = Annotated[str, Query(pattern=f"^({AVERAGE}|{BEST})$")]


@dataclass(frozen=True)
class Look:
    """An infoset, with the strategies and the answers about them.

    Attributes
    ----------
    offered
        The strategies that may be looked at.
    address
        The page, its infoset as it is written.
    latest
        The latest strategies of both players.
    pair
        The strategies of both players after the chosen iteration.
    beside
        A second strategy of the player, if one is chosen.
    answers
        The answers for the pair, and for the pair with `beside`; empty if any is missing.
    impossible
        Why the infoset is impossible; empty if it is possible.
    nearest
        The page of the nearest possible infoset, if there is one.
    failed
        Why there is no answer; empty if there is one.
    waiting
        The progress of a preparation, if one is needed.
    typed
        What was typed in place of an infoset, if it is impossible and the page keeps another one.
    """

    offered: Sequence[Source]
    address: Address
    latest: tuple[Source, Source]
    pair: tuple[Source, Source]
    beside: Source | None
    answers: Sequence[Message] = ()
    impossible: str | None = None
    nearest: Address | None = None
    failed: str | None = None
    waiting: Message | None = None
    typed: str = ""


async def _address(
    player: Annotated[int, Query(ge=0, le=1)] = 0,
    at: Annotated[str, Query(max_length=200)] = "|",
    first: Key = "",
    second: Key = "",
    first_plays: Kind = AVERAGE,
    second_plays: Kind = AVERAGE,
    symmetry: Annotated[str, Query(pattern=f"^({APART}|{MERGED})$")] = APART,
    beside: Key = "",
    iteration: Annotated[int | None, Query(ge=1, le=10**9)] = None,
    square: Annotated[int | None, Query(ge=0, le=15)] = None,
    game: GameName = "",
) -> Address:
    return Address(player, at, (first, second), (first_plays, second_plays), symmetry, beside, iteration, square, game)


Asked = Annotated[Address, Depends(_address)]
"""An address as typed: keys of strategies may be missing or unknown."""


async def _shown_address(
    asked: Asked,
    layer: Annotated[str, Query(pattern=f"^({'|'.join(LAYERS)})$")] = LAYERS[0],
    bare: Annotated[bool, Query()] = False,
    other: Annotated[str, Query(max_length=200)] = "",
) -> Address:
    return replace(asked, layer=layer, bare=bare, other=other)


AskedPage = Annotated[Address, Depends(_shown_address)]
"""An address as typed, with how the page shows the infoset."""


async def look(explorer: Explorer, account: Account | None, requested: Address, here: str = "") -> Look:
    """Look at an infoset.

    Parameters
    ----------
    here
        The infoset to keep if the requested one is impossible; if this is empty or impossible too, the nearest one.

    Raises
    ------
    HTTPException
        404 if the account may not see such a strategy or iteration, or if the other player's infoset is impossible.
    """
    offered = await explorer.list_sources(account)
    latest = _latest(offered, requested)
    pair, address = chosen_pair(offered, requested)
    beside = find_source(offered, requested.beside, requested.player) if requested.beside else None
    address = replace(address, other=_other(explorer, requested))
    result = Look(offered, address, latest, pair, beside)
    found = await _add_answers(explorer, result)
    if found.impossible is None or found.nearest is None:
        return found
    kept = await _add_answers(explorer, replace(result, address=address.to(at=here))) if here else found
    if kept.impossible:
        kept = await _add_answers(explorer, replace(result, address=found.nearest))
    return replace(kept, impossible=found.impossible, nearest=found.nearest, typed=requested.at)


def _latest(offered: Sequence[Source], requested: Address) -> tuple[Source, Source]:
    """The latest strategies of both players."""
    return find_source(offered, requested.strategies[0], 0), find_source(offered, requested.strategies[1], 1)


def chosen_pair(offered: Sequence[Source], requested: Address) -> tuple[tuple[Source, Source], Address]:
    """The strategies of both players after the chosen iteration, and the address that names them; errors as `look`."""
    latest = _latest(offered, requested)
    iteration = _iteration(latest, requested.iteration)
    pair = latest[0].after(iteration), latest[1].after(iteration)
    return pair, replace(requested, strategies=(pair[0].key, pair[1].key), iteration=iteration)


async def _add_answers(explorer: Explorer, result: Look) -> Look:
    """A look with the answers, or with the reason why there are none."""
    address = result.address
    try:
        answers = await _answers(explorer, result)
    except RefusedError as error:
        if "nearest" not in error.details:
            return replace(result, failed=str(error))
        nearest = error.details["nearest"]
        return replace(result, impossible=str(error), nearest=None if nearest is None else address.to(at=nearest))
    result = replace(result, address=replace(address, at=answers[0]["infoset"]))
    waiting = [answer["preparing"] for answer in answers if "preparing" in answer]
    return replace(result, waiting=waiting[0]) if waiting else replace(result, answers=answers)


def _other(explorer: Explorer, requested: Address) -> str:
    """The other player's infoset; empty: their first one."""
    if not requested.other:
        return ""
    try:
        return check_infoset(explorer.game, requested.opponent, requested.other)
    except ImpossibleInfosetError as error:
        raise HTTPException(404, str(error)) from None


def _iteration(pair: tuple[Source, Source], iteration: int | None) -> int | None:
    """The chosen iteration; None if the strategies come from no run with snapshots."""
    iterations = sorted({one.iteration for source in pair for one in source.snapshots})
    if iteration is None or not iterations:
        return None
    if iteration not in iterations:
        raise HTTPException(
            404, f"No strategies were kept after iteration {iteration}; there are {join_words(iterations)}."
        )
    return iteration


async def _answers(explorer: Explorer, result: Look) -> Sequence[Message]:
    address = result.address
    pairs = [records(result.pair, address.replies)]
    if result.beside is not None:  # the player follows it, even if they play a best response otherwise
        pairs.append(
            records((result.beside, result.pair[1]), (False, address.replies[1]))
            if address.player == 0
            else records((result.pair[0], result.beside), (address.replies[0], False))
        )
    facts: dict[str, Any] = {"player": address.player, "infoset": address.at, "square": address.square}
    facts["merged"] = address.symmetry == MERGED
    facts["other"] = address.other or first_infoset(explorer.game, address.opponent)
    return await asyncio.gather(*(explorer.client.ask("infoset", pair=pair, **facts) for pair in pairs))


def records(pair: tuple[Source, Source], replies: tuple[bool, bool]) -> list[Message]:
    """A pair of strategies, as questions name it; `replies`: whether each plays the best response."""
    return [one.as_record(best) for one, best in zip(pair, replies, strict=True)]
