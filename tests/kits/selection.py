"""Which tests are left out: cases by hand (`long`), and by `make test` those marked `slow` or `slow_but_one`."""

import pytest


def by_hand(cases, *long):
    """The cases of a parametrized test; those of `long` are only run by hand, with -m long."""
    assert {*long} <= {*cases}
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[pytest.mark.long] * (case in long))
        for case in cases
    ]


def mark_slow_cases(items):
    """Mark the cases of tests that are `slow_but_one`, except the first of each that is not marked itself."""
    kept = {}
    for item in items:
        if any(map(item.get_closest_marker, ("slow", "full", "long"))) or not item.get_closest_marker("slow_but_one"):
            continue
        if kept.setdefault(item.nodeid.partition("[")[0], item) is not item:
            item.add_marker(pytest.mark.slow)
