"""The command ``pttt``: its groups of commands, one module each.

Commands import slow libraries when they run, so that help is fast.  A group is a module with a function
``add_commands``, in :data:`GROUPS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from pttt_ooc import __version__
from pttt_ooc.cli import exact, games, inspection, lab, plan, proof, servers, solutions, strategies
from pttt_ooc.cli.console import Commands, run
from pttt_ooc.cli.wings import WINGS
from pttt_ooc.course.server import bot_commands as league
from pttt_ooc.course.server import client as hand_in
from pttt_ooc.course.server import commands as course

_WINGS = [import_module(wing.commands) for wing in WINGS if wing.commands]
GROUPS = (games, plan, strategies, inspection, solutions, exact, proof, servers, hand_in, course, *_WINGS, league, lab)


class _Top(Commands):
    """All commands, in the order of `pttt --help`."""

    sections = {
        "Commands": (
            *("solve", "evaluate", "validate", "mistakes", "compare", "show", "exact", "verify", "certify", "plan"),
            *("why", "info", "submit", "web"),
        ),
        "Groups of commands": ("course", "extreme", "arena", "smbc", "lab"),
    }


app = typer.Typer(
    cls=_Top,
    help="Phantom Tic-Tac-Toe and its relatives, solved exactly.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; an error for people ends it with one sentence.

    Parameters
    ----------
    arguments
        The command and its arguments; default: those of the process.
    """
    run(app, "pttt", arguments)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pttt {__version__}")
        raise typer.Exit


@app.callback(epilog="Example: pttt evaluate pttt_pl0.zip uniform")
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Phantom Tic-Tac-Toe and its relatives, solved exactly."""


for group in GROUPS:
    group.add_commands(app)
