"""A tournament on disk: every match is played once, whatever interrupts it, and logged move by move.

:mod:`.tournament_record` describes the directory.
"""

from __future__ import annotations

import hashlib
import json
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pttt_ooc.disk.files import atomic_write_bytes, atomic_write_text, make_directory
from pttt_ooc.disk.locks import hold
from pttt_ooc.other_games.extreme import league
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import BotProgram, program
from pttt_ooc.other_games.extreme.bot_version import settle_version
from pttt_ooc.other_games.extreme.broken_off import UnableError, drawn_by_rule, try_match
from pttt_ooc.other_games.extreme.clock import StoppedError
from pttt_ooc.other_games.extreme.cores import taken_core
from pttt_ooc.other_games.extreme.league import Pairing, PoolTable, Stage
from pttt_ooc.other_games.extreme.match import BotMatch, play_match
from pttt_ooc.other_games.extreme.match_logs import MatchLogs, read_json
from pttt_ooc.other_games.extreme.tournament_record import FACTS, Record, marks_rows, standings_rows
from pttt_ooc.other_games.extreme.walled_process import MachineError
from pttt_ooc.other_games.extreme.walls import ExtremeError
from pttt_ooc.pipeline.show.tables import csv_text

VERSION = 4
RESULTS = ("standings.json", "standings.csv", "marks.csv")


@dataclass(frozen=True)
class TournamentSettings:
    """The settings of a tournament.

    Attributes
    ----------
    stages
        All stages, in order.
    seed
        Seed of the lots, published before the first match.
    conditions
        How bots are run; the core is chosen for each match.
    """

    stages: tuple[Stage, ...]
    seed: int
    conditions: Conditions


@dataclass(frozen=True)
class Entry:
    """A team with its bot, as it was handed in.

    Attributes
    ----------
    key
        The team's name in files: letters, digits and underscores.
    name
        Its name for people.
    file, content
        The bot's file.
    python
        The version of Python that it is written in: 2 or 3.
    """

    key: str
    name: str
    file: str
    content: bytes
    python: int

    @property
    def digest(self) -> str:
        """SHA-256 of the file, in hex."""
        return hashlib.sha256(self.content).hexdigest()


def entries_of(files: Iterable[Path], conditions: Conditions, directory: Path) -> list[Entry]:
    """A team for each file, with the file's name.

    Parameters
    ----------
    directory
        Where the tournament is, or will be: versions of Python that it has recorded are not guessed anew.

    Raises
    ------
    ExtremeError
        If two have the same name, or one cannot be read or is no program in Python.
    """
    known = recorded_pythons(directory)
    found = []
    for file in sorted(files):
        try:
            content = file.read_bytes()
        except OSError as error:
            raise ExtremeError(f"The bot {file} cannot be read: {error.strerror}.") from error
        bot = program(file.name, content, conditions.walls, conditions.python)
        entry = Entry(file.stem, file.stem, file.name, content, bot.pythons[0])
        if len(bot.pythons) > 1:
            key = (entry.digest, conditions.python)
            entry = replace(entry, python=known.get(key) or settle_version(bot, conditions).program.pythons[0])
        found.append(entry)
    if len({entry.key for entry in found}) < len(found):
        raise ExtremeError("Two teams have files of the same name.")
    return found


def recorded_pythons(directory: Path) -> dict[tuple[str, str], int]:
    """The versions of Python of the bots of a tournament, by digest and setting; none if there is no tournament."""
    if not (directory / FACTS).is_file():
        return {}
    record = Record(directory)
    setting = str(record.conditions.get("python"))
    return {(team.digest, setting): team.python for team in record.teams.values()}


