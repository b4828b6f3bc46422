"""The tables: teams, their sessions, submissions, the matrix of values, and a few facts.

Times are seconds since 1970 in UTC, which all databases store alike.  Numbers of teams and submissions are never used
again: links and log lines of deleted rows must not lead to other teams.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint, false
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

QUEUED, VALIDATING, EVALUATING, ACCEPTED, REJECTED = "Queued", "Validating", "Evaluating", "Accepted", "Rejected"
CHECKING = "Checking"
STATUSES = (QUEUED, VALIDATING, EVALUATING, ACCEPTED, REJECTED)
"""Statuses of strategies; a bot or agent is being checked where a strategy is validated and evaluated."""

UNFINISHED = (QUEUED, VALIDATING, EVALUATING, CHECKING)
BASELINE = "Uniform"
HIDDEN, WITHDRAWN = "hidden", "withdrawn"


class CourseTables(DeclarativeBase):
    """All tables."""


NEVER_AGAIN = {"sqlite_autoincrement": True}
"""The option of tables whose numbers are never used again: else SQLite uses the highest number again."""


class Numbered(CourseTables):
    """The tables whose numbers are never used again."""

    __abstract__ = True
    id: Mapped[int] = mapped_column(primary_key=True, sort_order=-1)
    __table_args__: Any = NEVER_AGAIN


class Team(Numbered):
    """A team.  The baseline has no token and does not submit.

    Attributes
    ----------
    key
        The form of the name for comparing and sorting.
    roster_name, roster_key
        Its own name, known to itself and people with rights, if the course shows aliases: then `name` is the alias.
    house
        Whether it is the instructors' own, beside the baseline: it plays head to head, without rank and grade.
    """

    __tablename__ = "teams"
    name: Mapped[str] = mapped_column(String(60), unique=True)
    key: Mapped[str] = mapped_column(String(200), unique=True)
    token_hash: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[float]
    house: Mapped[bool] = mapped_column(default=False, server_default=false())
    roster_name: Mapped[str | None] = mapped_column(String(60))
    roster_key: Mapped[str | None] = mapped_column(String(200), unique=True)

    @property
    def own_name(self) -> str:
        """The name by which the team itself and people with rights know it; see :attr:`roster_name`."""
        return self.name if self.roster_name is None else self.roster_name

    @property
    def of_students(self) -> bool:
        """Whether it is a team of the course: not the baseline, and not of the house."""
        return self.name != BASELINE and not self.house


OF_STUDENTS = (Team.name != BASELINE, ~Team.house)
"""The conditions for a team to be one of the course."""


class BrowserSession(CourseTables):
    """A browser that is signed in.

    Attributes
    ----------
    digest
        SHA-256 of the cookie, in hex: a reader of the table cannot sign in with it.
    team_id, person_id
        Who is signed in: a team or a person.
    """

    __tablename__ = "sessions"
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    expires_at: Mapped[float]


class Judged:
    """The columns that all kinds of submissions have, each in a table of its own.

    Attributes
    ----------
    digest
        Content hash, in hex.
    changed_at
        Time of the last change of anything that pages show.
    attempts
        Number of judgements begun.
    begun_at
        When the upload began, as it counts for deadlines: later if it was slow; None: when it was received.
    ruling
        What the instructors have decided about it: :data:`HIDDEN` from others (it still counts), :data:`WITHDRAWN`
        (it is hidden and no longer counts); empty: nothing.
    """

    id: Mapped[int] = mapped_column(primary_key=True)
    team_id: Mapped[int]
    digest: Mapped[str] = mapped_column(String(64))
    size: Mapped[int]
    received_at: Mapped[float]
    changed_at: Mapped[float]
    status: Mapped[str] = mapped_column(String(10), default=QUEUED, index=True)
    attempts: Mapped[int] = mapped_column(default=0)
    begun_at: Mapped[float | None]
    ruling: Mapped[str] = mapped_column(String(10), default="", server_default="")

    @property
    def counts_from(self) -> float:
        """The time that counts for deadlines."""
        return self.received_at if self.begun_at is None else self.begun_at

    @property
    def unfinished(self) -> bool:
        """Whether there is no verdict yet."""
        return self.status in UNFINISHED


class Submission(Judged, CourseTables):
    """One uploaded strategy and its verdict.

    Attributes
    ----------
    file
        Name in the directory of uploads, chosen by the server.
    digest
        BLAKE2b.
    progress
        Share of the present status's work that is done.
    note, detail
        The reason for a rejection: the course's words, and further help.
    best
        Whether it is the team's best of this player now.
    improved
        Whether it was the best when it was judged; `before` is the former best's exploitability.
    opening
        Probabilities of all squares at the player's first attempt.
    open_to_play
        Whether everybody may play against it, as its team has chosen.
    """

    __tablename__ = "submissions"
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    player: Mapped[int]
    file: Mapped[str] = mapped_column(String(60), unique=True)
    changed_at: Mapped[float] = mapped_column(index=True)
    started_at: Mapped[float | None]
    finished_at: Mapped[float | None]
    progress: Mapped[float] = mapped_column(default=0.0)
    note: Mapped[str] = mapped_column(String(500), default="")
    detail: Mapped[str] = mapped_column(String(1000), default="")
    exploitability: Mapped[float | None]
    best_response: Mapped[float | None]
    best: Mapped[bool] = mapped_column(default=False)
    improved: Mapped[bool] = mapped_column(default=False)
    before: Mapped[float | None]
    opening: Mapped[list[float] | None] = mapped_column(JSON)
    evaluation_seconds: Mapped[float | None]
    open_to_play: Mapped[bool] = mapped_column(default=False)
    team: Mapped[Team] = relationship(lazy="joined")

    __table_args__ = (
        UniqueConstraint("team_id", "player", "digest"),
        Index("submissions_of_team", "team_id", "received_at"),
        Index("submissions_best", "best", "player"),
        NEVER_AGAIN,
    )


class Entry(CourseTables):
    """Value for player 0 of one submission against another."""

    __tablename__ = "entries"
    first_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    second_id: Mapped[int] = mapped_column(
        ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    value: Mapped[float]


class Fact(CourseTables):
    """Facts of the whole course: ``format``, ``game``, ``value``, ``revision``."""

    __tablename__ = "facts"
    name: Mapped[str] = mapped_column(String(20), primary_key=True)
    value: Mapped[Any] = mapped_column(JSON)
