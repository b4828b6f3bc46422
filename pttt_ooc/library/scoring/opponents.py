"""Known opponents: both players' strategies, with the values that an attempt is measured by.

Let *V(I)* be what a best response gets against them from an infoset *I* on, and *Q(I, a)* what it gets after attempt
*a*; an attempt loses *V(I)* - *Q(I, a)*.  Strategies at all infosets have a table of these.  Two plans with the pure
rule elsewhere have no list: *V* and *Q* are searched when they are asked for, where at most
:data:`MOST_REPLIED_SQUARES` squares are left.  With more, *V* is what the plan and the rule themselves get, and *Q* its
expectation after the attempt: then a loss is *not exact*, but :mod:`pttt_ooc.library.scoring.aivat` stays unbiased.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.config import MOST_REPLIED_SQUARES
from pttt_ooc.exact.certificates.certificate import Certificate
from pttt_ooc.exact.certificates.sparse_plans import sparse_plans
from pttt_ooc.exact.double_oracle.complete_strategy import CompleteStrategy
from pttt_ooc.exact.double_oracle.infoset_values import InfosetValues
from pttt_ooc.exact.double_oracle.restricted_histories import Plans
from pttt_ooc.exact.double_oracle.rule_tables import rule_tables
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import attempts_of
from pttt_ooc.library.api.profiles import profile
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.questions.answers import SquareArray
from pttt_ooc.library.questions.infoset import beliefs, numbers
from pttt_ooc.library.questions.profile import PreparedProfile
from pttt_ooc.library.questions.sampled_games import row_at
from pttt_ooc.types import Attempts

_SETTLED = 1e-9  # a gap up to this is rounding: the plans are an equilibrium
_MEMO_MB = 64  # for the bounds of each player's searches


class Opponents(Protocol):
    """Both players' strategies; a *seat* is the player who faces the other one's.

    Attributes
    ----------
    game
        The rules.
    most_gained
        What a best response may get more than `value_at_start` says, both seats together; 0 if that is exact.
    """

    game: Game
    most_gained: float

    def row(self, player: int, infoset: str) -> SquareArray:
        """The player's probabilities: float64 (squares,), 0 at illegal squares."""

    def value_at_start(self, seat: int) -> float:
        """*V* before the first attempt of the game."""

    def value(self, seat: int, infoset: str) -> float:
        """*V(I)*; NaN if the opponent's strategy never leads there."""

    def attempt_value(self, seat: int, infoset: str, square: int) -> float:
        """*Q(I, a)*; NaN if the opponent's strategy never leads there."""

    def is_exact(self, infoset: str) -> bool:
        """Whether *V* and *Q* are those of a best response."""

    def marks(self, seat: int, infoset: str) -> SquareArray:
        """For each square, the probability that the opponent's mark is there; NaN if the opponent never leads there."""


class ListedOpponents:
    """Strategies at all infosets of a game.

    Parameters
    ----------
    first, second
        Of players 0 and 1.

    Raises
    ------
    StrategyError
        If they are not strategies of these players in one game.
    """

    most_gained = 0.0

    def __init__(self, first: Strategy, second: Strategy) -> None:
        self._use(profile(first, second))

    @classmethod
    def of_profile(cls, prepared: PreparedProfile) -> Self:
        """A pair that is prepared already."""
        made = cls.__new__(cls)
        made._use(prepared)
        return made

    def _use(self, prepared: PreparedProfile) -> None:
        self.game, self._strategies, self._profile = prepared.game, prepared.strategies, prepared
        self._known: dict[tuple[int, str], tuple[float, SquareArray]] = {}

    def row(self, player: int, infoset: str) -> SquareArray:
        """See :class:`Opponents`."""
        return row_at(self._strategies[player], infoset)

    def value_at_start(self, seat: int) -> float:
        """See :class:`Opponents`."""
        found = self._profile.evaluation
        return (found.best_response_0, found.best_response_1)[seat]

    def value(self, seat: int, infoset: str) -> float:
        """See :class:`Opponents`."""
        return self._at(seat, infoset)[0]

    def attempt_value(self, seat: int, infoset: str, square: int) -> float:
        """See :class:`Opponents`."""
        return float(self._at(seat, infoset)[1][square])

    def is_exact(self, infoset: str) -> bool:
        """See :class:`Opponents`."""
        return True

    def marks(self, seat: int, infoset: str) -> SquareArray:
        """See :class:`Opponents`."""
        found = beliefs(self._profile.index, self._strategies[1 - seat], seat, infoset, boards=0)
        return np.full_like(found.marks, np.nan) if found.arbitrary else found.marks

    def _at(self, seat: int, infoset: str) -> tuple[float, SquareArray]:
        if (seat, infoset) not in self._known:
            found = numbers(self._profile, seat, infoset)
            self._known[seat, infoset] = found.best_value, found.best_action_values
        return self._known[seat, infoset]


