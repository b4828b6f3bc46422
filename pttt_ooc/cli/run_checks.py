"""Checks of what is on disk: `pttt lab fsck`, `pttt lab verify-run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.errors import StoreError, on_one_line
from pttt_ooc.options import DATA


def fsck(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="A work directory, or one with any number of them below it.")
    ] = DATA,
) -> None:
    """Check the contents of all files on disk; nothing is written.

    Below DIR, all saved states of the solver are compared with their checksums, and all products of the workflow
    and of its wings with their manifests.  A missing manifest is a problem if there is a product of its stage, or a
    manifest of a later one.  Stages that have not run, and files that no manifest describes, are only named.
    """
    from pkgutil import resolve_name

    from pttt_ooc.cli.wings import WINGS
    from pttt_ooc.pipeline.stages.fsck import OWN_SETS, check

    findings = check(directory, [*OWN_SETS, *(resolve_name(wing.stages) for wing in WINGS if wing.stages)])
    for problem in findings.problems:
        print(problem, file=sys.stderr)
    for fact in findings.facts:
        print(fact)
    print(findings.summary)
    if findings.problems:
        raise typer.Exit(1)


def verify_run(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The results of a run, with its report.")],
    digest: Annotated[str | None, typer.Argument(metavar="[DIGEST]", help="A published digest to compare.")] = None,
) -> None:
    """Print the digest of a run, or compare it with a published one.

    The digest covers what all stages have computed, but not the report, times, memory and versions. Equal
    configurations have equal digests: docs/files.md says more under "What 'the same bits' means". All files of the
    run are checked. The digest in the example below is that of the workflow's default run.
    """
    from pttt_ooc.pipeline.stages.fsck import run_digest

    computed = run_digest(directory)
    if digest is not None and digest.strip().lower() != computed:
        raise StoreError(f"{directory} is another run: its digest is {computed}, not {on_one_line(digest)}.")
    print(computed if digest is None else f"{directory} is the run {computed}.")
