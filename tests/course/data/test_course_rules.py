"""What counts, and the points that it gets."""

import itertools
import random

import pytest

from pttt_ooc.course.data.choice import Candidate, options
from pttt_ooc.course.data.rules import (
    BEST,
    LAST,
    PICK,
    Baseline,
    Formula,
    FormulaRule,
    Ranks,
    Thresholds,
    check_rule,
    next_step,
    points_of,
)
from pttt_ooc.errors import CourseError

# ---------------------------------------------------------------------------------------------
# The choice


def naive_best(candidates, value):
    """The most valuable pair of any candidates: all pairs are tried."""
    slots = [[None, *(one for one in candidates if one.slot == slot)] for slot in (0, 1)]
    return max(value([one for one in pair if one]) for pair in itertools.product(*slots) if any(pair))


def test_the_best_pair_is_among_the_options():
    """Whatever late days cost, no choice of any two submissions is worth more than the best option."""
    draw = random.Random(2)
    for _ in range(300):
        candidates = [
            Candidate(n, draw.randrange(2), n, draw.randrange(4), draw.choice([0.1, 0.2, 0.4, 0.8]))
            for n in range(draw.randrange(1, 7))
        ]
        for percent in (0, 10, 60):

            def value(chosen, percent=percent):
                points = sum(1 - one.figure for one in chosen)  # more for each better figure
                return points * max(0, 1 - percent / 100 * max(one.days for one in chosen))

            found = [value(list(option.chosen.values())) for option in options(candidates, BEST, {})]
            assert max(found) == pytest.approx(naive_best(candidates, value))


def test_the_last_and_the_picked_ones():
    a, b, c = Candidate(1, 0, 10, 0, 0.1), Candidate(2, 0, 30, 1, 0.5), Candidate(3, 1, 20, 0, 0.3)
    (last,) = options([a, b, c], LAST, {})
    assert last.chosen == {0: b, 1: c} and last.days == 1
    (picked,) = options([a, b, c], PICK, {0: 1, 1: 99})
    assert picked.chosen == {0: a, 1: c} and picked.days == 0
    assert options([], BEST, {}) == []


# ---------------------------------------------------------------------------------------------
# Formulas


@pytest.mark.parametrize(
    "text, value",
    [
        ("50 * clip(1 - sum / 2, 0, 1)", 37.5),
        ("min(rank, teams) + max(1, 2, 3)", 5),
        ("10 if sum < 0.5 else 20", 20),
        ("-log10(0.001) * (0 <= sum <= 1)", 3),
        ("2 ** 3 + sqrt(4) - abs(-1)", 9),
        ("1 if not sum > 3 and (rank == 2 or rank == 7) else 0", 1),
        ("round(2.6) + floor(1.5) + ceil(1.5)", 6),
    ],
)
def test_formulas_have_their_values(text, value):
    assert Formula(text, {"sum", "rank", "teams"}).value({"sum": 0.5, "rank": 2, "teams": 8}) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "().__class__.__bases__[0].__subclasses__()",
        "sum.__class__",
        "[x for x in (1, 2)]",
        "lambda: 1",
        "'a' * 9",
        "f'{sum}'",
        "open('/etc/passwd')",
        "min(1)",
        "clip(1, 2)",
        "min(*(1, 2))",
        "round(1, ndigits=2)",
        "(y := 1)",
        "sum if",
        "1; 2",
        "other",
        "True",
        "None",
        "1j",
        "~1",
        "1 << 9",
        "7 // 2",
        "5 in (5, 6)",
        "1e300 * 1e300 * 1e16",
        "(" * 300 + "1" + ")" * 300,
        "-" * 499 + "1" + "+ x",
        "1+" * 300 + "1",
        "\x00",
        "",
    ],
)
def test_what_is_no_arithmetic_is_refused(text):
    with pytest.raises(CourseError, match=r"(F|f)ormula") as refused:
        Formula(text, {"sum"})
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize("text", ["1 / (sum - 0.5)", "log(0 * sum)", "10 ** 10 ** 10", "(0 - 1) ** sum", "exp(1000)"])
def test_formulas_without_a_value_are_told(text):
    with pytest.raises(CourseError, match=r"has no (finite )?value here"):
        Formula(text, {"sum"}).value({"sum": 0.5})


# ---------------------------------------------------------------------------------------------
# Rules

STEPS = Thresholds(
    kind="thresholds",
    figure="sum",
    steps=({"at_most": 0.1, "points": 40}, {"at_most": 0.01, "points": 50}, {"at_most": 1, "points": 10}),
)


@pytest.mark.parametrize("figure, points", [(0.01, 50), (0.011, 40), (0.1, 40), (0.2, 10), (1, 10), (1.1, 0)])
def test_thresholds(figure, points):
    assert points_of(STEPS, {"sum": figure}, None, 0, {})[0] == points


def test_the_next_threshold():
    assert next_step(STEPS, {"sum": 0.5}).at_most == 0.1 and next_step(STEPS, {"sum": 3}).at_most == 1
    assert next_step(STEPS, {"sum": 0.001}) is None and next_step(STEPS, {}) is None
    assert points_of(STEPS, {}, None, 0, {}) == (0, "no sum yet")
    marks = Thresholds(kind="thresholds", figure="marks", steps=({"at_least": 30, "points": 5},))
    assert [points_of(marks, {"marks": m}, None, 0, {})[0] for m in (29.9, 30)] == [0, 5]


def test_other_rules():
    ranks = Ranks(kind="rank", points=(50, 40), rest=5)
    assert [points_of(ranks, {}, rank, 9, {})[0] for rank in (1, 2, 3, None)] == [50, 40, 5, 0]
    share = Baseline(kind="baseline", figure="sum", points=50, target=0.2)
    found = [points_of(share, {"sum": x}, None, 0, {"sum": 1.2})[0] for x in (0.0, 0.2, 0.7, 1.2, 2)]
    assert found == pytest.approx([50, 50, 25, 0, 0])
    assert points_of(share, {"sum": 0.5}, None, 0, {}) == (0, "the baseline has no figure yet")
    formula = FormulaRule(kind="formula", formula="100 * (baseline_sum - sum)", points=30)
    assert [points_of(formula, {"sum": x}, None, 0, {"sum": 1})[0] for x in (0.9, 0.1, 2)] == pytest.approx([10, 30, 0])
    assert points_of(formula, {"player0": 1}, None, 0, {"sum": 1})[0] == 0


@pytest.mark.parametrize(
    "rule, kind, words",
    [
        (STEPS, "report", "Nothing of a report is measured"),
        (STEPS, "bots", "no figure 'sum' of bots"),
        (Baseline(kind="baseline", figure="marks", points=1), "bots", "Only strategies have a baseline"),
        (FormulaRule(kind="formula", formula="marks", points=1), "strategies", "has the name marks"),
    ],
)
def test_rules_that_an_assignment_cannot_have(rule, kind, words):
    with pytest.raises(CourseError, match=words):
        check_rule(rule, kind)
