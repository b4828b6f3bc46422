"""Numbers, times and sizes as text."""

from fractions import Fraction

import pytest

from pttt_ooc.disk.numbers import (
    column,
    decimals,
    duration,
    exploitability,
    fraction,
    gap,
    interval,
    join_words,
    percent,
    probability,
    reach,
    scale,
    share,
    size,
    thousands,
)


def test_decimals_have_a_true_minus_and_no_negative_zero():
    assert decimals(-0.000001) == "0.00000"
    assert decimals(-0.25, 2) == "−0.25"
    assert decimals(None) == "—"


@pytest.mark.parametrize(
    ("number", "digits", "error", "text"),
    [
        (0.94170001, 5, 0, "0.94170"),
        (0.00012, 5, 0, "0.00012"),
        (0.0000999, 5, 0, "0.00010"),
        (6.6123e-9, 5, 0, "6.6e-9"),
        (6.6123e-9, 9, 0, "6.6e-9"),
        (1.234e-8, 9, 0, "0.000000012"),
        (1.01e-12, 5, 0, "1.0e-12"),
        (0.99e-12, 5, 0, "<1e-12"),
        (0.0, 9, 0, "<1e-12"),
        (-3e-16, 5, 0, "<1e-12"),  # of rounding: never negative
        (-3e-5, 5, 1e-4, "0.00000"),
        (6.6e-9, 5, 1e-7, "0.00000"),  # digits that are not known
        (None, 5, 0, "—"),
    ],
)
def test_exploitabilities_have_the_digits_that_they_need(number, digits, error, text):
    assert exploitability(number, digits, error) == text


def test_numbers_of_a_column_have_the_same_decimals_and_never_look_like_0():
    numbers = [1, 0.0595, 5e-6, 4.9e-6, -4.9e-6, 1e-13, 0, None]
    told = ["1.00000", "0.05950", "0.00001", "<0.00001", ">−0.00001", "0.00000", "0.00000", "—"]
    assert [column(number) for number in numbers] == told
    assert column(-0.5, 2) == "−0.50" and column(0.004, 2) == "<0.01"


def test_intervals_are_rounded_outward():
    assert interval([0.549996, 0.550311], 5) == "[0.54999, 0.55032]"
    assert interval([0.550111, 0.550218], 6) == "[0.550111, 0.550218]"
    assert interval([-0.1234567, -0.1], 3) == "[−0.124, −0.100]"
    assert (
        interval([0.55016677769, 0.55016677774], 6) == "[0.550166777690, 0.550166777740]"
    )  # enough decimals for its width
    assert interval([0.55016677, 0.55016697], 6) == "[0.55016677, 0.55016697]"
    assert interval([0.5, 0.5], 3) == "[0.500, 0.500]" and interval([0.5, 0.5 + 1e-15], 3)[:5] == "[0.50"


def test_gaps_have_one_form_of_two_digits_and_rounding_is_not_told_from_0():
    """2e-15, 3.2e-15, 1.97e-14 and <1e-12 stood for one run."""
    told = {2e-15: "<1e-12", 3.2e-15: "<1e-12", 1.97e-14: "<1e-12", 0.0: "<1e-12", -1e-16: "<1e-12"}
    told |= {1.2e-12: "1.2e-12", 6.612e-9: "6.6e-9", 1e-9: "1.0e-9", 9.93e-5: "9.9e-5", 1e-4: "0.00010"}
    told |= {0.0009934: "0.00099", 0.29697: "0.30", 0.5: "0.50", 1.332: "1.3", 12.3: "12", -6.6e-9: "−6.6e-9"}
    assert {number: gap(number) for number in told} == told and gap(None) == "—"
    assert [exploitability(number) for number in (2e-15, 6.612e-9)] == ["<1e-12", "6.6e-9"]


def test_reach_has_three_digits_and_may_be_tiny():
    assert [reach(p) for p in (None, 1.0, 0.29697, 9.931e-25, 0)] == ["—", "1", "0.297", "9.93e-25", "0"]


