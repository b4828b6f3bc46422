"""The client of the answerer, in the web process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pttt_ooc.errors import GameError
from pttt_ooc.games.rules.game import Squares
from pttt_ooc.other_games.smbc.match_play import Expectation
from pttt_ooc.other_games.smbc.rules import Rules
from pttt_ooc.site.service.wire import Client, Message, StandIn


@dataclass(frozen=True)
class Facts:
    """Facts about a solution.

    Attributes
    ----------
    digest
        Changes with the strategies: a match continues only against the same solution.
    """

    winning_score: int
    fill_board: bool
    digest: str


class AskedBot:
    """The :class:`~pttt_ooc.other_games.smbc.match_play.Bot` for threads of an asynchronous application."""

    def __init__(self, client: Client) -> None:
        self._asked = StandIn(client, GameError)

    @property
    def facts(self) -> Facts:
        """Facts about the solution."""
        return Facts(**self._asked.facts())

    @property
    def winning_score(self) -> int:
        """The points that win the match."""
        return self.facts.winning_score

    @property
    def rules(self) -> Rules:
        """The rules of a round."""
        return Rules(fill_board=self.facts.fill_board)

    def chances(self, scores: tuple[int, int], squares: Squares, goal: int) -> dict[int, float]:
        """The probability of each free square, after the moves `squares`."""
        return {int(square): float(chance) for square, chance in self._asked.chances(scores, squares, goal)}

    def beliefs(self, scores: tuple[int, int], squares: Squares, player: int) -> Sequence[float] | None:
        """The probabilities of the goals of the first (0) or second player, given the moves; None if impossible."""
        found: list[float] | None = self._asked.beliefs(scores, squares, player)
        return found

    def expectation(self, first: int) -> Expectation:
        """The person's probability of winning if `first` moves first in the first round."""
        return Expectation(**self._asked.expectation(first))

    def see(self, scores: tuple[int, int], iteration: int | None, squares: Squares, goals: tuple[int, int]) -> Message:
        """The numbers at a position, as JSON values: :class:`pttt_ooc.other_games.smbc.inspection.Seen`, and more.

        Raises
        ------
        GameError
            If there is no such position or iteration.
        """
        found: Message = self._asked.see(scores, iteration, squares, goals)
        return found
