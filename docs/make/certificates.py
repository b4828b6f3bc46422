"""Make all certificates anew and verify them: ``python -m docs.make.certificates DIRECTORY [GAME ...]``.

For the named games, or else all whose certificate takes less than a minute, ``pttt certify`` writes a certificate to
the directory, and ``proof/verify.py`` and ``pttt verify`` check it, each in a process of its own.  The rows of the
table in ``docs/exact.md`` are printed, with processor seconds and memory.  An equilibrium need not be unique: if a
certificate differs from the committed one, a line says so.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

from pttt_ooc.exact.certificates.certificate import statement
from pttt_ooc.games.rules.catalogue import EXACT_VALUES

PROOF = Path(__file__).parents[2] / "proof"
PTTT = ("-m", "pttt_ooc.cli")
MINUTES = ("pttt-3x4k3-abrupt", "dark-hex-3x4-abrupt", "dark-hex-4x4-classical")
HEAD = (
    "| game | value for player 0 | digits | infosets | support | bytes | certify, s | verify.py, s | verify.py, MB "
    "| `pttt verify`, s |"
)


def measured(*arguments: object) -> tuple[str, float, float]:
    """The last line that a program prints, its processor seconds, and its largest memory in MB."""
    with tempfile.TemporaryFile() as told:
        child = subprocess.Popen([sys.executable, *map(str, arguments)], stdout=told, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        lines = told.read().decode().splitlines() or [""]
    if child.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}: {lines[-1]}")
    return lines[-1], usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def sizes(path: Path) -> tuple[str, str]:
    """The numbers of infosets and of actions of both plans."""
    heads = [line.split(" ") for line in gzip.decompress(path.read_bytes()).decode().splitlines() if line[:4] == "plan"]
    infosets, actions = ([f"{int(head[k]):,}" for head in heads] for k in (2, 3))
    return " + ".join(infosets), " + ".join(actions)


def row(name: str, directory: Path) -> str:
    """Make and verify a certificate; a row of the table."""
    path, committed = directory / f"{name}.txt.gz", PROOF / f"{name}.txt.gz"
    made, certify, _ = measured(*PTTT, "certify", "--game", name, "--output", path, "--force")
    by_program, program, memory = measured(PROOF / "verify.py", path)
    by_package, package, _ = measured(*PTTT, "verify", path)
    value = EXACT_VALUES[name]
    if {made, by_program, by_package} != {f"proven: {statement(value, value)}"}:
        sys.exit(f"{name}: {made}; {by_program}; {by_package}; the catalogue says {value}")
    if gzip.decompress(path.read_bytes()) != gzip.decompress(committed.read_bytes()):
        print(f"{path} has another equilibrium than {committed}.", file=sys.stderr)
    digits = len(str(Fraction(value).denominator))
    infosets, support = sizes(path)
    return (
        f"| `{name}` | {value} | {digits} | {infosets} | {support} | {path.stat().st_size:,} "
        f"| {certify:.1f} | {program:.1f} | {memory:.0f} | {package:.1f} |"
    )


def main(arguments: list[str] | None = None) -> None:
    """Make and verify them all."""
    parser = argparse.ArgumentParser(prog="python -m docs.make.certificates", description=__doc__)
    parser.add_argument("directory", type=Path, metavar="DIRECTORY")
    quick = [name for name in EXACT_VALUES if name not in MINUTES]
    parser.add_argument("games", nargs="*", metavar="GAME", default=quick)
    options = parser.parse_args(arguments)
    if unknown := set(options.games) - EXACT_VALUES.keys():
        parser.error(f"no certificate is known of {', '.join(sorted(unknown))}")
    options.directory.mkdir(parents=True, exist_ok=True)
    print(HEAD, f"|{'-|' * HEAD.count(' | ')}-|", sep="\n")
    for name in options.games:
        print(row(name, options.directory), flush=True)


if __name__ == "__main__":
    main()
