"""Explore and Play of further games: each has an answerer of its own, whose address is in the game's directory.

There the web process finds it, even if it began before the game was added.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar, overload

from pttt_ooc.course.data.assignments import further_games
from pttt_ooc.course.data.game_directory import find_address
from pttt_ooc.course.pages.context import Course
from pttt_ooc.site.service.wire import Client

_SECONDS = 2.0  # seconds for which the list of games is kept

State = TypeVar("State")


@dataclass
class OfFurtherGames(Sequence[State], Generic[State]):
    """The state of pages for each further game that has an answerer, as the course is now.

    Parameters
    ----------
    make
        Makes the state of a game from its `Course` and a client of its answerer.
    """

    course: Course
    make: Callable[[Course, Client], State]
    _made: dict[tuple[str, str], State] = field(default_factory=dict)
    _listed: tuple[float, list[State]] = (-_SECONDS, [])

    def _all(self) -> list[State]:
        at, listed = self._listed
        if time.monotonic() - at < _SECONDS:
            return listed
        with self.course.database.reading() as session:
            games = further_games(session)
        found = []
        for game in games:
            address = find_address(self.course.storage.data, game)
            if address is not None:
                key = game, address
                if key not in self._made:
                    self._made[key] = self.make(self.course.of_game(game), Client(Path(address)))
                found.append(self._made[key])
        self._listed = time.monotonic(), found
        return found

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[State]:
        return iter(self._all())

    @overload
    def __getitem__(self, at: int) -> State: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[State]: ...

    def __getitem__(self, at: int | slice) -> State | Sequence[State]:
        return self._all()[at]
