"""The answerer of the pages on secret goals: rounds and positions of a solved match, and the moves of its bot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from pttt_ooc.other_games.smbc.bot import SolutionBot
from pttt_ooc.other_games.smbc.inspection import Lookouts
from pttt_ooc.other_games.smbc.oriented_position import Place
from pttt_ooc.other_games.smbc.solve import STORE
from pttt_ooc.site.service.answerer import AnswersByKind, methods
from pttt_ooc.site.service.wire import Message

_MOST_PREPARED = 8  # rounds


class SolutionAnswers(AnswersByKind):
    """Answers questions about one solution.

    Parameters
    ----------
    directory
        The directory of a solved match.

    Raises
    ------
    StoreError
        If the solution is missing or damaged.
    """

    def __init__(self, directory: Path) -> None:
        self.lookouts = Lookouts(directory)
        self.bot = SolutionBot(self.lookouts.solution)
        self._lookout = lru_cache(_MOST_PREPARED)(self.lookouts.lookout)
        super().__init__(methods(self.facts, self.see, self.chances, self.beliefs, self.expectation))

    def facts(self) -> Message:
        """See :class:`~pttt_ooc.other_games.smbc.pages.answerer_client.Facts`."""
        solution = self.lookouts.solution
        return {
            "winning_score": self.bot.winning_score,
            "fill_board": solution.settings.fill_board,
            "digest": solution.manifest["products"][STORE]["digest"],
        }

    def see(self, scores: list[int], iteration: int | None, squares: list[int], goals: list[int]) -> Message:
        """The numbers at a position, and the iterations with snapshots."""
        place = Place.of(self.lookouts.solution.tree, squares)
        seen = self._lookout(_pair(scores), iteration).see(place, _pair(goals))
        iterations = [*self.lookouts.iterations(_pair(scores))]
        return {**asdict(seen), "outcome": place.outcome, "iterations": iterations}

    def chances(self, scores: list[int], squares: list[int], goal: int) -> list[tuple[int, float]]:
        """See :class:`~pttt_ooc.other_games.smbc.match_play.Bot`, also for the methods below."""
        return [*self.bot.chances(_pair(scores), tuple(squares), goal).items()]

    def beliefs(self, scores: list[int], squares: list[int], player: int) -> list[float] | None:
        """Probabilities of goals."""
        return self.bot.beliefs(_pair(scores), tuple(squares), player)

    def expectation(self, first: int) -> Message:
        """How often the person wins."""
        return asdict(self.bot.expectation(first))


def _pair(numbers: list[int]) -> tuple[int, int]:
    first, second = numbers
    return first, second


@contextmanager
def answerer(directory: str) -> Iterator[SolutionAnswers]:
    """The answers about the solution in a directory; kernels are compiled first."""
    answering = SolutionAnswers(Path(directory))
    answering.bot.expectation(0)  # compiles the kernels
    yield answering
