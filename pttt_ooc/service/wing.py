"""How a wing describes itself to the command line, the configuration and the servers of pages.

What takes long to import is named, as ``module:attribute``, and imported by the process that uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

Call: TypeAlias = tuple[str, ...]
"""A function as ``module:function``, and arguments that another process calls it with."""


@dataclass(frozen=True)
class Pages:
    """Pages on a directory, and the processes behind them.

    Attributes
    ----------
    name
        Of the wing, in the log.
    what
        They show, to begin a sentence: "The match to 5".
    title, subtitle
        Of the application, if they are alone.
    parts
        Gives the parts of the application, in the web process.  Its first argument is the answerer's address, if there
        is an answerer.
    answerer
        A context manager of what answers, in a process of its own; None: no answerer is needed.
    workers
        Further processes: each has a name, a module that Python runs, and the module's arguments.
    """

    name: str
    what: str
    parts: Call
    title: str = ""
    subtitle: str = ""
    answerer: Call | None = None
    workers: Sequence[tuple[str, ...]] = ()


@dataclass(frozen=True)
class Wing:
    """A system of its own, on top of the core.

    Attributes
    ----------
    name
        The key of its section in ``config.yaml``, and the name of its commands.
    commands
        The module whose ``add_commands`` adds its commands; empty: it has none.
    section
        The model of its section in ``config.yaml``; empty: it has none.
    pages
        Looks at a directory, so that errors are told before any process starts, and describes the pages on it.  A
        second directory may say where games of people are kept.
    """

    name: str
    commands: str = ""
    section: str = ""
    pages: Callable[[Path, Path | None], Pages] | None = None


def called(call: Sequence[str], *first: object) -> Any:
    """Call a function that is named, with further first arguments."""
    name, *arguments = call
    return resolve_name(name)(*first, *arguments)
