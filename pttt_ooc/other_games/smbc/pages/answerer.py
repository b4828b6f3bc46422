"""The answerer of the pages on secret goals: rounds and positions of a solved match, and the attempts of its bot."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from pttt_ooc.other_games.smbc.inspection import Lookout, Lookouts, SolutionBot
from pttt_ooc.other_games.smbc.match import Scores
from pttt_ooc.other_games.smbc.oriented_position import Place
from pttt_ooc.other_games.smbc.solve import STORE
from pttt_ooc.site.service.answerer import AnswersByKind
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
        self._prepared: dict[tuple[Scores, int | None], Lookout] = {}
        known: dict[str, Callable[[Message], Message]] = {
            "facts": self._facts,
            "see": self._see,
            "chances": self._chances,
            "beliefs": self._beliefs,
            "expectation": self._expectation,
        }
        super().__init__(known)

    def _facts(self, question: Message) -> Message:
        solution = self.lookouts.solution
        return {
            "winning_score": self.bot.winning_score,
            "fill_board": solution.settings.fill_board,
            "digest": solution.manifest["products"][STORE]["digest"],
        }

    def _see(self, question: Message) -> Message:
        """The numbers at a position, and the iterations with snapshots."""
        scores, goals = _pair(question["scores"]), _pair(question["goals"])
        place = Place.of(self.lookouts.solution.tree, question["squares"])
        seen = self._lookout(scores, question["iteration"]).see(place, goals)
        return {**asdict(seen), "outcome": place.outcome, "iterations": list(self.lookouts.iterations(scores))}

    def _lookout(self, scores: Scores, iteration: int | None) -> Lookout:
        key = (scores, iteration)
        if key not in self._prepared:
            found = self.lookouts.lookout(scores, iteration)
            while len(self._prepared) >= _MOST_PREPARED:
                del self._prepared[next(iter(self._prepared))]
            self._prepared[key] = found
        return self._prepared[key]

    def _chances(self, question: Message) -> Message:
        found = self.bot.chances(_pair(question["scores"]), tuple(question["squares"]), question["goal"])
        return {"chances": list(found.items())}

    def _beliefs(self, question: Message) -> Message:
        return {"beliefs": self.bot.beliefs(_pair(question["scores"]), tuple(question["squares"]), question["player"])}

    def _expectation(self, question: Message) -> Message:
        return asdict(self.bot.expectation(question["first"]))


def _pair(numbers: list[int]) -> tuple[int, int]:
    first, second = numbers
    return first, second


@contextmanager
def answerer(directory: str) -> Iterator[SolutionAnswers]:
    """The answers about the solution in a directory; kernels are compiled first."""
    answering = SolutionAnswers(Path(directory))
    answering.bot.expectation(0)  # compiles the kernels
    yield answering
