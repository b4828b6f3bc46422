"""The tables of a term: assignments, people, reports, decisions, what follows from them, and the log.

What people decide about teams and submissions is never changed: a new row supersedes an older one, so that the history
stays.  Only a rejudgement's row gets its results later.  The log cannot be changed at all: the database refuses it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import DDL, JSON, ForeignKey, Index, String, Text, UniqueConstraint, event, false
from sqlalchemy.orm import Mapped, mapped_column

from pttt_ooc.course.data.dates import Dates
from pttt_ooc.course.data.models import HIDDEN, NEVER_AGAIN, WITHDRAWN, Judged, Numbered
from pttt_ooc.course.data.rules import STRATEGIES

ROLES = INSTRUCTOR, ASSISTANT, STUDENT = "instructor", "assistant", "student"


class _OfTeam:
    """The columns of tables about a team and an assignment."""

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))


class _Decision(Numbered):
    """The columns of all decisions: when, and by whom."""

    __abstract__ = True
    at: Mapped[float]
    by: Mapped[str] = mapped_column(String(120))


class Assignment(Numbered):
    """An assignment: a kind with settings, dates, and a way to points.

    Attributes
    ----------
    name
        Its name in addresses and files.
    position
        Its place in lists.
    late_percent, late_days
        What each late day costs, in percent of the points; how many free late days a team may use here.
    choice
        See :mod:`pttt_ooc.course.data.choice`.
    rule, rubric
        See :mod:`pttt_ooc.course.data.rules`; a list of criteria that people mark, each with a name and points.
    settings
        The settings that only its kind has; None: the defaults.
    released
        Whether teams see their points.
    """

    __tablename__ = "assignments"
    name: Mapped[str] = mapped_column(String(40), unique=True)
    title: Mapped[str] = mapped_column(String(120))
    kind: Mapped[str] = mapped_column(String(20))
    position: Mapped[int]
    opens_at: Mapped[float | None]
    due_at: Mapped[float | None]
    closes_at: Mapped[float | None]
    frozen_at: Mapped[float | None]
    unveiled_at: Mapped[float | None]
    late_percent: Mapped[float] = mapped_column(default=0.0)
    late_days: Mapped[int] = mapped_column(default=0)
    choice: Mapped[str] = mapped_column(String(10))
    rule: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=True)
    rubric: Mapped[Any] = mapped_column(JSON)
    largest_mb: Mapped[float | None]
    settings: Mapped[Any] = mapped_column(JSON(none_as_null=True), nullable=True)
    released: Mapped[bool] = mapped_column(default=False)

    @property
    def dates(self) -> Dates:
        """Its dates, without a team's extension."""
        return Dates(self.opens_at, self.due_at, self.closes_at, self.frozen_at, self.unveiled_at)


class Person(Numbered):
    """An instructor, assistant or student.

    Attributes
    ----------
    key
        The e-mail address in small letters, which identifies the person.
    number
        The university's number of a student, for exports.
    token_hash
        The hash of a token, for people with rights; a student's programs use the team's token.
    password_hash
        See :mod:`pttt_ooc.course.people.passwords`; None: no password.
    subject
        How the university's OpenID Connect identifies the person: the issuer and its identifier.
    guest
        Whether only a team has let a student in, by a link; see :mod:`pttt_ooc.course.data.memberships`.
    removed_at
        When somebody lost the rights, or left the course.
    """

    __tablename__ = "people"
    key: Mapped[str] = mapped_column(String(200), unique=True)
    email: Mapped[str] = mapped_column(String(200))
    name: Mapped[str] = mapped_column(String(120))
    number: Mapped[str] = mapped_column(String(60), default="")
    role: Mapped[str] = mapped_column(String(12))
    token_hash: Mapped[str | None] = mapped_column(String(64))
    password_hash: Mapped[str | None] = mapped_column(String(200))
    subject: Mapped[str | None] = mapped_column(String(500), unique=True)
    guest: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[float]
    removed_at: Mapped[float | None]


