"""The answerer of the arena's pages: games, agents, and matches on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pttt_ooc.other_games.arena.pages.game_service import GameService
from pttt_ooc.other_games.arena.pages.match_archive import MatchArchive
from pttt_ooc.other_games.arena.solvers.rating_cache import RatingCache
from pttt_ooc.site.service.answerer import AnswersByKind, methods


@contextmanager
def answerer(directory: str) -> Iterator[AnswersByKind]:
    """The answers about the matches below a directory."""
    archive, service, cache = MatchArchive(Path(directory)), GameService(Path(directory)), RatingCache()
    yield AnswersByKind(
        methods(
            *(archive.matches, archive.match, archive.replay, archive.standings),
            *(service.ready, service.position, service.play_on, cache.ratings, cache.rating),
        )
    )
