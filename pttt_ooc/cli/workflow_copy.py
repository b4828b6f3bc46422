"""The files of the workflow in a directory of one's own: `pttt lab workflow`."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from pttt_ooc.disk.files import explain_errors
from pttt_ooc.disk.outputs import check_output_directory
from pttt_ooc.errors import StoreError

FILES = ("config.yaml", "profiles", "workflow")
"""What the workflow consists of, besides the package."""
_PACKAGE = Path(__file__).parents[1]


def copy(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write them; it is made if necessary.")],
) -> None:
    """Write the files of the workflow: where there is no clone of the repository, it runs from there.

    These are the configuration config.yaml, the folder workflow with the rules, and the folder profiles with options
    of Snakemake. Nothing is replaced.
    """
    write_workflow(directory)
    print(f"The workflow is in {directory}. To run it:\n  cd {shlex.quote(str(directory))} && snakemake --cores all")
    if find_spec("snakemake") is None:
        print('Snakemake is not installed yet:\n  pip install "pttt-ooc[workflow,exact]"')


def workflow_files() -> Path:
    """The directory of the workflow's files: their own folder in an installed package, or the root of a clone."""
    installed = _PACKAGE / "workflow_files"
    return installed if installed.is_dir() else _PACKAGE.parent


def write_workflow(directory: Path) -> None:
    """Write the files of the workflow, all of them or none.

    Raises
    ------
    StoreError
        If one of them exists already, or the directory cannot be written to.
    """
    check_output_directory(directory)
    for name in FILES:
        if os.path.lexists(directory / name):
            raise StoreError(f"{directory / name} exists already, and nothing is replaced: name another directory.")
    with explain_errors(f"write the workflow to {directory}"):
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".workflow-", dir=directory) as place:
            for name in FILES:
                source = workflow_files() / name
                if source.is_dir():
                    shutil.copytree(source, Path(place, name), ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(source, place)
            for name in FILES:
                Path(place, name).rename(directory / name)
