"""The arena as a web process knows it: all that needs games or numbers is asked of the answerer."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio.from_thread

from pttt_ooc.errors import PtttError
from pttt_ooc.web.wire import Client, Message, RefusedError


class NoAnswerError(PtttError):
    """What was asked for does not exist, or the rules do not allow it."""


class AskedArena:
    """Asks the answerer, for threads of an asynchronous application; NoAnswerError where there is no answer."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def matches(self) -> list[Message]:
        """The matches on disk."""
        found: list[Message] = self._ask("matches")["matches"]
        return found

    def match(self, name: str, start: int, rows: int) -> Message:
        """As of :meth:`pttt_ooc.arena.pages.shelf.Shelf.match`."""
        return self._ask("match", name=name, start=start, rows=rows)

    def replay(self, name: str, number: int, ply: int) -> Message:
        """As of :meth:`pttt_ooc.arena.pages.shelf.Shelf.replay`."""
        return self._ask("replay", name=name, number=number, ply=ply)

    def _ask(self, what: str, **facts: Any) -> Message:
        try:
            return anyio.from_thread.run(partial(self._client.ask, what, **facts))
        except RefusedError as error:
            raise NoAnswerError(str(error)) from error
