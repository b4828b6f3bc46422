"""A practice league's directory, read: its bots, their ratings, and the matches that are kept.

The directory holds ``practice.json`` (the bots, with digests of their files and their ratings), and ``matches/``,
``curves/`` and ``tries/`` as a tournament's directory does.  Practice is a stage in which each match is a pool of its
own, so that the same two bots can meet again and again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text
from pttt_ooc.disk.tries import Tries
from pttt_ooc.other_games.extreme.league import Pairing
from pttt_ooc.other_games.extreme.match_logs import MatchLogs, PlayedMatch, read_json
from pttt_ooc.other_games.extreme.tournament_record import Team
from pttt_ooc.other_games.extreme.walls import ExtremeError

FACTS = "practice.json"
"""The file that marks a directory as a practice league."""
STAGE = "practice"
VERSION = 1
TRIES = 3
"""Failed tries of a match after which the two versions do not meet any more."""
PERIOD, KEPT = 3 * 3600, 57
"""Seconds between two ratings in the history of a bot, and how many are kept: those of a week and more."""
_LOG = re.compile(rf"{STAGE}-([1-9]\d*)-(\w+)-(\w+)\.json", re.ASCII)


@dataclass(frozen=True)
class PracticeBot(Team):
    """A bot of the practice league, with its results: those of its latest version against latest versions.

    Attributes
    ----------
    ours
        Whether it is one of the package's own bots.
    paused
        How it forfeited, if it has done so too often: then it plays no more until there is a new version; else empty.
    points, error
        Its rating on the scale of Elo, with mean zero, and half the width of an interval of 95%; None if it has not
        met the others yet.
    won, drawn, lost
        Its matches, by points.
    forfeits
        How many of its lost matches it forfeited.
    history
        Pairs of a time, in seconds since 1970, and the rating that it had since, of whatever version, the oldest first:
        the last one in each period of :data:`PERIOD` seconds in which it changed; at most :data:`KEPT`.
    """

    ours: bool = False
    paused: str = ""
    points: float | None = None
    error: float | None = None
    won: int = 0
    drawn: int = 0
    lost: int = 0
    forfeits: int = 0
    history: Sequence[Sequence[float]] = ()

    @property
    def matches(self) -> int:
        """All its matches."""
        return self.won + self.drawn + self.lost

    def points_at(self, at: float) -> float | None:
        """Its rating at a time, as far as :attr:`history` goes back; None if it had none."""
        return next((points for time, points in reversed(self.history) if time <= at), None)

    def after(self, before: PracticeBot | None, now: float) -> PracticeBot:
        """The same with a history: that of the bot `before`, and its present rating."""
        history = [*before.history] if before is not None else []
        if self.points is None or (history and history[-1][1] == self.points):
            return replace(self, history=history)
        same = history and history[-1][0] // PERIOD == now // PERIOD
        return replace(self, history=[*(history[:-1] if same else history), [round(now), self.points]][-KEPT:])


@dataclass(frozen=True)
class PracticeMatch(PlayedMatch):
    """Summary of a practice match.

    Attributes
    ----------
    digests
        SHA-256 of both bots' files, in hex: their versions.
    time_limit
        Seconds for a move.
    ended_at
        When it ended, in seconds since 1970.
    """

    digests: tuple[str, str]
    time_limit: float
    ended_at: float

    @property
    def number(self) -> int:
        """The number of the match; later ones have larger numbers."""
        return self.pairing.pool + 1

    @property
    def forfeited_by(self) -> str:
        """The key of the bot that forfeited; empty if none did."""
        if self.message in ("WON", "DRAW"):
            return ""
        return self.pairing.second if self.winner == "P1" else self.pairing.first


class PracticeRecord(MatchLogs):
    """A practice league in a directory, as it was at a moment.

    Parameters
    ----------
    directory
        Its directory.
    time_limit
        Seconds for a move.
    next_number
        No match has this number or a larger one.
    bots
        All bots, the strongest first.
    before
        The same league, seen before: what it knows of matches is not read again.

    Attributes
    ----------
    teams
        All bots by key.
    tries
        The tries of matches of two versions that the machine has broken off, by :func:`tried_name`.
    """

    def __init__(
        self,
        directory: Path,
        time_limit: float,
        next_number: int,
        bots: Iterable[PracticeBot],
        before: PracticeRecord | None = None,
    ) -> None:
        super().__init__(directory)
        self.tries = Tries(directory / "tries", TRIES)
        self.time_limit, self.next_number = time_limit, next_number
        self.teams = {bot.key: bot for bot in bots}
        if before is not None:
            self._played = before._played

    @classmethod
    def read(cls, directory: Path, before: PracticeRecord | None = None) -> PracticeRecord | None:
        """The practice league in a directory; None if there is none.

        Raises
        ------
        ExtremeError
            If it is damaged; so do the methods.
        """
        if not (directory / FACTS).is_file():
            return None
        facts = read_json(directory / FACTS)
        try:
            if facts["version"] != VERSION:
                raise ValueError
            bots = [PracticeBot(key, **bot) for key, bot in facts["bots"].items()]
            return cls(directory, float(facts["time_limit"]), int(facts["next_number"]), bots, before)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ExtremeError(
                f"{directory / FACTS} is damaged, or of another version of this package; delete {directory}, and "
                "practice begins anew."
            ) from None

    def write(self) -> None:
        """Write the file that marks the directory; raises a StoreError if it cannot be written."""
        facts = {
            "version": VERSION,
            "time_limit": self.time_limit,
            "next_number": self.next_number,
            "bots": {
                bot.key: {name: value for name, value in asdict(bot).items() if name != "key"}
                for bot in self.teams.values()
            },
        }
        atomic_write_text(self.directory / FACTS, json.dumps(facts, indent=1) + "\n")

    @property
    def conditions(self) -> dict[str, Any]:
        """How the bots are run."""
        return {"time_limit": self.time_limit}

    def summary(self, pairing: Pairing, log: dict[str, Any]) -> PracticeMatch:
        """As :meth:`MatchLogs.summary`."""
        first, second = log["digests"]
        return PracticeMatch(
            **vars(super().summary(pairing, log)),
            digests=(str(first), str(second)),
            time_limit=float(log["time_limit"]),
            ended_at=float(log["ended_at"]),
        )

    def all_played(self) -> list[PlayedMatch]:
        """All matches that are kept, the oldest first."""
        return [*self.practice_matches()]

    def practice_matches(self) -> list[PracticeMatch]:
        """As :meth:`all_played`."""
        there = logged_matches(self.directory)
        for gone in self._played.keys() - {*there}:
            self._played.pop(gone, None)
        known = [pairing for pairing in there if pairing.first in self.teams and pairing.second in self.teams]
        return [match for pairing in known if isinstance(match := self.played_match(pairing), PracticeMatch)]

    def is_current(self, match: PracticeMatch) -> bool:
        """Whether a match was played by the latest versions, with the present time limit."""
        bots = (self.teams[match.pairing.first], self.teams[match.pairing.second])
        return match.time_limit == self.time_limit and match.digests == tuple(bot.digest for bot in bots)

    def given_up(self) -> list[tuple[PracticeBot, PracticeBot, Sequence[str]]]:
        """Bots whose latest versions meet no more because the machine broke their matches off, and why it did."""
        found = {name: one.reasons for name, one in self.tries.all().items() if len(one.reasons) >= TRIES}
        pairs = combinations(self.teams.values(), 2) if found else ()
        return [(one, other, found[name]) for one, other in pairs if (name := tried_name((one, other))) in found]


def tried_name(pair: Iterable[Team]) -> str:
    """The name under which tries of a match between two versions are counted, whoever begins."""
    return "-".join(f"{bot.key}-{bot.digest[:16]}" for bot in sorted(pair, key=lambda bot: bot.key))


def logged_matches(directory: Path) -> list[Pairing]:
    """The matches whose logs are in a league's directory, the oldest first."""
    names = (_LOG.fullmatch(file.name) for file in (directory / "matches").glob("*.json"))
    found = (Pairing(STAGE, int(name[1]) - 1, name[2], name[3]) for name in names if name)
    return sorted(found, key=lambda pairing: pairing.pool)
