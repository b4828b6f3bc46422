"""Update rules: how regrets become the next strategy.

All rules are one step with different coefficients.  After iteration ``t`` with instantaneous regrets
``r_t``::

    R_t = d R_{t-1} + r_t        d: `discount_positive` or `discount_negative`, by the sign of R_{t-1}
    R_t = max(R_t, 0)            if `floor`
    strategy_{t+1}  ~  max(e R_t + prediction, 0)     prediction = r_t if `predict`, else 0

and the average strategy gives iteration ``t`` the weight ``t ** gamma``.  `RULES` maps names to
pure functions that return the coefficients of iteration ``t``.

In a scheduled rule, alpha, beta and gamma change in equal steps during the first `horizon` iterations
(Zhang, McAleer and Sandholm 2024, equation 4).  The sum of strategies is then multiplied by
``((t - 1) / t) ** gamma`` with the current gamma before the newest strategy is added.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass, replace

from pttt_ooc.config import SolveConfig


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of one iteration; the module's docstring has the formulas.

    Attributes
    ----------
    discount_positive, discount_negative
        Factors of positive and of negative sums of regrets before the newest regrets are added.
    floor
        Whether negative sums of regrets are set to zero.
    predict
        Whether the newest regrets are added once more for the next strategy.
    look_ahead
        Factor of the sums for the next strategy.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> pttt.Coefficients(discount_positive=1, discount_negative=1, floor=True)  # CFR+
    Coefficients(discount_positive=1, discount_negative=1, floor=True, predict=False, look_ahead=1)
    """

    discount_positive: float
    discount_negative: float
    floor: bool = False
    predict: bool = False
    look_ahead: float = 1


@dataclass(frozen=True)
class Parameters:
    """Parameters of a rule; the ones that do not occur in its formula have no effect.

    Attributes
    ----------
    alpha, beta
        Exponents of the discounts of positive and of negative regrets.
    gamma
        Exponent of the average strategy's weights.
    asymmetry
        Predictions are divided by 1 + `asymmetry`.
    """

    alpha: float = 0
    beta: float = 0
    gamma: float = 0
    asymmetry: float = 0


@dataclass(frozen=True)
class Rule:
    """An update rule, with its parameters.

    Examples
    --------
    A custom rule, which forgets a tenth of the regrets with each iteration:

    >>> import pttt_ooc as pttt
    >>> def forgetful(t, parameters):
    ...     return pttt.Coefficients(0.9, 0.9)
    >>> rule = pttt.Rule(forgetful, gamma=1)
    >>> solution = pttt.solve(pttt.game("mini-2x3k2-abrupt"), rule, max_iterations=50, target_nashconv=0)
    >>> solution.nashconv < 0.1
    True

    Attributes
    ----------
    coefficients
        ``(t, parameters) -> Coefficients`` of iteration ``t`` = 1, 2, ...
    alpha, beta, gamma, asymmetry
        The parameters of its paper; see :class:`Parameters`.
    predicts
        Whether the last instantaneous regrets must be kept.
    source
        The paper of the formula and the defaults.
    drift
        Total change of the parameters between iteration 1 and the horizon.
    reads
        The parameters among alpha, beta and asymmetry that the formula reads; the others have no effect.
    """

    coefficients: Callable[[int, Parameters], Coefficients]
    alpha: float = 0
    beta: float = 0
    gamma: float = 0
    asymmetry: float = 0
    predicts: bool = False
    source: str = ""
    drift: Parameters = Parameters()
    reads: tuple[str, ...] = ("alpha", "beta", "asymmetry")

    @property
    def defaults(self) -> Parameters:
        """The parameters of its paper."""
        return Parameters(self.alpha, self.beta, self.gamma, self.asymmetry)

    def parameters(self, settings: SolveConfig) -> Parameters:
        """The parameters at the first iteration: those of the settings, or else of the paper."""
        chosen = {name: getattr(settings, name) for name in asdict(self.defaults)}
        return replace(self.defaults, **{name: value for name, value in chosen.items() if value is not None})

    def parameters_at(self, t: int, first: Parameters, horizon: int) -> Parameters:
        """The parameters at iteration `t` = 1, 2, ..., if they are `first` at iteration 1."""
        part = min((t - 1) / horizon, 1)
        changes = zip(astuple(first), astuple(self.drift), strict=True)
        return Parameters(*(start + part * change for start, change in changes))


def _discount(t: int, exponent: float) -> float:
    """``t^a / (t^a + 1)``, and 0 at ``t`` = 0."""
    if not t:
        return 0.0
    if exponent * math.log(t) > 100:
        return 1.0  # rounded: the power itself may be too large for a float
    power: float = float(t) ** exponent
    return power / (power + 1)


