"""Runs the programs in proof/, which stand alone."""

import contextlib
import gzip
import io
import sys
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


def zipped(text, path):
    """Write a text as a certificate."""
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))
    return path


def text_of(name):
    """The text of a committed certificate."""
    return gzip.decompress((PROOF / f"{name}.txt.gz").read_bytes()).decode("ascii")
