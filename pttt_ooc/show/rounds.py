"""The progress of the double oracle, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pttt_ooc.double_oracle.oracle import Round


def round_line(last: Round, seconds: float) -> str:
    """One line about a round."""
    gap = max(last.nashconv, 0.0)  # rounding may make it negative
    return (
        f"round {last.number}, value in {last.best_lower:.6f} .. {last.best_upper:.6f}, gap {gap:.1e}, "
        f"{last.sequences[0]:,} and {last.sequences[1]:,} sequences, {seconds:.0f} s so far"
    )
