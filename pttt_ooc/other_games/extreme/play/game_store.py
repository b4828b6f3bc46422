"""People's games against bots in a database, so that they outlive the server: each person's latest, and shared ones.

The database is made when the first game is written.  If it cannot be used, games go on, and the log has one line about
it.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy.orm import Mapped

from pttt_ooc.errors import PlayError, StoreError
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.site.play.database_file import kept_file
from pttt_ooc.site.play.game_store import GameRow, GameStore

log = logging.getLogger("pttt.extreme.play")
FILE = "botgames.sqlite"
MOST_SHARED = 1000
"""Maximum number of shared games that are kept, of at most 162 moves each; the oldest go first."""
_MOST_OF_VISITORS = 1000  # people here have accounts, or are the one at this machine
_TOGETHER_SECONDS = 0.2  # a move and its answer are written together, after both
_UNUSABLE = "Games cannot be shared on this server at the moment: the file that keeps them cannot be used."

State = dict[str, Any]
"""See :meth:`pttt_ooc.other_games.extreme.play.games.BotGames.state`; in the database as JSON."""


class KeptGameRow(GameRow):
    """A person's latest game."""

    __tablename__ = "bot_games"
    version = ("changed_at",)
    state: Mapped[str]


class SharedGameRow(GameRow):
    """A finished game that its person has shared: what everybody sees of it; the bot need not be there any more."""

    __tablename__ = "shared_bot_games"
    version = ("changed_at",)
    state: Mapped[str]


Row = TypeVar("Row", KeptGameRow, SharedGameRow)


class BotGameStore:
    """The database; a thread writes the latest games, so that no move waits for a disk.

    Parameters
    ----------
    directory
        Where :data:`FILE` is made.
    most
        Maximum number of people whose latest game is kept; the games that changed longest ago go first.
    """

    def __init__(self, directory: Path, most: int) -> None:
        self._file, self._most = directory / FILE, most
        self._stores: dict[type[GameRow], GameStore[Any]] = {}
        self._opening = threading.Lock()
        self._broken = False
        self._changed: dict[str, Callable[[], State]] = {}
        self._news = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    @contextmanager
    def _used(self, rows: type[Row], make: bool = False) -> Iterator[GameStore[Row] | None]:
        """The open store of one kind of games; None if there is no file, and none is to be made.

        Raises
        ------
        ExtremeError
            If the file cannot be used; the methods raise it too.
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

    # -----------------------------------------------------------------------------------------
    # The latest game of each person

    def keep(self, owner: str, state: Callable[[], State]) -> None:
        """Have a game written soon, as it is then, over the person's former one; do nothing after `stop_keeping`."""
        with self._news:
            if self._closed:
                return
            self._changed[owner] = state
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_all, daemon=True)
                self._thread.start()
            self._news.notify_all()

    def latest(self, owner: str) -> State | None:
        """A person's latest game as it was written last; None if none is kept, or the file cannot be used."""
        with suppress(ExtremeError), self._used(KeptGameRow) as store:
            rows = [*store.list_games(owner, False, 1), *store.list_games(owner, True, 1)] if store is not None else []
            if rows:
                found: State = json.loads(rows[0].state)
                return found
        return None

    def stop_keeping(self) -> None:
        """Write the games that have changed, and no further ones."""
        with self._news:
            self._closed = True
            self._news.notify_all()
        if self._thread is not None:
            self._thread.join()

    def close(self) -> None:
        """Close the database."""
        self.stop_keeping()
        for store in self._stores.values():
            store.close()

    def _write_all(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._changed or self._closed)
                self._news.wait_for(lambda: self._closed, _TOGETHER_SECONDS)
                changed, self._changed = self._changed, {}
                if not changed:
                    return
            for owner, state in changed.items():
                with suppress(ExtremeError):
                    self._write(owner, state())

    def _write(self, owner: str, state: State) -> None:
        with self._used(KeptGameRow, make=True) as store:
            if store is not None:
                result = 0 if state["turn"] == "over" else None
                values = {"result": result, "helped": state["hints"], "state": json.dumps(state)}
                store.begin_only(owner, state["number"], self._most, **values)

    # -----------------------------------------------------------------------------------------
    # Shared games

    def share(self, owner: str, number: str, state: State) -> None:
        """Share a finished game, whose number cannot be guessed."""
        with self._used(SharedGameRow, make=True) as store:
            if store is not None and not store.has(number):
                store.begin(owner, number, result=0, shared=True, helped=state["hints"], state=json.dumps(state))
                store.keep_latest(MOST_SHARED)

    def stop_sharing(self, owner: str, number: str) -> None:
        """Forget a game that this person has shared."""
        with self._used(SharedGameRow) as store:
            if store is not None:
                store.delete(owner, number)

    def is_shared(self, number: str) -> bool:
        """Whether a game is shared; False also if the file cannot be used."""
        with suppress(ExtremeError), self._used(SharedGameRow) as store:
            return store is not None and store.has(number)
        return False

    def shared_state(self, number: str) -> State:
        """A shared game as everybody sees it, and ``owner``; an ExtremeError if there is none."""
        with self._used(SharedGameRow) as store:
            try:
                row = store.find_shared(number) if store is not None else None
            except PlayError:
                row = None
            if row is None:
                raise ExtremeError("There is no such game, or its link is not valid any more.")
            return {**json.loads(row.state), "owner": row.owner}
