"""Rules that turn what was measured into points: thresholds, ranks, percent of the baseline, a formula.

A rule names a *figure*: of strategies ``player0``, ``player1`` (exploitabilities) and ``sum``, of bots ``marks`` (of
the tournament), of agents ``score`` and ``league`` (shares of the points against the assignment's opponents, and in the
head-to-head).  Exploitabilities are the better the lower, the others the better the higher.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pttt_ooc.config import number
from pttt_ooc.course.data.expressions import Formula
from pttt_ooc.errors import CourseError

STRATEGIES, BOTS, AGENTS, REPORT = "strategies", "bots", "agents", "report"
FIGURES: Mapping[str, tuple[str, ...]] = {
    STRATEGIES: ("sum", "player0", "player1"),
    BOTS: ("marks",),
    AGENTS: ("score", "league"),
    REPORT: (),
}
"""The figures of each kind of assignment; the first one makes the ranks."""

FIGURE_NAMES: Mapping[str, str] = {
    "sum": "sum of exploitabilities",
    "player0": "exploitability of player 0",
    "player1": "exploitability of player 1",
    "league": "head-to-head",
}
"""What figures are called for people, where that is not their name."""

HIGHER_IS_BETTER = ("marks", "score", "league")
Points = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False), BeforeValidator(number)]
Figures = Mapping[str, float]


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Step(_Rule):
    """Points for a figure that is at most, or at least, so much."""

    at_most: Annotated[float, Field(allow_inf_nan=False), BeforeValidator(number)] | None = None
    at_least: Annotated[float, Field(allow_inf_nan=False), BeforeValidator(number)] | None = None
    points: Points

    @model_validator(mode="after")
    def _one(self) -> Step:
        if (self.at_most is None) == (self.at_least is None):
            raise ValueError("a step with either at_most or at_least, and with points")
        return self

    def is_reached_by(self, figure: float) -> bool:
        """Whether a figure is good enough."""
        return figure <= self.at_most if self.at_most is not None else figure >= (self.at_least or 0.0)


class Thresholds(_Rule):
    """Most points of the steps that the figure reaches."""

    kind: Literal["thresholds"]
    figure: str
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]


class Ranks(_Rule):
    """Points of the place among all teams; teams after the last listed place get `rest`."""

    kind: Literal["rank"]
    points: Annotated[tuple[Points, ...], Field(min_length=1)]
    rest: Points = 0.0


class Baseline(_Rule):
    """All points at `target` or better, else none at the baseline's figure or worse, in proportion between."""

    kind: Literal["baseline"]
    figure: str
    points: Points
    target: Annotated[float, Field(allow_inf_nan=False), BeforeValidator(number)] = 0.0


class FormulaRule(_Rule):
    """The value of a formula, from 0 to `points`."""

    kind: Literal["formula"]
    formula: str
    points: Points


Rule = Annotated[Thresholds | Ranks | Baseline | FormulaRule, Field(discriminator="kind")]


def most_points(rule: Rule | None) -> float:
    """The most points that a rule gives."""
    if rule is None:
        return 0.0
    if isinstance(rule, Thresholds):
        return max(step.points for step in rule.steps)
    return max((*rule.points, rule.rest)) if isinstance(rule, Ranks) else rule.points


def check_rule(rule: Rule | None, kind: str) -> None:
    """Raise a CourseError if assignments of this kind cannot have the rule."""
    figures = FIGURES[kind]
    if rule is None:
        return
    if not figures:
        raise CourseError(f"Nothing of a {kind} is measured, so it has no rule; give it a rubric.")
    if isinstance(rule, FormulaRule):
        Formula(rule.formula, names_of(kind))
    elif not isinstance(rule, Ranks) and rule.figure not in figures:
        raise CourseError(f"There is no figure {rule.figure!r} of {kind}; choose from {', '.join(figures)}.")
    if isinstance(rule, Baseline) and kind != STRATEGIES:
        raise CourseError("Only strategies have a baseline, the team Uniform.")


def names_of(kind: str) -> set[str]:
    """The names in formulas for a kind of assignment."""
    baselines = {f"baseline_{name}" for name in FIGURES[kind]} if kind == STRATEGIES else set()
    return {*FIGURES[kind], *baselines, "rank", "teams"}


def needs_ranks(rule: Rule | None) -> bool:
    """Whether points depend on other teams."""
    if isinstance(rule, FormulaRule):
        return any(name in rule.formula for name in ("rank", "teams"))
    return isinstance(rule, Ranks)


def points_of(
    rule: Rule | None, figures: Figures, rank: int | None, teams: int, baseline: Figures
) -> tuple[float, str]:
    """Points, and a sentence that says why.

    Parameters
    ----------
    figures
        What was measured; names are missing of what was not handed in.
    rank
        Place among the `teams` that have one, by the first figure of the kind.
    baseline
        The figures of Uniform.

    Raises
    ------
    CourseError
        If a formula has no value.
    """
    if rule is None:
        return 0.0, ""
    # By the place among the teams: its listed points, or `rest` after the last listed place.
    if isinstance(rule, Ranks):
        if rank is None:
            return 0.0, "no rank yet"
        return (rule.points[rank - 1] if rank <= len(rule.points) else rule.rest), f"rank {rank} of {teams}"
    if isinstance(rule, FormulaRule):
        return _by_formula(rule, figures, rank, teams, baseline)
    # The other rules look at one figure of the team; without it there are no points yet.
    figure = figures.get(rule.figure)
    if figure is None:
        return 0.0, f"no {rule.figure} yet"
    # Of the steps that the figure reaches, the one with most points counts, wherever it stands in the list.
    if isinstance(rule, Thresholds):
        reached = [step for step in rule.steps if step.is_reached_by(figure)]
        return max((step.points for step in reached), default=0.0), f"{rule.figure} {figure:.6g}"
    # In proportion: the share of the way from the baseline's figure, which gives 0, down to the target, which gives 1.
    least = baseline.get(rule.figure)
    if least is None:
        return 0.0, "the baseline has no figure yet"
    if figure <= rule.target:  # first, as the baseline may be as good as that itself
        share = 1.0
    else:
        share = 0.0 if figure >= least else (least - figure) / (least - rule.target)
    return rule.points * share, f"{rule.figure} {figure:.6g}: {100 * share:.4g} % of the way from {least:.6g}"


def _by_formula(
    rule: FormulaRule, figures: Figures, rank: int | None, teams: int, baseline: Figures
) -> tuple[float, str]:
    numbers = {**figures, **{f"baseline_{name}": value for name, value in baseline.items()}, "teams": float(teams)}
    if rank is not None:
        numbers["rank"] = float(rank)
    try:
        value = Formula(rule.formula, numbers.keys()).value(numbers)
    except CourseError as error:
        if "has the name" in str(error):
            return 0.0, "not all that the formula needs is there yet"
        raise
    return min(rule.points, max(0.0, value)), f"{rule.formula} = {value:.6g}"


def next_step(rule: Rule | None, figures: Figures) -> Step | None:
    """The next step of thresholds that a figure has not reached: the one with the fewest additional points."""
    if not isinstance(rule, Thresholds) or rule.figure not in figures:
        return None
    figure = figures[rule.figure]
    now = max((step.points for step in rule.steps if step.is_reached_by(figure)), default=0.0)
    above = [step for step in rule.steps if not step.is_reached_by(figure) and step.points > now]
    return min(above, key=lambda step: step.points, default=None)
