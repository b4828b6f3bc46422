"""Numbers as text: decimals, fractions, exploitabilities, intervals, small gaps, times, sizes, probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

_UNKNOWN = "—"
NOISE = 1e-12
"""Exploitabilities and gaps below this are rounding errors of best responses in double precision."""
_SAME = 1e-9  # exploitabilities that differ less are equal
_MOST_DIGITS = 12  # of the bounds of an interval: double precision has no more after thousands of sums


def decimals(number: float | None, digits: int = 5) -> str:
    """A number with a fixed number of decimals, a true minus sign and no negative zero."""
    if number is None:
        return _UNKNOWN
    text = f"{number:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def exploitability(number: float | None, digits: int = 5, error: float = 0.0) -> str:
    """An exploitability or a gap, which is never negative: ``"0.29697"``, ``"6.6e-9"``, ``"<1e-12"``.

    Parameters
    ----------
    digits
        Number of decimals; a number that has fewer than two digits among them is shown with two significant digits.
    error
        How far the number may be wrong; if this is more than rounding, no more decimals are shown.
    """
    if number is None:
        return _UNKNOWN
    if number >= 10.0 ** (1 - digits) or error > NOISE:
        return decimals(max(number, 0.0), digits)
    return gap(max(number, 0.0))


def scale(own: float, uniform: float | None, name: str = "yours") -> str:
    """Where an exploitability lies between perfect and uniform play.

    Examples
    --------
    >>> scale(0.29697, 0.9417), scale(1.0106, 0.9417)
    ('0 (perfect) < 0.297 (yours) < 0.942 (uniform play)', '0 (perfect) < 0.942 (uniform play) < 1.011 (yours)')
    >>> scale(1e-13, 0.9417), scale(0.9417, 0.9417)
    ('<1e-12 (yours: perfect) < 0.942 (uniform play)', '0 (perfect) < 0.942 (yours, as uniform play)')
    """
    if own < NOISE:
        marks = [(own, f"{name}: perfect")]
    elif uniform is not None and abs(own - uniform) < _SAME:
        marks, uniform = [(own, f"{name}, as uniform play")], None
    else:
        marks = [(own, name)]
    marks += [] if uniform is None else [(uniform, "uniform play")]
    told = [f"{exploitability(at, 3)} ({what})" for at, what in sorted(marks)]
    return " < ".join(told if own < NOISE else ["0 (perfect)", *told])


def fraction(number: Fraction, digits: int = 6, most: int = 80) -> str:
    """An exact number as a fraction and as a decimal: ``"2/3 = 0.666667"``.

    Parameters
    ----------
    digits
        Number of decimals.
    most
        Most characters of the fraction; a longer one shows the beginning of each part: ``"1034…/1879…"``.

    Examples
    --------
    >>> fraction(Fraction(2, 3)), fraction(Fraction(3, 4)), fraction(Fraction(-1))
    ('2/3 = 0.666667', '3/4 = 0.75', '-1')
    >>> fraction(Fraction(10**30 + 1, 3 * 10**30), most=20)
    '10000000…/30000000… = 0.333333'
    """
    text = str(number)
    if number.denominator == 1:
        return text
    if len(text) > most:
        kept = max(1, (most - 3) // 2)
        text = "/".join(f"{part[:kept]}…" if len(part) > kept + 1 else part for part in text.split("/"))
    exact = number * 10**digits
    decimal = f"{float(number):.{digits}f}"
    return f"{text} = {decimal.rstrip('0') if exact.denominator == 1 else decimal}"


def interval(bounds: Sequence[float], digits: int = 5) -> str:
    """An interval whose ends are rounded outward, so that the printed bounds still hold.

    A narrower interval gets one decimal more than its width needs.
    """
    if 0 < (width := bounds[1] - bounds[0]) < 10.0**-digits:
        digits = min(math.ceil(-math.log10(width)) + 1, _MOST_DIGITS)
    low, high = (round(end * 10**digits, 4) for end in bounds)  # 4: an error in the 16th digit makes no step
    return f"[{decimals(math.floor(low) / 10**digits, digits)}, {decimals(math.ceil(high) / 10**digits, digits)}]"


def gap(number: float | None) -> str:
    """A small number, such as a gap, to two significant digits; what double precision cannot tell from 0 is "<1e-12".

    Examples
    --------
    >>> gap(0.29697), gap(0.000993), gap(9.93e-5), gap(2e-15), gap(-6.6e-9)
    ('0.30', '0.00099', '9.9e-5', '<1e-12', '−6.6e-9')
    """
    if number is None:
        return _UNKNOWN
    return f"<{NOISE:.0e}" if abs(number) < NOISE else _significant(number, "#.2g")


def reach(number: float | None) -> str:
    """A product of probabilities, to three significant digits.

    Examples
    --------
    >>> reach(0.29697), reach(9.931e-25), reach(0.0)
    ('0.297', '9.93e-25', '0')
    """
    return _UNKNOWN if number is None else _significant(number, ".3g")


def _significant(number: float, form: str) -> str:
    text = f"{number:{form}}".rstrip(".").replace("e-0", "e-")
    return text.replace("-", "−", 1) if number < 0 else text


def duration(seconds: float | None, digits: int = 0) -> str:
    """A time: ``"8 s"``, ``"3 min 20 s"``, ``"2 h 05 min"``; below a minute with `digits` decimals.

    With decimals, a positive time never looks like 0: ``"<0.001 s"``.
    """
    if seconds is None:
        return _UNKNOWN
    if digits and 0 < seconds < 0.5 * 10.0**-digits:
        return f"<{10.0**-digits:.{digits}f} s"
    if round(seconds, digits) < 60:
        return f"{seconds:.{digits}f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def size(count: int, at_most: bool = False) -> str:
    """A number of bytes; a limit (`at_most`) is rounded down, so that a file of the printed size is accepted."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            if at_most:
                return f"{math.floor(10 * count / factor) / 10:g} {unit}"
            return f"{count / factor:.1f} {unit}"
    return f"{count} bytes"


