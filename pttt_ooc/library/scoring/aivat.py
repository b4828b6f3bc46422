"""The score of an agent that can only be played: AIVAT.

The agent plays against a known strategy *e*, as player 0 and as player 1.  Against *e* it faces a one-player game with
known chances.  Let *V(I)* be the value of infoset *I* against *e* if a best response plays on, and *Q(I, a)* that
of attempt *a*.  Both are fixed before the first game.  A game in which the agent attempts *a1, a2, ...* at *I1, I2,
...* gives the estimate

    X  =  V(first)  -  (V(I1) - Q(I1, a1))  -  (V(I2) - Q(I2, a2))  -  ...

of the agent's expected payoff.  It is the payoff minus luck: after an attempt, the difference between the
value of what happened and *Q* is luck, whose expectation is 0.  So X is unbiased, whatever the agent does.  Chances
are taken over everything that the agent does not see: the opponent's marks, failures, and probabilities.  That is AIVAT
with imaginary observations (Burch, Schmid, Moravcik, Morrill and Bowling 2018, "AIVAT: a new variance reduction
technique for agent evaluation in imperfect information games", AAAI), where the heuristic is exact.  On large boards
*V* is another function (:mod:`pttt_ooc.library.scoring.opponents`); X is unbiased for any *V*, as long as *Q* is its
expectation after the attempt.

If *e* is an equilibrium, what an agent loses in both seats is at most its mean exploitability: an opponent who knows
the agent gets at least as much as *e*.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.errors import ConfigError, StrategyError
from pttt_ooc.extras import imports
from pttt_ooc.games.rules.play import History, start
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.questions.sampled_games import draw_attempt
from pttt_ooc.library.scoring.agent_answers import Manner
from pttt_ooc.library.scoring.agents import errors_of
from pttt_ooc.library.scoring.matches import (
    RESIGNED,
    JudgedAttempt,
    MatchRecord,
    checked_belief,
    judge_match,
    replay_match,
)
from pttt_ooc.library.scoring.opponents import ListedOpponents, Opponents
from pttt_ooc.library.scoring.players import Answer, PlayedAgent, played_agent

CONFIDENCE = 0.95
"""Of every interval."""

LEAST_GAMES = 20
"""An interval from fewer games would mean little."""

FEW_LOSSES = 10
"""If fewer games than this have a loss, do not trust the interval: rare losses may not have occurred."""

MOST_ILLEGAL = 10
"""An agent that tries so many illegal attempts, one after the other, is not asked again."""

_ROUNDING = 1e-6  # the error of values from a solution in single precision; smaller losses count as 0


@dataclass(frozen=True)
class Estimate:
    """A mean of games with its interval.

    Attributes
    ----------
    mean
        The estimate; unbiased.
    standard_error
        The sample's standard deviation divided by the root of its size; of two samples, see :func:`estimate_loss`.
    low, high
        The interval of :data:`CONFIDENCE`, by Student's t.
    """

    mean: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True)
class Calibration:
    """How good an agent's stated beliefs are: means over the attempts before which it stated one.

    Attributes
    ----------
    stated
        Number of these attempts.
    brier
        The mean Brier score; 0 is perfect, and 0.25 is what one half for every square gets.
    exact_brier
        That of the exact beliefs at the same attempts.
    excess
        The mean squared distance of the stated from the exact probabilities: by this much `brier` exceeds `exact_brier`
        on average, without the luck of where the marks were.
    """

    stated: int
    brier: float
    exact_brier: float
    excess: float


@dataclass(frozen=True)
class GamesScore:
    """What an agent loses against a known strategy, estimated from games.

    Attributes
    ----------
    game
        Name of the game.
    games
        Number of games.
    loss
        Payoff that the agent loses per game, averaged over both seats, by AIVAT: minus half the sum of its payoffs as
        player 0 and as player 1.  Against any strategy it is at most the mean exploitability.
    payoff_0, payoff_1
        The agent's expected payoff in each seat, by AIVAT.
    plain_loss, plain_payoff_0, plain_payoff_1
        The same, by plain averages of payoffs.
    best_0, best_1
        What a best response would get in each seat.
    best_width
        What best responses may get more than that, both seats together: 0 if it is exact.
    plain_games
        How many games plain averaging would need for an interval as wide as that of `loss`; None if that has no width.
    lossy_games
        Number of games with a loss.
    attempts, illegal
        Number of the agent's attempts, and of the illegal ones that it tried besides.
    inexact_attempts
        Number of its attempts whose loss is not exact: too many squares were left for a search.
    loss_by_attempt
        For the n-th own attempt of a game, what it lost on average over all games.  The sum is what best responses get
        more than the agent, averaged over the games.
    calibration
        Of its stated beliefs; None if it stated none.
    """

    game: str
    games: int
    loss: Estimate
    payoff_0: Estimate
    payoff_1: Estimate
    plain_loss: Estimate
    plain_payoff_0: Estimate
    plain_payoff_1: Estimate
    best_0: float
    best_1: float
    best_width: float
    plain_games: int | None
    lossy_games: int
    attempts: int
    illegal: int
    inexact_attempts: int
    loss_by_attempt: tuple[float, ...]
    calibration: Calibration | None

    def as_record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True)
class JudgedMatch:
    """A match with all that is told about it.

    Attributes
    ----------
    match
        Its record.
    payoff
        What the agent got.
    estimate
        X of the formula above.
    attempts
        Its attempts.
    """

    match: MatchRecord
    payoff: float
    estimate: float
    attempts: tuple[JudgedAttempt, ...]

    def as_record(self) -> dict[str, Any]:
        """As JSON."""
        return {**asdict(self), "attempts": [attempt.as_record() for attempt in self.attempts]}


def estimate_match(opponents: Opponents, match: MatchRecord) -> JudgedMatch:
    """X of the formula above, for one match against these opponents.

    Raises
    ------
    GameError, StrategyError
        See :func:`pttt_ooc.library.scoring.matches.judge_match`.
    StrategyError
        If the opponent never plays like this.
    """
    attempts = judge_match(opponents, match)
    _, last = replay_match(opponents.game, match)
    lost = math.fsum(attempt.loss for attempt in attempts)
    if math.isnan(lost):
        raise StrategyError(
            f"The opponent of a match of {opponents.game.name} attempts what its strategy never does, so that the "
            "match tells nothing about the agent."
        )
    payoff = RESIGNED if match.resigned else float(last.returns[match.seat])
    return JudgedMatch(match, payoff, opponents.value_at_start(match.seat) - lost, attempts)


def score_matches(opponents: Opponents, matches: Sequence[MatchRecord]) -> GamesScore:
    """What an agent loses, from records of matches that it played against known opponents.

    Parameters
    ----------
    opponents
        The strategies that it played against: the second one as player 0, the first one as player 1.
    matches
        At least ten in each seat.  They must not depend on each other.

    Raises
    ------
    ConfigError
        If there are too few.
    GameError, StrategyError
        See :func:`estimate_match`.
    """
    return score_judged(opponents, [estimate_match(opponents, match) for match in matches])


def score_judged(opponents: Opponents, judged: Sequence[JudgedMatch]) -> GamesScore:
    """As :func:`score_matches`, of matches that are judged already."""
    seats = [[one for one in judged if one.match.seat == seat] for seat in (0, 1)]
    least = LEAST_GAMES // 2
    if min(map(len, seats)) < least:
        raise ConfigError(
            f"There are {len(seats[0])} matches as player 0 and {len(seats[1])} as player 1; a score needs at least "
            f"{least} of each."
        )
    estimates = [np.array([one.estimate for one in seat]) for seat in seats]
    payoffs = [np.array([one.payoff for one in seat]) for seat in seats]
    by_aivat, by_average = (
        (estimate_loss(*each), estimate(each[0]), estimate(each[1])) for each in (estimates, payoffs)
    )
    # The width of an interval falls with the root of the number of games, so plain averaging needs more games by the
    # square of the ratio of widths.
    best, width = [opponents.value_at_start(seat) for seat in (0, 1)], by_aivat[0].standard_error
    needed = math.ceil(len(judged) * (by_average[0].standard_error / width) ** 2) if width > _ROUNDING else None
    attempts = [attempt for one in judged for attempt in one.attempts]
    return GamesScore(
        opponents.game.name,
        len(judged),
        *by_aivat,
        *by_average,
        best[0],
        best[1],
        opponents.most_gained,
        needed,
        sum(int((best[seat] - estimates[seat] > _ROUNDING).sum()) for seat in (0, 1)),
        sum(attempt.square is not None for attempt in attempts),
        sum(attempt.illegal for attempt in attempts),
        sum(not attempt.exact for attempt in attempts),
        _losses_by_attempt(judged),
        _calibration(attempts),
    )


def _losses_by_attempt(judged: Sequence[JudgedMatch]) -> tuple[float, ...]:
    sums = np.zeros(max(len(one.attempts) for one in judged))
    for one in judged:
        sums[: len(one.attempts)] += [attempt.loss for attempt in one.attempts]
    return tuple((sums / len(judged)).tolist())


def _calibration(attempts: Sequence[JudgedAttempt]) -> Calibration | None:
    rows = [(a.brier, a.exact_brier, a.excess) for a in attempts if a.brier is not None and a.excess is not None]
    return Calibration(len(rows), *np.mean(np.array(rows, np.float64), axis=0).tolist()) if rows else None


def score_by_games(
    opponents: tuple[Strategy, Strategy] | Opponents,
    agent: Any,
    games: int,
    manner: Manner | None = None,
    seed: int = 0,
) -> GamesScore:
    """Play an agent against known strategies, and estimate what it loses; see :func:`play_matches`."""
    known = ListedOpponents(*opponents) if isinstance(opponents, tuple) else opponents
    return score_judged(known, play_matches(known, agent, games, manner, seed))


def play_matches(
    opponents: Opponents, agent: Any, games: int, manner: Manner | None = None, seed: int = 0
) -> list[JudgedMatch]:
    """Play an agent against known strategies.

    Parameters
    ----------
    opponents
        Strategies of players 0 and 1, ideally an equilibrium: the agent plays against the second as player 0, and
        against the first as player 1.
    agent
        See :func:`pttt_ooc.library.scoring.players.played_agent`; or a mapping from players to agents.
    games
        Number of games, half of them in each seat.
    seed
        For the opponents' draws, and for those of agents that give probabilities.

    Raises
    ------
    ConfigError
        If there are fewer games than :data:`LEAST_GAMES`, or an odd number.
    StrategyError
        If the agent tries :data:`MOST_ILLEGAL` illegal attempts, one after the other, or its belief is none.
    MissingExtraError
        If SciPy is not installed.
    """
    if games < LEAST_GAMES or games % 2:
        raise ConfigError(
            f"The number of games is {games}, but must be even, for both seats, and at least {LEAST_GAMES}."
        )
    with imports("An interval of games"):
        import scipy.stats  # noqa: F401, so that no game is played in vain
    manner = manner or Manner()
    # One agent for each seat; a pair of games at a time, one in each seat.
    rng, judged = np.random.default_rng(seed), []
    seats = [played_agent(opponents.game, player, agent, manner, rng) for player in (0, 1)]
    for pair in range(games // 2):
        for player in (0, 1):
            judged.append(estimate_match(opponents, _play(seats[player], player, opponents, rng)))
        manner.report("Playing", (pair + 1) * 2 / games)
    return judged


def _play(seat: PlayedAgent, player: int, opponents: Opponents, rng: np.random.Generator) -> MatchRecord:
    history, illegal, beliefs = start(opponents.game), [], []
    seat.begin()
    while (mover := history.player) is not None:
        if mover == player:
            answer, tried = _ask(seat, player, history)
            square = answer.square
            illegal.append(tried)
            told = answer.belief
            beliefs.append(None if told is None else tuple(checked_belief(told, history, player).tolist()))
        else:
            square = draw_attempt(opponents.row(mover, history.infoset(mover)), rng)
        seat.see(mover, square)
        history = history.step(square)
    squares = tuple(attempt.square for attempt in history.attempts)
    return MatchRecord(player, squares, False, tuple(illegal), tuple(beliefs))


def _ask(seat: PlayedAgent, player: int, history: History) -> tuple[Answer, int]:
    """The agent's next attempt, and the number of illegal ones that it tried before."""
    infoset, legal = history.infoset(player), history.legal()
    for tried in range(MOST_ILLEGAL):
        with errors_of(f"The agent failed as player {player} at infoset {infoset!r}"):
            answer = seat.attempt(history)
        if answer.square in legal:
            return answer._replace(square=int(answer.square)), tried
    raise StrategyError(
        f"The agent, as player {player} at infoset {infoset!r}, attempts {answer.square!r}, but may attempt one of "
        f"{', '.join(map(str, legal))}; it was asked {MOST_ILLEGAL} times."
    )


