"""The solution as an opponent: its moves, its beliefs, and its chances to lose."""

from __future__ import annotations

from functools import cached_property

from pttt_ooc.games.rules.game import Squares
from pttt_ooc.other_games.smbc.best_response import profile_values, respond
from pttt_ooc.other_games.smbc.inspection import beliefs_at
from pttt_ooc.other_games.smbc.match import Scores
from pttt_ooc.other_games.smbc.match_play import ME, Expectation
from pttt_ooc.other_games.smbc.oriented_position import Place
from pttt_ooc.other_games.smbc.rules import Rules
from pttt_ooc.other_games.smbc.solve import MatchSolution


class SolutionBot:
    """A :class:`pttt_ooc.other_games.smbc.match_play.Bot` that plays the average strategies of a solved match."""

    def __init__(self, solution: MatchSolution) -> None:
        self.solution = solution

    @property
    def winning_score(self) -> int:
        """The points that win the match."""
        return self.solution.settings.winning_score

    @property
    def rules(self) -> Rules:
        """The rules of a round."""
        return self.solution.tree.rules

    def chances(self, scores: Scores, squares: Squares, goal: int) -> dict[int, float]:
        """The probability of each free square, after the moves `squares`."""
        place = Place.of(self.solution.tree, squares)
        return place.chances(self.solution.profiles[scores].strategy[:, goal].tolist())

    def beliefs(self, scores: Scores, squares: Squares, player: int) -> list[float] | None:
        """The probabilities of the goals of the first (0) or second player, given the moves; None if impossible."""
        tree = self.solution.tree
        found = beliefs_at(tree, self.solution.profiles[scores], Place.of(tree, squares), player)
        return None if found is None else found.tolist()

    def expectation(self, first: int) -> Expectation:
        """How often the person wins if `first` moves first in the first round."""
        value, best = self._values[0 if first == ME else 1]
        return Expectation((1 + value) / 2, (1 + best) / 2)

    @cached_property
    def _values(self) -> list[tuple[float, float]]:
        """Values of the first and of the second player: with the solution's strategy, and with the best response."""
        tree, profiles = self.solution.tree, self.solution.profiles
        value = profile_values(tree, self.winning_score, profiles)[0, 0]
        response = respond(tree, self.winning_score, profiles)
        return [(value, response.values[(0, 0), 0]), (-value, response.values[(0, 0), 1])]
