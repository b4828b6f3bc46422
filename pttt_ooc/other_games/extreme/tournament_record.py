"""A tournament's directory, read: settings, matches, and the standings that follow from them, as tables.

The directory holds ``tournament.json`` (settings, the seed, the teams with digests of their bots and their versions of
Python), ``bots/`` (their files as they were handed in),
``matches/`` (one file of JSON for each match, there when the match has been played),
``tries/`` (matches that the machine has broken off, and how often),
``curves/`` (the strong bot's evaluation of each position) and, made anew from these, ``standings.json``,
``standings.csv`` and ``marks.csv``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pttt_ooc.disk.tries import Tries
from pttt_ooc.other_games.extreme import league
from pttt_ooc.other_games.extreme.league import Pairing, PoolTable, Stage
from pttt_ooc.other_games.extreme.match_logs import MatchLogs, PlayedMatch, read_json
from pttt_ooc.other_games.extreme.walls import ExtremeError

FACTS = "tournament.json"
"""The file that marks a directory as a tournament."""
TRIES = 4
"""Failed tries of a match, each of several starts, after which it is drawn by rule."""


def tries_of(directory: Path) -> Tries:
    """The tries of matches, by name, of the tournament that is or will be in a directory."""
    return Tries(directory / "tries", TRIES)


@dataclass(frozen=True)
class Team:
    """A team of a tournament.

    Attributes
    ----------
    key
        Its name in files and addresses.
    name
        Its name for people.
    file
        The name under which its bot was handed in.
    digest
        SHA-256 of the bot's file, in hex.
    python
        The version of Python that it is written in: 2 or 3; 0 in a tournament of a release that did not record it.
    """

    key: str
    name: str
    file: str
    digest: str
    python: int = 0


@dataclass(frozen=True)
class TournamentState:
    """The progress of a tournament.

    Attributes
    ----------
    tables
        The standings of all stages that have begun.
    waiting
        The matches that can be played now.
    played
        All matches that have been played, in order.
    """

    tables: list[PoolTable]
    waiting: list[Pairing]
    played: list[PlayedMatch]


class Record(MatchLogs):
    """A tournament in a directory, which may be played by another process meanwhile.

    Attributes
    ----------
    seed
        Seed of the lots.
    stages
        All stages, in order.
    conditions
        How the bots are run.
    teams
        Teams by key.
    lots
        Lots by key.
    tries
        The tries of matches, by name, that the machine has broken off.

    Raises
    ------
    ExtremeError
        If there is no tournament, or it is damaged; so do the methods.
    """

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.tries = tries_of(directory)
        if not (directory / FACTS).is_file():
            raise ExtremeError(f"{directory} holds no tournament; `pttt extreme tournament` plays one.")
        told = read_json(directory / FACTS)
        try:
            self.seed = int(told["seed"])
            self.stages = tuple(Stage(**stage) for stage in told["stages"])
            self.conditions: dict[str, Any] = dict(told["conditions"])
            self.teams = {key: Team(key, **facts) for key, facts in told["teams"].items()}
        except (KeyError, TypeError, ValueError, AttributeError):
            raise ExtremeError(f"{directory / FACTS} is damaged, or of another version of this package.") from None
        self.lots = league.lots(self.teams, self.seed)

    def bot(self, key: str) -> Path:
        """The file of a team's bot, as it was handed in."""
        return self.directory / "bots" / f"{key}.py"

    def all_played(self) -> list[PlayedMatch]:
        """All matches that have been played, in the order of the league."""
        return self.state().played

    def state(self) -> TournamentState:
        """Its progress."""
        tables: list[PoolTable] = []
        before: list[PoolTable] = []
        there: list[PlayedMatch] = []
        for index, stage in enumerate(self.stages):
            if index == 0:
                pools = league.first_pools(self.lots, stage)
            else:
                pools = league.next_pools(before, stage, self.lots)
            wanted = league.pairings(stage, pools)
            found = {pairing: self.played_match(pairing) for pairing in wanted}
            done = [played for played in found.values() if played]
            there += done
            scores = [played.score for played in done]
            before = [league.standings(stage, number, pool, scores, self.lots) for number, pool in enumerate(pools)]
            tables += before
            waiting = [pairing for pairing, played in found.items() if played is None]
            if waiting:
                return TournamentState(tables, waiting, there)
        return TournamentState(tables, [], there)

    def marks(self, tables: Sequence[PoolTable]) -> dict[str, dict[str, float]]:
        """Each team's marks by stage, and the total."""
        found: dict[str, dict[str, float]] = {team: {} for team in self.teams}
        for table in tables:
            for row in table.rows:
                found[row.team][table.stage] = row.marks
        for marks in found.values():
            marks["total"] = round(sum(marks.values()), 2)
        return found


