"""Profiles on disk: finds and opens them, prepares missing ones, and deletes those that were used longest ago."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_text, explain_errors, make_directory
from pttt_ooc.disk.resources import MB
from pttt_ooc.errors import StoreError
from pttt_ooc.games.structure.index import Index
from pttt_ooc.imports import module_digest
from pttt_ooc.library.questions.profile import PreparedProfile
from pttt_ooc.pipeline.stages.engines import index_of
from pttt_ooc.site.explore.jobs import Jobs
from pttt_ooc.types import Symmetry

OPEN = 4
"""Most profiles that are mapped at the same time; each takes little but address space."""

_WHOLE = "whole.json"  # written last; touched when the profile is used
_ABANDONED_SECONDS = 3600.0  # seconds without a change after which an unfinished profile counts as abandoned
_TOUCH_SECONDS = 60.0  # seconds between two touches of a profile in use
_PREPARER = "pttt_ooc.site.explore.preparer"
Record = Mapping[str, Any]


class Profiles:
    """The profiles of one game.

    Parameters
    ----------
    directory
        The directory of profiles.
    game
        The game's name.
    indices
        The directory of all games' structures.
    budget
        Most bytes of all profiles.
    """

    def __init__(self, directory: Path, game: str, indices: Path, budget: int) -> None:
        self.directory, self.game, self.indices, self.budget = directory, game, indices, budget
        with explain_errors(f"make the directory {directory}"):
            make_directory(directory)
        self._open: OrderedDict[str, PreparedProfile] = OrderedDict()
        self._noted: dict[str, float] = {}
        self._indices: dict[Path, Index] = {}
        self.jobs = Jobs()

    def close(self) -> None:
        """Stop preparing."""
        self.jobs.close()

    def find(self, pair: Sequence[Record]) -> PreparedProfile | dict[str, Any]:
        """The profile of two strategies, or how far its preparation is.

        Parameters
        ----------
        pair
            For player 0 and player 1: ``name``, ``digest``, and ``best``, if the best response to the other strategy
            replaces the strategy; ``infosets`` if a file gives the order of the rows.

        Raises
        ------
        PtttError
            If it cannot be prepared.
        """
        key = self.key(pair)
        if key in self._open:
            self._open.move_to_end(key)
            self._mark_used(key)
            return self._open[key]
        mark = self.directory / key / _WHOLE
        is_whole = mark.exists()  # first: what had to make room for it is deleted before it is whole
        # Deleted profiles free their disk space when nobody maps them any more.
        for gone in [k for k in self._open if not (self.directory / k / _WHOLE).exists()]:
            del self._open[gone]
        if not is_whole:
            return self.jobs.want(key, self._preparer("profile", mark.parent, self._options(pair)))
        profile = self._open[key] = self._open_profile(mark)
        while len(self._open) > OPEN:
            self._open.popitem(last=False)
        return profile

    def _mark_used(self, key: str) -> None:
        """Touch a profile in use from time to time, so that it is not deleted first."""
        if time.monotonic() - self._noted.get(key, -math.inf) > _TOUCH_SECONDS:
            self._noted[key] = time.monotonic()
            with suppress(FileNotFoundError):  # it is deleted, but still mapped
                os.utime(self.directory / key / _WHOLE)

    def _options(self, pair: Sequence[Record]) -> dict[str, Any]:
        best = [player for player, one in enumerate(pair) if one.get("best")]
        followed = [{**one, "best": False} for one in pair]
        base = {"base": str(self.directory / self.key(followed)), "best": best} if best else {}
        return {"names": _names(pair), "budget": self.budget, **base}

    def _open_profile(self, mark: Path) -> PreparedProfile:
        facts = json.loads(mark.read_text(encoding="ascii"))
        self._mark_used(mark.parent.name)
        return PreparedProfile.open(
            mark.parent / facts["profile"], self._index(Path(facts["structure"]), facts["symmetry"])
        )

    def _index(self, structure: Path, symmetry: Symmetry) -> Index:
        if structure not in self._indices:
            self._indices[structure] = index_of(structure, self.game, symmetry)
        return self._indices[structure]

    def find_mistakes(
        self, player: int, strategy: Record, equilibrium: Record, game_value: Sequence[float]
    ) -> dict[str, Any]:
        """Where a strategy loses against a solution, or the progress of the search.

        Raises
        ------
        PtttError
            If the search fails.
        """
        parts = [player, *game_value, strategy["digest"], equilibrium["digest"]]
        names = _names((strategy, equilibrium))
        return self._find_or_prepare(
            "mistakes", parts, {"player": player, "names": names, "game_value": list(game_value)}
        )

    def find_differences(self, player: int, a: Record, b: Record, opponent: Record) -> dict[str, Any]:
        """Where two strategies of a player differ in value against an opponent, or the progress of the search.

        Raises
        ------
        PtttError
            If the search fails.
        """
        three = (a, b, opponent)
        parts = ["differences", player, *(one["digest"] for one in three)]
        return self._find_or_prepare("differences", parts, {"player": player, "names": _names(three)})

    def _find_or_prepare(self, what: str, parts: Sequence[Any], options: Record) -> dict[str, Any]:
        """The result of a search, or its progress; `parts` are all that the result depends on besides the code."""
        key = self._name("library/questions/mistakes", *parts)
        file = self.directory / f"{key}.json"
        if file.exists():
            record: dict[str, Any] = json.loads(file.read_text(encoding="ascii"))
            return record
        return {"preparing": self.jobs.want(key, self._preparer(what, file, options))}

    def _preparer(self, what: str, place: Path, options: Record) -> list[str]:
        settings = {"what": what, "game": self.game, "indices": str(self.indices), **options}
        return ["-m", _PREPARER, str(place), json.dumps(settings)]

    def _name(self, module: str, *parts: Any) -> str:
        key = json.dumps([self.game, _code(module), *parts])
        return hashlib.blake2b(key.encode(), digest_size=12).hexdigest()

    def key(self, pair: Sequence[Record]) -> str:
        """The key of a profile, from all that it depends on: the strategies' contents, the game, and the code."""
        best = ["best" if one.get("best") else "" for one in pair]
        return self._name("library/questions/profile", *(one["digest"] for one in pair), *(best if any(best) else ()))


