"""Strategies of the instructors' own, such as an exact equilibrium: in the head-to-head, beside the baseline.

The team has no token, rank and grade; only people with rights see its submissions.
"""

from __future__ import annotations

import time
from pathlib import Path

from sqlalchemy.orm import Session

from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.models import HIDDEN, Submission, Team
from pttt_ooc.course.data.names import check_name, name_key, readable_name
from pttt_ooc.course.data.standings import touch
from pttt_ooc.course.data.storage import Incoming, Storage
from pttt_ooc.course.people.teams import find_team
from pttt_ooc.course.strategies.submissions import keep_upload, twin_of
from pttt_ooc.errors import CourseError

EQUILIBRIUM = "Equilibrium"
"""The usual name of the team."""

_PIECE = 1 << 20


def enter_house(session: Session, storage: Storage, name: str, files: tuple[Path, Path], by: str) -> list[Submission]:
    """Hand in two files, player 0's and player 1's, for a team of the house; the worker judges them.

    Raises
    ------
    CourseError
        If a file is missing, or students have a team of this name.
    """
    for file in files:
        if not file.is_file():
            raise CourseError(f"{file}: There is no such file.")
    # The team of the house, made at its first strategies; no team of students becomes one.
    name = check_name(name)
    team = find_team(session, name)
    if team is not None and not team.house:
        raise CourseError(f"There already is a team {readable_name(team.name)}; choose another --name.")
    if team is None:
        team = Team(name=name, key=name_key(name), created_at=time.time(), house=True)
        session.add(team)
        session.flush()
    # Each file as an ordinary upload, which the worker judges; one that was handed in before is not taken again.
    made = []
    for player, file in enumerate(files):
        incoming = Incoming(storage)
        try:
            with open(file, "rb") as source:
                while data := source.read(_PIECE):
                    incoming.write(data)
            there = twin_of(session, team, player, incoming.digest)
            if there is not None:
                incoming.discard()
                made.append(there)
                continue
            row = keep_upload(incoming, team, player)
            # Hidden: its values are in the head-to-head, but students do not see the submission.
            row.ruling = HIDDEN
            session.add(row)
            session.flush()
            made.append(row)
        except BaseException:
            incoming.discard()
            raise
    touch(session)
    note(session, by, "house", team=team.name, submissions=[row.id for row in made])
    return made
