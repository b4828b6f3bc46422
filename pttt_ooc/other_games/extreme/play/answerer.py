"""The process that runs the bots of people's games; it answers the web process."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.opponents import FileOpponents, Opponents
from pttt_ooc.other_games.extreme.play.games import BotGames
from pttt_ooc.site.service.answerer import AnswersByKind, methods

if TYPE_CHECKING:
    from pttt_ooc.other_games.arena.research.solvers.move_ratings import RatingCache

NICE = 10
"""The niceness of the bots among the processes of the machine: people wait, but matches that count come first."""
_MOST_HERE = 2  # games at the same time on one's own machine


def answers_of(games: BotGames) -> AnswersByKind:
    """The answers about people's games."""
    of_games = (games.choices, games.latest, games.begin, games.state, games.share, games.shared_state, games.change)
    return AnswersByKind(methods(*of_games, games.move, games.hint, games.leave, games.resign, rating, ratings))


def rating(*arguments: Any, **named: Any) -> Any:
    """See :meth:`pttt_ooc.other_games.arena.research.solvers.move_ratings.RatingCache.rating`."""
    return _cache().rating(*arguments, **named)


def ratings(*arguments: Any) -> Any:
    """See :meth:`pttt_ooc.other_games.arena.research.solvers.move_ratings.RatingCache.ratings`."""
    return _cache().ratings(*arguments)


@cache
def _cache() -> RatingCache:
    from pttt_ooc.other_games.arena.research.solvers.move_ratings import (
        RatingCache,  # only when it is asked: it loads the compiler
    )

    return RatingCache()


@contextmanager
def answers_about(opponents: Opponents, most: int, directory: Path) -> Iterator[AnswersByKind]:
    """The answers about games against some opponents; `directory` keeps the games.  At the end, all games end."""
    os.nice(max(0, NICE - os.nice(0)))
    with closing(BotGames(opponents, most, directory)) as games:
        yield answers_of(games)


@contextmanager
def answerer(file: str, conditions: str, directory: str) -> Iterator[AnswersByKind]:
    """The answers about games against the bot in a file.

    Parameters
    ----------
    conditions
        A :class:`~pttt_ooc.other_games.extreme.bot_process.Conditions`, as JSON.
    directory
        See :func:`answers_about`.
    """
    opponents = FileOpponents(Path(file), Conditions(**json.loads(conditions)))
    with answers_about(opponents, _MOST_HERE, Path(directory)) as answers:
        yield answers
