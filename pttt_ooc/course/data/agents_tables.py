"""The tables of agents: files with verdicts, and the matches of teams against each other."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from pttt_ooc.course.data.models import CourseTables, Judged


class Agent(Judged, CourseTables):
    """One agent and its verdict.

    Attributes
    ----------
    file
        Name in the directory of uploads.
    given
        The sender's name of the file.
    progress
        Share of the games that are played.
    message, detail
        How it failed in the check; empty if it plays.
    printed
        The beginning of what it printed in the check.
    score
        Share of the points that it has won against the opponents, from 0 to 1.
    results
        For each opponent: its text, wins, draws, losses, and the first forfeit of the agent, if there is one.
    load_seconds, slowest
        Seconds for running the file, and for its slowest move.
    """

    __tablename__ = "agents"
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    file: Mapped[str] = mapped_column(String(60), unique=True)
    given: Mapped[str] = mapped_column(String(100))
    progress: Mapped[float] = mapped_column(default=0.0)
    message: Mapped[str] = mapped_column(String(200), default="")
    detail: Mapped[str] = mapped_column(Text, default="")
    printed: Mapped[str] = mapped_column(Text, default="")
    score: Mapped[float | None]
    results: Mapped[Any] = mapped_column(JSON, default=list)
    load_seconds: Mapped[float] = mapped_column(default=0.0)
    slowest: Mapped[float] = mapped_column(default=0.0)

    __table_args__ = (Index("agents_of_team", "team_id", "assignment_id"), {"sqlite_autoincrement": True})


class AgentMatch(CourseTables):
    """The games of two agents against each other; `wins` are those of the first, whose number is the lower one."""

    __tablename__ = "agent_matches"
    first_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"), primary_key=True)
    second_id: Mapped[int] = mapped_column(ForeignKey("agents.id", ondelete="CASCADE"), primary_key=True, index=True)
    wins: Mapped[int]
    draws: Mapped[int]
    losses: Mapped[int]
    forfeits: Mapped[int] = mapped_column(default=0)
