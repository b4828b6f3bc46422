"""The score of an agent that can only be played: AIVAT.

The agent plays against a known strategy *e*, as player 0 and as player 1.  Against *e* it faces a one-player game with
known chances.  Let *V(I)* be the value of infoset *I* against *e* if a best response plays on, and *Q(I, a)* that
of attempt *a*.  Both are exact, and fixed before the first game.  A game in which the agent attempts *a1, a2, ...* at
*I1, I2, ...* gives the estimate

    X  =  V(first)  -  (V(I1) - Q(I1, a1))  -  (V(I2) - Q(I2, a2))  -  ...

of the agent's expected payoff.  It is the payoff minus luck: after an attempt, the difference between the
value of what happened and *Q* is luck, whose expectation is 0.  So X is unbiased, whatever the agent does.  Chances
are taken over everything that the agent does not see: the opponent's marks, failures, and probabilities.  That is AIVAT
with imaginary observations (Burch, Schmid, Moravcik, Morrill and Bowling 2018, "AIVAT: a new variance reduction
technique for agent evaluation in imperfect information games", AAAI), where the heuristic is exact.

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
from pttt_ooc.library.api.profiles import profile as prepare_profile
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.questions.infoset import numbers
from pttt_ooc.library.questions.profile import PreparedProfile
from pttt_ooc.library.questions.sampled_games import choose
from pttt_ooc.library.scoring.agent_answers import Manner
from pttt_ooc.library.scoring.agents import errors_of
from pttt_ooc.library.scoring.players import PlayedAgent, played_agent

CONFIDENCE = 0.95
"""Of every interval."""

LEAST_GAMES = 20
"""An interval from fewer games would mean little."""

FEW_LOSSES = 10
"""If fewer games than this have a loss, do not trust the interval: rare losses may not have occurred."""

_ROUNDING = 1e-6  # the error of values from a solution in single precision; smaller losses count as 0


@dataclass(frozen=True)
class Estimate:
    """A mean of games, or of pairs of games, with its interval.

    Attributes
    ----------
    mean
        The estimate; unbiased.
    standard_error
        The sample's standard deviation divided by the root of its size.
    low, high
        The interval of :data:`CONFIDENCE`, by Student's t.
    """

    mean: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True)
class GamesScore:
    """What an agent loses against a known strategy, estimated from games.

    Attributes
    ----------
    game
        Name of the game.
    games
        Number of games, half of them in each seat.
    loss
        Payoff that the agent loses per game, averaged over both seats, by AIVAT: minus half the sum of its payoffs as
        player 0 and as player 1.  Against any strategy it is at most the mean exploitability.
    payoff_0, payoff_1
        The agent's expected payoff in each seat, by AIVAT.
    plain_loss, plain_payoff_0, plain_payoff_1
        The same, by plain averages of payoffs.
    best_0, best_1
        What a best response would get in each seat; exact.
    plain_games
        How many games plain averaging would need for an interval as wide as that of `loss`; None if that has no width.
    lossy_games
        Number of games with a loss.
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
    plain_games: int | None
    lossy_games: int

    def as_record(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


class Heuristic:
    """Exact values against a pair of strategies, fixed before any game."""

    def __init__(self, profile: PreparedProfile) -> None:
        self._profile = profile
        self._losses: dict[tuple[int, str], NDArray[np.float64]] = {}
        self.best = (profile.evaluation.best_response_0, profile.evaluation.best_response_1)

    def estimate(self, history: History, seat: int) -> float:
        """X of the formula above, for the player `seat` of a game against the other player's strategy."""
        lost = [self._losses_at(seat, infoset)[square] for infoset, square in _decisions(history, seat)]
        return self.best[seat] - math.fsum(lost)

    def _losses_at(self, seat: int, infoset: str) -> NDArray[np.float64]:
        """V(I) - Q(I, a) of each square: float64 (squares,)."""
        if (seat, infoset) not in self._losses:
            found = numbers(self._profile, seat, infoset)
            self._losses[seat, infoset] = found.best_value - found.best_action_values
        return self._losses[seat, infoset]


def _decisions(history: History, seat: int) -> list[tuple[str, int]]:
    """The infosets at which a player decided, and the attempted squares."""
    found, now = [], start(history.game)
    for attempt in history.attempts:
        if attempt.player == seat:
            found.append((now.infoset(seat), attempt.square))
        now = now.step(attempt.square)
    return found


def score_by_games(
    opponents: tuple[Strategy, Strategy], agent: Any, games: int, manner: Manner | None = None, seed: int = 0
) -> GamesScore:
    """Play an agent against known strategies, and estimate what it loses.

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
        If the agent attempts a square that it may not attempt.
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
    # One agent for each seat, and the exact V and Q against both opponents.
    rng, game = np.random.default_rng(seed), opponents[0].game
    seats = [played_agent(game, player, agent, manner, rng) for player in (0, 1)]
    heuristic = Heuristic(prepare_profile(*opponents))
    estimates, payoffs = np.empty((2, games // 2)), np.empty((2, games // 2))
    # Pairs of games, one in each seat: AIVAT's X, and the plain payoff.
    for pair in range(games // 2):
        for player in (0, 1):
            history = _play(seats[player], player, opponents[1 - player], rng)
            estimates[player, pair] = heuristic.estimate(history, player)
            payoffs[player, pair] = history.returns[player]
        manner.report("Playing", (pair + 1) * 2 / games)

    def both(of_seats: NDArray[np.float64]) -> tuple[Estimate, Estimate, Estimate]:
        return estimate(-of_seats.mean(axis=0)), estimate(of_seats[0]), estimate(of_seats[1])

    # A loss is minus the mean of a pair's payoffs. The width of an interval falls with the root of the number of games,
    # so plain averaging needs more games by the square of the ratio of widths.
    by_aivat, by_average = both(estimates), both(payoffs)
    best = np.array(heuristic.best)[:, None]
    width = by_aivat[0].standard_error
    needed = math.ceil(games * (by_average[0].standard_error / width) ** 2) if width > _ROUNDING else None
    lossy = int((best - estimates > _ROUNDING).sum())
    return GamesScore(game.name, games, *by_aivat, *by_average, *heuristic.best, needed, lossy)


def _play(seat: PlayedAgent, player: int, opponent: Strategy, rng: np.random.Generator) -> History:
    history = start(opponent.game)
    seat.begin()
    while (mover := history.player) is not None:
        if mover == player:
            with errors_of(f"The agent failed as player {player} at infoset {history.infoset(player)!r}"):
                square = seat.attempt(history)
        else:
            square = choose(opponent, history.infoset(mover), rng)
        if square not in history.legal():
            raise StrategyError(
                f"The agent, as player {player} at infoset {history.infoset(player)!r}, attempts {square!r}, but may "
                f"attempt one of {', '.join(map(str, history.legal()))}."
            )
        seat.see(mover, int(square))
        history = history.step(int(square))
    return history


def estimate(sample: Sequence[float] | NDArray[np.float64]) -> Estimate:
    """The mean of independent numbers, with its interval."""
    from scipy import stats

    array = np.asarray(sample)
    mean, error = float(array.mean()), float(array.std(ddof=1)) / math.sqrt(len(array))
    width = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(array) - 1)) * error
    return Estimate(mean, error, mean - width, mean + width)