def cfr(t: int, p: Parameters) -> Coefficients:
    """Sum of regrets."""
    return Coefficients(1, 1)


def cfr_plus(t: int, p: Parameters) -> Coefficients:
    """Sum of regrets, never below zero."""
    return Coefficients(1, 1, floor=True)


def linear_cfr(t: int, p: Parameters) -> Coefficients:
    """Iteration t has weight t: earlier regrets are discounted by (t - 1) / t."""
    return Coefficients((t - 1) / t, (t - 1) / t)


def dcfr(t: int, p: Parameters) -> Coefficients:
    """Discounts for positive and for negative regrets."""
    return Coefficients(_discount(t - 1, p.alpha), _discount(t - 1, p.beta))


def pcfr_plus(t: int, p: Parameters) -> Coefficients:
    """CFR+ that uses the last instantaneous regrets as a prediction of the next ones."""
    return Coefficients(1, 1, True, True, 1)


def pdcfr_plus(t: int, p: Parameters) -> Coefficients:
    """PCFR+ with DCFR's discount of positive regrets."""
    return Coefficients(_discount(t - 1, p.alpha), 1, True, True, _discount(t, p.alpha))


def sapcfr_plus(t: int, p: Parameters) -> Coefficients:
    """PCFR+ with a smaller weight of predictions: ``R + r / (1 + asymmetry)``, here multiplied by ``1 + asymmetry``."""
    return Coefficients(1, 1, True, True, 1 + p.asymmetry)


def sapdcfr_plus(t: int, p: Parameters) -> Coefficients:
    """PDCFR+ with a smaller weight of predictions."""
    return Coefficients(_discount(t - 1, p.alpha), 1, True, True, (1 + p.asymmetry) * _discount(t, p.alpha))


_ZINKEVICH = "Zinkevich et al. 2007, Regret minimization in games with incomplete information"
_TAMMELIN = "Tammelin 2014, Solving large imperfect information games using CFR+"
_BROWN = "Brown and Sandholm 2019, Solving imperfect-information games via discounted regret"
_FARINA = "Farina, Kroer and Sandholm 2021, Faster game solving via predictive Blackwell"
_XU = "Xu et al. 2024, Minimizing weighted counterfactual regret with optimistic OMD"
_MENG = "Meng et al. 2025, Faster game solving via asymmetry of step sizes"
_BOTH = f"{_MENG}, with the discounts and alpha of Xu et al. 2024 (as for pdcfr+)"
_ZHANG = "Zhang, McAleer and Sandholm 2024, Faster game solving via hyperparameter schedules"

RULES: dict[str, Rule] = {
    "cfr": Rule(cfr, source=_ZINKEVICH, reads=()),
    "cfr+": Rule(cfr_plus, gamma=1, source=_TAMMELIN, reads=()),
    "linear-cfr": Rule(linear_cfr, gamma=1, source=_BROWN, reads=()),
    "dcfr": Rule(dcfr, alpha=1.5, beta=0, gamma=2, source=_BROWN, reads=("alpha", "beta")),
    "pcfr+": Rule(pcfr_plus, gamma=2, predicts=True, source=_FARINA, reads=()),
    "pdcfr+": Rule(pdcfr_plus, alpha=2.3, gamma=5, predicts=True, source=_XU, reads=("alpha",)),
    "sapcfr+": Rule(sapcfr_plus, gamma=2, asymmetry=2, predicts=True, source=_MENG, reads=("asymmetry",)),
    "sapdcfr+": Rule(
        sapdcfr_plus, alpha=2.3, gamma=2, asymmetry=2, predicts=True, source=_BOTH, reads=("alpha", "asymmetry")
    ),
    "hs-dcfr": Rule(
        dcfr, alpha=1, beta=-1, gamma=30, source=_ZHANG, drift=Parameters(3, -2, -5), reads=("alpha", "beta")
    ),
    "hs-pcfr+": Rule(pcfr_plus, gamma=30, predicts=True, source=_ZHANG, drift=Parameters(gamma=-5), reads=()),
}


def unread_keys(algorithm: str) -> frozenset[str]:
    """The configuration keys that an update rule does not read: parameters, and the horizon of unscheduled rules."""
    rule = RULES[algorithm]
    parameters = {"alpha", "beta", "asymmetry"} - set(rule.reads)
    return frozenset(parameters if any(astuple(rule.drift)) else {*parameters, "horizon"})