def settle(directory: Path, entries: Sequence[Entry], settings: TournamentSettings) -> None:
    """Make a tournament in a directory, or check that the existing one is the same.

    Raises
    ------
    ExtremeError
        If there is another one, or there are too few teams.
    """
    league.check_sizes(settings.stages, len(entries))
    # All that the results depend on; the core is not part of it.
    described = {
        "version": VERSION,
        "seed": settings.seed,
        "stages": [asdict(stage) for stage in settings.stages],
        "conditions": {**asdict(settings.conditions), "core": None, "libraries": list(settings.conditions.libraries)},
        "teams": {
            entry.key: {name: getattr(entry, name) for name in ("name", "file", "digest", "python")}
            for entry in entries
        },
    }
    # A tournament that is there goes on only if all of it is the same.
    file = directory / FACTS
    if file.exists():
        there = read_json(file)
        there.get("conditions", {}).setdefault("libraries", [])  # an older release recorded none
        for key, value in described.items():
            if there.get(key) != value:
                what = {"teams": "bots", "seed": "seed", "stages": "pools"}.get(key, key)
                raise ExtremeError(
                    f"{directory} holds a tournament with other {what}; go on with the same, or name another "
                    "directory with --output."
                )
        return
    # Else a new one is made.  Its facts are written last: with them the directory is a tournament.
    for name in RESULTS:
        if (directory / name).exists():
            raise ExtremeError(f"{directory} holds {name} of something else; name another directory with --output.")
    for folder in ("matches", "bots"):
        make_directory(directory / folder)
    for entry in entries:
        atomic_write_bytes(directory / "bots" / f"{entry.key}.py", entry.content)
    atomic_write_text(file, json.dumps(described, indent=2) + "\n")


def play_logged(
    logs: MatchLogs,
    pairing: Pairing,
    programs: tuple[BotProgram, BotProgram],
    conditions: Conditions,
    cores: Sequence[int],
    stopping: threading.Event | None = None,
    facts: Callable[[], dict[str, Any]] = dict,
    broken_off: Sequence[str] = (),
) -> dict[str, Any] | None:
    """Play a match on one of these cores and write its file; returns the file's content.

    It waits for a core on which no other timed bots run.

    Parameters
    ----------
    programs, conditions
        The bots, the first one of the pairing first, and how they are run; the core is chosen here.
    stopping
        Once it is set, the match is broken off, and there is no file.
    facts
        Called when the match is over: what its file says besides the match.
    broken_off
        Why earlier tries of this match failed.

    Returns
    -------
    The content of the file; None if the match was broken off.

    Raises
    ------
    PtttError
        If bots cannot be run on this machine, or the file cannot be written; no team loses a match by that.
    """
    # A core is held during the match, so that no other bot takes time from these two.
    with taken_core(cores, stopping) as core:
        if core is None:
            return None
        try:
            match = play_match(programs, replace(conditions, core=core), stopping=stopping)
        except StoppedError:
            return None
    # The file is written when all is over: a match that was stopped leaves none.
    match.broken_off = [*broken_off, *match.broken_off]
    return _write(logs, pairing, match, facts())


def _write(logs: MatchLogs, pairing: Pairing, match: BotMatch, facts: dict[str, Any]) -> dict[str, Any]:
    found = {**asdict(pairing), **facts, **match.as_json()}
    atomic_write_text(logs.log(pairing), json.dumps(found) + "\n")
    return found


