"""The team Uniform, which plays every legal square with the same probability."""

from __future__ import annotations

from sqlalchemy import select

from pttt_ooc.course.data.database import Database
from pttt_ooc.course.data.models import BASELINE, Submission, Team
from pttt_ooc.course.data.storage import Incoming, Storage
from pttt_ooc.course.people.teams import add_baseline
from pttt_ooc.course.strategies.assessor import Assessor
from pttt_ooc.course.strategies.submissions import keep_upload
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.pipeline.files.tensors import export_strategy


def submit_baseline(database: Database, storage: Storage, assessor: Assessor) -> None:
    """Submit both uniform strategies, as ordinary files, if they are missing."""
    add_baseline(database)
    for player in (0, 1):
        with database.reading() as session:
            team = session.scalars(select(Team).where(Team.name == BASELINE)).one()
            if session.scalar(select(Submission).where(Submission.team_id == team.id, Submission.player == player)):
                continue
        incoming = Incoming(storage)
        try:
            path = storage.incoming / f"uniform{player}.zip"
            strategy = uniform_strategy(assessor.engine.index, player)
            export_strategy(strategy, assessor.rows[player], path, compression_level=6)
            with open(path, "rb") as file:
                while data := file.read(1 << 20):
                    incoming.write(data)
            path.unlink()
            submission = keep_upload(incoming, team, player)
            with database.writing() as session:
                session.add(submission)
        except BaseException:
            incoming.discard()
            raise
