"""The description of a wing, for the command line, the configuration, and servers of pages.

A description names slow modules, as ``module:attribute``; the process that uses them imports them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

from pttt_ooc.pipeline.show.miniatures import Miniature

Call: TypeAlias = tuple[str, ...]
"""``module:function``, and the arguments with which another process calls the function."""


@dataclass(frozen=True)
class Pages:
    """Pages on a directory, and the processes behind them.

    Attributes
    ----------
    name
        The name of the wing, for the log.
    what
        The subject of a sentence, such as "The match to 5".
    title, subtitle
        The title of an application that has these pages only.
    parts
        Returns the application's parts, in the web process.  The addresses of answerers, if there are any, are its
        first arguments.
    answerer
        Context manager that yields the answers, in a process of its own; None: no answerer.
    answerers
        Further ones, each in a process of its own; their addresses follow the first one's.
    workers
        Further processes: name, module, and the module's arguments.
    page
        The address of the page that a browser opens.
    """

    name: str
    what: str
    parts: Call
    title: str = ""
    subtitle: str = ""
    answerer: Call | None = None
    answerers: Sequence[Call] = ()
    workers: Sequence[tuple[str, ...]] = ()
    page: str = "/"


@dataclass(frozen=True)
class Card:
    """What one wing has to show, for the home of a site.

    Attributes
    ----------
    title, sentence
        Its name, and one sentence on what it is.
    heads, rows
        What has been computed, as a table.
    links
        Address and label of its pages, the most wanted first.
    notes
        Further sentences.
    command
        The command that computes it, if there is nothing yet; empty: none.
    targets
        For each row, the address of its page, or empty; no targets: no row has a page.
    miniature
        A small picture of what is ready.
    """

    title: str
    sentence: str
    heads: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""
    targets: tuple[str, ...] = ()
    miniature: Miniature | None = None

    @property
    def worded(self) -> tuple[bool, ...]:
        """Which columns of the table have words instead of numbers."""
        return tuple(any(text[:1].isalpha() for text in column) for column in zip(*self.rows, strict=True))


@dataclass(frozen=True)
class Wing:
    """A system on top of the core.

    Attributes
    ----------
    name
        The key of its section in ``config.yaml``, and the name of its commands.
    commands
        The module whose function ``add_commands`` adds its commands; empty: no commands.
    section
        The model of its section in ``config.yaml``; empty: no section.
    pages
        Checks a directory, so that errors are reported before any process starts, and describes the pages on it.
        A second argument is the directory for people's games, if it is another one.
    stages
        The :class:`~pttt_ooc.pipeline.stages.directories.StageSet` of its directories of results; empty: none with
        manifests.
    """

    name: str
    commands: str = ""
    section: str = ""
    pages: Callable[[Path, Path | None], Pages] | None = None
    stages: str = ""


def call_by_name(call: Sequence[str], *first: object) -> Any:
    """Call a function by its name; `first` are further first arguments."""
    name, *arguments = call
    return resolve_name(name)(*first, *arguments)
