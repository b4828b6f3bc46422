"""A tournament for pages: read from its directory while another process plays."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pttt_ooc.extreme import analysis
from pttt_ooc.extreme.analysis import Appearance, Step
from pttt_ooc.extreme.league import Pairing
from pttt_ooc.extreme.tournament_record import FACTS, PlayedMatch, Record, TournamentState, read_json

FRESH_SECONDS = 0.5  # seconds until the directory is read again
_KEPT = 512  # matches whose steps are remembered


@dataclass(frozen=True)
class TournamentSnapshot:
    """A tournament at a moment.

    Attributes
    ----------
    record
        The tournament.
    state
        Its progress.
    matches
        The played matches by name.
    """

    record: Record
    state: TournamentState
    matches: dict[str, PlayedMatch]

    @property
    def stamp(self) -> str:
        """A text that changes with the content of pages."""
        return f"{self.record.seed}-{len(self.matches)}-{len(self.state.tables)}"

    @property
    def over(self) -> bool:
        """Whether all matches have been played."""
        return not self.state.waiting

    def name_of(self, key: str) -> str:
        """The name of a team."""
        return self.record.teams[key].name

    def of_team(self, key: str) -> list[PlayedMatch]:
        """A team's matches, in the order of the league."""
        return [one for one in self.state.played if key in (one.pairing.first, one.pairing.second)]


class TournamentReader:
    """The tournament in a directory, which may begin later.

    Parameters
    ----------
    directory
        The directory of the tournament.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._lock = threading.Lock()
        self._seen: TournamentSnapshot | None = None
        self._read_at = -FRESH_SECONDS
        self._record: Record | None = None

    def seen(self) -> TournamentSnapshot | None:
        """The tournament as it is now; None if there is none yet.

        Raises
        ------
        ExtremeError
            If it is damaged.
        """
        with self._lock:
            if time.monotonic() - self._read_at >= FRESH_SECONDS:
                if self._record is None and (self.directory / FACTS).is_file():
                    self._record = Record(self.directory)
                if self._record is not None:
                    state = self._record.state()
                    named = {played.pairing.name: played for played in state.played}
                    self._seen = TournamentSnapshot(self._record, state, named)
                self._read_at = time.monotonic()
            return self._seen


def steps_of(seen: TournamentSnapshot, pairing: Pairing) -> Sequence[Step]:
    """The moves of a played match, which never change."""
    return _read(seen.record.log(pairing))[1]


def match_of(seen: TournamentSnapshot, pairing: Pairing) -> dict[str, Any]:
    """The log of a played match."""
    return _read(seen.record.log(pairing))[0]


@lru_cache(_KEPT)
def _read(file: Path) -> tuple[dict[str, Any], Sequence[Step]]:
    found = read_json(file)
    return found, analysis.steps(found)


def chances_of(seen: TournamentSnapshot, pairing: Pairing) -> list[float] | None:
    """The first player's chances in all positions; None if the match is not analysed yet."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        told = json.loads(seen.record.curve(pairing).read_text())
        chances = [min(1.0, max(0.0, float(chance))) for chance in told["chances"]]
        if len(chances) == len(steps_of(seen, pairing)) + 1:
            return chances
    return None


def appearances(seen: TournamentSnapshot, key: str) -> Iterator[Appearance]:
    """The matches of a team, each from its side."""
    for played in seen.of_team(key):
        pairing = played.pairing
        found, side = steps_of(seen, pairing), int(pairing.second == key)
        yield analysis.appearance(match_of(seen, pairing), found, chances_of(seen, pairing), side)
