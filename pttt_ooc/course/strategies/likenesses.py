"""Strategies of different teams that play alike, as the worker finds them: a hint for instructors, no verdict."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from pttt_ooc.cfr.solving.assessment import Assessment
from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import ACCEPTED, Submission
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Likeness
from pttt_ooc.course.strategies.likeness import SampledGames, sample_games
from pttt_ooc.disk.files import replacing
from pttt_ooc.games.structure.index import Index

NEAR = 0.15
"""Estimated total variation up to which two strategies are told."""


class Likenesses:
    """Compares each accepted strategy with those of other teams that were accepted before."""

    def __init__(self, database: Database, storage: Storage, index: Index) -> None:
        self._database, self._storage, self._index = database, storage, index

    def compare(self, submission: Submission, assessment: Assessment) -> list[tuple[int, float]]:
        """Write down which earlier strategies play nearly alike; returns their numbers and the estimates.

        The baseline and the house are not compared: whoever comes near them is not a copyist.
        """
        if not submission.team.of_students:
            return []
        plan = np.asarray(assessment.plan, np.float64)
        self._write(submission, sample_games(self._index, submission.player, plan, submission.digest))
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
