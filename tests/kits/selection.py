"""Which tests `make test` leaves out: those marked `slow`, and all cases but one of those marked `slow_but_one`."""

import pytest


def mark_slow_cases(items):
    """Mark the cases of tests that are `slow_but_one`, except the first of each that is not marked itself."""
    kept = {}
    for item in items:
        if any(map(item.get_closest_marker, ("slow", "full", "long"))) or not item.get_closest_marker("slow_but_one"):
            continue
        if kept.setdefault(item.nodeid.partition("[")[0], item) is not item:
            item.add_marker(pytest.mark.slow)
