"""The package's own bots in a practice league: opponents of graded strength, which keep to any time limit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pttt_ooc import __version__
from pttt_ooc.other_games.extreme.bot_programs import OWN, BotProgram, read_program


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
        For a move, or less if the limit is short; None: it needs no time.
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
        base = read_program(OWN / f"{self.base}_bot.py", walls)
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
