"""Records of matches that an agent played against known opponents, and what each of its attempts lost.

Who plays the matches does not matter: a record has the squares that both players attempted, in order, and what the
agent did besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pttt_ooc.errors import GameError, StrategyError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.play import History, start
from pttt_ooc.library.questions.answers import SquareArray
from pttt_ooc.library.scoring.opponents import Opponents

RESIGNED = -1.0
"""The payoff of a player who gives up, or lets the time run out."""


@dataclass(frozen=True)
class MatchRecord:
    """One match of an agent.

    Attributes
    ----------
    seat
        The agent's player, 0 or 1.
    squares
        The squares that both players attempted, in order, without the setup and without illegal ones.
    resigned
        Whether the agent gave up before the end, or its time ran out: it loses.
    illegal
        How many illegal attempts it tried before each of its attempts, and before it gave up; what is missing is 0.
    beliefs
        Its stated belief before each of its attempts, if any: for each square, the probability that the opponent's
        mark is there.  Numbers at squares that it attempted before are not read.
    """

    seat: int
    squares: tuple[int, ...]
    resigned: bool = False
    illegal: tuple[int, ...] = ()
    beliefs: tuple[Sequence[float] | None, ...] = ()


@dataclass(frozen=True)
class JudgedAttempt:
    """One attempt of an agent.

    Attributes
    ----------
    infoset
        Where it was made.
    square
        Its square; None: the agent gave up.
    loss
        What it lost against these opponents: the value of a best response there, minus that after the attempt.  NaN if
        the opponent's strategy never leads there.
    exact
        Whether the loss is exact; see :mod:`pttt_ooc.library.scoring.opponents`.
    illegal
        How many illegal attempts were tried before it.
    brier
        Brier score of the stated belief: the mean of (probability - mark)^2 over the squares that the agent had not
        attempted, where a mark of the opponent counts 1; None without a belief.
    exact_brier
        That of the exact belief against these opponents; None without a stated one, or where they never lead.
    excess
        The mean of (stated probability - exact probability)^2: what `brier` exceeds `exact_brier` by on average.
    """

    infoset: str
    square: int | None
    loss: float
    exact: bool
    illegal: int
    brier: float | None = None
    exact_brier: float | None = None
    excess: float | None = None

    def as_record(self) -> dict[str, Any]:
        """As JSON: a loss that is not known is None."""
        return asdict(self) | {"loss": None if np.isnan(self.loss) else self.loss}


def replay_match(game: Game, match: MatchRecord) -> tuple[list[History], History]:
    """The histories before each of the agent's attempts, with the one at which it gave up; and the last history.

    Raises
    ------
    GameError
        If an attempt is not legal, the match is neither over nor given up, or it is given up in the other's turn.
    """
    if match.seat not in (0, 1):
        raise GameError(f"A match has the players 0 and 1, not {match.seat!r}.")
    history, own = start(game), []
    for square in match.squares:
        if history.player == match.seat:
            own.append(history)
        history = history.step(square)
    if match.resigned:
        if history.player != match.seat:
            raise GameError(f"Player {match.seat} cannot give up a match of {game.name} when it is not their turn.")
        own.append(history)
    elif not history.is_terminal:
        raise GameError(f"The match of {game.name} is not over after {len(match.squares)} attempts.")
    return own, history


def judge_match(opponents: Opponents, match: MatchRecord) -> tuple[JudgedAttempt, ...]:
    """What each attempt of an agent lost, and how good its beliefs were.

    Raises
    ------
    GameError
        See :func:`replay_match`.
    StrategyError
        If a belief is not a probability for each square.
    """
    seat = match.seat
    before, last = replay_match(opponents.game, match)
    found = []
    for n, history in enumerate(before):
        infoset, then = history.infoset(seat), before[n + 1] if n + 1 < len(before) else last
        gives_up = match.resigned and n == len(before) - 1
        square = None if gives_up else then.attempts[len(history.attempts)].square
        got = RESIGNED if square is None else opponents.attempt_value(seat, infoset, square)
        loss = opponents.value(seat, infoset) - got
        tried = match.illegal[n] if n < len(match.illegal) else 0
        belief = match.beliefs[n] if n < len(match.beliefs) else None
        scores = () if belief is None else _brier_scores(opponents, history, seat, belief)
        found.append(JudgedAttempt(infoset, square, loss, opponents.is_exact(infoset), tried, *scores))
    return tuple(found)


def _brier_scores(
    opponents: Opponents, history: History, seat: int, belief: Sequence[float]
) -> tuple[float, float | None, float | None]:
    stated, infoset = checked_belief(belief, history, seat), history.infoset(seat)
    open_squares = [square for square in range(history.game.squares) if not history.tried[seat] >> square & 1]
    if not open_squares:
        return 0.0, 0.0, 0.0
    marks = np.array([history.placed[1 - seat] >> square & 1 for square in open_squares], np.float64)
    stated, known = stated[open_squares], opponents.marks(seat, infoset)[open_squares]
    brier = float(np.mean((stated - marks) ** 2))
    if np.isnan(known).any():
        return brier, None, None
    return brier, float(np.mean((known - marks) ** 2)), float(np.mean((stated - known) ** 2))


def checked_belief(belief: Sequence[float], history: History, seat: int) -> SquareArray:
    """A stated belief as float64 (squares,), 0 at squares that the player attempted before.

    Raises
    ------
    StrategyError
        If it is not a probability for each square.
    """
    squares = history.game.squares
    try:
        found = np.asarray(belief, np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    legal = [square for square in range(squares) if not history.tried[seat] >> square & 1]
    if found.shape != (squares,) or not ((found[legal] >= 0) & (found[legal] <= 1)).all():
        raise StrategyError(
            f"The belief at infoset {history.infoset(seat)!r} is not a number from 0 to 1 for each of the {squares} "
            "squares: the probability that the opponent's mark is there."
        )
    checked = np.zeros(squares)
    checked[legal] = found[legal]
    return checked