def _names(records: Sequence[Record]) -> list[tuple[str, str | None]]:
    """The names of strategies, each with the file that gives the order of its rows, if any."""
    return [(one["name"], one.get("infosets")) for one in records]


@cache
def _code(module: str) -> str:
    """The digest of the code, with comments: to remove them would take longer than to open a profile."""
    return module_digest(module)


def make_space(directory: Path, budget: int, needed: int, keep: str) -> None:
    """Delete the least recently used profiles until the rest and the new one fit the budget.

    Parameters
    ----------
    directory
        The directory of all profiles.
    needed
        Bytes that will be written.
    keep
        The name of the profile in preparation, which is not deleted.

    Raises
    ------
    StoreError
        If `needed` alone is more than the budget.
    """
    if needed > budget:
        raise StoreError(
            f"These two strategies take {needed / MB:,.0f} MB on disk when they are prepared, "
            f"more than the {budget / MB:,.0f} MB that all prepared strategies may take."
        )
    total, now = needed + _bytes_in(directory / keep), time.time()
    places = [(_last_used(place), place) for place in directory.iterdir() if place.is_dir() and place.name != keep]
    for used, place in sorted(places, reverse=True):
        mark = place / _WHOLE
        left_over = not mark.exists() and now - used > _ABANDONED_SECONDS
        total += 0 if left_over else _bytes_in(place)
        if left_over or (total > budget and mark.exists()):
            mark.unlink(missing_ok=True)  # nobody opens it any more; processes that map it can still read it
            shutil.rmtree(place, ignore_errors=True)


def _last_used(place: Path) -> float:
    """The time of a profile's last use, or, if it is unfinished, of its last change."""
    files = [place / _WHOLE] if (place / _WHOLE).exists() else [place, *place.iterdir()]
    with suppress(FileNotFoundError):
        return max(file.stat().st_mtime for file in files)
    return 0.0


def _bytes_in(place: Path) -> int:
    total = 0
    for file in place.rglob("*"):
        with suppress(FileNotFoundError):  # another process may delete it now
            total += file.stat().st_size if file.is_file() else 0
    return total


def is_whole(place: Path) -> bool:
    """Whether a directory holds a finished profile."""
    return (place / _WHOLE).exists()


def mark_whole(place: Path, profile: Path, structure: Path, symmetry: Symmetry) -> None:
    """Mark the profile in the directory `place` as finished, with its index."""
    facts = {"profile": profile.name, "structure": str(structure.absolute()), "symmetry": symmetry}
    atomic_write_text(place / _WHOLE, json.dumps(facts))