def column(number: float | None, digits: int = 5) -> str:
    """A number in a column: always the same number of decimals, and a small number never looks like 0.

    Examples
    --------
    >>> column(0.1), column(2.6e-7), column(-2.6e-7), column(0.0)
    ('0.10000', '<0.00001', '>−0.00001', '0.00000')
    """
    if number is None or abs(number) < NOISE or abs(number) >= 0.5 * 10.0**-digits:
        return decimals(number, digits)
    least = decimals(10.0**-digits, digits)
    return f"<{least}" if number > 0 else f">−{least}"


def span(low: float, high: float, digits: int) -> str:
    """An interval, ``"0.5502 .. 0.5503"``; with more decimals if its bounds are closer than `digits` decimals show."""
    if 0 < high - low < 10.0**-digits:
        digits = min(math.ceil(-math.log10(high - low)), _MOST_DIGITS)
    return f"{low:.{digits}f} .. {high:.{digits}f}"


def thousands(number: Any) -> str:
    """An integer with commas between its thousands; anything else unchanged."""
    return f"{number:,}" if isinstance(number, int) else str(number)


def probability(number: float) -> str:
    """A probability with four decimals; a positive one never looks like 0, and one below 1 never like 1."""
    if number in (0, 1):
        return str(int(number))
    if number < 0.00005:
        return "<0.0001"
    return ">0.9999" if number >= 0.99995 else f"{number:.4f}"


def share(number: float) -> str:
    """A probability in a column: always four decimals, and no rounding to 0 or 1.

    Examples
    --------
    >>> share(0), share(1e-9), share(0.25), share(0.99999), share(1)
    ('0.0000', '<0.0001', '0.2500', '>0.9999', '1.0000')
    """
    return decimals(number, 4) if number in (0, 1) else probability(number)


def percent(number: float) -> str:
    """A probability in a sentence; a positive one never looks like 0, and one below 1 never like 1.

    Examples
    --------
    >>> percent(0), percent(0.001), percent(0.333), percent(0.999), percent(1)
    ('0%', '<1%', '33%', '>99%', '100%')
    """
    text = f"{number:.0%}"
    return "<1%" if text == "0%" and number > 0 else ">99%" if text == "100%" and number < 1 else text


def value_for(player: int, value: float) -> float:
    """The value of a game for `player`; `value` is the value for player 0."""
    return value if player == 0 else -value


def join_words(items: Sequence[Any], word: str = "and") -> str:
    """Items in a sentence: ``"0, 4 and 8"``."""
    words = [str(item) for item in items]
    return f" {word} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