@dataclass(frozen=True)
class Sample:
    """Payoffs in one seat, or estimates of them: their number, their mean, and the sample's variance."""

    count: int
    mean: float
    variance: float


def estimate(sample: Sequence[float] | NDArray[np.float64]) -> Estimate:
    """The mean of independent numbers, with its interval."""
    array = np.asarray(sample)
    error = float(array.std(ddof=1)) / math.sqrt(len(array))
    return _interval(float(array.mean()), error, len(array) - 1)


def estimate_loss(
    first: Sequence[float] | NDArray[np.float64], second: Sequence[float] | NDArray[np.float64]
) -> Estimate:
    """:func:`loss_of` two samples."""
    samples = [np.asarray(sample) for sample in (first, second)]
    seats = [Sample(len(one), float(one.mean()), float(one.var(ddof=1))) for one in samples]
    return loss_of((seats[0], seats[1]))


def loss_of(seats: tuple[Sample, Sample]) -> Estimate:
    """What an agent loses per game, averaged over both seats, from different numbers of games in them.

    It is minus half the sum of both means; the interval is Welch's (1947), with Satterthwaite's degrees of freedom.
    """
    parts = [seat.variance / seat.count / 4 for seat in seats]
    value, total = -sum(seat.mean for seat in seats) / 2, sum(parts)
    if total == 0:
        return Estimate(value, 0.0, value, value)
    freedom = total**2 / sum(part**2 / (seat.count - 1) for part, seat in zip(parts, seats, strict=True))
    return _interval(value, math.sqrt(total), freedom)


def _interval(mean: float, error: float, freedom: float) -> Estimate:
    from scipy import stats

    width = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom)) * error
    return Estimate(mean, error, mean - width, mean + width)
