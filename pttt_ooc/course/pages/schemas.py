"""The JSON answers of the API, for programs and for its documentation."""

from __future__ import annotations

import datetime

from pydantic import BaseModel, ConfigDict, Field

from pttt_ooc.course.agents.standings import Row
from pttt_ooc.course.data.models import QUEUED, Submission
from pttt_ooc.course.data.standings import TIE, Comparison, Matrix, Place, Standing, clip_exploitability
from pttt_ooc.course.strategies.certificates import PairCertificate
from pttt_ooc.site.service.pulse import Sign
from pttt_ooc.site.shell.schemas import moment


class CourseOut(BaseModel):
    """The course."""

    game: str
    shapes: tuple[tuple[int, int], tuple[int, int]] = Field(description="Shapes of player 0's and player 1's tensor.")
    game_value: tuple[float, float] | None = Field(description="Interval of the game's value; null: not known yet.")
    max_upload_bytes: int
    submissions_per_hour: int
    submissions_per_day: int | None = Field(description="Within 24 hours; null: as the hours allow.")
    waiting_per_team: int


class SubmissionOut(BaseModel):
    """A submission."""

    id: int
    team: str
    player: int
    status: str = Field(description="Queued, Validating, Evaluating, Accepted or Rejected.")
    position: int | None = Field(description="Place in the queue, from 1; 0: it is being judged; null: it has been.")
    waits_for: str | None = Field(description="While it is queued: why nothing is judged yet, if so; else null.")
    progress: float = Field(description="Share of the status's work that is done, 0 to 1.")
    note: str
    detail: str
    size: int
    digest: str = Field(description="BLAKE2b of the file, 32 bytes.")
    received_at: datetime.datetime
    finished_at: datetime.datetime | None
    exploitability: float | None
    best_response: float | None = Field(description="Value of the opponent's best response, for the opponent.")
    best: bool = Field(description="Whether it is the team's best of this player.")
    before: float | None = Field(description="Exploitability of the team's best before, if this one is better.")
    rank: int | None = Field(description="Among the teams' best of this player; null if it is not the team's best.")
    ranks: int | None = Field(description="The number of teams that have a rank as this player; null as for rank.")
    uniform: float | None = Field(description="Exploitability of uniform play, for comparison; 0 is perfect.")
    ahead: float | None = Field(description="Of the other teams' best, the next better figure; null: there is none.")
    ahead_team: str | None = Field(description="The team that has it.")
    rank_before: int | None = Field(description="The rank that the team's best before would have now.")
    opening: list[float] | None = Field(description="Probability of each square at the first attempt.")
    evaluation_seconds: float | None
    url: str

    @classmethod
    def of(
        cls,
        s: Submission,
        position: int | None,
        place: Place | None = None,
        compared: Comparison | None = None,
        sign: Sign | None = None,
    ) -> SubmissionOut:
        """From a row of the database and, if they are known, its place and what the worker does."""
        ahead = compared.ahead if compared else None
        received = moment(s.received_at)
        assert received is not None
        same = ("id", "player", "status", "progress", "note", "detail", "size", "digest", "best")
        more = ("best_response", "opening", "evaluation_seconds")
        return cls(
            **{name: getattr(s, name) for name in (*same, *more)},
            team=s.team.name,
            exploitability=clip_exploitability(s.exploitability),
            before=clip_exploitability(s.before) if s.improved else None,
            rank=place.rank if place else None,
            ranks=place.of if place else None,
            uniform=clip_exploitability(compared.uniform) if compared else None,
            ahead=clip_exploitability(ahead.exploitability) if ahead else None,
            ahead_team=ahead.team.name if ahead else None,
            rank_before=place.before if place else None,
            position=position,
            waits_for=(sign.words or None) if sign and s.status == QUEUED else None,
            received_at=received,
            finished_at=moment(s.finished_at),
            url=f"/submissions/{s.id}",
        )


