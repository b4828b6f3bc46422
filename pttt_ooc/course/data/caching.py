"""A cache of what is computed from the standings: many readers cause one computation, and do not wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

Made = dict[str, Any]


@dataclass
class _Entry:
    revision: str
    made: Made
    checked: float
    renewing: bool = field(default=False)


class Cache:
    """Caches what is computed from the standings.

    Parameters
    ----------
    fresh
        Seconds for which an entry is returned without a look at the database.
    stale
        Seconds for which it is still returned while a thread checks it, and computes it anew if need be.
    """

    def __init__(self, fresh: float = 0.5, stale: float = 4.0) -> None:
        self._fresh, self._stale = fresh, stale
        self._entries: dict[Hashable, _Entry] = {}
        self._lock = threading.Lock()

    def peek(self, key: Hashable) -> Made | None:
        """An entry, if it is fresh; never blocks."""
        entry = self._entries.get(key)
        return entry.made if entry and time.monotonic() - entry.checked < self._fresh else None

    def get(self, key: Hashable, revision: Callable[[], str], make: Callable[[], Made]) -> Made:
        """An entry, which is computed now if it is missing or too old.

        Parameters
        ----------
        revision
            Returns the present revision of what the entry depends on.
        make
            Computes the entry.
        """
        entry = self._entries.get(key)
        age = float("inf") if entry is None else time.monotonic() - entry.checked
        if entry is not None and age < self._fresh:
            return entry.made
        if entry is not None and age < self._stale:
            with self._lock:
                begins, entry.renewing = not entry.renewing, True
            if begins:
                threading.Thread(target=self._renew_behind, args=(key, entry, revision, make), daemon=True).start()
            return entry.made
        return self._renew(key, revision, make)

    def current(self, key: Hashable, revision: str, make: Callable[[], Made]) -> Made:
        """The entry of exactly this revision, computed now if it is missing."""
        entry = self._entries.get(key)
        return entry.made if entry is not None and entry.revision == revision else self._keep(key, revision, make())

    def _renew(self, key: Hashable, revision: Callable[[], str], make: Callable[[], Made]) -> Made:
        before, now = self._entries.get(key), time.monotonic()
        current = revision()  # read before what depends on it, so that a change in between is seen the next time
        if before is not None and before.revision == current:
            before.checked = now
            return before.made
        return self._keep(key, current, make(), now)

    def _keep(self, key: Hashable, revision: str, made: Made, checked: float | None = None) -> Made:
        with self._lock:
            if len(self._entries) >= 64:  # keys come from addresses, which anybody can make up
                self._entries.clear()
            self._entries[key] = _Entry(revision, made, time.monotonic() if checked is None else checked)
        return made

    def _renew_behind(
        self, key: Hashable, entry: _Entry, revision: Callable[[], str], make: Callable[[], Made]
    ) -> None:
        try:
            self._renew(key, revision, make)
        finally:
            entry.renewing = False
