"""The package's own bots as opponents of graded strength, which keep to any time limit; and whom people may play."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from pttt_ooc import __version__
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import OWN as OWN_BOTS
from pttt_ooc.other_games.extreme.bot_programs import BotProgram, read_program
from pttt_ooc.other_games.extreme.bot_version import settle_version
from pttt_ooc.other_games.extreme.walls import ExtremeError

OWN = "own"
"""The key of a person's own bot."""


@dataclass(frozen=True)
class HouseBot:
    """One of the package's own bots, with other settings.

    Attributes
    ----------
    key
        Its name in files and addresses.
    name
        Its name for people.
    base
        The bot in ``bots/``.
    settings
        Attributes of its class that differ.
    seconds
        Seconds for a move, or fewer if the limit is short; None: it needs no time.
    """

    key: str
    name: str
    base: str
    settings: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None

    def program(self, time_limit: float, walls: bool = True) -> BotProgram:
        """The bot, which takes at most half of the time limit for a move.

        Parameters
        ----------
        time_limit
            Seconds for a move.
        walls
            Whether the process that reads its file runs behind walls.

        Raises
        ------
        ExtremeError
            If bots cannot be read on this machine.
        """
        base = read_program(OWN_BOTS / f"{self.base}_bot.py", walls)
        settings = dict[str, float](self.settings)
        if self.seconds is not None:
            settings["seconds"] = min(self.seconds, time_limit / 2)
        lines = [f"\n\nTeam{self.base.capitalize()}.{name} = {value!r}" for name, value in settings.items()]
        return replace(base, source="".join([base.source, *lines, "\n"]), pythons=(3,), text=None, changes="")

    def digest(self, program: BotProgram) -> str:
        """SHA-256 of its text and of the package's version, in hex."""
        return hashlib.sha256(f"{__version__}\n{program.source}".encode()).hexdigest()


HOUSE_BOTS = (
    HouseBot("random", "random", "random"),
    HouseBot("alphabeta_2", "alphabeta, 2 plies deep", "alphabeta", {"deepest": 2}, 1.0),
    HouseBot("alphabeta", "alphabeta", "alphabeta", {}, 1.0),
    HouseBot("strong_2", "strong, 2 plies deep", "strong", {"deepest": 2}, 0.9),
    HouseBot("strong", "strong", "strong", {}, 0.9),
)
"""The package's own bots, the weakest first."""


# ---------------------------------------------------------------------------------------------
# Whom people may play


@dataclass(frozen=True)
class Choice:
    """A bot that a person may play against: its key in forms, and its name for people."""

    key: str
    label: str


class Opponents(Protocol):
    """Who may be played against.

    Attributes
    ----------
    conditions
        How the bots are run.
    """

    conditions: Conditions

    def choices(self, owner: str) -> Sequence[Choice]:
        """The bots that this person may play against, their own first."""

    def program(self, owner: str, key: str) -> BotProgram:
        """One of them, with its version of Python.

        Raises
        ------
        PtttError
            If there is none, or it cannot be read.
        """


def house_choices() -> list[Choice]:
    """The package's own bots, the strongest first."""
    return [Choice(house.key, f"our bot {house.name}") for house in reversed(HOUSE_BOTS)]


def house_program(key: str, conditions: Conditions) -> BotProgram:
    """One of the package's own bots; an ExtremeError if there is none with that key."""
    house = next((house for house in HOUSE_BOTS if house.key == key), None)
    if house is None:
        raise ExtremeError("There is no such opponent here; choose one of the list.")
    return house.program(conditions.time_limit, conditions.walls)


class FileOpponents:
    """A bot in a file, which is read again for each game, and the package's own.

    Parameters
    ----------
    file
        The file, or the name of one of the package's own bots.
    """

    def __init__(self, file: Path, conditions: Conditions) -> None:
        self._file, self.conditions = file, conditions

    def choices(self, owner: str) -> Sequence[Choice]:
        """The file's bot, and the package's own."""
        return [Choice(OWN, self._file.name), *house_choices()]

    def program(self, owner: str, key: str) -> BotProgram:
        """One of them; see :meth:`Opponents.program`."""
        if key != OWN:
            return house_program(key, self.conditions)
        conditions = self.conditions
        return settle_version(read_program(self._file, conditions.walls, conditions.python), conditions).program
