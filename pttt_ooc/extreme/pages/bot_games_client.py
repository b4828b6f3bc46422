"""The client of the answerer, in the web process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pttt_ooc.errors import PtttError
from pttt_ooc.extreme.referee import Cell
from pttt_ooc.service.wire import Client, Message, RefusedError


class NoGameError(PtttError):
    """There is no such game, or the rules forbid a move."""


class AskedBotGames:
    """Asks the answerer, for handlers of an asynchronous application; NoGameError if there is no answer."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def choices(self, owner: str) -> Message:
        """``choices``: the bots that a person may play against; ``latest``: the number of their latest game."""
        return self._ask("choices", owner=owner)

    def begin(self, owner: str, opponent: str, side: int, opening: Sequence[Cell] = ()) -> str:
        """See :meth:`pttt_ooc.extreme.play.games.BotGames.begin`."""
        number: str = self._ask("begin", owner=owner, opponent=opponent, side=side, opening=list(opening))["number"]
        return number

    def state(self, owner: str, number: str) -> Message:
        """See :meth:`pttt_ooc.extreme.play.games.BotGames.state`."""
        return self._ask("state", owner=owner, number=number)

    def move(self, owner: str, number: str, ply: int, cell: Cell) -> Message:
        """Make a move; returns the state after it."""
        return self._ask("move", owner=owner, number=number, ply=ply, cell=list(cell))

    def share(self, owner: str, number: str, shared: bool) -> None:
        """See :meth:`pttt_ooc.extreme.play.games.BotGames.share`."""
        self._ask("share", owner=owner, number=number, shared=shared)

    def shared(self, number: str) -> Message:
        """See :meth:`pttt_ooc.extreme.play.games.BotGames.shared`."""
        return self._ask("shared", number=number)

    def hint(self, owner: str, number: str, ply: int) -> Message:
        """See :meth:`pttt_ooc.extreme.play.bot_game.BotGame.hint`; returns the state after it."""
        return self._ask("hint", owner=owner, number=number, ply=ply)

    def rating(self, moves: Sequence[int], hint: bool = False) -> Message:
        """See :meth:`pttt_ooc.arena.solvers.rating_cache.RatingCache.rating`."""
        return self._ask("rating", moves=moves, hint=hint)

    def ratings(self, moves: Sequence[int]) -> list[Message | None]:
        """See :meth:`pttt_ooc.arena.solvers.rating_cache.RatingCache.ratings`."""
        found: list[Message | None] = self._ask("ratings", moves=moves)["ratings"]
        return found

    def resign(self, owner: str, number: str) -> Message:
        """Resign, in the person's turn; returns the state after it."""
        return self._ask("resign", owner=owner, number=number)

    def leave(self, owner: str, number: str) -> Message:
        """End a game without a result; returns its state."""
        return self._ask("leave", owner=owner, number=number)

    def _ask(self, what: str, **facts: Any) -> Message:
        try:
            return self._client.ask_from_thread(what, **facts)
        except RefusedError as error:
            raise NoGameError(str(error)) from error
