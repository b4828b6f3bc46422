"""The optimal face: all equilibrium strategies of a player, and the best of them for a linear objective.

A player's equilibrium strategies are the plans ``x`` that guarantee the value ``v`` of the game.  For payoffs ``c`` of
sequences, :meth:`OptimalFace.extreme` finds the one with the largest ``c x``.  It solves the game
with payoffs ``weight A y + c``, in which the objective counts little.  If the weight is large enough, the equilibria of
that game are those of the whole game that are best for the objective (an exact penalty).

This is a double oracle as in :mod:`pttt_ooc.exact.double_oracle`: a linear program over a restricted game, and best
responses in the whole game that enlarge it.  The player responds to the objective and the other's plan together.
Where the other's plan does not come, only the objective counts, so the best choices there are known beforehand, and
plans leave them out.  After each round the largest ``c x`` is proven to be between that of the player's strategy and
that of the response to the other's plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pttt_ooc.cfr.solving.best_response import write_choices
from pttt_ooc.cfr.sweep.engine import Engine
from pttt_ooc.errors import PtttError
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.restricted_histories import HistoryFinder, Plans, WonHistories
from pttt_ooc.exact.double_oracle.rule_tables import RuleTables
from pttt_ooc.exact.double_oracle.sparse_plan import SparsePlan, behave
from pttt_ooc.exact.equilibria.face_program import FaceProgram
from pttt_ooc.exact.equilibria.plan_places import PlanPlaces
from pttt_ooc.exact.equilibria.responses import Choices, Floats, Responses, rule_choices
from pttt_ooc.games.structure.strategy import Strategy
from pttt_ooc.games.structure.symmetry import Symmetriser

WEIGHT = 1e4
"""The first weight of the whole game against an objective whose largest payoff is about 1."""

_HEAVIEST = 1e6
_LOSS = 1e-11  # what an equilibrium strategy may lose by rounding
GAP = 1e-9
"""The width of the interval of the objective at which the rounds end."""

_LEAST = 1e-13  # reach that counts as none
_TIE = 1e-14  # a choice has to be better by this much, for a weight of 1
_MOST_ROUNDS = 2000


@dataclass(frozen=True)
class FaceRound:
    """What is known after a round.

    Attributes
    ----------
    number
        From 1.
    value, bound
        The objective of the strategy of this round, and the proven upper bound for equilibrium strategies.
    loss
        How far the strategy is from guaranteeing the value of the game.
    sequences
        The number of both players' sequences in the restricted game.
    """

    number: int
    value: float
    bound: float
    loss: float
    sequences: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Extreme:
    """The best equilibrium strategy for an objective.

    Attributes
    ----------
    strategy
        The strategy, in double precision, on the index of the face.
    value
        Its objective.
    bound
        No equilibrium strategy has more, up to rounding.
    loss
        How far it is from guaranteeing the value of the game, by rounding.
    plan
        Its sequences; where they do not come, the best choices for the objective are made.
    rounds
        Number of rounds.
    """

    strategy: Strategy
    value: float
    bound: float
    loss: float
    plan: SparsePlan
    rounds: int


class OptimalFace:
    """Both players' equilibrium strategies.

    Parameters
    ----------
    exact
        The double oracle after its last round: an exact equilibrium.
    engine
        It has an index of the same game with all symmetries, and any precision.

    Attributes
    ----------
    exact
        The double oracle.
    value
        The value of the game for player 0.
    responses
        Gradients and best responses.

    Raises
    ------
    PtttError
        If the double oracle has no exact equilibrium yet.
    GameError
        If the index lacks a symmetry of the game.
    """

    def __init__(self, exact: DoubleOracle, engine: Engine) -> None:
        if exact.last is None or not exact.last.nashconv < _LOSS:
            raise PtttError("The optimal face needs an exact equilibrium: let the double oracle come to its end first.")
        self.rules: RuleTables = exact.rules
        self.value = (exact.last.lower + exact.last.upper) / 2
        self.responses = Responses(engine)
        self.rule = tuple(rule_choices(engine, self.rules, player) for player in (0, 1))
        self.exact = exact
        self._symmetrisers = tuple(Symmetriser(engine.index, player) for player in (0, 1))

    def extreme(
        self,
        player: int,
        payoffs: Floats,
        otherwise: Choices | None = None,
        on_round: Callable[[FaceRound], None] = lambda last: None,
        gap: float = GAP,
    ) -> Extreme:
        """The equilibrium strategy with the largest sum of reach times payoff.

        Parameters
        ----------
        player
            Whose strategy it is.
        payoffs
            float64 (sequences of the index,): for each unit of a sequence's reach.  Equal for mirror images.
        otherwise
            uint8 (nodes,): the choices to make where the payoffs make no difference and the other's plan does not come;
            default: those of the pure rule.
        on_round
            Called after each round.
        gap
            The width of the interval at which the rounds end.

        Raises
        ------
        PtttError
            If a linear program cannot be solved.
        """
        otherwise = self.rule[player] if otherwise is None else otherwise
        search = _Search(self, self.exact, player, payoffs, otherwise, gap)
        while True:
            last = search.round()
            on_round(last)
            if search.settled:
                return search.result()
            if last.number == _MOST_ROUNDS:
                raise PtttError(f"The best equilibrium strategy is not found after {_MOST_ROUNDS} rounds.")

    def exact_strategy(self, player: int) -> Strategy:
        """The strategy of the exact equilibrium, with the pure rule where its plan does not come."""
        found = self.pure_strategy(player, self.rule[player])
        PlanPlaces(self.rules, self.responses.index, player).write(self.exact.plans[player], found)
        return Strategy(self.responses.index, player, found)

    def pure_strategy(self, player: int, choices: Choices) -> Floats:
        """The probabilities of choices; mirror images are averaged."""
        i = self.responses.index.players[player]
        found = np.empty(i.sequences)
        write_choices(i.node_start, i.sequence_start, choices, found)
        self._symmetrisers[player](found)
        return found


class _Search:
    """The rounds for one objective."""

    def __init__(
        self, face: OptimalFace, exact: DoubleOracle, player: int, payoffs: Floats, otherwise: Choices, gap: float
    ) -> None:
        self._gap = gap
        self._face, self._player, self._payoffs, self._weight = face, player, payoffs, WEIGHT
        self._responses, self._rules = face.responses, face.rules
        self._value = face.value if player == 0 else -face.value
        self._plans: Plans = _copy(exact.plans[0]), _copy(exact.plans[1])
        self._places = [PlanPlaces(face.rules, face.responses.index, p) for p in (0, 1)]
        self._histories, self._program = HistoryFinder(face.rules), FaceProgram(player)
        _, mine, self._values = self._responses.best(player, payoffs, otherwise)
        self._defaults = (mine, face.rule[1]) if player == 0 else (face.rule[0], mine)
        # Strategies are these where no plan comes, in every round.  Averages of mirror images are whole shares of 1.
        self._shares = len(face.responses.index.group)
        pure = (face.pure_strategy(p, choices) for p, choices in enumerate(self._defaults))
        self._pure = tuple((each * self._shares).astype(np.uint8) for each in pure)
        self._last, self._news = FaceRound(0, 0, 0, 0, (0, 0)), 1

    @property
    def settled(self) -> bool:
        """Whether the rounds can end."""
        last = self._last
        if last.loss <= _LOSS and last.bound - last.value <= self._gap:
            return last.number > 0
        return not self._news and (last.loss <= _LOSS or self._weight >= _HEAVIEST)

    def round(self) -> FaceRound:
        """Solve the restricted game, respond in the whole game, and allow the responses' actions."""
        if not self._news:
            self._weight *= 10
        player, won = self._player, self._find_won()
        own = self._plans[player]
        costs = self._payoffs[self._places[player].sequences(own)]
        costs += self._places[player].values_beyond(own, self._values)
        reach = self._program.solve(self._plans, won, costs, self._weight)
        for p in (0, 1):
            behave(self._plans[p], reach[p], _LEAST)
        bound, mine = self._response()
        value, reply, theirs = self._reply()
        self._news = self._allow(player, mine) + self._allow(1 - player, theirs)
        self._last = FaceRound(
            number=self._last.number + 1,
            value=value,
            bound=bound,
            loss=self._value + reply,
            sequences=(int(self._plans[0].counts[1]), int(self._plans[1].counts[1])),
        )
        return self._last

    def _response(self) -> tuple[float, Choices]:
        """The player's best response to the other's plan and the objective together: the upper bound, and choices."""
        player, responses = self._player, self._responses
        reach = responses.reach(1 - player, self._expand(1 - player))  # large arrays are freed as soon as possible
        constant, gradient = responses.gradient(player, reach)
        del reach
        gradient *= self._weight
        gradient += self._payoffs
        best, choices, _ = responses.best(player, gradient, self._defaults[player], _TIE * self._weight)
        return best + self._weight * (constant - self._value), choices

    def _reply(self) -> tuple[float, float, Choices]:
        """The player's objective, and the other's best response to the strategy: what it gets, and choices."""
        other, responses = 1 - self._player, self._responses
        strategy = self._expand(self._player)
        value = responses.value(self._player, self._payoffs, strategy)
        reach = responses.reach(self._player, strategy)
        del strategy
        constant, gradient = responses.gradient(other, reach)
        del reach
        reply, choices, _ = responses.best(other, gradient, self._defaults[other], _TIE)
        return value, reply + constant, choices

    def result(self) -> Extreme:
        """The strategy of the last round."""
        last, index = self._last, self._responses.index
        strategy = Strategy(index, self._player, self._expand(self._player))
        return Extreme(strategy, last.value, last.bound, last.loss, self._plans[self._player], last.number)

    def _find_won(self) -> WonHistories:
        """The won histories; where the player's plan had no action, the default choice is allowed."""
        while True:
            before = int(self._plans[self._player].counts[1])
            self._plans, won = self._histories.find_won(self._plans)
            own = self._plans[self._player]
            if int(own.counts[1]) == before:
                return won
            own = self._places[self._player].allow_everywhere(own, self._defaults[self._player])
            self._replace(self._player, own)

    def _allow(self, player: int, choices: Choices) -> int:
        plan, added = self._places[player].allow_choices(self._plans[player], choices, self._defaults[player])
        self._replace(player, plan)
        return added

    def _replace(self, player: int, plan: SparsePlan) -> None:
        self._plans = (plan, self._plans[1]) if player == 0 else (self._plans[0], plan)

    def _expand(self, player: int) -> Floats:
        found = np.divide(self._pure[player], self._shares, dtype=np.float64)
        self._places[player].write(self._plans[player], found)
        return found


def _copy(plan: SparsePlan) -> SparsePlan:
    return plan._replace(**{name: getattr(plan, name).copy() for name in plan._fields})
