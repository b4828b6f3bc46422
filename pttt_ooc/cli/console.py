"""Running a command line: one sentence for each error, in our words."""

from __future__ import annotations

import os
import re
import sys
from io import TextIOWrapper
from typing import Any

import typer

from pttt_ooc.cli.old_names import renew
from pttt_ooc.disk.resources import small_threads
from pttt_ooc.errors import StoreError, did_you_mean, exit_on_error, keep_interrupts
from pttt_ooc.options import Group


def run(app: typer.Typer, name: str, arguments: list[str] | None = None) -> None:
    """Run a command line; an error for people ends it with one sentence.

    Parameters
    ----------
    name
        The name of the program.
    arguments
        The command and its arguments; default: those of the process.
    """
    small_threads()
    with exit_on_error(say):
        if sys.stdout is None:
            raise StoreError("There is no standard output to write to: it is closed.")
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # names of files may not be valid text
        try:
            app(args=arguments, prog_name=name)
        except SystemExit:
            _flush()
            raise


def say(sentence: str) -> None:
    """Print a sentence on stderr."""
    print(sentence, file=sys.stderr)


def _flush() -> None:
    """Flush standard output; an error at the end of the process would print no sentence.

    Raises
    ------
    StoreError
        If it cannot be written, unless the reader has closed the pipe.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the rest of the output
        if not isinstance(error, BrokenPipeError):
            raise StoreError(f"Cannot write to standard output: {error.strerror}.") from error


class Commands(Group):
    """The commands, also by their old names, and with our own messages about refused values of options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; say so if a new name replaces an old one."""
        arguments, told = renew(args, self)
        if not ctx.resilient_parsing:  # else a shell asks for completions
            for sentence in told:
                say(sentence)
        return super().parse_args(ctx, arguments)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with keep_interrupts():
                return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = _refusal(error)
            raise


def _refusal(error: typer.BadParameter) -> str:
    """The message about a refused value, in our words if pydantic refused it."""
    problems = getattr(error.__cause__, "errors", None)
    if problems is None:
        return error.message
    problem = problems()[0]
    from pttt_ooc.config import allowed_values, shorten

    if problem["type"] == "value_error":  # one of a list of names
        value, *known = re.findall("'([^']*)'", str(problem["ctx"]["error"])) or [""]
        return f"{shorten(problem['input'])} is not one of {', '.join(known)}{did_you_mean(value, known)}."
    return f"it is {shorten(problem['input'])}, but must be {allowed_values(problem)}."