class Player:
    """Plays the matches of a tournament.

    Parameters
    ----------
    record
        The tournament.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self.conditions = Conditions(**record.conditions)
        self._programs: dict[str, BotProgram] = {}

    def play(self, pairing: Pairing, cores: Sequence[int], stopping: threading.Event | None = None) -> Any:
        """Play a match, as :func:`play_logged` does; after the last try that failed, it is drawn by rule.

        Raises
        ------
        MachineError
            If it was broken off, and there are tries left.
        UnableError
            If the machine can run no bots at all now, or a bot's file cannot be read, which counts as no try.
        StoreError
            If nothing can be written.
        """
        tries, teams = self.record.tries, self.record.teams
        try:
            play = partial(self._play, pairing, cores, stopping)
            found = try_match(tries, pairing.name, play, self.conditions, stopping)
        except StoppedError:
            return None
        if found is None:
            names = teams[pairing.first].file, teams[pairing.second].file
            found = _write(self.record, pairing, drawn_by_rule(names, tries.of(pairing.name).reasons), {})
        return found

    def _play(self, pairing: Pairing, cores: Sequence[int], stopping: threading.Event | None) -> dict[str, Any]:
        programs = self._program(pairing.first), self._program(pairing.second)
        before = self.record.tries.of(pairing.name).reasons[:-1]  # the last one is this try
        found = play_logged(self.record, pairing, programs, self.conditions, cores, stopping, broken_off=before)
        if found is None:
            raise StoppedError
        return found

    def _program(self, key: str) -> BotProgram:
        if key not in self._programs:
            try:
                content = self.record.bot(key).read_bytes()
            except OSError as error:
                raise UnableError(f"The bot {self.record.bot(key)} cannot be read: {error.strerror}.") from error
            team = self.record.teams[key]
            if not team.python:
                raise UnableError(
                    f"The tournament in {self.record.directory} was begun by an older release, which did not record "
                    "the bots' versions of Python; play it anew in another directory."
                )
            self._programs[key] = program(team.file, content, self.conditions.walls, str(team.python))
        return self._programs[key]


class Tournament:
    """A tournament in a directory, played by this process alone.

    Parameters
    ----------
    directory
        Made if it is missing.
    entries
        The teams.
    settings
        They must equal those of an existing tournament.

    Raises
    ------
    ExtremeError
        If teams, settings and directory do not fit together.
    """

    def __init__(self, directory: Path, entries: Sequence[Entry], settings: TournamentSettings) -> None:
        league.check_sizes(settings.stages, len(entries))
        make_directory(directory)
        self._lock = hold(
            directory / "lock", lambda process: f"The tournament in {directory} is being played (process {process})."
        )
        try:
            settle(directory, entries, settings)
            self.record = Record(directory)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the lock."""
        self._lock.close()

    def play(
        self,
        cores: Sequence[int],
        tell: Callable[[Pairing, dict[str, Any]], None],
        stopping: threading.Event | None = None,
    ) -> list[PoolTable]:
        """Play all remaining matches, one at a time on each of the `cores`.

        Parameters
        ----------
        stopping
            When it is set, no further match is begun or waited for, and those under way are broken off.

        Returns
        -------
        The final standings.

        Raises
        ------
        MachineError
            If the machine has broken off a match again and again; the others of its stage have been played.
        """
        player = Player(self.record)
        stopping = stopping or threading.Event()
        while not stopping.is_set() and (waiting := self.record.state().waiting):
            self._play_all(player, waiting, cores, tell, stopping)
        return write_standings(self.record)

    def _play_all(
        self,
        player: Player,
        waiting: Sequence[Pairing],
        cores: Sequence[int],
        tell: Callable[[Pairing, dict[str, Any]], None],
        stopping: threading.Event,
    ) -> None:
        to_play: queue.SimpleQueue[Pairing | None] = queue.SimpleQueue()
        done: queue.SimpleQueue[tuple[Pairing, Any]] = queue.SimpleQueue()
        for pairing in waiting:
            to_play.put(pairing)
        for _ in cores:
            to_play.put(None)
            work = (player, cores, to_play, done, stopping)
            threading.Thread(target=_work, args=work, daemon=True).start()
        left, broken_off = len(waiting), list[MachineError]()
        while left and not stopping.is_set():
            try:
                pairing, found = done.get(timeout=0.1)
            except queue.Empty:
                continue
            left -= 1
            if isinstance(found, MachineError):  # which may have to do with these bots; the others go on
                broken_off.append(found)
                continue
            if isinstance(found, BaseException):
                raise found
            if found is None:  # broken off, as it is to stop
                continue
            write_standings(self.record)
            tell(pairing, found)
        if broken_off:
            raise broken_off[0]


def _work(player: Player, cores: Sequence[int], to_play: Any, done: Any, stopping: threading.Event) -> None:
    while not stopping.is_set() and (pairing := to_play.get()):
        try:
            done.put((pairing, player.play(pairing, cores, stopping)))
        except BaseException as error:
            done.put((pairing, error))
            if not isinstance(error, MachineError):
                return


def write_standings(record: Record) -> list[PoolTable]:
    """Write standings and marks, and return the standings."""
    tables = record.state().tables
    standings_file, table_file, marks_file = (record.directory / name for name in RESULTS)
    atomic_write_text(standings_file, json.dumps([asdict(table) for table in tables], indent=2))
    atomic_write_text(table_file, csv_text(standings_rows(tables)))
    atomic_write_text(marks_file, csv_text(marks_rows(record, tables)))
    return tables
