"""Checks whether Snakemake can work in a directory: it passes the interpreter's path to a shell without quotes.

``python -m pttt_ooc.pipeline.stages.path_check`` checks the current directory before anything is installed: it needs
only the standard library.
"""

from __future__ import annotations

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
                    f"The workflow cannot run in {str(path)!r}: Snakemake does not cope with "
                    f"{_describe_character(character)} in a path; move or rename the directory, so that it has "
                    "letters, digits, - and _ only."
                )


def _describe_character(character: str) -> str:
    return {" ": "a space", "\n": "a line break", "\t": "a tab"}.get(character, f"the character {character!r}")


if __name__ == "__main__":
    try:
        check_place(Path.cwd())
    except ConfigError as error:
        sys.exit(str(error))
