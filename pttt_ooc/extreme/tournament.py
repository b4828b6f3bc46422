"""A tournament on disk: every match is played once, whatever interrupts it, and logged move by move.

The directory holds ``tournament.json`` (settings, the seed, digests of the bots), ``bots/`` (their files as they were
handed in), ``matches/`` (one file of JSON for each match, there when the match has been played) and, made anew from
these, ``standings.json``, ``standings.csv`` and ``marks.csv``.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_bytes, atomic_write_text, make_directory
from pttt_ooc.disk.locks import hold
from pttt_ooc.extreme import league
from pttt_ooc.extreme.league import Pairing, Score, Stage, Table
from pttt_ooc.extreme.match import play_match
from pttt_ooc.extreme.process import Conditions
from pttt_ooc.extreme.programs import Program, read_program
from pttt_ooc.extreme.walls import ExtremeError

VERSION = 1


@dataclass(frozen=True)
class Settings:
    """What a tournament is made of.

    Attributes
    ----------
    stages
        In their order.
    seed
        Of the lots, published before the first match.
    conditions
        How the bots are run; the core is chosen for each match.
    """

    stages: tuple[Stage, ...]
    seed: int
    conditions: Conditions


class Tournament:
    """A tournament in a directory.

    Parameters
    ----------
    directory
        Where it is, or is made.
    files
        The bots, one for each team.
    settings
        Must be those of the tournament that is there.

    Raises
    ------
    ExtremeError
        If files, settings and directory do not fit together.
    """

    def __init__(self, directory: Path, files: Sequence[Path], settings: Settings) -> None:
        self.directory, self.settings = directory, settings
        self.programs: dict[str, Program] = {}
        self._scores: dict[Pairing, Score] = {}  # of matches on disk
        contents = {}
        for file in sorted(files):
            self.programs[file.stem] = read_program(file)
            contents[file.stem] = file.read_bytes()
        if len(self.programs) < len(files):
            raise ExtremeError("Two teams have files of the same name.")
        league.check_sizes(settings.stages, len(self.programs))
        self.lots = league.lots(self.programs, settings.seed)
        make_directory(directory / "matches")
        make_directory(directory / "bots")
        self._lock = hold(directory / "lock", f"The tournament in {directory} is being played by process {{process}}.")
        try:
            self._settle(contents)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let others play it."""
        self._lock.close()

    def _settle(self, contents: dict[str, bytes]) -> None:
        digests = {team: hashlib.sha256(content).hexdigest() for team, content in contents.items()}
        described = {
            "version": VERSION,
            "seed": self.settings.seed,
            "stages": [asdict(stage) for stage in self.settings.stages],
            "conditions": {**asdict(self.settings.conditions), "core": None},
            "teams": digests,
        }
        file = self.directory / "tournament.json"
        if file.exists():
            there = read_json(file)
            for key, value in described.items():
                if there.get(key) != value:
                    what = {"teams": "bots", "seed": "seed", "stages": "pools"}.get(key, key)
                    raise ExtremeError(
                        f"{self.directory} holds a tournament with other {what}; go on with the same, or name another "
                        "directory with --output."
                    )
            return
        for team, content in contents.items():
            atomic_write_bytes(self.directory / "bots" / self.programs[team].name, content)
        atomic_write_text(file, json.dumps(described, indent=2) + "\n")

    # -----------------------------------------------------------------------------------------
    # Results

    def score(self, pairing: Pairing) -> Score | None:
        """What a match gave; None if it has not been played."""
        if pairing not in self._scores:
            file = self._log(pairing)
            if not file.exists():
                return None
            try:
                first, second = read_json(file)["points"]
            except (ExtremeError, ValueError, KeyError, TypeError):
                raise ExtremeError(f"{file} is damaged; delete it, and its match is played again.") from None
            self._scores[pairing] = Score(pairing, (int(first), int(second)))
        return self._scores[pairing]

    def _log(self, pairing: Pairing) -> Path:
        return self.directory / "matches" / f"{pairing.name}.json"

    def state(self) -> tuple[list[Table], list[Pairing]]:
        """The standings of all stages that have begun, and the matches that can be played now."""
        tables: list[Table] = []
        before: list[Table] = []
        for index, stage in enumerate(self.settings.stages):
            if index == 0:
                pools = league.first_pools(self.lots, stage)
            else:
                pools = league.next_pools(before, stage, self.lots)
            wanted = league.pairings(stage, pools)
            found = {pairing: self.score(pairing) for pairing in wanted}
            scores = [score for score in found.values() if score]
            before = [league.standings(stage, number, pool, scores, self.lots) for number, pool in enumerate(pools)]
            tables += before
            waiting = [pairing for pairing, score in found.items() if score is None]
            if waiting:
                return tables, waiting
        return tables, []

    def marks(self, tables: Sequence[Table]) -> dict[str, dict[str, float]]:
        """Each team's marks by stage, and their sum."""
        found: dict[str, dict[str, float]] = {team: {} for team in self.programs}
        for table in tables:
            for row in table.rows:
                found[row.team][table.stage] = row.marks
        for marks in found.values():
            marks["total"] = round(sum(marks.values()), 2)
        return found

    def write_standings(self) -> list[Table]:
        """Write standings and marks, and return the standings."""
        tables, _ = self.state()
        atomic_write_text(self.directory / "standings.json", json.dumps([asdict(table) for table in tables], indent=2))
        lines = [
            {"stage": table.stage, "pool": table.pool + 1, **asdict(row)} for table in tables for row in table.rows
        ]
        atomic_write_text(self.directory / "standings.csv", _as_csv(lines))
        names = [stage.name for stage in self.settings.stages]
        marks = sorted(self.marks(tables).items(), key=lambda item: (-item[1]["total"], item[0]))
        rows = [{"team": team, **{name: own.get(name, 0.0) for name in (*names, "total")}} for team, own in marks]
        atomic_write_text(self.directory / "marks.csv", _as_csv(rows))
        return tables

    # -----------------------------------------------------------------------------------------
    # Playing

    def play(self, cores: Sequence[int], tell: Callable[[Pairing, dict[str, Any]], None]) -> list[Table]:
        """Play all that has not been played, as many matches at a time as there are `cores`, one on each.

        Returns
        -------
        The standings in the end.
        """
        while True:
            tables, waiting = self.state()
            if not waiting:
                return self.write_standings()
            self._play_all(waiting, cores, tell)

    def _play_all(
        self, waiting: list[Pairing], cores: Sequence[int], tell: Callable[[Pairing, dict[str, Any]], None]
    ) -> None:
        """Play matches; threads that end with the process, as their bots do, whatever the match is at."""
        to_play: queue.SimpleQueue[Pairing | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[Pairing, dict[str, Any] | BaseException]] = queue.SimpleQueue()
        for pairing in waiting:
            to_play.put(pairing)
        for core in cores:
            to_play.put(None)
            threading.Thread(target=self._work, args=(core, to_play, done), daemon=True).start()
        for _ in waiting:
            pairing, found = done.get()
            if isinstance(found, BaseException):
                raise found
            atomic_write_text(self._log(pairing), json.dumps(found) + "\n")
            self.write_standings()
            tell(pairing, found)

    def _work(self, core: int, to_play: Any, done: Any) -> None:
        while pairing := to_play.get():
            try:
                programs = self.programs[pairing.first], self.programs[pairing.second]
                match = play_match(programs, replace(self.settings.conditions, core=core))
                done.put((pairing, {**asdict(pairing), **match.as_json()}))
            except BaseException as error:
                done.put((pairing, error))
                return


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


def _as_csv(rows: Sequence[dict[str, Any]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def free_cores() -> list[int]:
    """The processors that this process may use, one of each core: two bots that are timed never share one."""
    seen: set[str] = set()
    found = []
    for number in sorted(os.sched_getaffinity(0)):
        place = Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
        try:
            siblings = place.read_text().strip()
        except OSError:
            siblings = str(number)
        if siblings not in seen:
            seen.add(siblings)
            found.append(number)
    return found
