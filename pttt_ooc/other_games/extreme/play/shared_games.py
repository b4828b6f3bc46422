"""Finished games that people have shared, in a database, so that their links outlive the server."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy.orm import Mapped

from pttt_ooc.errors import PlayError
from pttt_ooc.other_games.extreme.play.game_file import GameFile
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.site.play.game_store import GameRow

MOST = 1000
"""Most games that are kept, of at most 162 moves each; the oldest go first."""


class SharedGameRow(GameRow):
    """A shared game.

    Attributes
    ----------
    state
        What everybody sees of it, as JSON: the bot need not be there any more.
    """

    __tablename__ = "shared_bot_games"
    version = ("changed_at",)
    state: Mapped[str]


class SharedGames:
    """The shared games of all people.

    Parameters
    ----------
    file
        The database.
    """

    def __init__(self, file: GameFile) -> None:
        self._file = file

    def share(self, owner: str, number: str, state: dict[str, Any]) -> None:
        """Share a finished game, whose number cannot be guessed.

        Raises
        ------
        ExtremeError
            If nothing can be shared now; so do the other methods.
        """
        with self._file.used(SharedGameRow, make=True) as store:
            if store is not None and not store.has(number):
                store.begin(owner, number, result=0, shared=True, helped=state["hints"], state=json.dumps(state))
                store.keep_latest(MOST)

    def stop(self, owner: str, number: str) -> None:
        """Forget a game that this person has shared."""
        with self._file.used(SharedGameRow) as store:
            if store is not None:
                store.delete(owner, number)

    def has(self, number: str) -> bool:
        """Whether a game is shared; False also if the file cannot be used."""
        try:
            with self._file.used(SharedGameRow) as store:
                return store is not None and store.has(number)
        except ExtremeError:
            return False

    def state(self, number: str) -> dict[str, Any]:
        """A shared game as everybody sees it, and ``owner``; an ExtremeError if there is none."""
        with self._file.used(SharedGameRow) as store:
            try:
                row = store.find_shared(number) if store is not None else None
            except PlayError:
                row = None
            if row is None:
                raise ExtremeError("There is no such game, or its link is not valid any more.")
            found: dict[str, Any] = json.loads(row.state)
            return {**found, "owner": row.owner}
