"""Statistics of a match's log, move by move; no numerics are needed."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pttt_ooc.other_games.extreme.referee import FLAGS, PLAYERS, Cell, Referee, TimedMove
from pttt_ooc.other_games.extreme.runner import LINES
from pttt_ooc.other_games.extreme.walls import ExtremeError

TENS = 10  # own moves of a group
STAYS = 8
"""A loss counts only if it is not made good in this many plies after the move."""


@dataclass(frozen=True)
class Step(TimedMove):
    """A move, and the player's chances before it.

    Attributes
    ----------
    won
        Whether it won a small board.
    chances
        Cells that would have won a small board.
    """

    won: bool = False
    chances: tuple[Cell, ...] = ()

    @property
    def missed(self) -> bool:
        """Whether the player missed a bonus move."""
        return bool(self.chances) and not self.won and not self.bonus


def steps(match: dict[str, Any]) -> list[Step]:
    """The moves of a match, from its file.

    Raises
    ------
    ExtremeError
        If it is no match by the rules.
    """
    referee, found = Referee(), list[Step]()
    try:
        for move in match["moves"]:
            player, bonus, cell = referee.player, referee.bonus, tuple(move["cell"])
            chances = winning_cells(referee)
            if not referee.play(cell):
                raise ExtremeError(f"The log of a match is damaged: move {len(found) + 1} is not valid.")
            seconds, processor, waited = (float(move[name]) for name in ("seconds", "processor", "waited"))
            found.append(Step(player, cell, bonus, seconds, processor, waited, cell in chances, chances))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        raise ExtremeError("The log of a match is damaged: it has moves that cannot be read.") from None
    return found


def after(match: dict[str, Any], plies: int) -> Referee:
    """The position after `plies` moves of a match; raises what :func:`steps` raises."""
    referee = Referee()
    for move in match["moves"][:plies]:
        if not referee.play(tuple(move["cell"])):
            raise ExtremeError("The log of a match is damaged: a move is not valid.")
    return referee


def winning_cells(referee: Referee) -> tuple[Cell, ...]:
    """The cells with which the player to move wins a small board."""
    flag, big_boards = FLAGS[referee.player], referee.board.big_boards_status
    found = []
    for cell in referee.valid_cells():
        big, row, column = cell
        top, left = row - row % 3, column - column % 3
        for line in LINES:
            if (row % 3, column % 3) in line:
                others = [(top + a, left + b) for a, b in line if (a, b) != (row % 3, column % 3)]
                if all(big_boards[big][i][j] == flag for i, j in others):
                    found.append(cell)
                    break
    return tuple(found)


@dataclass(frozen=True)
class Turn:
    """The move with which a player lost most, by the strong bot's values.

    Attributes
    ----------
    ply
        Number of moves before it.
    before, after
        The player's chance to win before the move, and its maximum in the `STAYS` positions after it.
    """

    ply: int
    before: float
    after: float

    @property
    def drop(self) -> float:
        """How much the chance to win fell."""
        return self.before - self.after


def turning_point(found: Sequence[Step], chances: Sequence[float], player: int) -> Turn | None:
    """The move after which a player's own chance fell most for `STAYS` plies; None if it never fell.

    A loss that the next plies make good does not count: the opponent did not see the answer either.

    Parameters
    ----------
    chances
        The first player's chance to win in each position, the last one included.
    """
    own = [chance if player == 0 else 1 - chance for chance in chances]
    turns = [
        Turn(ply, own[ply], max(own[ply + 1 : ply + 1 + STAYS]))
        for ply, step in enumerate(found)
        if step.player == player
    ]
    worst = max(turns, key=lambda turn: turn.drop, default=None)
    return worst if worst and worst.drop > 0 else None


@dataclass(frozen=True)
class Appearance:
    """A match from the side of one of its players.

    Attributes
    ----------
    name
        Name of the match.
    stage, pool
        Where it was played.
    opponent
        The other team's key.
    side
        0: the team began; 1: the other did.
    points, against
        Points of the team and of its opponent.
    result
        ``won``, ``drawn`` or ``lost``.
    message
        How the match ended.
    plies
        Number of moves of both.
    moves, mean_seconds, slowest_seconds
        Number of the team's own moves, and their seconds.
    slowest_ply
        Number of moves before the slowest one.
    bonus_made, bonus_missed
        Bonus moves made, and moves that missed one.
    turning_ply, before, after
        See :class:`Turn`; None without one.
    """

    name: str
    stage: str
    pool: int
    opponent: str
    side: int
    points: int
    against: int
    result: str
    message: str
    plies: int
    moves: int
    mean_seconds: float
    slowest_seconds: float
    slowest_ply: int | None
    bonus_made: int
    bonus_missed: int
    turning_ply: int | None
    before: float | None
    after: float | None

    @property
    def forfeited(self) -> bool:
        """Whether the team lost without a line of its opponent."""
        return self.result == "lost" and self.message not in ("WON", "DRAW")

    def drop(self) -> float:
        """What the team lost with its worst move."""
        return (self.before or 0.0) - (self.after or 0.0)


def appearance(match: dict[str, Any], found: Sequence[Step], chances: Sequence[float] | None, side: int) -> Appearance:
    """A match from one side.

    Parameters
    ----------
    match, found
        The match's file, and its steps.
    chances
        See :func:`turning_point`; None if not known yet.
    """
    own = [(ply, step) for ply, step in enumerate(found) if step.player == side]
    seconds = [step.seconds for _, step in own]
    points, against = match["points"][side], match["points"][1 - side]
    turn = turning_point(found, chances, side) if chances else None
    slowest = max(own, key=lambda one: one[1].seconds, default=None)
    won = match["winner"] == PLAYERS[side] or points > against
    return Appearance(
        name=f"{match['stage']}-{match['pool'] + 1}-{match['first']}-{match['second']}",
        stage=match["stage"],
        pool=match["pool"],
        opponent=match[("second", "first")[side]],
        side=side,
        points=points,
        against=against,
        result="won" if won else "drawn" if points == against else "lost",
        message=match["message"],
        plies=len(found),
        moves=len(own),
        mean_seconds=round(statistics.fmean(seconds), 6) if seconds else 0.0,
        slowest_seconds=round(max(seconds, default=0.0), 6),
        slowest_ply=slowest[0] if slowest else None,
        bonus_made=sum(step.bonus for _, step in own),
        bonus_missed=sum(step.missed for _, step in own),
        turning_ply=turn.ply if turn else None,
        before=round(turn.before, 4) if turn else None,
        after=round(turn.after, 4) if turn else None,
    )


@dataclass(frozen=True)
class MoveTimes:
    """Seconds of a group of a team's moves, over all its matches.

    Attributes
    ----------
    first, last
        The numbers of the group's first and last own moves in a match, from 1.
    moves
        How many moves there were.
    mean, median, longest
        Seconds.
    """

    first: int
    last: int
    moves: int
    mean: float
    median: float
    longest: float


def times(matches: Sequence[tuple[Sequence[Step], int]]) -> list[MoveTimes]:
    """A team's seconds, in groups of ten own moves.

    Parameters
    ----------
    matches
        The steps of each match, and the team's side.
    """
    groups: dict[int, list[float]] = {}
    for found, side in matches:
        own = [step.seconds for step in found if step.player == side]
        for number, seconds in enumerate(own):
            groups.setdefault(number // TENS, []).append(seconds)
    return [
        MoveTimes(
            TENS * group + 1,
            TENS * group + TENS,
            len(seconds),
            round(statistics.fmean(seconds), 6),
            round(statistics.median(seconds), 6),
            round(max(seconds), 6),
        )
        for group, seconds in sorted(groups.items())
    ]
