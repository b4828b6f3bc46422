"""Which tests are left out: cases by hand (`long_but`), and by `make test` those marked `slow` or `slow_but_one`."""

import pytest


def test_of(item):
    return item.nodeid.partition("[")[0]


def mark_cases(items, whole):
    """Mark the cases of tests that are `long_but` some, and of those that are `slow_but_one`.

    Of a test `long_but` some, the cases whose names contain one of its texts are kept, and the others are `long`.  Of
    a test `slow_but_one`, the first case that is not marked itself is kept, of each player if it has a parameter
    `player`, and the others are `slow`.  If `items` are the `whole` of all tests, each test keeps a case, and not
    only one that is `full`.
    """
    for item in items:
        but = item.get_closest_marker("long_but")
        if but and not any(text in item.callspec.id for text in but.args):
            item.add_marker(pytest.mark.long)
    first = {}
    for item in items:
        if any(map(item.get_closest_marker, ("slow", "full", "long"))) or not item.get_closest_marker("slow_but_one"):
            continue
        of = test_of(item), item.callspec.params.get("player") if hasattr(item, "callspec") else None
        if first.setdefault(of, item) is not item:
            item.add_marker(pytest.mark.slow)
    tried = {test_of(item) for item in items if not any(map(item.get_closest_marker, ("long", "full")))}
    lost = {test_of(item) for item in items if item.get_closest_marker("long_but")} - tried
    if whole and lost:
        raise pytest.UsageError(f"long_but names no case of {', '.join(sorted(lost))}")
