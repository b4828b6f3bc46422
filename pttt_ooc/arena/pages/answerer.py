"""The answerer of the arena's pages: games, agents, and matches on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pttt_ooc.arena.pages.game_service import GameService
from pttt_ooc.arena.pages.match_archive import MatchArchive
from pttt_ooc.arena.solvers.rating_cache import RatingCache
from pttt_ooc.service.answerer import AnswersByKind
from pttt_ooc.service.wire import Message


class ArenaAnswers(AnswersByKind):
    """Answers questions about the matches below a directory.

    Parameters
    ----------
    directory
        The directory of matches.
    """

    def __init__(self, directory: Path) -> None:
        self._shelf, self._seating, ratings = MatchArchive(directory), GameService(directory), RatingCache()
        known: dict[str, Callable[[Message], Message]] = {
            "matches": lambda question: {"matches": self._shelf.matches()},
            "match": lambda question: self._shelf.match(question["name"], question["start"], question["rows"]),
            "standings": lambda question: {"standings": self._shelf.standings()},
            "ready": lambda question: {"agents": self._ready(question["game"])},
            "position": lambda question: self._seating.position(question["game"], question["moves"]),
            "answered": lambda question: self._seating.answered(
                question["game"], question["moves"], question["agents"], question["seconds"], question["once"]
            ),
            "ratings": lambda question: {"ratings": ratings.ratings(question["game"], question["moves"])},
            "rating": lambda question: ratings.rating(question["game"], question["moves"], question["hint"]),
            "replay": lambda question: self._shelf.replay(question["name"], question["number"], question["ply"]),
        }
        super().__init__(known)
        self._prepared: set[str] = set()

    def _ready(self, game: str) -> list[str]:
        if game not in self._prepared:  # once: it takes a second, or the time of a compiler
            self._prepared.add(game)
            self._seating.prepare(game)
        return self._seating.ready(game)


@contextmanager
def answerer(directory: str) -> Iterator[ArenaAnswers]:
    """The answers about the matches below a directory."""
    yield ArenaAnswers(Path(directory))
