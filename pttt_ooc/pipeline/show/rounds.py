"""Rounds of a double oracle in words; apart from `progress`, so that a solve does not depend on exact solving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pttt_ooc.disk.numbers import gap

if TYPE_CHECKING:
    from pttt_ooc.exact.double_oracle.oracle import Round


def round_text(last: Round) -> str:
    """What a round proves."""
    low, high = last.interval
    return f"round {last.number}, value in {low:.6f} .. {high:.6f}, gap {gap(last.nashconv)}"


def round_line(last: Round, seconds: float) -> str:
    """One line about a round."""
    return f"{round_text(last)}, {last.sequences[0]:,} and {last.sequences[1]:,} sequences, {seconds:.0f} s so far"
