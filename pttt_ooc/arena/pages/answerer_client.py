"""The client of the answerer, in the web process."""

from __future__ import annotations

from typing import Any

from pttt_ooc.errors import PtttError
from pttt_ooc.service.wire import BusyError, Client, Message, RefusedError


class NoAnswerError(PtttError):
    """The answerer refused a question: something does not exist, or the rules forbid it."""


class AskedArena:
    """Asks the answerer, for threads of an asynchronous application; NoAnswerError if there is no answer."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def matches(self) -> list[Message]:
        """The matches on disk."""
        matches: list[Message] = self._ask("matches")["matches"]
        return matches

    def match(self, name: str, start: int, rows: int) -> Message:
        """See :meth:`pttt_ooc.arena.pages.match_archive.MatchArchive.match`."""
        return self._ask("match", name=name, start=start, rows=rows)

    def replay(self, name: str, number: int, ply: int) -> Message:
        """See :meth:`pttt_ooc.arena.pages.match_archive.MatchArchive.replay`."""
        return self._ask("replay", name=name, number=number, ply=ply)

    def standings(self) -> list[Message]:
        """The round robins on disk, with ratings."""
        standings: list[Message] = self._ask("standings")["standings"]
        return standings

    def ready(self, game: str) -> list[str]:
        """See :meth:`pttt_ooc.arena.pages.game_service.GameService.ready`."""
        agents: list[str] = self._ask("ready", game=game)["agents"]
        return agents

    def position(self, game: str, moves: list[int]) -> Message:
        """See :meth:`pttt_ooc.arena.pages.game_service.GameService.position`."""
        return self._ask("position", game=game, moves=moves)

    def ratings(self, game: str, moves: list[int]) -> list[Message | None]:
        """See :meth:`pttt_ooc.arena.solvers.rating_cache.RatingCache.ratings`."""
        ratings: list[Message | None] = self._ask("ratings", game=game, moves=moves)["ratings"]
        return ratings

    def rating(self, game: str, moves: list[int], hint: bool = False) -> Message:
        """See :meth:`pttt_ooc.arena.solvers.rating_cache.RatingCache.rating`."""
        return self._ask("rating", game=game, moves=moves, hint=hint)

    def answered(self, game: str, moves: list[int], agents: list[str | None], seconds: str) -> list[int]:
        """The moves with the answers of agents; see :meth:`pttt_ooc.arena.pages.game_service.GameService.answered`."""
        question = {"game": game, "moves": moves, "agents": agents, "seconds": seconds, "once": False}
        result: list[int] = self._ask("answered", **question)["moves"]
        return result

    async def next_position(self, game: str, moves: list[int], agents: list[str], seconds: str) -> Message:
        """The position after one more move of an agent; NoAnswerError also if the answerer is too busy."""
        question = {"game": game, "moves": moves, "agents": agents, "seconds": seconds, "once": True}
        try:
            after = await self._client.ask("answered", **question)
            return await self._client.ask("position", game=game, moves=after["moves"])
        except (RefusedError, BusyError) as error:
            raise NoAnswerError(str(error)) from error

    def _ask(self, what: str, **facts: Any) -> Message:
        try:
            return self._client.ask_from_thread(what, **facts)
        except RefusedError as error:
            raise NoAnswerError(str(error)) from error
