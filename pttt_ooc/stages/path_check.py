"""Checks whether Snakemake can work in a directory.

It passes the interpreter's path to a shell without quotes, and keeps records in the directory, even for a dry run.

``python -m pttt_ooc.stages.path_check`` checks the current directory before anything is installed: it needs only the
standard library.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from pathlib import Path

from pttt_ooc.errors import ConfigError

_SAFE = "/._-+,@%="


def check_place(*paths: Path) -> None:
    """Refuse paths with a character that is special to a shell or to Snakemake, or unprintable.

    Letters, accents and digits of any script are allowed.

    Raises
    ------
    ConfigError
        The sentence names path and character.
    """
    for path in paths:
        for character in str(path):
            if not (unicodedata.category(character)[0] in "LMN" or character in _SAFE):
                raise ConfigError(
                    f"The workflow cannot run in {str(path)!r}: Snakemake does not cope with {_named(character)} in a "
                    "path; move or rename the directory, so that it has letters, digits, - and _ only."
                )


def check_records(directory: Path) -> None:
    """Refuse a directory in which Snakemake cannot write its records.

    Raises
    ------
    ConfigError
        Snakemake itself would raise an OSError.
    """
    records = directory / ".snakemake"
    there = records if records.exists() else directory
    if not os.access(there, os.W_OK):
        raise ConfigError(
            f"Snakemake cannot write its records to {records}: {there} is read-only, or not yours. "
            "`pttt why` tells what is stale, and needs no records."
        )


def _named(character: str) -> str:
    return {" ": "a space", "\n": "a line break", "\t": "a tab"}.get(character, f"the character {character!r}")


if __name__ == "__main__":
    try:
        check_place(Path.cwd())
    except ConfigError as error:
        sys.exit(str(error))
