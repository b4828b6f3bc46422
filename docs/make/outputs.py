"""What commands print, in documents: ``python -m docs.make.outputs --write`` runs them and writes what they print.

A block of commands that begins with ``$ pttt`` shows one command and its output.  The blocks of a page are run in their
order, in an empty directory.  Seconds differ from run to run and are not compared.  Without ``--write``, the command
names the pages that differ.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = ("docs/arena.md", "docs/commands.md")
_BLOCK = re.compile(r"(?<=^```\n)\$ pttt (.*)\n((?:(?!```).*\n)*)(?=```$)", re.MULTILINE)


def rendered(text: str, run: Callable[[Sequence[str]], str]) -> str:
    """A page with what its commands print; `run` returns what the command of some arguments prints."""

    def block(match: re.Match[str]) -> str:
        printed = "".join(f"{line.rstrip()}\n" for line in run(shlex.split(match[1])).splitlines())
        return f"$ pttt {match[1]}\n{match[2] if without_times(printed) == without_times(match[2]) else printed}"

    return _BLOCK.sub(block, text)


def without_times(text: str) -> str:
    """A text without its seconds."""
    return re.sub(r"<?\d+(\.\d+)? s\b", "0 s", text)


def page_as_run(page: str) -> str:
    """A page as its commands make it today."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}

    def run(words: Sequence[str]) -> str:
        command = [sys.executable, "-m", "pttt_ooc.cli", *words]
        done = subprocess.run(command, cwd=place, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout

    with tempfile.TemporaryDirectory() as place:
        return rendered((ROOT / page).read_text(encoding="utf-8"), run)


def main() -> int:
    """Write the outputs, or name the pages that differ."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true", help="write the outputs into the pages")
    write, stale = options.parse_args().write, []
    for page in PAGES:
        new = page_as_run(page)
        if new != (ROOT / page).read_text(encoding="utf-8"):
            stale.append(page)
            if write:
                (ROOT / page).write_text(new, encoding="utf-8")
    print(f"{'Written' if write else 'Stale'}: {', '.join(stale) or 'none'}.")
    return int(bool(stale) and not write)


if __name__ == "__main__":
    sys.exit(main())
