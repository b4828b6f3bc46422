"""What pages show: a position on the page Explore, and a person's view of a match.

Pages of a match are made from a :class:`Seat` only, so that no page reveals the bot's goal during a round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from pttt_ooc.games.rules.game import Squares, lines
from pttt_ooc.other_games.smbc.match_play import ME, Bot, Match, Round, Thought, thoughts
from pttt_ooc.other_games.smbc.rules import GOALS, SQUARES, position_of
from pttt_ooc.other_games.smbc.vocabulary import MARKS, end_for, numbers_of
from pttt_ooc.site.play.review import ViewSquare


@dataclass(frozen=True)
class ExploreAddress:
    """A position on the page Explore.

    Attributes
    ----------
    mine, other
        The points of the first and of the second player.
    first, second
        Their goals.
    squares
        The moves in order.
    iteration
        An iteration with a snapshot; None: the last one.
    """

    mine: int
    other: int
    first: int
    second: int
    squares: Squares
    iteration: int | None

    def __str__(self) -> str:
        facts: dict[str, object] = {"mine": self.mine, "other": self.other, "first": self.first, "second": self.second}
        facts["squares"] = "".join(str(square) for square in self.squares)
        if self.iteration is not None:
            facts["iteration"] = self.iteration
        return f"/smbc/explore?{urlencode(facts)}"

    @property
    def player(self) -> int:
        """The player to move."""
        return len(self.squares) % 2

    def after(self, square: int) -> ExploreAddress:
        """The position after one more move."""
        return replace(self, squares=(*self.squares, square))

    def at_iteration(self, iteration: int) -> ExploreAddress:
        """The same position after other iterations."""
        return replace(self, iteration=iteration)

    def start(self) -> ExploreAddress:
        """The empty board."""
        return replace(self, squares=())

    def before(self) -> ExploreAddress:
        """The position before the last move."""
        return replace(self, squares=self.squares[:-1])


@dataclass(frozen=True)
class AddressSquare:
    """A square of the board.

    Attributes
    ----------
    mark, number
        The mark and the number of the move, if it is taken.
    probability
        The average strategy's probability, if the square is free and the round goes on; symmetric squares share it.
    shade
        The probability in tenths.
    """

    square: int
    mark: str
    number: int
    probability: float | None
    shade: int


def rows_of(view: ExploreAddress, seen: Mapping[str, Any]) -> list[AddressSquare]:
    """The board of a position.

    Parameters
    ----------
    seen
        See :meth:`pttt_ooc.other_games.smbc.pages.answerer_client.AskedBot.see`; each of its moves gets the text of its
        squares.
    """
    chances = {}
    for move in seen["moves"]:
        move["label"] = numbers_of(move["squares"])
        for square in move["squares"]:
            chances[square] = move["average"] / len(move["squares"])
    found = []
    for square in range(SQUARES):
        number = view.squares.index(square) + 1 if square in view.squares else 0
        mark = MARKS[(number - 1) % 2] if number else ""
        chance = chances.get(square)
        found.append(AddressSquare(square, mark, number, chance, round(10 * (chance or 0))))
    return found


# ---------------------------------------------------------------------------------------------
# Matches


@dataclass(frozen=True)
class RoundResult:
    """A decided round.

    Attributes
    ----------
    end
        Who made three in a row, as the person sees it.
    goals
        The goals of the person and of the bot.
    scored
        The points of both in this round.
    counts
        Whether the points count: they do not if both would win the match.
    thoughts
        The bot's beliefs about the person's goal, move by move; empty if the solution has changed.
    view
        The round on the page Explore; None if the solution has changed.
    """

    end: str
    goals: tuple[str, str]
    scored: tuple[int, int]
    counts: bool
    thoughts: tuple[Thought, ...]
    view: ExploreAddress | None


@dataclass(frozen=True)
class Seat:
    """A person's view of their match.

    Attributes
    ----------
    id, version
        The key and version of the match; each change carries the version, so that it counts once.
    points
        The points of the person and of the bot.
    number, rounds
        The number of the round, from 1, and of all rounds so far.
    goal
        The person's goal.
    first
        Whether the person moves first in this round.
    mark
        The person's mark.
    told
        The decided round; None while the round goes on.
    winner
        `ME`, `BOT`, or None while the match goes on.
    shared
        Whether everybody who knows its link may see the match.
    hints
        The hint that the person asked for: the probability with which the solution would take each free square.
    helped
        Whether they have asked for a hint in this match.
    """

    id: str
    version: int
    winning_score: int
    points: tuple[int, int]
    number: int
    rounds: int
    goal: str
    first: bool
    mark: str
    cells: tuple[ViewSquare, ...]
    told: RoundResult | None
    winner: int | None
    resigned: bool
    shared: bool
    hints: Mapping[int, float] = field(default_factory=dict)
    helped: bool = False


def seat_of(
    id: str, version: int, match: Match, bot: Bot | None, number: int | None = None, shared: bool = False
) -> Seat:
    """The seat of the person in a match.

    Parameters
    ----------
    bot
        The bot; None if the solution has changed since the match began.
    number
        The number of the round to show; None: the last one.
    """
    number = number or len(match.rounds)
    now = match.rounds[number - 1]
    result = None
    if now.over:
        mine, other = now.goals
        found = tuple(thoughts(now, bot)) if bot else ()
        counts = replace(match, rounds=match.rounds[:number]).points != now.points or now.scored == (0, 0)
        view = _view(now) if bot else None
        result = RoundResult(
            end_for(now.outcome, now.first == ME), (GOALS[mine], GOALS[other]), now.scored, counts, found, view
        )
    return Seat(
        id,
        version,
        match.winning_score,
        match.points,
        number,
        len(match.rounds),
        GOALS[now.goals[ME]],
        now.first == ME,
        MARKS[0 if now.first == ME else 1],
        _cells(now),
        result,
        match.winner,
        match.resigned,
        shared,
    )


def _view(now: Round) -> ExploreAddress:
    """The round on the page Explore, where the player who moves first comes first."""
    return ExploreAddress(*now.scores, now.goals[now.first], now.goals[1 - now.first], now.squares, None)


def _cells(now: Round) -> tuple[ViewSquare, ...]:
    movers = {square: (now.first + number) % 2 for number, square in enumerate(now.squares)}
    won = [line for line in lines(3, 3, 3) if any(line & marks == line for marks in position_of(now.squares))]
    found = []
    for square in range(SQUARES):
        if square not in movers:
            found.append(ViewSquare(square, "free", "", f"Square {square}, free", False))
            continue
        mine = movers[square] == ME
        mark = MARKS[now.squares.index(square) % 2]
        words = f"Square {square}, {'your' if mine else 'the bot’s'} mark"
        winning = any(line >> square & 1 for line in won)
        found.append(ViewSquare(square, "mine" if mine else "theirs", mark, words, square == now.squares[-1], winning))
    return tuple(found)
