"""Settings of a solve of the match, and the wing's section of config.yaml."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from typing import Annotated

from pydantic import BeforeValidator, Field

from pttt_ooc.cfr.solving.regret import RULES, Coefficients, Parameters, Rule, unread_keys
from pttt_ooc.config import Exponent, Real, Section, Weight, Whole, number
from pttt_ooc.errors import ConfigError, did_you_mean
from pttt_ooc.types import Algorithm

FASTER = {"sapdcfr+": {"gamma": 10.0, "asymmetry": 4.0}}
"""Parameters that are faster here than those of a rule's paper: most moves of a round are settled soon."""

MOST_POINTS = 9  # the number of rounds is its square


@dataclass(frozen=True)
class SolveSettings:
    """Settings of a solve.

    Attributes
    ----------
    winning_score
        The points that win the match.
    fill_board
        Whether a round continues until the board is full.
    maximum_subgame_exploitability
        A round is solved when the two best responses to it gain no more than this together.  If all rounds of a match
        to five are just below 1e-6, the exploitability of the match is 5.5e-6.
    check_exploitability_every
        Iterations between two checks of the exploitability, which also update the values of the outcomes.
    algorithm
        A name of :data:`pttt_ooc.cfr.solving.regret.RULES`.
    alpha, beta, gamma, asymmetry
        The parameters of the algorithm; None: those of its paper, or of :data:`FASTER`.
    horizon
        Iterations during which the parameters of an ``hs-`` rule move.
    alternate_updates
        Whether the players' regrets are updated in turn, or both against the last strategies.
    small_move_epsilon, small_move_epsilon_decay
        A bonus for moves further up and left, and the fraction of it that each iteration removes.
    max_iterations
        Of each round.
    """

    winning_score: int = 5
    fill_board: bool = False
    maximum_subgame_exploitability: float = 5e-7
    check_exploitability_every: int = 10
    algorithm: str = "sapdcfr+"
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None
    asymmetry: float | None = None
    horizon: int = 1000
    alternate_updates: bool = True
    small_move_epsilon: float = 0
    small_move_epsilon_decay: float = 0
    max_iterations: int = 100_000

    def __post_init__(self) -> None:
        def check(name: str, holds: bool, wanted: str) -> None:
            if not holds:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be {wanted}.")

        check("winning_score", 1 <= self.winning_score <= MOST_POINTS, f"from 1 to {MOST_POINTS}")
        exploitability = self.maximum_subgame_exploitability
        check("maximum_subgame_exploitability", 0 <= exploitability < math.inf, "a number from 0 up")
        check("check_exploitability_every", self.check_exploitability_every >= 1, "1 or more")
        check("max_iterations", self.max_iterations >= 1, "1 or more")
        check("horizon", self.horizon >= 1, "1 or more")
        check("small_move_epsilon", 0 <= self.small_move_epsilon < math.inf, "a number from 0 up")
        check("small_move_epsilon_decay", 0 <= self.small_move_epsilon_decay <= 1, "a number from 0 to 1")
        if self.algorithm not in RULES:
            raise ConfigError(
                f"There is no update rule {self.algorithm!r}{did_you_mean(self.algorithm, RULES)}; "
                f"choose from {', '.join(RULES)}."
            )
        for name in asdict(Parameters()):
            value = getattr(self, name)
            check(name, value is None or math.isfinite(value), "a number")

    @property
    def rule(self) -> Rule:
        """The update rule."""
        return RULES[self.algorithm]

    @property
    def parameters(self) -> Parameters:
        """The rule's parameters at the first iteration."""
        chosen = {name: getattr(self, name) for name in asdict(Parameters())}
        return replace(self._defaults, **{name: value for name, value in chosen.items() if value is not None})

    @property
    def _defaults(self) -> Parameters:
        return replace(self.rule.defaults, **FASTER.get(self.algorithm, {}))

    @property
    def normal(self) -> SolveSettings:
        """These settings in their normal form: settings without effect have their defaults."""
        usual = {name for name, value in asdict(self._defaults).items() if getattr(self, name) == value}
        without = unread_keys(self.algorithm) | usual
        return replace(self, **{name: getattr(_DEFAULT, name) for name in without})

    def coefficients(self, iteration: int) -> tuple[Coefficients, float]:
        """The rule's coefficients of an iteration, counted from 1, and the discount of earlier sums of strategies."""
        t = max(iteration, 1)
        parameters = self.rule.parameters_at(t, self.parameters, self.horizon)
        return self.rule.coefficients(t, parameters), ((t - 1) / t) ** parameters.gamma if t > 1 else 0.0

    def bonus(self, iteration: int) -> float:
        """The bonus for the square furthest up and left at an iteration, counted from 1."""
        return self.small_move_epsilon * (1 - self.small_move_epsilon_decay) ** (iteration - 1)


_DEFAULT = SolveSettings()

Points = Annotated[int, Field(ge=1, le=MOST_POINTS), BeforeValidator(number)]


class SmbcConfig(Section):
    """Tic-tac-toe with secret goals: the target smbc."""

    winning_score: Points = Field(default=_DEFAULT.winning_score, description="The points that win the match.")
    fill_board: bool = Field(default=_DEFAULT.fill_board, description="Rounds continue until the board is full.")
    maximum_subgame_exploitability: Real = Field(
        default=_DEFAULT.maximum_subgame_exploitability,
        ge=0,
        description="A round is solved when its two best responses gain no more than this together.",
    )
    check_exploitability_every: Whole = Field(
        default=_DEFAULT.check_exploitability_every, description="Iterations between two checks."
    )
    algorithm: Algorithm = Field(default="sapdcfr+", description="The update rule of the regrets.")
    alpha: Exponent | None = Field(default=None, description="Discount of positive regrets; null: the rule's default.")
    beta: Exponent | None = Field(default=None, description="Discount of negative regrets; null: the rule's default.")
    gamma: Weight | None = Field(
        default=None,
        description="Iteration t has the weight t^gamma in the average strategy; null: the rule's default.",
    )
    asymmetry: Weight | None = Field(
        default=None, description="sap... divide predictions by 1 + asymmetry; null: the rule's default."
    )
    horizon: Whole = Field(
        default=_DEFAULT.horizon, description="Iterations during which the parameters of an hs-... rule move."
    )
    alternate_updates: bool = Field(
        default=_DEFAULT.alternate_updates, description="Regrets of the players are updated in turn, or both at once."
    )
    small_move_epsilon: Real = Field(
        default=float(_DEFAULT.small_move_epsilon), ge=0, description="A bonus for moves further up and left."
    )
    small_move_epsilon_decay: Real = Field(
        default=float(_DEFAULT.small_move_epsilon_decay),
        ge=0,
        le=1,
        description="The fraction of the bonus that each iteration removes.",
    )
    max_iterations: Whole = Field(default=_DEFAULT.max_iterations, description="The most iterations of each round.")
    compared: tuple[Algorithm, ...] = Field(
        default=("cfr", "dcfr", "pdcfr+"),
        description="Further update rules whose convergence the report shows.",
    )
    all_equilibria: bool = Field(
        default=False,
        description="The report bounds the values of goals in all equilibria, by linear programs, which take minutes "
        "and need scipy.",
    )
    compared_iterations: Whole = Field(
        default=1000,
        description="Iterations of these rules on the match's last round, and of runs with bonuses for small moves.",
    )

    @property
    def settings(self) -> SolveSettings:
        """The settings of the solve."""
        return SolveSettings(**{field.name: getattr(self, field.name) for field in fields(SolveSettings)})
