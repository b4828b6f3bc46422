"""Profiles on disk: found, prepared if they are missing, opened; those that were used longest ago are deleted."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pttt_ooc.aliases import Symmetry
from pttt_ooc.disk.files import atomic_write_text, explained, make_directory
from pttt_ooc.explore.jobs import Jobs
from pttt_ooc.questions.profile import Profile
from pttt_ooc.stages.engines import index_of
from pttt_ooc.stages.provenance import code_digest, dependencies
from pttt_ooc.structure.index import Index

OPEN = 4
"""Profiles that are mapped at the same time; the address space is all that one takes for long."""

_WHOLE = "whole.json"  # written last; touched when the profile is opened
_PREPARER = "pttt_ooc.explore.preparer"
Record = Mapping[str, Any]


class Profiles:
    """The profiles of one game.

    Parameters
    ----------
    directory
        Where they are kept.
    game
        The game's name.
    indices
        The directory of all games' structures.
    budget
        Bytes that all profiles together may take; the last one is kept however large it is.
    """

    def __init__(self, directory: Path, game: str, indices: Path, budget: int) -> None:
        self.directory, self.game, self.indices, self.budget = directory, game, indices, budget
        with explained(f"make the directory {directory}"):
            make_directory(directory)
        self._open: OrderedDict[str, Profile] = OrderedDict()
        self._indices: dict[Path, Index] = {}
        self.jobs = Jobs()

    def close(self) -> None:
        """Stop preparing."""
        self.jobs.close()

    def find(self, pair: Sequence[Record]) -> Profile | dict[str, Any]:
        """The profile of two strategies, or how far its preparation is.

        Raises
        ------
        PtttError
            If it cannot be prepared.
        """
        key = self.key(pair)
        if key in self._open:
            self._open.move_to_end(key)
            return self._open[key]
        mark = self.directory / key / _WHOLE
        if not mark.exists():
            self._make_room()
            return self.jobs.want(key, self._preparer("profile", mark.parent, {"names": [one["name"] for one in pair]}))
        profile = self._open[key] = self._opened(mark)
        while len(self._open) > OPEN:
            self._open.popitem(last=False)
        return profile

    def _opened(self, mark: Path) -> Profile:
        facts = json.loads(mark.read_text(encoding="ascii"))
        os.utime(mark)
        return Profile.open(mark.parent / facts["profile"], self._index(Path(facts["structure"]), facts["symmetry"]))

    def _index(self, structure: Path, symmetry: Symmetry) -> Index:
        if structure not in self._indices:
            self._indices[structure] = index_of(structure, self.game, symmetry)
        return self._indices[structure]

    def find_mistakes(
        self, player: int, strategy: Record, equilibrium: Record, game_value: Sequence[float]
    ) -> dict[str, Any]:
        """Where a strategy loses against a solution, or how far the search is.

        Raises
        ------
        PtttError
            If it cannot be found out.
        """
        parts = [player, *game_value, strategy["digest"], equilibrium["digest"]]
        key = self._name("questions/mistakes", *parts)
        file = self.directory / f"{key}.json"
        if file.exists():
            found: dict[str, Any] = json.loads(file.read_text(encoding="ascii"))
            return found
        names = [strategy["name"], equilibrium["name"]]
        asked = {"player": player, "names": names, "game_value": list(game_value)}
        return {"preparing": self.jobs.want(key, self._preparer("mistakes", file, asked))}

    def _preparer(self, what: str, place: Path, asked: Record) -> list[str]:
        told = {"what": what, "game": self.game, "indices": str(self.indices), **asked}
        return ["-m", _PREPARER, str(place), json.dumps(told)]

    @cache  # noqa: B019  (there is one of these in a process)
    def _code(self, module: str) -> str:
        return code_digest(dependencies(module))

    def _name(self, module: str, *parts: Any) -> str:
        told = json.dumps([self.game, self._code(module), *parts])
        return hashlib.blake2b(told.encode(), digest_size=12).hexdigest()

    def key(self, pair: Sequence[Record]) -> str:
        """Names a profile by all that it depends on: the strategies' contents, the game, and the code."""
        return self._name("questions/profile", *(one["digest"] for one in pair))

    def _make_room(self) -> None:
        """Delete the profiles that were opened longest ago, until the rest keeps within the budget."""
        marks = sorted(self.directory.glob(f"*/{_WHOLE}"), key=lambda mark: mark.stat().st_mtime, reverse=True)
        total = 0
        for mark in marks:
            total += sum(file.stat().st_size for file in mark.parent.rglob("*") if file.is_file())
            if total > self.budget:
                self._open.pop(mark.parent.name, None)  # what is still mapped stays readable to its end
                shutil.rmtree(mark.parent)


def mark_whole(place: Path, profile: Path, structure: Path, symmetry: Symmetry) -> None:
    """Say that the profile in the directory `place` is whole, and which index it belongs to."""
    facts = {"profile": profile.name, "structure": str(structure.absolute()), "symmetry": symmetry}
    atomic_write_text(place / _WHOLE, json.dumps(facts))