# ---------------------------------------------------------------------------------------------
# Tables


def standings_rows(tables: Sequence[PoolTable]) -> list[dict[str, Any]]:
    """The standings: a row for each team and stage."""
    return [{"stage": table.stage, "pool": table.pool + 1, **asdict(row)} for table in tables for row in table.rows]


def marks_rows(record: Record, tables: Sequence[PoolTable]) -> list[dict[str, Any]]:
    """The marks, best first: a row for each team, a column for each stage."""
    names = [stage.name for stage in record.stages]
    marks = sorted(record.marks(tables).items(), key=lambda item: (-item[1]["total"], item[0]))
    return [{"team": team, **{name: own.get(name, 0.0) for name in (*names, "total")}} for team, own in marks]


@dataclass(frozen=True)
class Overall:
    """A team in the overall order.

    Attributes
    ----------
    place
        Its place, from 1.
    team, name
        Its key, and its name.
    stage, pool, rank, of
        The furthest stage that it reached, its pool there (from 1), its rank in it, and the number of teams there.
    won, drawn, lost, marks
        Sums over all stages.
    """

    place: int
    team: str
    name: str
    stage: str
    pool: int
    rank: int
    of: int
    won: int
    drawn: int
    lost: int
    marks: float


def before_latest(record: Record, state: TournamentState, count: int) -> list[PoolTable]:
    """The tables as they were before the latest `count` matches of the present stage; none before its first match."""
    name = state.tables[-1].stage
    stage = next(one for one in record.stages if one.name == name)
    scores = [played.score for played in state.played if played.pairing.stage == name][:-count]
    if not scores:
        return []
    former = [one for one in state.tables if one.stage != name]
    for table in state.tables[len(former) :]:
        former.append(league.standings(stage, table.pool, [row.team for row in table.rows], scores, record.lots))
    return former


def overall(record: Record, tables: Sequence[PoolTable]) -> list[Overall]:
    """The overall order: by the furthest stage, the rank in the pool there, the score for each match there, the lot.

    Within a stage, this is the order in which teams go on (see :func:`~.league.next_pools`).
    """
    latest = {row.team: (table, row) for table in tables for row in table.rows}  # stages come in order
    stages = [stage.name for stage in record.stages]

    def key(team: str) -> tuple[int, int, float, int]:
        table, row = latest[team]
        matches = row.won + row.drawn + row.lost
        return -stages.index(table.stage), row.rank, -row.score / max(1, matches), record.lots[team]

    found, marks = [], record.marks(tables)
    for place, team in enumerate(sorted(latest, key=key), 1):
        table, last = latest[team]
        rows = [row for one in tables for row in one.rows if row.team == team]
        won, drawn, lost = (sum(getattr(row, name) for row in rows) for name in ("won", "drawn", "lost"))
        told = (table.stage, table.pool + 1, last.rank, len(table.rows))
        found.append(Overall(place, team, record.teams[team].name, *told, won, drawn, lost, marks[team]["total"]))
    return found
