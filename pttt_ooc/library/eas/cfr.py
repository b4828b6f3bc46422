"""Counterfactual regret minimisation with exp-a-spiel's variants, step by step.

Regrets are those of regret matching (Zinkevich et al. 2007, "Regret minimization in games with incomplete
information"), discounted as in Brown and Sandholm 2019, "Solving imperfect-information games via discounted regret
minimization", with alpha 1.5 and beta 0, or cut off at zero (Tammelin 2014, "Solving large imperfect information games
using CFR+"); predictions are those of Farina et al. 2021, "Faster game solving via predictive Blackwell
approachability".  As in exp-a-spiel, a prediction is added to the regrets before they are discounted or cut off.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from pttt_ooc.errors import ConfigError
from pttt_ooc.library.eas import kernels
from pttt_ooc.library.eas.averaging import Averager, AveragingStrategy
from pttt_ooc.library.eas.treeplex import Floats, Treeplex

ALPHA, BETA = 1.5, 0.0
"""Exponents of the discounts of positive and of negative regrets."""


@dataclass(kw_only=True, eq=False)
class CfrConf:
    """A variant of CFR.

    Attributes
    ----------
    avg
        How much each iteration's strategy counts; not ``CUSTOM``.
    alternation
        Update one player in each step, not both.
    dcfr
        Discount regrets.
    rmplus
        Cut regrets off at zero; not together with `dcfr`.
    predictive
        Predict that the next counterfactual values are the last ones.
    PCFRP, DCFR
        Two variants: predictive CFR+, and discounted CFR.

    Examples
    --------
    >>> from pttt_ooc.library import eas
    >>> eas.CfrConf.PCFRP
    CfrConf(avg=quadratic, alternation=true, dcfr=false, rmplus=true, predictive=true)
    """

    avg: AveragingStrategy = field(default=AveragingStrategy.QUADRATIC)
    alternation: bool = True
    dcfr: bool = True
    rmplus: bool = False
    predictive: bool = False

    PCFRP: ClassVar[CfrConf]
    DCFR: ClassVar[CfrConf]

    def __repr__(self) -> str:
        flags = (f"{name}={str(bool(getattr(self, name))).lower()}" for name in _FLAGS)
        return f"CfrConf(avg={AveragingStrategy(self.avg).name.lower()}, {', '.join(flags)})"

    def validate(self) -> None:
        """Raise a ConfigError if there is no such variant."""
        if self.avg == AveragingStrategy.CUSTOM:
            raise ConfigError("A solver cannot average by custom weights; choose another avg.")
        if self.dcfr and self.rmplus:
            raise ConfigError("dcfr and rmplus exclude each other; set one of them to False.")


_FLAGS = ("alternation", "dcfr", "rmplus", "predictive")


class _Variant:
    """A class attribute that is a new object each time: changing one does not change another."""

    def __init__(self, **settings: bool) -> None:
        self.settings = settings

    def __get__(self, instance: object, owner: type[CfrConf]) -> CfrConf:
        return owner(**self.settings)  # type: ignore[arg-type]


CfrConf.PCFRP = _Variant(dcfr=False, rmplus=True, predictive=True)  # type: ignore[assignment]
CfrConf.DCFR = _Variant()  # type: ignore[assignment]


class HasTreeplexes(Protocol):
    """What a solver needs of a traverser."""

    treeplexes: tuple[Treeplex, Treeplex]


class Solver:
    """CFR for one game.

    Parameters
    ----------
    traverser
        The game.
    cfr_conf
        The variant.  Later changes to it have no effect.

    Raises
    ------
    ConfigError
        If there is no such variant.

    Examples
    --------
    >>> from pttt_ooc.library import eas
    >>> traverser = eas.CornerDhTraverser()
    >>> solver = traverser.cfr_solver(eas.CfrConf.PCFRP)
    >>> for _ in range(100):
    ...     solver.step()
    >>> sum(traverser.ev_and_exploitability(*solver.avg_bh()).expl) < 0.002
    True
    """

    def __init__(self, traverser: HasTreeplexes, cfr_conf: CfrConf) -> None:
        cfr_conf.validate()
        self._averaging = AveragingStrategy(cfr_conf.avg)
        self._alternation, self._predictive = cfr_conf.alternation, cfr_conf.predictive
        self._dcfr, self._rmplus = cfr_conf.dcfr, cfr_conf.rmplus
        self._treeplexes = traverser.treeplexes
        self._averagers = [Averager(t, self._averaging) for t in self._treeplexes]
        self._regrets = [np.zeros(t.sequences) for t in self._treeplexes]
        self._strategies = [t.uniform() for t in self._treeplexes]
        for averager, strategy in zip(self._averagers, self._strategies, strict=True):
            averager.push_probabilities(strategy)
        self._updates = 0

    def step(self) -> None:
        """Update one player, the players taking turns; without alternation, both, from one pair of gradients."""
        players = (self._updates % 2,) if self._alternation else (0, 1)
        gradients = [self._gradient(player) for player in players]
        for player, gradient in zip(players, gradients, strict=True):
            self._update(player, gradient)

    def avg_bh(self) -> tuple[Floats, Floats]:
        """Both players' average strategies: float64, shape (rows, 9)."""
        first, second = (averager.running_avg() for averager in self._averagers)
        return first, second

    def _gradient(self, player: int) -> Floats:
        opponent = self._treeplexes[1 - player]
        return self._treeplexes[player].gradient(opponent.plan(self._strategies[1 - player]))

    def _update(self, player: int, gradient: Floats) -> None:
        treeplex, regrets, strategy = self._treeplexes[player], self._regrets[player], self._strategies[player]
        treeplex.upward(gradient, kernels.add_regrets, strategy, regrets)
        if self._predictive:
            treeplex.upward(gradient, kernels.predict, strategy, regrets)
        else:
            treeplex.upward(gradient, kernels.match_regrets, strategy, regrets)
        self._averagers[player].push_probabilities(strategy)
        t = self._updates // 2 + 1
        positive = _discount(t, ALPHA) if self._dcfr else 1.0
        negative = 0.0 if self._rmplus else _discount(t, BETA) if self._dcfr else 1.0
        kernels.scale(regrets, positive, negative)
        self._updates += 1


def _discount(t: int, exponent: float) -> float:
    """t^e / (t^e + 1)."""
    return 1 - 1 / (1 + float(float(t) ** exponent))


class PtttCfrSolver(Solver):
    """For :class:`~pttt_ooc.library.eas.traversers.PtttTraverser`."""


class AbruptPtttCfrSolver(Solver):
    """For :class:`~pttt_ooc.library.eas.traversers.AbruptPtttTraverser`."""


class DhCfrSolver(Solver):
    """For :class:`~pttt_ooc.library.eas.traversers.DhTraverser`."""


class AbruptDhCfrSolver(Solver):
    """For :class:`~pttt_ooc.library.eas.traversers.AbruptDhTraverser`."""


class CornerDhCfrSolver(Solver):
    """For :class:`~pttt_ooc.library.eas.traversers.CornerDhTraverser`."""


class MakesSolvers(Protocol):
    """A traverser."""

    def cfr_solver(self, cfr_conf: CfrConf) -> Solver:
        """A solver for its game."""


def CfrSolver(traverser: MakesSolvers, cfr_conf: CfrConf) -> Solver:  # noqa: N802
    """A solver for the traverser's game; for errors see :class:`Solver`."""
    return traverser.cfr_solver(cfr_conf)