def test_exact_numbers_are_fractions_and_decimals():
    long = Fraction(10**40 + 1, 3 * 10**40)
    numbers = [Fraction(2, 3), Fraction(3, 4), Fraction(-1), Fraction(0), Fraction(-19463, 33742)]
    assert [fraction(each) for each in numbers] == [
        "2/3 = 0.666667",
        "3/4 = 0.75",
        "-1",
        "0",
        "-19463/33742 = -0.576818",
    ]
    assert fraction(long) == f"{'1' + '0' * 37}…/{'3' + '0' * 37}… = 0.333333"
    assert fraction(long, 9, 100) == f"{long} = 0.333333333"


def test_an_exploitability_lies_on_a_scale():
    assert scale(0.29697, 0.9417) == "0 (perfect) < 0.297 (yours) < 0.942 (uniform play)"
    assert scale(1.0106, 0.9417) == "0 (perfect) < 0.942 (uniform play) < 1.011 (yours)"
    assert scale(0.9417, 0.9417) == "0 (perfect) < 0.942 (yours, as uniform play)"
    assert scale(2e-15, 0.9417) == "<1e-12 (yours: perfect) < 0.942 (uniform play)"
    assert scale(6.6e-9, None) == "0 (perfect) < 6.6e-9 (yours)"


@pytest.mark.parametrize(
    ("seconds", "digits", "text"),
    [
        *((0.4, 0, "0 s"), (59.6, 0, "1 min 00 s"), (200, 0, "3 min 20 s"), (7500, 0, "2 h 05 min")),
        *(
            (None, 1, "—"),
            (0.04, 1, "<0.1 s"),
            (59.94, 1, "59.9 s"),
            (59.96, 1, "1 min 00 s"),
            (3599.6, 1, "1 h 00 min"),
        ),
    ],
)
def test_times(seconds, digits, text):
    assert duration(seconds, digits) == text


def test_sizes_and_limits():
    assert [size(n) for n in (12, 1000, 3_400_000, 5_600_000_000)] == ["12 bytes", "1.0 kB", "3.4 MB", "5.6 GB"]
    assert [size(n, at_most=True) for n in (1_099_999, 2_000_000, 950)] == ["1 MB", "2 MB", "950 bytes"]


def test_thousands_are_set_apart():
    assert thousands(1234567) == "1,234,567"
    assert thousands("3.11.2") == "3.11.2"


def test_probabilities_never_look_certain():
    near = (0, 1, 0.00004, 0.00005, 0.25, 0.99994, 0.99996)
    assert [probability(p) for p in near] == ["0", "1", "<0.0001", "0.0001", "0.2500", "0.9999", ">0.9999"]


def test_percents_never_look_certain():
    near = (0, 1, 0.001, 0.005, 0.333, 0.994, 0.999)
    assert [percent(p) for p in near] == ["0%", "100%", "<1%", "<1%", "33%", "99%", ">99%"]


def test_items_in_a_sentence():
    assert [join_words(items) for items in ([4], [0, 4], [0, 4, 8])] == ["4", "0 and 4", "0, 4 and 8"]
    assert join_words(["a", "b", "c"], "or") == "a, b or c"


def test_a_short_time_never_looks_like_none():
    assert [duration(one, 3) for one in (0.0, 1e-6, 0.0004, 0.0006, 2.0)] == [
        "0.000 s",
        "<0.001 s",
        "<0.001 s",
        "0.001 s",
        "2.000 s",
    ]
    assert duration(0.3) == "0 s"


def test_a_column_of_probabilities_has_four_decimals_in_all_rows():
    assert [share(one) for one in (0, 1e-9, 0.25, 0.99999, 1, 0.0)] == [
        "0.0000",
        "<0.0001",
        "0.2500",
        ">0.9999",
        "1.0000",
        "0.0000",
    ]