class Membership(Numbered):
    """A student in a team, from when until when; None: still."""

    __tablename__ = "memberships"
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    joined_at: Mapped[float]
    left_at: Mapped[float | None]


class Invitation(Numbered):
    """A link that can be used once: into a team, into the course, or for signing in.

    Attributes
    ----------
    digest
        SHA-256 of its code, in hex: a reader of the table cannot use it.
    team_id
        The team that it leads into; None: only into the course, or for signing in.
    person_id
        Who signs in by it; None: whoever opens it, as a student.
    by
        Who made it.
    of_team
        Whether a team has made it, not an instructor.
    """

    __tablename__ = "invitations"
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    by: Mapped[str] = mapped_column(String(120))
    of_team: Mapped[bool] = mapped_column(default=False, server_default=false())
    created_at: Mapped[float]
    expires_at: Mapped[float]
    used_at: Mapped[float | None]
    revoked_at: Mapped[float | None]


class Report(Judged, Numbered):
    """A report with its code, checked at once and graded by hand.

    Attributes
    ----------
    file
        Name in the directory of uploads.
    given
        The sender's name of the file.
    seconds
        The running time that the team states.
    link, comment
        An address, and words to those who grade it.
    """

    __tablename__ = "reports"
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"))
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    file: Mapped[str] = mapped_column(String(60), unique=True)
    given: Mapped[str] = mapped_column(String(100))
    seconds: Mapped[float | None]
    link: Mapped[str] = mapped_column(String(500), default="")
    comment: Mapped[str] = mapped_column(String(2000), default="")
    note: Mapped[str] = mapped_column(String(500), default="")

    __table_args__ = (Index("reports_of_team", "team_id", "assignment_id"), NEVER_AGAIN)


_RULED = {
    HIDDEN: "The instructors have hidden it from others; it counts.",
    WITHDRAWN: "The instructors have withdrawn it; it does not count.",
    "": "The instructors have restored it.",
}


class Extension(_OfTeam, _Decision):
    """A later deadline for a team; None takes it back."""

    __tablename__ = "extensions"
    until: Mapped[float | None]
    reason: Mapped[str] = mapped_column(String(500))


class Pick(_OfTeam, _Decision):
    """A team's own pick of a submission for a slot; 0 takes it back."""

    __tablename__ = "picks"
    slot: Mapped[int]
    submission: Mapped[int]


class Mark(_OfTeam, _Decision):
    """Points by hand for a criterion of the rubric, with a comment for the team."""

    __tablename__ = "marks"
    criterion: Mapped[str] = mapped_column(String(60))
    points: Mapped[float]
    comment: Mapped[str] = mapped_column(String(2000), default="")


class Adjustment(_OfTeam, _Decision):
    """Points added or taken away, with a reason; several add up."""

    __tablename__ = "adjustments"
    points: Mapped[float]
    reason: Mapped[str] = mapped_column(String(500))


class Ruling(_Decision):
    """A decision about a submission: to hide it, to withdraw it, or to undo either; with a reason for the team.

    Attributes
    ----------
    kind, of, submission
        Which submission; `of` is its further game or league, empty: the course's own.
    ruling
        As in :class:`pttt_ooc.course.data.models.Judged`.
    """

    __tablename__ = "rulings"
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str] = mapped_column(String(20))
    of: Mapped[str] = mapped_column(String(60), default="", server_default="")
    submission: Mapped[int]
    ruling: Mapped[str] = mapped_column(String(10))
    reason: Mapped[str] = mapped_column(String(500))

    @property
    def words(self) -> str:
        """The ruling and its reason, for the team."""
        return f"{_RULED[self.ruling]} {self.reason}"


class Disqualification(_OfTeam, _Decision):
    """A team loses points and rank in an assignment, with a reason; if `holds` is false, it has them back."""

    __tablename__ = "disqualifications"
    holds: Mapped[bool]
    reason: Mapped[str] = mapped_column(String(500))


