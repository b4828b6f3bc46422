"""A person's view of a match.

Pages of a match are made from a :class:`Seat` only, so that no page reveals the bot's goal during a round.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pttt_ooc.games.rules.game import lines
from pttt_ooc.other_games.smbc.match_play import ME, Bot, Match, Round, Thought, thoughts
from pttt_ooc.other_games.smbc.pages.explore_address import ExploreAddress
from pttt_ooc.other_games.smbc.rules import GOALS, SQUARES
from pttt_ooc.other_games.smbc.vocabulary import MARKS, end_for
from pttt_ooc.site.play.review import ViewSquare


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
        What the person has asked for: with which probability the solution would take each free square in their place.
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
        Of the round that is shown; None: the last one.
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
    """The round on the page Explore, where the first player to move comes first."""
    return ExploreAddress(*now.scores, now.goals[now.first], now.goals[1 - now.first], now.squares, None)


def _cells(now: Round) -> tuple[ViewSquare, ...]:
    movers = {square: (now.first + number) % 2 for number, square in enumerate(now.squares)}
    placed = [sum(1 << square for square in now.squares[turn::2]) for turn in (0, 1)]
    won = [line for line in lines(3, 3, 3) if any(line & marks == line for marks in placed)]
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
