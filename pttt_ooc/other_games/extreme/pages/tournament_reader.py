"""A tournament and a practice league for pages: read from their directories while another process plays."""

from __future__ import annotations

import json
import threading
import time
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from pttt_ooc.other_games.extreme import analysis
from pttt_ooc.other_games.extreme.analysis import Appearance, Step
from pttt_ooc.other_games.extreme.league import Pairing
from pttt_ooc.other_games.extreme.match_logs import PlayedMatch, read_json
from pttt_ooc.other_games.extreme.practice_record import PracticeMatch, PracticeRecord
from pttt_ooc.other_games.extreme.tournament_record import FACTS, Record, TournamentState

FRESH_SECONDS = 0.5  # seconds until the directory is read again
_KEPT = 512  # matches whose steps are remembered


@dataclass(frozen=True)
class MatchesSnapshot:
    """A tournament or a practice league at a moment.

    Attributes
    ----------
    record
        Where its matches are.
    matches
        The played matches by name, in order.
    """

    record: Record | PracticeRecord
    matches: Mapping[str, PlayedMatch]

    def name_of(self, key: str) -> str:
        """The name of a team."""
        return self.record.teams[key].name

    def of_team(self, key: str) -> list[PlayedMatch]:
        """A team's matches, in order."""
        return [one for one in self.matches.values() if key in (one.pairing.first, one.pairing.second)]


@dataclass(frozen=True)
class TournamentSnapshot(MatchesSnapshot):
    """A tournament at a moment.

    Attributes
    ----------
    state
        Its progress.
    """

    record: Record
    state: TournamentState

    @property
    def stamp(self) -> str:
        """A text that changes with the content of pages."""
        return f"{self.record.seed}-{len(self.matches)}-{len(self.state.tables)}"

    @property
    def over(self) -> bool:
        """Whether all matches have been played."""
        return not self.state.waiting


@dataclass(frozen=True)
class PracticeSnapshot(MatchesSnapshot):
    """A practice league at a moment."""

    record: PracticeRecord
    matches: Mapping[str, PracticeMatch]

    @property
    def stamp(self) -> str:
        """A text that changes with the content of pages."""
        bots = zlib.crc32(repr([*self.record.teams.values()]).encode())
        return f"{self.record.next_number}-{len(self.matches)}-{bots}"


S = TypeVar("S", bound=MatchesSnapshot)


class Reader(ABC, Generic[S]):
    """Reads a tournament or a practice league, which may begin later.

    Parameters
    ----------
    directory
        The directory.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._lock = threading.Lock()
        self._seen: S | None = None
        self._read_at = -FRESH_SECONDS

    def snapshot(self) -> S | None:
        """What is there now; None if there is nothing yet.

        Raises
        ------
        ExtremeError
            If it is damaged.
        """
        with self._lock:
            if time.monotonic() - self._read_at >= FRESH_SECONDS:
                self._seen = self._read()
                self._read_at = time.monotonic()
            return self._seen

    @abstractmethod
    def _read(self) -> S | None:
        """What is there now."""


class TournamentReader(Reader[TournamentSnapshot]):
    """The tournament in a directory."""

    def _read(self) -> TournamentSnapshot | None:
        record = self._seen.record if self._seen else None
        if record is None and (self.directory / FACTS).is_file():
            record = Record(self.directory)
        if record is None:
            return None
        state = record.state()
        return TournamentSnapshot(record, {played.pairing.name: played for played in state.played}, state)


class PracticeReader(Reader[PracticeSnapshot]):
    """The practice league in a directory."""

    def _read(self) -> PracticeSnapshot | None:
        record = PracticeRecord.read(self.directory, self._seen.record if self._seen else None)
        if record is None:
            return None
        return PracticeSnapshot(record, {played.pairing.name: played for played in record.practice_matches()})


def steps_of(seen: MatchesSnapshot, pairing: Pairing) -> Sequence[Step]:
    """The moves of a played match, which never change."""
    return _read(seen.record.log(pairing))[1]


def match_of(seen: MatchesSnapshot, pairing: Pairing) -> dict[str, Any]:
    """The log of a played match."""
    return _read(seen.record.log(pairing))[0]


@lru_cache(_KEPT)
def _read(file: Path) -> tuple[dict[str, Any], Sequence[Step]]:
    found = read_json(file)
    return found, analysis.steps(found)


def chances_of(seen: MatchesSnapshot, pairing: Pairing) -> list[float] | None:
    """The first player's chances in all positions; None if the match is not analysed yet."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        told = json.loads(seen.record.curve(pairing).read_text())
        chances = [min(1.0, max(0.0, float(chance))) for chance in told["chances"]]
        if len(chances) == len(steps_of(seen, pairing)) + 1:
            return chances
    return None


def appearances(seen: MatchesSnapshot, key: str) -> Iterator[Appearance]:
    """The matches of a team, each from its side."""
    for played in seen.of_team(key):
        pairing = played.pairing
        found, side = steps_of(seen, pairing), int(pairing.second == key)
        yield analysis.appearance(match_of(seen, pairing), found, chances_of(seen, pairing), side)
