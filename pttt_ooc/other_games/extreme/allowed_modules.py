"""The modules that a course allows beside Python's own: a bot that imports one which is missing here has no fault."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from importlib.util import find_spec

from pttt_ooc.extras import sentence
from pttt_ooc.other_games.extreme.source_remarks import LIBRARIES
from pttt_ooc.other_games.extreme.walled_process import MachineError
from pttt_ooc.other_games.extreme.walls import Interpreter

_MISSING = r"(?:ModuleNotFoundError|ImportError): No module named '?({})\b"


class MissingModuleError(MachineError):
    """A bot imports a module that the course allows, and that is not installed here."""


def check_modules(file: str, detail: str, interpreter: Interpreter, libraries: Iterable[str] = ()) -> None:
    """Look whether a bot has failed for a module that is allowed and missing.

    Parameters
    ----------
    file
        The name of the bot's file.
    detail
        What it raised, as text; it may be made up, so the module itself is looked for.
    interpreter
        What ran it.
    libraries
        What the course allows besides the libraries of its document.

    Raises
    ------
    MissingModuleError
        If so; the message says how to install the module.
    """
    raised = detail.strip().splitlines()[-1:]
    named = re.match(_MISSING.format("|".join((*LIBRARIES, *libraries))), raised[0]) if raised else None
    if named and not _is_there(named[1], interpreter):
        user = f"The bot {file}, run by Python {'.'.join(map(str, interpreter.version))},"
        if interpreter.version[0] == 2:
            raise MissingModuleError(f"{user} needs {named[1]}, which the course allows; install it for that Python.")
        if named[1] not in LIBRARIES:  # the package that brings it may have another name
            raise MissingModuleError(f"{user} needs {named[1]}, which the course allows; install it beside pttt.")
        raise MissingModuleError(sentence(user, [named[1]]))


def _is_there(module: str, interpreter: Interpreter) -> bool:
    if interpreter.version[0] == 3:  # it sees the modules that are installed beside this package
        return find_spec(module) is not None
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(interpreter.paths)}
    command = [*interpreter.command, "-c", f"import {module}"]
    return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0
