"""Arguments of Snakemake that it answers before, or without, our Snakefile.

Snakemake reads profiles first, and they may call Python: so ``profiles/default`` reports a configuration file that
cannot be read in a sentence, where Snakemake ends with a traceback.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from pttt_ooc.config import read_yaml
from pttt_ooc.errors import exit_on_error


def check_configfiles(arguments: Sequence[str]) -> None:
    """End the process with a sentence if a file of ``--configfile`` is missing, or is not YAML in UTF-8.

    Parameters
    ----------
    arguments
        The arguments after the program's name.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="*", default=[])
    named, _ = parser.parse_known_args(arguments)
    with exit_on_error(sys.exit):
        for file in named.configfile:
            read_yaml(Path(file))


def what_stays(arguments: Sequence[str], results: str) -> str:
    """What ``--delete-all-output`` leaves, and how to delete it; empty without that argument.

    Parameters
    ----------
    arguments
        The arguments after the program's name.
    results
        The directory of the game's results.
    """
    if "--delete-all-output" not in arguments:
        return ""
    return (
        "Snakemake deletes files that rules declare: stores (*.zarr), saved states (work/) and logs stay. "
        f"To delete all results of this game, named runs included: rm -r {results}"
    )
