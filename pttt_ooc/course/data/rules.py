"""Rules that turn what was measured into points: thresholds, ranks, percent of the baseline, a formula.

A rule names a *figure*: of strategies ``player0``, ``player1`` (exploitabilities) and ``sum``, of bots ``marks`` (of
the tournament), of agents ``score`` and ``league`` (shares of the points against the assignment's opponents, and in the
head-to-head).  Lower exploitabilities are better; of all other figures, higher ones are.

A formula is parsed as a Python expression, and its tree is walked here: numbers, names, ``+ - * / **``, comparisons,
``and or not``, ``A if C else B``, and the functions of :data:`FUNCTIONS`.  Everything else is refused before anything
is computed.  All numbers are floats, so that no computation takes long.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pttt_ooc.config import number
from pttt_ooc.errors import CourseError

STRATEGIES, BOTS, AGENTS, REPORT = "strategies", "bots", "agents", "report"
BEST, LAST, PICK = "best", "last", "pick"
"""Which of the submissions count; see :mod:`pttt_ooc.course.data.choice`."""

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
"""What people call a figure, where that differs from its name."""

HIGHER_IS_BETTER = ("marks", "score", "league")
Points = Annotated[float, Field(ge=0, le=10_000, allow_inf_nan=False), BeforeValidator(number)]
Figures = Mapping[str, float]


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Step(_Rule):
    """Points for a figure that is low or high enough."""

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
    """The most points of the steps that the figure reaches."""

    kind: Literal["thresholds"]
    figure: str
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]


class Ranks(_Rule):
    """Points for the place among all teams; teams after the last listed place get `rest`."""

    kind: Literal["rank"]
    points: Annotated[tuple[Points, ...], Field(min_length=1)]
    rest: Points = 0.0


class Baseline(_Rule):
    """All points at `target` or better; otherwise none at the baseline's figure or worse, in proportion between."""

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
        What was measured; what was not handed in is missing.
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
    # The step with the most points counts, of those that the figure reaches, wherever it stands in the list.
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


# ---------------------------------------------------------------------------------------------
# Formulas


LONGEST = 500
"""The most characters of a formula."""


def _clip(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


FUNCTIONS: Mapping[str, tuple[Callable[..., float], int | None]] = {
    "min": (min, None),
    "max": (max, None),
    "abs": (abs, 1),
    "sqrt": (math.sqrt, 1),
    "log": (math.log, 1),
    "log10": (math.log10, 1),
    "exp": (math.exp, 1),
    "round": (round, 1),
    "floor": (math.floor, 1),
    "ceil": (math.ceil, 1),
    "clip": (_clip, 3),
}
"""Functions, with their numbers of arguments; None: two or more."""

_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class Formula:
    """A formula that has been checked.

    Parameters
    ----------
    names
        The names that may be in it.

    Raises
    ------
    CourseError
        If it is not a formula.
    """

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        if len(text) > LONGEST:
            raise CourseError(f"A formula has at most {LONGEST} characters; this one has {len(text)}.")
        try:
            self._tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise CourseError(f"The formula {text!r} cannot be read; an example is 50 * clip(1 - sum, 0, 1).") from None
        self._check(self._tree, names)

    def _check(self, node: ast.AST, names: Collection[str]) -> None:
        parts: list[ast.expr]
        match node:
            case ast.Constant(value=int() | float() as value) if type(value) is not bool and abs(value) < 1e15:
                return
            case ast.Name(id=name) if name in names:
                return
            case ast.Name(id=unknown):
                known = ", ".join(sorted(names)) or "none"
                raise CourseError(f"The formula {self.text!r} has the name {unknown}; there are: {known}.")
            case ast.BinOp(op=op) if type(op) in _OPERATIONS:
                parts = [node.left, node.right]
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Not()):
                parts = [node.operand]
            case ast.BoolOp():
                parts = node.values
            case ast.IfExp():
                parts = [node.test, node.body, node.orelse]
            case ast.Compare(ops=ops) if all(type(op) in _COMPARISONS for op in ops):
                parts = [node.left, *node.comparators]
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in FUNCTIONS:
                wanted = FUNCTIONS[name][1]
                if len(node.args) != wanted and not (wanted is None and len(node.args) >= 2):
                    many = "two or more" if wanted is None else wanted
                    raise CourseError(f"The formula {self.text!r}: {name} takes {many} numbers, not {len(node.args)}.")
                parts = node.args
            case _:
                found = ast.unparse(node)[:60]
                functions = ", ".join(FUNCTIONS)
                raise CourseError(
                    f"The formula {self.text!r} has {found!r}, but formulas have numbers, names, + - * / **, "
                    f"comparisons, and, or, not, if, else, and the functions {functions}."
                )
        for part in parts:
            self._check(part, names)

    def value(self, numbers: Mapping[str, float]) -> float:
        """Its value for these numbers.

        Raises
        ------
        CourseError
            If it has none, for example because of a division by zero.
        """
        try:
            found = float(self._value(self._tree, numbers))
        except (ArithmeticError, ValueError, TypeError) as error:
            raise CourseError(f"The formula {self.text!r} has no value here: {error}.") from None
        if not math.isfinite(found):
            raise CourseError(f"The formula {self.text!r} has no finite value here.")
        return found

    def _value(self, node: Any, numbers: Mapping[str, float]) -> Any:
        match node:
            case ast.Constant(value=int() | float() as value):
                return float(value)
            case ast.Name():
                return float(numbers[node.id])
            case ast.BinOp():
                return _OPERATIONS[type(node.op)](self._value(node.left, numbers), self._value(node.right, numbers))
            case ast.UnaryOp(op=ast.Not()):
                return not self._value(node.operand, numbers)
            case ast.UnaryOp():
                value = self._value(node.operand, numbers)
                return -value if isinstance(node.op, ast.USub) else value
            case ast.BoolOp():
                found = (self._value(part, numbers) for part in node.values)
                return all(found) if isinstance(node.op, ast.And) else any(found)
            case ast.IfExp():
                return self._value(node.body if self._value(node.test, numbers) else node.orelse, numbers)
            case ast.Compare():
                values = [self._value(part, numbers) for part in (node.left, *node.comparators)]
                pairs = zip(node.ops, values, values[1:], strict=False)
                return all(_COMPARISONS[type(op)](a, b) for op, a, b in pairs)
            case _:
                return FUNCTIONS[node.func.id][0](*(self._value(part, numbers) for part in node.args))
