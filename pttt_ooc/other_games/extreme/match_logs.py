"""The logs of matches in a directory: ``matches/`` has a file of JSON for each match that has been played, and
``curves/`` the strong bot's evaluation of each position.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pttt_ooc.other_games.extreme.league import Pairing, Score
from pttt_ooc.other_games.extreme.walls import ExtremeError


@dataclass(frozen=True)
class PlayedMatch:
    """Summary of a match that has been played.

    Attributes
    ----------
    score
        Its pairing, and both teams' points.
    winner
        ``P1``, ``P2`` or ``NONE``.
    message
        How it ended.
    plies, seconds
        Number of moves, and duration.
    """

    score: Score
    winner: str
    message: str
    plies: int
    seconds: float

    @property
    def pairing(self) -> Pairing:
        """Who played whom."""
        return self.score.pairing


class MatchLogs(ABC):
    """The matches of a directory, which another process may play meanwhile.

    Attributes
    ----------
    directory
        Where ``matches/`` and ``curves/`` are.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._played: dict[Pairing, PlayedMatch] = {}  # of matches on disk

    @abstractmethod
    def all_played(self) -> list[PlayedMatch]:
        """All matches that have been played, in order.

        Raises
        ------
        ExtremeError
            If a file is damaged.
        """

    def log(self, pairing: Pairing) -> Path:
        """The file of a match."""
        return self.directory / "matches" / f"{pairing.name}.json"

    def curve(self, pairing: Pairing) -> Path:
        """The file of the strong bot's evaluation of a match."""
        return self.directory / "curves" / f"{pairing.name}.json"

    def played_match(self, pairing: Pairing) -> PlayedMatch | None:
        """The summary of a match; None if it has not been played."""
        if pairing not in self._played:
            file = self.log(pairing)
            if not file.exists():
                return None
            try:
                self._played[pairing] = self.summary(pairing, read_json(file))
            except (ExtremeError, ValueError, KeyError, TypeError):
                if not file.exists():  # it has been deleted meanwhile
                    return None
                raise ExtremeError(f"{file} is damaged; delete it, and its match is played again.") from None
        return self._played[pairing]

    def match(self, pairing: Pairing) -> dict[str, Any]:
        """The content of the file of a match that has been played."""
        return read_json(self.log(pairing))

    def summary(self, pairing: Pairing, log: dict[str, Any]) -> PlayedMatch:
        """The summary of a match from its log; a ValueError, KeyError or TypeError if it is damaged."""
        first, second = log["points"]
        score = Score(pairing, (int(first), int(second)))
        return PlayedMatch(score, str(log["winner"]), str(log["message"]), int(log["plies"]), float(log["seconds"]))


def read_json(file: Path) -> dict[str, Any]:
    """A file that a tournament has written.

    Raises
    ------
    ExtremeError
        If it is damaged.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExtremeError(f"{file} cannot be read: {error}.") from None
    if not isinstance(found, dict):
        raise ExtremeError(f"{file} is damaged: it holds no object of JSON.")
    return found
