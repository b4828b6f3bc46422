"""What a person may know of a match.

Pages of a match are made from a :class:`Seat` and from nothing else, so that no page tells the bot's goal during a
round.
"""

from __future__ import annotations

from dataclasses import dataclass

from pttt_ooc.smbc.match_play import ME, Bot, Match, Round, Thought, thoughts
from pttt_ooc.smbc.pages.explore_address import ExploreAddress
from pttt_ooc.smbc.rules import GOALS, SQUARES
from pttt_ooc.smbc.vocabulary import ENDS, MARKS


@dataclass(frozen=True)
class ViewSquare:
    """A square as a player sees it.

    Attributes
    ----------
    state
        ``"free"``, ``"mine"`` or ``"theirs"``.
    mark
        ``"x"``, ``"o"`` or nothing.
    words
        What a screen reader says.
    """

    square: int
    state: str
    mark: str
    words: str
    latest: bool


@dataclass(frozen=True)
class Told:
    """What is told about a round that is decided.

    Attributes
    ----------
    goals
        Of the person and of the bot.
    scored
        Their points in this round.
    counts
        Whether these points count: if both would win the match, they do not.
    thoughts
        What the bot believed of the person's goal, move by move; empty if it can no longer be asked.
    view
        The round on the page Explore; None if it can no longer be asked.
    """

    end: str
    goals: tuple[str, str]
    scored: tuple[int, int]
    counts: bool
    thoughts: tuple[Thought, ...]
    view: ExploreAddress | None


@dataclass(frozen=True)
class Seat:
    """What the person knows of its match.

    Attributes
    ----------
    id, version
        Of the match; each change of it carries the version that it changes, so that it is made once.
    points
        Of the person and of the bot.
    number
        Of the round, from 1.
    goal
        The person's own.
    first
        Whether the person moves first in this round.
    mark
        The person's.
    told
        None while the round goes on.
    winner
        `ME`, `BOT`, or None while the match goes on.
    """

    id: str
    version: int
    winning_score: int
    points: tuple[int, int]
    number: int
    goal: str
    first: bool
    mark: str
    cells: tuple[ViewSquare, ...]
    told: Told | None
    winner: int | None
    resigned: bool


def seat_of(id: str, version: int, match: Match, bot: Bot | None) -> Seat:
    """The seat of the person in a match.

    Parameters
    ----------
    bot
        Who is asked what it believed; None if it is another one than the match was begun with.
    """
    now = match.round
    told = None
    if now.over:
        mine, other = now.goals
        found = tuple(thoughts(now, bot)) if bot else ()
        counts = match.points != now.points or now.scored == (0, 0)
        view = _view(now) if bot else None
        told = Told(ENDS[now.outcome], (GOALS[mine], GOALS[other]), now.scored, counts, found, view)
    return Seat(
        id,
        version,
        match.winning_score,
        match.points,
        len(match.rounds),
        GOALS[now.goals[ME]],
        now.first == ME,
        MARKS[0 if now.first == ME else 1],
        _cells(now),
        told,
        match.winner,
        match.resigned,
    )


def _view(now: Round) -> ExploreAddress:
    """The round on the page Explore, where the one who moves first comes first."""
    return ExploreAddress(*now.scores, now.goals[now.first], now.goals[1 - now.first], now.squares, None)


def _cells(now: Round) -> tuple[ViewSquare, ...]:
    movers = {square: (now.first + number) % 2 for number, square in enumerate(now.squares)}
    found = []
    for square in range(SQUARES):
        if square not in movers:
            found.append(ViewSquare(square, "free", "", f"Square {square + 1}, free", False))
            continue
        mine = movers[square] == ME
        mark = MARKS[now.squares.index(square) % 2]
        words = f"Square {square + 1}, {'your' if mine else 'the bot’s'} mark"
        found.append(ViewSquare(square, "mine" if mine else "theirs", mark, words, square == now.squares[-1]))
    return tuple(found)
