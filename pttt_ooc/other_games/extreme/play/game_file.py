"""The database of games against bots: it is made when the first game is written, and no game fails with it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pttt_ooc.errors import StoreError
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.site.play.database_file import kept_file
from pttt_ooc.site.play.game_store import GameRow, GameStore

log = logging.getLogger("pttt.extreme.play")
FILE = "botgames.sqlite"
_MOST_OF_VISITORS = 1000  # people here have accounts, or are the one at this machine

_UNUSABLE = "Games cannot be shared on this server at the moment: the file that keeps them cannot be used."
Row = TypeVar("Row", bound=GameRow)


class GameFile:
    """The database; that it cannot be used is one line in the log.

    Parameters
    ----------
    directory
        Where :data:`FILE` is made.
    """

    def __init__(self, directory: Path) -> None:
        self._file = directory / FILE
        self._stores: dict[type[GameRow], GameStore[Any]] = {}
        self._opening = threading.Lock()
        self._broken = False

    def close(self) -> None:
        """Close the database."""
        for store in self._stores.values():
            store.close()

    @contextmanager
    def used(self, rows: type[Row], make: bool = False) -> Iterator[GameStore[Row] | None]:
        """The open store of one kind of games; None if there is no file, and none is to be made.

        Raises
        ------
        ExtremeError
            If the file cannot be used.
        """
        try:
            with self._opening:
                if rows not in self._stores and (make or self._file.exists()):
                    file = kept_file(self._file, "Games")
                    self._stores[rows] = GameStore(file, rows, "game", "games", _MOST_OF_VISITORS)
            yield self._stores.get(rows)
        except (StoreError, ValueError) as error:  # ValueError: a row that is not JSON
            if not self._broken:
                log.error(str(error) if isinstance(error, StoreError) else f"The games in {self._file} are damaged.")
            self._broken = True
            raise ExtremeError(_UNUSABLE) from error
