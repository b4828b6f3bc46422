"""The latest game of each person, in a database, so that its moves outlive the server."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sqlalchemy.orm import Mapped

from pttt_ooc.other_games.extreme.play.game_file import GameFile
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.site.play.game_store import GameRow

State = dict[str, Any]
_TOGETHER_SECONDS = 0.2  # a move and its answer are written together, after both


class KeptGameRow(GameRow):
    """A person's latest game.

    Attributes
    ----------
    state
        See :meth:`pttt_ooc.other_games.extreme.play.games.BotGames.state`, as JSON.
    """

    __tablename__ = "bot_games"
    version = ("changed_at",)
    state: Mapped[str]


class KeptGames:
    """The latest games of all people; a thread writes them, so that no move waits for a disk.

    A file that cannot be used is a line in the log, and games are as lasting as the server.

    Parameters
    ----------
    file
        The database.
    most
        Most games that are kept; those that were changed first go first.
    """

    def __init__(self, file: GameFile, most: int) -> None:
        self._file, self._most = file, most
        self._changed: dict[str, Callable[[], State]] = {}
        self._news = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def keep(self, owner: str, state: Callable[[], State]) -> None:
        """Have a game written, as it is then, in the place of the person's former one; nothing once this is closed."""
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
        with suppress(ExtremeError), self._file.used(KeptGameRow) as store:
            rows = [*store.list_games(owner, False, 1), *store.list_games(owner, True, 1)] if store is not None else []
            if rows:
                found: State = json.loads(rows[0].state)
                return found
        return None

    def close(self) -> None:
        """Write what has changed, and nothing more."""
        with self._news:
            self._closed = True
            self._news.notify_all()
        if self._thread is not None:
            self._thread.join()

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
        with self._file.used(KeptGameRow, make=True) as store:
            if store is not None:
                result = 0 if state["turn"] == "over" else None
                values = {"result": result, "helped": state["hints"], "state": json.dumps(state)}
                store.begin_only(owner, state["number"], self._most, **values)
