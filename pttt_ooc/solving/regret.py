"""Update rules: how regrets become the next strategy.

Every rule of the family is one step with different coefficients.  After iteration ``t`` with
instantaneous regrets ``r_t``::

    R_t = d R_{t-1} + r_t        d: `discount_positive` or `discount_negative`, by the sign of R_{t-1}
    R_t = max(R_t, 0)            if `floor`
    strategy_{t+1}  ~  max(e R_t + prediction, 0)     prediction = r_t if `predict`, else 0

and the average strategy gives iteration ``t`` the weight ``t ** gamma``.  `RULES` maps names to
pure functions that return the coefficients of iteration ``t``.

In a scheduled rule, alpha, beta and gamma move in equal steps during the first iterations, as many as the
`horizon` says (Zhang, McAleer and Sandholm 2024, equation 4).  Then the sum of strategies is multiplied by
``((t - 1) / t) ** gamma`` before the newest one is added, with the gamma of the moment.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of one iteration; see the module's text for their places.

    Attributes
    ----------
    discount_positive, discount_negative
        What the sum of regrets of an action is multiplied by before the newest regret is added, by its sign.
    floor
        Whether sums of regrets below zero are set to zero.
    predict
        Whether the newest regrets are added once more for the next strategy.
    look_ahead
        What the sums are multiplied by for the next strategy.
    """

    discount_positive: float
    discount_negative: float
    floor: bool = False
    predict: bool = False
    look_ahead: float = 1


@dataclass(frozen=True)
class Rule:
    """An update rule, with its parameters.

    Examples
    --------
    A rule of one's own, which forgets a tenth of the regrets with each iteration:

    >>> import pttt_ooc as pttt
    >>> def forgetful(t, alpha, beta):
    ...     return pttt.Coefficients(0.9, 0.9)
    >>> rule = pttt.Rule(forgetful, gamma=1)
    >>> solution = pttt.solve(pttt.game("mini-2x3k2-abrupt"), rule, max_iterations=50, target_nashconv=0)
    >>> solution.nashconv < 0.1
    True

    Attributes
    ----------
    coefficients
        ``(t, alpha, beta) -> Coefficients`` of iteration ``t`` = 1, 2, ...
    alpha, beta
        Default exponents of the discounts (of positive and of negative regrets); in the asymmetric rules, which
        have no negative regrets, beta is the asymmetry.
    gamma
        Default exponent of the average strategy's weights.
    predicts
        Whether the last instantaneous regrets have to be kept.
    source
        Where the formula and the defaults come from.
    drift
        What is added to alpha, beta and gamma on the way to the horizon.
    """

    coefficients: Callable[[int, float, float], Coefficients]
    alpha: float = 0
    beta: float = 0
    gamma: float = 0
    predicts: bool = False
    source: str = ""
    drift: tuple[float, float, float] = (0, 0, 0)

    def scheduled(self, t: int, alpha: float, beta: float, gamma: float, horizon: int) -> tuple[float, float, float]:
        """Alpha, beta and gamma of iteration `t` = 1, 2, ..., from those of the first one."""
        part = min((t - 1) / horizon, 1)
        a, b, c = (part * way for way in self.drift)
        return alpha + a, beta + b, gamma + c


def _discount(t: int, exponent: float) -> float:
    """``t^a / (t^a + 1)``, and 0 at ``t`` = 0."""
    if not t:
        return 0.0
    if exponent * math.log(t) > 100:
        return 1.0  # rounded: the power itself may be too large for a float
    power: float = float(t) ** exponent
    return power / (power + 1)


def cfr(t: int, alpha: float, beta: float) -> Coefficients:
    """Sum of regrets."""
    return Coefficients(1, 1, False, False, 1)


def cfr_plus(t: int, alpha: float, beta: float) -> Coefficients:
    """Sum of regrets, never below zero."""
    return Coefficients(1, 1, True, False, 1)


def linear_cfr(t: int, alpha: float, beta: float) -> Coefficients:
    """Iteration t weighs t, as a discount by (t - 1) / t of what came before."""
    return Coefficients((t - 1) / t, (t - 1) / t, False, False, 1)


def dcfr(t: int, alpha: float, beta: float) -> Coefficients:
    """Discounts for positive and for negative regrets."""
    return Coefficients(_discount(t - 1, alpha), _discount(t - 1, beta), False, False, 1)


def pcfr_plus(t: int, alpha: float, beta: float) -> Coefficients:
    """CFR+ that takes the last instantaneous regrets for a prediction of the next."""
    return Coefficients(1, 1, True, True, 1)


def pdcfr_plus(t: int, alpha: float, beta: float) -> Coefficients:
    """PCFR+ with DCFR's discount of positive regrets."""
    return Coefficients(_discount(t - 1, alpha), 1, True, True, _discount(t, alpha))


def sapcfr_plus(t: int, alpha: float, beta: float) -> Coefficients:
    """PCFR+ that trusts its prediction less: ``R + r / (1 + beta)``, here multiplied by ``1 + beta``."""
    return Coefficients(1, 1, True, True, 1 + beta)


def sapdcfr_plus(t: int, alpha: float, beta: float) -> Coefficients:
    """PDCFR+ that trusts its prediction less."""
    return Coefficients(_discount(t - 1, alpha), 1, True, True, (1 + beta) * _discount(t, alpha))


_ASYMMETRY = "Meng et al. 2025, Faster game solving via asymmetry of step sizes"
_SCHEDULES = "Zhang, McAleer and Sandholm 2024, Faster game solving via hyperparameter schedules"

RULES: dict[str, Rule] = {
    "cfr": Rule(cfr, 0, 0, 0, False, "Zinkevich et al. 2007, Regret minimization in games with incomplete information"),
    "cfr+": Rule(cfr_plus, 0, 0, 1, False, "Tammelin 2014, Solving large imperfect information games using CFR+"),
    "linear-cfr": Rule(
        linear_cfr, 0, 0, 1, False, "Brown and Sandholm 2019, Solving imperfect-information games via discounted regret"
    ),
    "dcfr": Rule(
        dcfr, 1.5, 0, 2, False, "Brown and Sandholm 2019, Solving imperfect-information games via discounted regret"
    ),
    "pcfr+": Rule(
        pcfr_plus, 0, 0, 2, True, "Farina, Kroer and Sandholm 2021, Faster game solving via predictive Blackwell"
    ),
    "pdcfr+": Rule(
        pdcfr_plus, 2.3, 0, 5, True, "Xu et al. 2024, Minimizing weighted counterfactual regret with optimistic OMD"
    ),
    "sapcfr+": Rule(sapcfr_plus, 0, 2, 2, True, _ASYMMETRY),
    "sapdcfr+": Rule(
        sapdcfr_plus, 2.3, 2, 2, True, f"{_ASYMMETRY}, with the discounts and alpha of Xu et al. 2024 (as for pdcfr+)"
    ),
    "hs-dcfr": Rule(dcfr, 1, -1, 30, False, _SCHEDULES, drift=(3, -2, -5)),
    "hs-pcfr+": Rule(pcfr_plus, 0, 0, 30, True, _SCHEDULES, drift=(0, 0, -5)),
}
