"""The process that runs the bots of people's games; it answers the web process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pttt_ooc.extreme.bot_process import Conditions
from pttt_ooc.extreme.play.games import BotGames
from pttt_ooc.extreme.play.opponents import FileOpponents, Opponents
from pttt_ooc.extreme.play.shared_games import SharedGames
from pttt_ooc.service.answerer import AnswersByKind
from pttt_ooc.service.wire import Message

if TYPE_CHECKING:
    from pttt_ooc.arena.solvers.rating_cache import RatingCache

GAME = "extreme"
"""The name of the game in the arena, whose agent rates moves; a move is ``81 * big board + 9 * row + column`` there."""

NICE = 10
"""Priority of the bots, as of people who wait, among the processes of the machine: matches that count come first."""
_MOST_HERE = 2  # games at the same time on one's own machine


class BotGameAnswers(AnswersByKind):
    """Answers questions about people's games."""

    def __init__(self, games: BotGames) -> None:
        self._cache: RatingCache | None = None
        known: dict[str, Callable[[Message], Message]] = {
            "choices": lambda question: {
                "choices": games.choices(question["owner"]),
                "latest": games.latest(question["owner"]),
            },
            "begin": lambda question: {
                "number": games.begin(
                    question["owner"], question["opponent"], question["side"], _cells(question["opening"])
                )
            },
            "state": lambda question: games.state(question["owner"], question["number"]),
            "share": lambda question: self._share(games, question),
            "shared": lambda question: games.shared(question["number"]),
            "move": lambda question: self._moved(games, question),
            "leave": lambda question: self._ended(games, games.leave, question),
            "hint": lambda question: self._hinted(games, question),
            "rating": lambda question: self._ratings.rating(GAME, question["moves"], question["hint"]),
            "ratings": lambda question: {"ratings": self._ratings.ratings(GAME, question["moves"])},
            "resign": lambda question: self._ended(games, games.resign, question),
        }
        super().__init__(known)

    @property
    def _ratings(self) -> RatingCache:
        if self._cache is None:
            from pttt_ooc.arena.solvers.rating_cache import RatingCache  # only now: it loads the compiler

            self._cache = RatingCache()
        return self._cache

    @staticmethod
    def _hinted(games: BotGames, question: Message) -> Message:
        games.hint(question["owner"], question["number"], question["ply"])
        return games.state(question["owner"], question["number"])

    @staticmethod
    def _moved(games: BotGames, question: Message) -> Message:
        (cell,) = _cells([question["cell"]])
        games.move(question["owner"], question["number"], question["ply"], cell)
        return games.state(question["owner"], question["number"])

    @staticmethod
    def _share(games: BotGames, question: Message) -> Message:
        games.share(question["owner"], question["number"], question["shared"])
        return {}

    @staticmethod
    def _ended(games: BotGames, end: Callable[[str, str], None], question: Message) -> Message:
        end(question["owner"], question["number"])
        return games.state(question["owner"], question["number"])


def _cells(found: list[list[int]]) -> list[tuple[int, int, int]]:
    return [(big, row, column) for big, row, column in found]


@contextmanager
def answers_about(opponents: Opponents, most: int, directory: Path) -> Iterator[BotGameAnswers]:
    """The answers about games against some opponents; shared games are kept in `directory`.  At the end, games end."""
    os.nice(max(0, NICE - os.nice(0)))
    with closing(BotGames(opponents, most, SharedGames(directory))) as games:
        yield BotGameAnswers(games)


@contextmanager
def answerer(file: str, conditions: str, directory: str) -> Iterator[BotGameAnswers]:
    """The answers about games against the bot in a file.

    Parameters
    ----------
    conditions
        A :class:`~pttt_ooc.extreme.bot_process.Conditions`, as JSON.
    directory
        See :func:`answers_about`.
    """
    opponents = FileOpponents(Path(file), Conditions(**json.loads(conditions)))
    with answers_about(opponents, _MOST_HERE, Path(directory)) as answers:
        yield answers
