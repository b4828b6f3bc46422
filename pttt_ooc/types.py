"""Types that many modules share: the allowed words of options, intervals, and attempts.

The command line and the web process import this module, so it imports nothing slow.
"""

from __future__ import annotations

from typing import Literal

TurnRule = Literal["abrupt", "classical"]
Symmetry = Literal["full", "none"]
Algorithm = Literal[
    "cfr", "cfr+", "linear-cfr", "dcfr", "pcfr+", "pdcfr+", "sapcfr+", "sapdcfr+", "hs-dcfr", "hs-pcfr+"
]
Finish = Literal["exact", "none"]
Updates = Literal["alternating", "simultaneous"]
Precision = Literal["float32", "float64"]
TensorType = Literal["float16", "float32", "float64"]

Interval = tuple[float, float]
"""Lower and upper bound of a number."""

Attempts = tuple[tuple[int, bool], ...]
"""A player's attempts: squares with their outcomes, True for placed, without the setup."""
