"""Runs the programs in proof/, which stand alone."""

import contextlib
import gzip
import io
import sys
from decimal import ROUND_DOWN, Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path

PROOF = Path(__file__).parents[2] / "proof"
PROGRAM = PROOF / "verify.py"


@cache
def code_of(program):
    return compile(program.read_text(encoding="utf-8"), program, "exec")


def verify(path, *switches, program=PROGRAM):
    """What a program prints, in this process: the lines; or, if it refuses, its one sentence."""
    printed, arguments = io.StringIO(), sys.argv
    try:
        sys.argv = [str(program), str(path), *switches]
        with contextlib.redirect_stdout(printed):
            exec(code_of(program), {"__name__": "__main__"})
    except SystemExit as end:
        assert isinstance(end.code, str) and not printed.getvalue()
        return [end.code]
    finally:
        sys.argv = arguments
    return printed.getvalue().splitlines()


def proven_words(lower, upper=None):
    """The words for what is proven: the value, with its first 15 digits; or an interval."""
    value = Fraction(lower)
    if upper is not None and Fraction(upper) != value:
        return f"{lower} <= value <= {upper}"
    if value in (-1, 0, 1):
        return f"value = {value}"
    with localcontext(prec=999, rounding=ROUND_DOWN):
        digits = (Decimal(value.numerator) / value.denominator).quantize(Decimal("1e-15"))
    return f"value = {value} = {digits}..."


def zipped(text, path):
    """Write a text as a certificate."""
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
    return path


def text_of(name):
    """The text of a committed certificate."""
    return gzip.decompress((PROOF / f"{name}.txt.gz").read_bytes()).decode("ascii")
