"""The league: stages, pools, the order of matches, and standings.  This module neither plays nor writes.

Teams are named by their files.  A stage deals its teams to pools; in a pool, each pair plays two matches, and each of
the two begins once.  A team's score in a stage is the sum of its points in the matches; its marks are the stage's marks
times its score over the best score of its pool.

Ties are broken, in this order, by: the score in the pool; matches won in the pool; points in the matches between those
that are still tied; the lot that each team drew, before the first match, from the tournament's seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from pttt_ooc.other_games.extreme.walls import ExtremeError


@dataclass(frozen=True)
class Stage:
    """One stage.

    Attributes
    ----------
    name
        ``group``, ``semi-final``, ``final``.
    pools
        Number of pools.
    qualify
        Teams of each pool that go on, or that are named in the end.
    marks
        Marks of a pool's best team.
    """

    name: str
    pools: int
    qualify: int
    marks: float


COURSE = (Stage("group", 10, 3, 30), Stage("semi-final", 3, 3, 10), Stage("final", 1, 3, 10))
"""The stages of the course."""


def stages(pools: Sequence[int], qualify: Sequence[int], marks: Sequence[float]) -> tuple[Stage, ...]:
    """One to three stages: the first of several is the group stage, the last one is the final."""
    names = [stage.name for stage in (*COURSE[: len(pools) - 1], COURSE[-1])]
    return tuple(map(Stage, names, pools, qualify, marks))


@dataclass(frozen=True)
class Pairing:
    """One match to be played: the first team begins."""

    stage: str
    pool: int
    first: str
    second: str

    @property
    def name(self) -> str:
        """Name of the match's file."""
        return f"{self.stage}-{self.pool + 1}-{self.first}-{self.second}"


@dataclass(frozen=True)
class Score:
    """The result of a match: points of the first team and of the second."""

    pairing: Pairing
    points: tuple[int, int]


@dataclass
class PoolRow:
    """A team's line in the standings of its pool."""

    rank: int
    team: str
    score: int
    won: int
    drawn: int
    lost: int
    against: int
    marks: float
    qualified: bool


@dataclass
class PoolTable:
    """The standings of a pool."""

    stage: str
    pool: int
    rows: list[PoolRow] = field(default_factory=list)
    played: int = 0
    matches: int = 0


def check_sizes(stages: Sequence[Stage], teams: int) -> None:
    """Check that the stages fit the number of teams.

    Raises
    ------
    ExtremeError
        If one does not; the message says which, and what to change.
    """
    there = teams
    for stage in stages:
        if there < 2 * stage.pools:
            raise ExtremeError(
                f"{there} teams cannot play the {stage.name} in {stage.pools} pools, as a pool needs two; choose fewer "
                "pools: with --pools, such as --pools 4,2,1, or where a course says it, in extreme.yaml."
            )
        there = sum(min(stage.qualify, size) for size in pool_sizes(there, stage.pools))


def pool_sizes(teams: int, pools: int) -> list[int]:
    """Sizes of pools, which differ by one at most, the larger ones first."""
    return [teams // pools + (pool < teams % pools) for pool in range(pools)]


def lots(teams: Iterable[str], seed: int) -> dict[str, int]:
    """The lot of each team: its place in a random order that depends on the seed and the teams' names."""
    order = sorted(teams)
    random.Random(seed).shuffle(order)
    return {team: lot for lot, team in enumerate(order)}


def coin_exchanges(seed: int) -> bool:
    """Whether a coin, tossed with a seed, lets the second of two teams begin."""
    return random.Random(seed).random() < 0.5


def first_pools(lot: dict[str, int], stage: Stage) -> list[list[str]]:
    """The pools of the first stage: the teams in the order of their lots, dealt like cards."""
    order = sorted(lot, key=lot.__getitem__)
    return [order[pool :: stage.pools] for pool in range(stage.pools)]


def next_pools(tables: Sequence[PoolTable], stage: Stage, lot: dict[str, int]) -> list[list[str]]:
    """The pools of a later stage: the qualified teams, best first, dealt in snake order.

    Teams are ordered by rank in their pool, then by score for each match played, then by lot.
    """
    going = [
        (row.rank, -row.score / (row.won + row.drawn + row.lost), lot[row.team], row.team)
        for table in tables
        for row in table.rows
        if row.qualified
    ]
    pools: list[list[str]] = [[] for _ in range(stage.pools)]
    for index, (*_, team) in enumerate(sorted(going)):
        turn, place = divmod(index, stage.pools)
        pools[place if turn % 2 == 0 else stage.pools - 1 - place].append(team)
    return pools


def pairings(stage: Stage, pools: Sequence[Sequence[str]]) -> list[Pairing]:
    """All matches of a stage."""
    return [
        Pairing(stage.name, number, *pair)
        for number, pool in enumerate(pools)
        for one, two in combinations(pool, 2)
        for pair in ((one, two), (two, one))
    ]


def standings(
    stage: Stage, number: int, pool: Sequence[str], scores: Iterable[Score], lot: dict[str, int]
) -> PoolTable:
    """The standings of a pool after the matches played so far."""
    played = [score for score in scores if (score.pairing.stage, score.pairing.pool) == (stage.name, number)]
    rows = {team: PoolRow(0, team, 0, 0, 0, 0, 0, 0.0, False) for team in pool}
    for score in played:
        for own, other in ((0, 1), (1, 0)):
            row = rows[(score.pairing.first, score.pairing.second)[own]]
            mine, theirs = score.points[own], score.points[other]
            row.score += mine
            row.against += theirs
            row.won += mine > theirs
            row.drawn += mine == theirs
            row.lost += mine < theirs
    order = sorted(rows.values(), key=lambda row: (-row.score, -row.won))
    ranked: list[PoolRow] = []
    while order:
        tied = [row for row in order if (row.score, row.won) == (order[0].score, order[0].won)]
        order = order[len(tied) :]
        between = {row.team: 0 for row in tied}
        for score in played:
            if score.pairing.first in between and score.pairing.second in between:
                between[score.pairing.first] += score.points[0]
                between[score.pairing.second] += score.points[1]
        ranked += sorted(tied, key=lambda row: (-between[row.team], lot[row.team]))
    best = ranked[0].score
    for rank, row in enumerate(ranked, start=1):
        row.rank, row.qualified = rank, rank <= stage.qualify
        row.marks = round(stage.marks * row.score / best, 2) if best else 0.0
    return PoolTable(stage.name, number, ranked, len(played), len(pool) * (len(pool) - 1))
