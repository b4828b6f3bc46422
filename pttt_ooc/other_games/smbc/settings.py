"""Settings of a solve of the match, and the wing's section of config.yaml."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated

from pydantic import BeforeValidator, Field

from pttt_ooc.cfr.solving.regret import RULES, Coefficients, Parameters, Rule, unread_keys
from pttt_ooc.config import Real, RuleSection, Whole, number
from pttt_ooc.types import Algorithm

FASTER = {"sapdcfr+": {"gamma": 10.0, "asymmetry": 4.0}}
"""Parameters that are faster here than those of a rule's paper: most moves of a round are settled soon."""

MOST_POINTS = 9  # the number of rounds is its square


Points = Annotated[int, Field(ge=1, le=MOST_POINTS), BeforeValidator(number)]


class SolveSettings(RuleSection):
    """Settings of a solve; the default of a parameter is that of the rule's paper, or of :data:`FASTER`."""

    winning_score: Points = Field(default=5, description="The points that win the match.")
    fill_board: bool = Field(default=False, description="Rounds continue until the board is full.")
    # If the NashConv of all rounds of a match to five is just below 1e-6, that of the match is 5.5e-6.
    maximum_subgame_exploitability: Real = Field(
        default=5e-7,
        ge=0,
        description="A round is solved when its NashConv is at most this: what both best responses gain together.",
    )
    # A check also updates the values of the outcomes.
    check_exploitability_every: Whole = Field(default=10, description="Iterations between two checks.")
    alternate_updates: bool = Field(
        default=True, description="Regrets of the players are updated in turn, or both at once."
    )
    small_move_epsilon: Real = Field(default=0.0, ge=0, description="A bonus for moves further up and left.")
    small_move_epsilon_decay: Real = Field(
        default=0.0, ge=0, le=1, description="The fraction of the bonus that each iteration removes."
    )
    max_iterations: Whole = Field(default=100_000, description="The most iterations of each round.")

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
        return self.model_copy(update={name: getattr(_DEFAULT, name) for name in without})

    def coefficients(self, iteration: int) -> tuple[Coefficients, float]:
        """The rule's coefficients of an iteration, counted from 1, and the discount of earlier sums of strategies."""
        t = max(iteration, 1)
        parameters = self.rule.parameters_at(t, self.parameters, self.horizon)
        return self.rule.coefficients(t, parameters), ((t - 1) / t) ** parameters.gamma if t > 1 else 0.0

    def bonus(self, iteration: int) -> float:
        """The bonus for the square furthest up and left at an iteration, counted from 1."""
        return self.small_move_epsilon * (1 - self.small_move_epsilon_decay) ** (iteration - 1)


_DEFAULT = SolveSettings()


class SmbcConfig(SolveSettings):
    """Tic-tac-toe with secret goals: the target smbc."""

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
        return SolveSettings(**{name: getattr(self, name) for name in SolveSettings.model_fields})