class PlanOpponents:
    """Two sparse plans with the pure rule elsewhere: of games that nobody can list.

    Parameters
    ----------
    plans
        Plans with their chances; they must not change afterwards.
    gap
        What both best responses gain together, or more.
    best
        What each best response gets; None: it is searched, or on large boards replaced by the plans' own value.
    most_searched
        Squares that may be left where a best response is searched.
    """

    def __init__(
        self,
        game: Game,
        plans: Plans,
        gap: float,
        best: tuple[float, float] | None = None,
        most_searched: int = MOST_REPLIED_SQUARES,
    ) -> None:
        self.game, self._most_searched = game, most_searched
        self._settled = gap <= _SETTLED
        known = self._settled or self._searches(())  # whether V before the first attempt is a best response's
        self._best, self.most_gained = (best, 0.0) if known else (None, gap)
        rules = rule_tables(game)
        self._values = [InfosetValues(rules, player, plans, _MEMO_MB) for player in (0, 1)]
        self._strategies = [CompleteStrategy(rules, player, plan) for player, plan in enumerate(plans)]
        # By the seat and the attempts in their canonical orientation: what follows, times the opponent's reach; Q; and
        # the opponent's reach.
        self._following: dict[tuple[int, Attempts], float] = {}
        self._attempts: dict[tuple[int, Attempts, int], float] = {}
        self._reach: dict[tuple[int, Attempts], float] = {}

    @classmethod
    def of_certificate(cls, certificate: Certificate) -> Self:
        """The plans of a certificate; see :func:`pttt_ooc.exact.certificates.sparse_plans.sparse_plans`."""
        low, high = certificate.lower, certificate.upper
        best = (float(high), float(-low)) if certificate.exact else None
        return cls(certificate.game, sparse_plans(certificate), float(high - low), best)

    @classmethod
    def of_facts(
        cls, game: Game, plans: Plans, facts: Mapping[str, Any], most_searched: int = MOST_REPLIED_SQUARES
    ) -> Self:
        """Plans with what is stored beside them: ``nashconv``."""
        return cls(game, plans, float(facts["nashconv"]), None, most_searched)

    def row(self, player: int, infoset: str) -> SquareArray:
        """See :class:`Opponents`."""
        return self._strategies[player].probabilities(self._own(player, infoset))

    def value_at_start(self, seat: int) -> float:
        """See :class:`Opponents`."""
        if self._best is not None:
            return self._best[seat]
        return self._values[seat].fitting(()).payoff + self._after(seat, ())

    def value(self, seat: int, infoset: str) -> float:
        """See :class:`Opponents`."""
        attempts, _ = self._canonical(seat, infoset)
        reach = self._reach_of(seat, attempts)
        return self._after(seat, attempts) / reach if reach else float("nan")

    def attempt_value(self, seat: int, infoset: str, square: int) -> float:
        """See :class:`Opponents`."""
        attempts, g = self._canonical(seat, infoset)
        key = seat, attempts, g[square]
        if key not in self._attempts:
            total, reach = 0.0, self._reach_of(seat, attempts)
            for placed in (False, True):
                after = (*attempts, (g[square], placed))
                total += self._values[seat].fitting(after).payoff + self._after(seat, after)
            self._attempts[key] = total / reach if reach else float("nan")
        return self._attempts[key]

    def is_exact(self, infoset: str) -> bool:
        """See :class:`Opponents`."""
        setup = max(len(squares) for squares in self.game.setup)
        return self._searches(tuple(attempts_of(infoset))[setup:])

    def marks(self, seat: int, infoset: str) -> SquareArray:
        """See :class:`Opponents`."""
        found = self._values[seat].fitting(self._own(seat, infoset))
        reach = float(found.reach.sum())
        weights = found.reach / reach if reach else np.full(1, np.nan)
        there = found.marks if reach else np.zeros(1, np.int32)
        marks: NDArray[np.float64] = weights @ (there[:, None] >> np.arange(self.game.squares) & 1)
        return marks

    def _after(self, seat: int, attempts: Attempts) -> float:
        """What follows after some attempts, times the opponent's reach."""
        key = seat, min(self._images(attempts))
        if key not in self._following:
            values = self._values[seat]
            searches = self._searches(attempts) and not (self._settled and self._comes(seat, attempts))
            self._following[key] = values.best_value(attempts) if searches else values.own_value(attempts)
        return self._following[key]

    def _searches(self, attempts: Attempts) -> bool:
        return self.game.squares - len(attempts) <= self._most_searched

    def _comes(self, seat: int, attempts: Attempts) -> bool:
        """Whether the seat's own plan comes there: then, at an equilibrium, it is a best response."""
        own = self._strategies[seat]
        return all(own.probabilities(attempts[:n])[square] > 0 for n, (square, _) in enumerate(attempts))

    def _reach_of(self, seat: int, attempts: Attempts) -> float:
        if (seat, attempts) not in self._reach:
            self._reach[seat, attempts] = float(self._values[seat].fitting(attempts).reach.sum())
        return self._reach[seat, attempts]

    def _own(self, player: int, infoset: str) -> Attempts:
        """The attempts of an infoset, without the setup."""
        return tuple(attempts_of(infoset))[len(self.game.setup[player]) :]

    def _canonical(self, player: int, infoset: str) -> tuple[Attempts, tuple[int, ...]]:
        """The least mirror image of an infoset's attempts, and the symmetry that leads there."""
        attempts = self._own(player, infoset)
        images = self._images(attempts)
        g = min(range(len(images)), key=images.__getitem__)
        return images[g], tuple(self.game.symmetries[g])

    def _images(self, attempts: Attempts) -> list[Attempts]:
        return [tuple((g[square], placed) for square, placed in attempts) for g in self.game.symmetries]
