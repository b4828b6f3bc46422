"""Matches of a person against a solution: goals, moves and points, without numerics.

The bot's goals and moves are drawn with the operating system's random numbers, except in tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

from pttt_ooc.errors import PlayError
from pttt_ooc.games.rules.game import Squares
from pttt_ooc.other_games.smbc.rules import GOALS, SQUARES, UNDECIDED, Rules, position_of, scores

ME, BOT = 0, 1
"""The person, and the solution."""

Draw = Callable[[], float]


@dataclass(frozen=True)
class Expectation:
    """The exact probability that the person wins the match, by the person's strategy.

    Attributes
    ----------
    solution
        With the solution's strategy.
    best
        With the best response.
    """

    solution: float
    best: float


class Bot(Protocol):
    """The person's opponent.  `scores` are those of the round's first and second player."""

    @property
    def winning_score(self) -> int:
        """The points that win the match."""

    @property
    def rules(self) -> Rules:
        """The rules of a round."""

    def chances(self, scores: tuple[int, int], squares: Squares, goal: int) -> Mapping[int, float]:
        """The probability of each free square, after the moves `squares`, when it is the bot's turn."""

    def beliefs(self, scores: tuple[int, int], squares: Squares, player: int) -> Sequence[float] | None:
        """The probabilities of the goals of the first (0) or second player, given the moves; None if impossible."""

    def expectation(self, first: int) -> Expectation:
        """The person's probability to win if `first` moves first in the first round."""


@dataclass(frozen=True)
class Round:
    """One round.

    Attributes
    ----------
    points
        The points of the person and of the bot before the round.
    first
        The round's first player: `ME` or `BOT`.
    goals
        The goals of the person and of the bot.
    squares
        The taken squares, in order.
    outcome
        The outcome of the board; `UNDECIDED` while the round is not over.
    """

    points: tuple[int, int]
    first: int
    goals: tuple[int, int]
    squares: Squares = ()
    outcome: int = UNDECIDED

    @property
    def over(self) -> bool:
        """Whether the round is decided."""
        return self.outcome != UNDECIDED

    @property
    def mover(self) -> int:
        """The player to move: `ME` or `BOT`."""
        return (self.first + len(self.squares)) % 2

    @property
    def scores(self) -> tuple[int, int]:
        """The points of the round's first and second player."""
        return (self.points[self.first], self.points[1 - self.first])

    @property
    def scored(self) -> tuple[int, int]:
        """The points of the person and of the bot in this round, if it is over."""
        found = scores(self.outcome, (self.goals[self.first], self.goals[1 - self.first]))
        return (found[self.first], found[1 - self.first])

    def step(self, square: int, rules: Rules) -> Round:
        """The round after one more move.

        Raises
        ------
        PlayError
            If the square is not free, or the round is over; nothing is changed.
        """
        if self.over:
            raise PlayError("This round is over.")
        if not 0 <= square < SQUARES:
            raise PlayError(f"There is no square {square}; squares are 0 to 8.", 422)
        if square in self.squares:
            raise PlayError(f"Square {square} is taken; take a free one.")
        squares = (*self.squares, square)
        return replace(self, squares=squares, outcome=_rules(rules.fill_board).end(position_of(squares)))


@cache
def _rules(fill_board: bool) -> Rules:
    """Rules that remember which positions are decided."""
    return Rules(fill_board=fill_board)


@dataclass(frozen=True)
class Match:
    """A match.

    Attributes
    ----------
    winning_score
        The points that win it.
    rounds
        All rounds so far; the last one may be unfinished.
    resigned
        Whether the person has resigned.
    """

    winning_score: int
    rounds: tuple[Round, ...]
    resigned: bool = False

    @property
    def round(self) -> Round:
        """The last round."""
        return self.rounds[-1]

    @property
    def points(self) -> tuple[int, int]:
        """The points of the person and of the bot, including the last round if it is over."""
        last = self.round
        if not last.over:
            return last.points
        mine, other = (points + scored for points, scored in zip(last.points, last.scored, strict=True))
        if mine >= self.winning_score and other >= self.winning_score:
            return last.points  # the round does not count
        return mine, other

    @property
    def winner(self) -> int | None:
        """`ME`, `BOT`, or None while the match goes on."""
        if self.resigned:
            return BOT
        mine, other = self.points
        return ME if mine >= self.winning_score else BOT if other >= self.winning_score else None

    def on(self, draw: Draw) -> Match:
        """The match after the start of the next round.

        Raises
        ------
        PlayError
            If the last round is unfinished, or the match is over.
        """
        if self.winner is not None:
            raise PlayError("This match is over.")
        if not self.round.over:
            raise PlayError("This round is not over yet.")
        return replace(self, rounds=(*self.rounds, _new_round(self.points, 1 - self.round.first, draw)))

    def move(self, square: int, bot: Bot, draw: Draw) -> Match:
        """The match after a move of the person and the bot's reply.

        Raises
        ------
        PlayError
            If the move is not possible; nothing is changed.
        """
        if self.winner is not None:
            raise PlayError("This match is over.")
        if not self.round.over and self.round.mover == BOT:
            raise PlayError("It is not your turn.")
        return self.with_round(self.round.step(square, bot.rules)).after_bot_move(bot, draw)

    def after_bot_move(self, bot: Bot, draw: Draw) -> Match:
        """The match after the bot's move, if it is the bot's turn."""
        now = self.round
        if now.over or now.mover == ME or self.winner is not None:
            return self
        chances = bot.chances(now.scores, now.squares, now.goals[BOT])
        return self.with_round(now.step(_draw_square(chances, draw), bot.rules))

    def with_round(self, now: Round) -> Match:
        """The match with another state of its last round."""
        return replace(self, rounds=(*self.rounds[:-1], now))


def new_match(winning_score: int, first: int, draw: Draw) -> Match:
    """A match at its first round, in which `first` moves first."""
    return Match(winning_score, (_new_round((0, 0), first, draw),))


def _new_round(points: tuple[int, int], first: int, draw: Draw) -> Round:
    mine, other = (int(draw() * len(GOALS)) for _ in range(2))
    return Round(points, first, (mine, other))


def _draw_square(chances: Mapping[int, float], draw: Draw) -> int:
    """Draw a square; one of probability 0 is never drawn."""
    left = draw() * sum(chances.values())
    possible = [square for square, chance in chances.items() if chance > 0]
    for square in possible:
        left -= chances[square]
        if left < 0:
            return square
    return possible[-1]


@dataclass(frozen=True)
class Thought:
    """The bot's belief after one of the person's moves.

    Attributes
    ----------
    number
        The number of the move in the round, from 1.
    believed
        The probabilities of the person's goals; None if the solution never makes this move.
    """

    number: int
    square: int
    believed: Sequence[float] | None


def thoughts(ended: Round, bot: Bot) -> list[Thought]:
    """The bot's beliefs about the person's goal, move by move."""
    player = 0 if ended.first == ME else 1
    return [
        Thought(number, square, bot.beliefs(ended.scores, ended.squares[:number], player))
        for number, square in enumerate(ended.squares, 1)
        if (number - 1) % 2 == player
    ]
