"""Old names of commands, which work for one release: :data:`OLD_NAMES` lists them all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

_LAST = "0.3.0"  # the release without the old names
_LAB = ("learn", "score", "equilibria", "best-response", "uniform", "infosets", "export", "fsck", "verify-run")
_RESEARCH = ("experiment", "claims", "record", "errors", "attack", "forced-win", "endings", "certify-endings")
_TRAININGS = ("train-patterns", "train-ultimate")

OLD_NAMES = {
    "explore": "web --explore",
    "play": "web --play",
    "smbc serve DIR": "web --smbc DIR",
    "smbc serve": "web --smbc data/smbc",
    "arena serve DIR": "web --arena DIR",
    "arena serve": "web --arena data/arena",
    "extreme serve DIR": "web --tournament DIR",
    "extreme play BOT": "web --bot BOT",
    "serve": "course serve",
    "pick": "course pick",
    "grader": "course",
    "info GAME": "info --game GAME",
    "certify GAME": "certify --game GAME",
    **{name: f"lab {name}" for name in _LAB},
    **{f"arena {name}": f"lab {name}" for name in (*_RESEARCH, *_TRAININGS)},
    "arena perft GAME": "lab perft --game GAME",
    "extreme perft": "lab perft --game extreme",
    "--secret-goals": "--smbc",
}
"""New names of commands and options by the old ones.

A word in capitals stands for the only argument that is no option.  Where the old command still exists, a line with
other arguments, ``--terminal``, or options that the new command lacks, is left as it is.
"""


def renew(arguments: Sequence[str], root: Any) -> tuple[list[str], list[str]]:
    """Arguments of the command line with new names for old ones, and a sentence about each replaced name.

    Parameters
    ----------
    root
        The group of all commands.
    """
    found, told = list(arguments), list[str]()
    for old, new in OLD_NAMES.items():
        if old.startswith("--"):
            renewed = [new + one[len(old) :] if one.partition("=")[0] == old else one for one in found]
        else:
            renewed = _replace(found, old, new, root)
        if renewed != found:
            told.append(f"`{_in_full(old)}` is now `{_in_full(new)}`; the old name goes with {_LAST}.")
            found = renewed
    return found, told


def _in_full(name: str) -> str:
    return name if name.startswith("--") else f"pttt {name}"


def _replace(arguments: list[str], old: str, new: str, root: Any) -> list[str]:
    """The arguments, with `new` in place of `old` if they begin with it."""
    words = [one for one in old.split() if not one.isupper()]
    if arguments[: len(words)] != words:
        return arguments
    renewed, rest = new.split(), arguments[len(words) :]
    if words == old.split():
        return [*renewed, *rest]
    # The only argument that is no option replaces the word in capitals, unless the old command is meant.
    places = _plain_places(rest, _command(renewed, root))
    own = {"--terminal"} | (_options(_command(words, root)) - _options(_command(renewed, root)))
    meant = _command(words, root) is not None and any(one.partition("=")[0] in own for one in rest)
    if len(places) != 1 or meant or (renewed[-1] == "GAME" and Path(rest[places[0]]).exists()):
        return arguments
    value = rest.pop(places[0])
    return [*renewed[:-1], value, *rest]


def _command(words: Sequence[str], root: Any) -> Any:
    """The command that these words begin with; None if there is none."""
    for word in words:
        if hasattr(root, "commands"):
            root = root.commands.get(word)
    return root


def _options(command: Any) -> set[str]:
    """The names of all options of a command; empty if there is no command."""
    return {name for one in getattr(command, "params", ()) for name in one.opts}


def _plain_places(arguments: Sequence[str], command: Any) -> list[int]:
    """The places of arguments that are neither options nor values of options."""
    options = [one for one in command.params if one.param_type_name == "option"]
    valued = {name for one in options if not one.is_flag for name in one.opts}
    before = ["", *arguments]
    return [n for n, one in enumerate(arguments) if not one.startswith("-") and before[n] not in valued]
