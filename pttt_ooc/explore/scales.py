"""The scales of shades: they are fixed, so that a shade means the same number on every page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

DARKEST = 0.75
"""The opacity of the darkest shade: text on it is still read."""

OURS, THEIRS = "ours", "theirs"
"""The two colours: what is good for the player, or theirs; and what is bad, or the opponent's."""


@dataclass(frozen=True)
class Stop:
    """A number with its shade, for a legend."""

    label: str
    tone: str
    opacity: str


@dataclass(frozen=True)
class Scale:
    """Shades for numbers.

    Attributes
    ----------
    share
        How dark a number is that is not negative, from 0 to 1.
    positive, negative
        The colours of numbers above and below 0.
    shown
        Numbers of the legend, with their labels.
    """

    share: Callable[[float], float]
    positive: str
    negative: str
    shown: Sequence[tuple[float, str]]

    def opacity(self, number: float) -> str:
        """The opacity of the shade of a number."""
        return f"{DARKEST * min(1.0, self.share(abs(number))):.3f}"

    def tone(self, number: float) -> str:
        """The colour of the shade of a number."""
        return self.negative if number < 0 else self.positive

    @property
    def stops(self) -> list[Stop]:
        """The legend."""
        return [Stop(label, self.tone(number), self.opacity(number)) for number, label in self.shown]


_DECADES = 5


def _logarithmic(number: float) -> float:
    return max(0.0, 1 + math.log10(number) / _DECADES) if number > 0 else 0.0


_SHARES = tuple((n, f"{n:g}") for n in (0.01, 0.1, 0.25, 0.5, 1.0))
_LOSSES = tuple((n, f"{n:g}") for n in (0.0001, 0.001, 0.01, 0.1, 1.0))

PROBABILITY = Scale(math.sqrt, OURS, OURS, _SHARES)
BELIEF = Scale(math.sqrt, THEIRS, THEIRS, _SHARES)
VALUE = Scale(float, OURS, THEIRS, ((-1.0, "−1"), (-0.5, "−0.5"), (0.0, "0"), (0.5, "0.5"), (1.0, "1")))
REGRET = Scale(
    _logarithmic, OURS, THEIRS, ((-0.1, "−0.1"), (-0.001, "−0.001"), (0.0, "0"), (0.001, "0.001"), (0.1, "0.1"))
)
LOSS = Scale(_logarithmic, THEIRS, OURS, _LOSSES)
