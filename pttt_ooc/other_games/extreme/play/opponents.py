"""The bots that people may play against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import BotProgram, read_program
from pttt_ooc.other_games.extreme.bot_version import settle_version
from pttt_ooc.other_games.extreme.house_bots import HOUSE_BOTS
from pttt_ooc.other_games.extreme.walls import ExtremeError

OWN = "own"
"""The key of a person's own bot."""


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