class ReceivedOut(BaseModel):
    """A submission that was received."""

    submission: SubmissionOut
    duplicate: bool = Field(description="Whether the very same file had been submitted before; it is not judged again.")


class SubmissionsOut(BaseModel):
    """A page of submissions, latest first."""

    submissions: list[SubmissionOut]
    page: int
    pages: int
    total: int


class StandingOut(BaseModel):
    """A row of the leaderboard."""

    team: str
    exploitability: tuple[float | None, float | None]
    total: float | None
    ranks: tuple[int | None, int | None] = Field(
        description=f"As player 0 and as player 1; null without a strategy. Figures within {TIE:g} share a rank."
    )
    rank: int | None = Field(description="By the sum; null without a strategy for both players, as is the total.")
    submissions: tuple[int | None, int | None]

    @classmethod
    def of(cls, row: Standing) -> StandingOut:
        """A standing."""
        first, second = row.best
        return cls(
            team=row.team.name,
            exploitability=(clip_exploitability(row.figure("0")), clip_exploitability(row.figure("1"))),
            total=clip_exploitability(row.total),
            ranks=row.ranks,
            rank=row.sum_rank,
            submissions=(first.id if first else None, second.id if second else None),
        )


class MatrixOut(BaseModel):
    """Values for player 0; rows are teams as player 0, columns as player 1."""

    rows: list[str]
    columns: list[str]
    values: list[list[float | None]]

    @classmethod
    def of(cls, m: Matrix) -> MatrixOut:
        """A matrix."""
        return cls(
            rows=[s.team.name for s in m.rows],
            columns=[s.team.name for s in m.columns],
            values=[[m.value(r, c) for c in m.columns] for r in m.rows],
        )


class ImprovementOut(BaseModel):
    """A submission that was its team's best when it was judged."""

    team: str
    player: int
    submission: int
    finished_at: datetime.datetime | None
    exploitability: float
    before: float | None


class CertificateOut(BaseModel):
    """The certificate of a team's two best strategies."""

    submissions: tuple[int, int] = Field(description="Player 0's and player 1's.")
    state: str = Field(description="none: nobody has asked for it; waiting, made, or refused.")
    note: str = Field(description="Why it was refused.")
    lower: str | None = Field(description="What player 0's strategy guarantees, as a fraction.")
    upper: str | None = Field(description="What player 1's strategy keeps player 0 at, as a fraction.")
    nashconv: str | None = Field(description="Their difference: what both can lose together.")
    infosets: tuple[int, int] | None = Field(description="How many the plan of each player reaches.")
    bytes: int

    @classmethod
    def of(cls, found: PairCertificate) -> CertificateOut:
        """From what is known of a pair."""
        lower, upper, nashconv = (None if x is None else str(x) for x in (found.lower, found.upper, found.nashconv))
        return cls(
            submissions=found.pair,
            state=found.state,
            note=found.note,
            lower=lower,
            upper=upper,
            nashconv=nashconv,
            infosets=found.infosets,
            bytes=found.size,
        )


class ProgramOut(BaseModel):
    """One of the team's own bots or agents: its file, and the verdict on it."""

    model_config = ConfigDict(from_attributes=True)

    number: int = Field(validation_alias="id")
    digest: str
    size: int
    received_at: datetime.datetime
    status: str
    message: str
    detail: str
    printed: str
    load_seconds: float
    slowest: float


class AgentStanding(BaseModel):
    """A team in the standings of agents."""

    rank: int
    team: str
    score: float
    league: float | None = Field(description="Share of the points in the head-to-head, from 0 to 1.")
    met: int = Field(description="Teams that it has met.")

    @classmethod
    def of(cls, row: Row) -> AgentStanding:
        """From a row of the standings."""
        return cls(rank=row.rank, team=row.team.name, score=row.agent.score or 0.0, league=row.league, met=row.met)
