"""The text of an infoset: a bar, and for each own attempt, setup first, the square and what came of it.

A square is one hexadecimal digit: `a` to `f` are squares 10 to 15.  ``*`` means that the mark was placed, ``.`` that
the attempt failed.

>>> infoset_text([(4, True), (11, False)])
'|4*b.'
>>> attempts_of("|4*b.")
[(4, True), (11, False)]
"""

from __future__ import annotations

import re
from collections.abc import Iterable

DIGITS = "0123456789abcdef"
"""The digit of each square."""


def infoset_text(attempts: Iterable[tuple[int, bool]]) -> str:
    """The text of the infoset after some attempts, those of the setup included."""
    return "|" + "".join(f"{DIGITS[square]}{'*' if placed else '.'}" for square, placed in attempts)


def attempts_of(text: str) -> list[tuple[int, bool]]:
    """The attempts of an infoset's text in order, the setup first; anything else in it is left out."""
    return [(DIGITS.index(square), outcome == "*") for square, outcome in re.findall(f"([{DIGITS}])([*.])", text)]


def is_infoset_text(text: str) -> bool:
    """Whether a text has this form."""
    return re.fullmatch(rf"\|([{DIGITS}][*.])*", text) is not None
