"""Memory plans."""

from __future__ import annotations

import pytest

from pttt_ooc.errors import MemoryBudgetError
from pttt_ooc.memory import MemoryPlan


def test_a_memory_plan_says_what_would_do() -> None:
    plan = MemoryPlan({"operators": 160_000_000})
    plan.add("slices", (1000, 500), "f8", count=3)
    plan.add("scratch", (1,), "u1")
    assert plan.items["slices"] == 12_000_000 and plan.total_mb == 173
    plan.check(173)
    with pytest.raises(MemoryBudgetError, match=r"of 172\.5 MB is too small: 173 MB is the smallest.*operators 160"):
        plan.check(172.5)
