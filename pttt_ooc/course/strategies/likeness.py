"""Strategies of different teams that play alike: estimates from sampled games, a hint for instructors, not a verdict.

The games of a strategy against the uniform opponent have a distribution.  The total variation of two such distributions
is 0 for strategies that do the same wherever they get, whatever they do elsewhere, and 1 for strategies that never
play the same game.  With x the realization plans and h a game,

    TV(s, t) = E over games h of s of max(0, 1 - x_t(h) / x_s(h)),

as the opponent's part of a game's probability cancels.  So a few hundred games of s, of each
its last sequence, and t's plan at these sequences give an estimate; if t equals s, it is exact.
"""

from __future__ import annotations

import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from pttt_ooc.cfr.solving.assessment import Assessment
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import ACCEPTED, Submission
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Likeness
from pttt_ooc.disk.files import replacing
from pttt_ooc.games.rules.play import History, start
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.infoset_places import locate, sides_of

GAMES = 400
"""How many games of a strategy are sampled: then the standard error of an estimate is at most 0.025."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SampledGames:
    """Games of a strategy against the uniform opponent.

    Attributes
    ----------
    sequences
        int64 (games,): the last own sequence of each game; -1: the player made no attempt.
    reach
        float64 (games,): the strategy's realization plan there; 1 for no sequence.
    """

    sequences: NDArray[np.int64]
    reach: Floats

    def estimated_variation(self, plan: Floats) -> float:
        """An estimate of the total variation between this strategy and another one of the same player, 0 to 1.

        Parameters
        ----------
        plan
            float64 (the player's sequences,): the other one's realization plan.
        """
        theirs = np.where(self.sequences < 0, 1.0, plan[self.sequences])
        return float(np.maximum(0.0, 1.0 - theirs / self.reach).mean())


def sample_games(index: Index, player: int, plan: Floats, digest: str, games: int = GAMES) -> SampledGames:
    """Sample games of a strategy.

    Parameters
    ----------
    index
        The index without symmetry.
    plan
        float64 (the player's sequences,): the strategy's realization plan.
    digest
        The digest of the strategy's file, which is the seed.
    """
    rng = np.random.default_rng(zlib.crc32(digest.encode()))
    found = [_sample_sequence(index, player, plan, rng) for _ in range(games)]
    sequences = np.array(found, np.int64)
    return SampledGames(sequences, np.where(sequences < 0, 1.0, plan[sequences]))


def _sample_sequence(index: Index, player: int, plan: Floats, rng: np.random.Generator) -> int:
    history, last = start(index.game), -1
    while history.player is not None:
        legal = history.legal()
        if history.player == player:
            options = sequences_at(index, history)
            weights = plan[options]
            chosen = int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum(), side="right"))
            chosen = min(chosen, int(np.flatnonzero(weights)[-1]))  # rounding
            last = int(options[chosen])
            history = history.step(legal[chosen])
        else:
            history = history.step(legal[int(rng.integers(len(legal)))])
    return last


def sequences_at(index: Index, history: History) -> NDArray[np.int64]:
    """int64 (legal squares,): numbers of the sequences of the player to move, by ascending square."""
    player = history.player
    assert player is not None
    side, own = sides_of(index)[player], [one for one in history.attempts if one.player == player]
    squares = np.array([one.square for one in own], np.int64)
    placed = sum(1 << one.square for one in own if one.placed)
    view, _, rank = locate(side, squares, len(squares), placed)
    orders = side.node_start[view + 1] - side.node_start[view]
    first = side.sequence_start[view] + rank
    return np.asarray(first + orders * np.arange(len(history.legal())), np.int64)


NEAR = 0.15
"""Two strategies are reported up to this estimated total variation."""


class Likenesses:
    """Compares each accepted strategy with those of other teams that were accepted before.

    Parameters
    ----------
    games
        Sampled games of each strategy.
    """

    def __init__(self, database: Database, storage: Storage, index: Index, games: int = GAMES) -> None:
        self._database, self._storage, self._index, self._games = database, storage, index, games

    def compare(self, submission: Submission, assessment: Assessment) -> list[tuple[int, float]]:
        """Write down which earlier strategies play nearly alike; returns their numbers and the estimates.

        The baseline and the house are not compared: a strategy near them is not a copy.
        """
        if not submission.team.of_students:
            return []
        plan = np.asarray(assessment.plan, np.float64)
        self._write(submission, sample_games(self._index, submission.player, plan, submission.digest, self._games))
        with self._database.reading() as session:
            others = session.scalars(
                select(Submission).where(
                    Submission.player == submission.player,
                    Submission.team_id != submission.team_id,
                    Submission.status == ACCEPTED,
                )
            ).all()
        found = []
        for other in others:
            games = self._read(other) if other.team.of_students else None
            if games is not None and (near := games.estimated_variation(plan)) <= NEAR:
                found.append((other.id, near))
        with self._database.writing() as session:
            _replace(session, submission, found)
        return found

    def sweep(self) -> None:
        """Delete the sampled games of strategies that are gone."""
        with self._database.reading() as session:
            known = {self._file(submission).name for submission in session.scalars(select(Submission))}
        for file in self._storage.samples.iterdir():
            if file.name not in known:
                file.unlink(missing_ok=True)

    def _file(self, submission: Submission) -> Path:
        return self._storage.samples / f"{submission.file.removesuffix('.zip')}.npz"

    def _write(self, submission: Submission, games: SampledGames) -> None:
        with replacing(self._file(submission)) as path, open(path, "wb") as file:
            np.savez_compressed(file, sequences=games.sequences, reach=games.reach)

    def _read(self, submission: Submission) -> SampledGames | None:
        """The sampled games of a strategy; None if an older version judged it."""
        try:
            with np.load(self._file(submission)) as found:
                return SampledGames(found["sequences"], found["reach"])
        except (OSError, ValueError, KeyError):
            return None


def _replace(session: Session, submission: Submission, found: list[tuple[int, float]]) -> None:
    of = or_(Likeness.submission == submission.id, Likeness.other == submission.id)
    known = {frozenset((one.submission, one.other)): one for one in session.scalars(select(Likeness).where(of))}
    there = set(session.scalars(select(Submission.id).where(Submission.id.in_([number for number, _ in found]))))
    for number, near in found:
        before = known.get(frozenset((submission.id, number)))
        if before is not None:
            before.variation = near
        elif number in there and session.get(Submission, submission.id) is not None:
            made = Likeness(submission=submission.id, other=number, variation=near, found_at=time.time())
            session.add(made)