class Rejudgement(_Decision):
    """Submissions of a kind that are judged again.

    Attributes
    ----------
    kind
        Strategies or agents.
    dry_run
        Whether the worker only tells what would change.
    numbers
        All submissions that are judged.
    verdicts
        Of a dry run: for each judged submission its number, and the verdicts ``before`` and ``after``.
    grades
        Of a dry run, at the end: a sentence for each grade that would change.
    trouble
        Why it was given up.
    finished_at
        When a dry run has ended.
    """

    __tablename__ = "rejudgements"
    kind: Mapped[str] = mapped_column(String(20), default=STRATEGIES, server_default=STRATEGIES)
    dry_run: Mapped[bool]
    numbers: Mapped[Any] = mapped_column(JSON)
    verdicts: Mapped[Any] = mapped_column(JSON)
    grades: Mapped[Any] = mapped_column(JSON)
    trouble: Mapped[str] = mapped_column(String(500), default="")
    finished_at: Mapped[float | None]


class Pair(Numbered):
    """A team's strategies for both players, looked at together.

    Attributes
    ----------
    first_id, second_id
        Player 0's and player 1's.
    value
        For player 0 against the other one; None: not computed yet.
    """

    __tablename__ = "pairs"
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), index=True)
    first_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    second_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    value: Mapped[float | None]
    made_at: Mapped[float]

    __table_args__ = (UniqueConstraint("first_id", "second_id"), NEVER_AGAIN)


class Likeness(Numbered):
    """Two strategies of different teams that play nearly alike.

    Attributes
    ----------
    submission, other
        The later and the earlier one.
    variation
        Estimated; see :mod:`pttt_ooc.course.strategies.likeness`.
    """

    __tablename__ = "likenesses"
    submission: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), index=True)
    other: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), index=True)
    variation: Mapped[float]
    found_at: Mapped[float]


class GradeRow(_OfTeam, Numbered):
    """A team's grade for an assignment from a moment on.

    Attributes
    ----------
    facts
        The grade in full, as :class:`pttt_ooc.course.grades.gradebook.Grade` describes it.
    because
        What led to it.
    """

    __tablename__ = "grades"
    at: Mapped[float]
    points: Mapped[float | None]
    facts: Mapped[Any] = mapped_column(JSON)
    because: Mapped[str] = mapped_column(String(200))


class Announcement(_Decision):
    """An announcement to everybody."""

    __tablename__ = "announcements"
    title: Mapped[str] = mapped_column(String(200))
    text: Mapped[str] = mapped_column(Text)
    withdrawn_at: Mapped[float | None]


class Delivery(Numbered):
    """An announcement on its way to one webhook or e-mail address.

    Attributes
    ----------
    next_at
        When the next attempt is due.
    sent_at
        When it was sent; None: not yet.
    trouble
        Why the last attempt failed.
    """

    __tablename__ = "deliveries"
    announcement_id: Mapped[int] = mapped_column(ForeignKey("announcements.id", ondelete="CASCADE"), index=True)
    channel: Mapped[str] = mapped_column(String(10))
    target: Mapped[str] = mapped_column(String(2000))
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[float]
    sent_at: Mapped[float | None]
    trouble: Mapped[str] = mapped_column(String(500), default="")


class LogLine(_Decision):
    """What somebody with rights has done."""

    __tablename__ = "log"
    what: Mapped[str] = mapped_column(String(40))
    facts: Mapped[Any] = mapped_column(JSON)


_REFUSED = "'the log is append-only'"
for _dialect, _statement in (
    ("sqlite", f"CREATE TRIGGER log_no_update BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, {_REFUSED}); END"),
    ("sqlite", f"CREATE TRIGGER log_no_delete BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, {_REFUSED}); END"),
    (
        "postgresql",
        "CREATE OR REPLACE FUNCTION log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION {_REFUSED}; END $$",
    ),
    (
        "postgresql",
        "CREATE TRIGGER log_is_append_only BEFORE UPDATE OR DELETE ON log FOR EACH ROW "
        "EXECUTE FUNCTION log_is_append_only()",
    ),
):
    _ddl = DDL(_statement).execute_if(dialect=_dialect)  # type: ignore[no-untyped-call]
    event.listen(LogLine.__table__, "after_create", _ddl)
