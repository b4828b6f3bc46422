"""Finished games that people have shared, in a database, so that their links outlive the server."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Mapped

from pttt_ooc.errors import PlayError, StoreError
from pttt_ooc.extreme.walls import ExtremeError
from pttt_ooc.play.database_file import kept_file
from pttt_ooc.play.game_store import GameRow, GameStore

log = logging.getLogger("pttt.extreme.play")
FILE = "botgames.sqlite"
MOST = 1000
"""Most games that are kept, of at most 162 moves each; the oldest go first."""

_UNUSABLE = "Games cannot be shared on this server at the moment: the file that keeps them cannot be used."


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
    """The shared games of all people; a file that cannot be used is a line in the log, and nothing is shared.

    Parameters
    ----------
    directory
        Where :data:`FILE` is made when the first game is shared.
    """

    def __init__(self, directory: Path) -> None:
        self._file = directory / FILE
        self._store: GameStore[SharedGameRow] | None = None
        self._broken = False

    def close(self) -> None:
        """Close the database."""
        if self._store is not None:
            self._store.close()

    def share(self, owner: str, number: str, state: dict[str, Any]) -> None:
        """Share a finished game, whose number cannot be guessed.

        Raises
        ------
        ExtremeError
            If nothing can be shared now; so do the other methods.
        """
        with self._used(make=True) as store:
            if store is not None and not store.has(number):
                store.begin(owner, number, result=0, shared=True, helped=state["hints"], state=json.dumps(state))
                store.keep_latest(MOST)

    def stop(self, owner: str, number: str) -> None:
        """Forget a game that this person has shared."""
        with self._used() as store:
            if store is not None:
                store.delete(owner, number)

    def has(self, number: str) -> bool:
        """Whether a game is shared; False also if the file cannot be used."""
        try:
            with self._used() as store:
                return store is not None and store.has(number)
        except ExtremeError:
            return False

    def state(self, number: str) -> dict[str, Any]:
        """A shared game as everybody sees it, and ``owner``; an ExtremeError if there is none."""
        with self._used() as store:
            try:
                row = store.shared(number) if store is not None else None
            except PlayError:
                row = None
            if row is None:
                raise ExtremeError("There is no such game, or its link is not valid any more.")
            found: dict[str, Any] = json.loads(row.state)
            return {**found, "owner": row.owner}

    @contextmanager
    def _used(self, make: bool = False) -> Iterator[GameStore[SharedGameRow] | None]:
        """The open store; None if nothing has been shared yet."""
        try:
            if self._store is None and (make or self._file.exists()):
                self._store = GameStore(kept_file(self._file, "Shared games"), SharedGameRow, "game", "games", MOST)
            yield self._store
        except (StoreError, ValueError) as error:  # ValueError: a row that is not JSON
            if not self._broken:
                log.error(str(error) if isinstance(error, StoreError) else f"The games in {self._file} are damaged.")
            self._broken = True
            raise ExtremeError(_UNUSABLE) from error
