"""The standings: each team's best strategies, their history, the matrix of their values, and who has no standing."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, delete, func, or_, select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import all_assignments, further_of, veil
from pttt_ooc.course.data.memberships import without_rank
from pttt_ooc.course.data.models import ACCEPTED, BASELINE, WITHDRAWN, Entry, Fact, Submission, Team
from pttt_ooc.course.data.rules import STRATEGIES
from pttt_ooc.course.data.term_tables import Assignment, Disqualification
from pttt_ooc.disk.numbers import NOISE

TIE = 1e-7
"""Teams whose figures differ by at most this share a rank: rounding a strategy to single precision costs about 1e-8."""

BEGUN = func.coalesce(Submission.begun_at, Submission.received_at)
"""When the upload of a submission began."""

Bests = tuple[dict[int, Submission], dict[int, Submission]]
"""For each player, the best submission of each team, by the team's number."""


@dataclass(frozen=True)
class Standing:
    """A row of the leaderboard; ranks count from 1; None if a team has nothing accepted."""

    team: Team
    best: tuple[Submission | None, Submission | None]
    ranks: tuple[int | None, int | None]
    sum_rank: int | None

    @property
    def total(self) -> float | None:
        """NashConv of the team's two best strategies."""
        first, second = (s.exploitability if s else None for s in self.best)
        return None if first is None or second is None else first + second

    def rank(self, column: str) -> int | None:
        """Rank by player ``"0"`` or ``"1"``, or by the ``"sum"``."""
        return self.sum_rank if column == "sum" else self.ranks[int(column)]

    def figure(self, column: str) -> float | None:
        """Exploitability as player ``"0"`` or ``"1"``, or the ``"sum"``."""
        if column == "sum":
            return self.total
        best = self.best[int(column)]
        return best.exploitability if best else None


@dataclass(frozen=True)
class Matrix:
    """Values for player 0: of each row's best strategy as player 0 against each column's as player 1."""

    rows: Sequence[Submission]
    columns: Sequence[Submission]
    values: Mapping[tuple[int, int], float]

    def value(self, row: Submission, column: Submission) -> float | None:
        """One entry, or None."""
        return self.values.get((row.id, column.id))

    def mean(self, submission: Submission) -> float | None:
        """Mean value for player 0 along a row or column."""
        of = self.columns if submission.player == 0 else self.rows
        pairs = [(submission, other) if submission.player == 0 else (other, submission) for other in of]
        values = [v for v in (self.value(*pair) for pair in pairs) if v is not None]
        return sum(values) / len(values) if values else None


def touch(session: Session) -> None:
    """Mark the standings as changed."""
    fact = session.get(Fact, "revision")
    if fact is None:
        session.add(Fact(name="revision", value=time.time()))
    else:
        fact.value = max(time.time(), fact.value + 1e-3)


def revision(session: Session) -> str:
    """A text that changes whenever the public standings do, including when they are frozen or unveiled."""
    fact, until = session.get(Fact, "revision"), veil(session)
    changed = "0" if fact is None else f"{fact.value:.3f}"
    return changed if until is None else f"{changed}-{until:.0f}"


def bests(session: Session) -> Bests:
    """The best submission of each team for each player, hidden ones too."""
    found: Bests = ({}, {})
    for submission in session.scalars(select(Submission).where(Submission.best)):
        found[submission.player][submission.team_id] = submission
    return found


def public_bests(session: Session, until: float | None = None) -> Bests:
    """The best submission of each team for each player that everybody may see.

    Parameters
    ----------
    until
        Only submissions whose upload had begun by then; None: all.
    """
    out = without_standing(session) | set(session.scalars(select(Team.id).where(Team.house)))
    found: Bests = ({}, {}) if until is not None else bests(session)
    accepted = select(Submission).where(Submission.status == ACCEPTED, Submission.ruling == "")
    if until is None:
        hidden = {s.team_id for best in found for s in best.values() if s.ruling} - out
        for best in found:
            for team in hidden:
                best.pop(team, None)
        accepted = accepted.where(Submission.team_id.in_(hidden))
    else:
        accepted = accepted.where(until >= BEGUN)
    for submission in session.scalars(accepted.order_by(Submission.id)):
        former = found[submission.player].get(submission.team_id)
        if beats(submission.exploitability, former.exploitability if former else None):
            found[submission.player][submission.team_id] = submission
    first, second = ({team: s for team, s in best.items() if team not in out} for best in found)
    return first, second


def is_shown(until: float | None, viewer: int | None) -> ColumnElement[bool]:
    """The condition for a submission to be shown to a team: its own, or one neither hidden nor begun since a freeze.

    Parameters
    ----------
    until
        Since when public standings are frozen; None: they are not.
    viewer
        Number of the team that looks; None: somebody without a team.
    """
    public = Submission.ruling == ""
    public = public if until is None else and_(public, until >= BEGUN)
    return or_(public, Submission.team_id == (viewer or 0))


def leaderboard(session: Session, sort: str = "sum", until: float | None = None) -> list[Standing]:
    """All teams but the house, by ``"0"``, ``"1"``, ``"sum"`` or ``"team"``, best first; without a figure last.

    For `until` see :func:`public_bests`.
    """
    found = public_bests(session, until)
    teams = sorted(session.scalars(select(Team).where(~Team.house)), key=lambda team: team.key)
    rows = [Standing(t, (found[0].get(t.id), found[1].get(t.id)), (None, None), None) for t in teams]
    ranks = {column: _ranks(rows, column) for column in ("0", "1", "sum")}
    ranked = [
        Standing(r.team, r.best, (ranks["0"].get(r.team.id), ranks["1"].get(r.team.id)), ranks["sum"].get(r.team.id))
        for r in rows
    ]
    if sort == "team":
        return ranked
    # A team with only one of two strategies comes after those with both, by what it has.  Ties are in order of names.
    places = {column: _ranks(ranked, column) for column in ("0", "1", sort)}
    last = len(ranked) + 1

    def place(row: Standing) -> tuple[int, int]:
        own = [places[column].get(row.team.id, last) for column in (sort, "0", "1")]
        return own[0], min(own[1:])

    return sorted(ranked, key=place)


def ranks_of(figures: Mapping[int, float]) -> dict[int, int]:
    """Ranks by the teams' numbers, the lowest figure first; those within :data:`TIE` of the best of them share one."""
    ranks: dict[int, int] = {}
    best, rank = 0.0, 0
    for position, (figure, team) in enumerate(sorted((figure, team) for team, figure in figures.items()), 1):
        if not ranks or figure > best + TIE:
            best, rank = figure, position
        ranks[team] = rank
    return ranks


def _ranks(rows: Sequence[Standing], column: str) -> dict[int, int]:
    return ranks_of({row.team.id: figure for row in rows if (figure := row.figure(column)) is not None})


@dataclass(frozen=True)
class Place:
    """Where a team's best strategy stands among those of all teams, and where it stood with the best before.

    Attributes
    ----------
    rank, of
        Its rank, and the number of teams that have one.
    before
        The rank that the team's best before would have now; None: it was the first.
    """

    rank: int
    of: int
    before: int | None


def place_of(session: Session, submission: Submission, until: float | None = None) -> Place | None:
    """The place of a team's best strategy; None if it is not the best.  For `until` see :func:`public_bests`."""
    if not submission.best or submission.exploitability is None:
        return None
    best = public_bests(session, until)[submission.player]
    own = submission.team_id
    known = {t: s.exploitability for t, s in best.items() if t != own and s.exploitability is not None}

    def rank(figure: float) -> int:
        return ranks_of({**known, own: figure})[own]

    before = None if submission.before is None else rank(submission.before)
    return Place(rank(submission.exploitability), len(known) + 1, before)


@dataclass(frozen=True)
class Comparison:
    """What the figure of an accepted strategy is compared with.

    Attributes
    ----------
    uniform
        The figure of uniform play as the same player; None until it is judged.
    best
        The team's best strategy, if it is another one.
    ahead
        Among the other teams' best strategies, the one with the next better figure; None: there is none.
    """

    uniform: float | None
    best: Submission | None
    ahead: Submission | None


def compare(
    session: Session, submission: Submission, until: float | None = None, inside: bool = False
) -> Comparison | None:
    """What an accepted strategy is compared with; None for others.

    Parameters
    ----------
    until
        See :func:`public_bests`.
    inside
        Whether the team itself or somebody with rights looks: they see its latest best even if it is not public.
    """
    if submission.status != ACCEPTED or submission.exploitability is None:
        return None
    public = public_bests(session, until)[submission.player]
    found = public.values()
    of_uniform = next((one.exploitability for one in found if one.team.name == BASELINE), None)
    better = [
        (one.exploitability, one)
        for one in found
        if one.team_id != submission.team_id and (one.exploitability or 0.0) < submission.exploitability - TIE
    ]
    ahead = max(better, key=lambda pair: (pair[0] or 0.0, -pair[1].id))[1] if better else None
    best = (bests(session)[submission.player] if inside else public).get(submission.team_id)
    return Comparison(of_uniform, None if best is None or best.id == submission.id else best, ahead)


def matrix(session: Session, until: float | None = None) -> Matrix:
    """The matrix of all teams' best strategies, by name, the house and the baseline last.

    For `until` see :func:`public_bests`.
    """
    found = public_bests(session, until)
    for house in session.scalars(select(Submission).join(Team).where(Submission.best, Team.house)):
        found[house.player][house.team_id] = house

    def sort_bests(player: int) -> list[Submission]:
        return sorted(found[player].values(), key=lambda s: (s.team.name == BASELINE, s.team.house, s.team.key))

    values = {(e.first_id, e.second_id): e.value for e in session.scalars(select(Entry))}
    return Matrix(sort_bests(0), sort_bests(1), values)


def improvements(
    session: Session,
    team: int | None = None,
    limit: int | None = None,
    shown_if: ColumnElement[bool] | None = None,
) -> list[Submission]:
    """The submissions that were their team's best when they were judged, latest first; see :func:`is_shown`."""
    query = select(Submission).where(Submission.improved, Submission.status == ACCEPTED)
    query = query.where(Submission.ruling != WITHDRAWN)
    query = query if shown_if is None else query.where(shown_if)
    if team is not None:
        query = query.where(Submission.team_id == team)
    return list(session.scalars(query.order_by(Submission.finished_at.desc(), Submission.id.desc()).limit(limit)))


def enter(session: Session, submission: Submission, values: Mapping[int, float]) -> int | None:
    """Put an accepted submission into the standings, if it is its team's best.

    Parameters
    ----------
    values
        Value for player 0 against each opposing best, by number of submission.

    Returns
    -------
    Number of the submission that it replaces, if there is one.
    """
    former = session.scalar(
        select(Submission).where(
            Submission.team_id == submission.team_id, Submission.player == submission.player, Submission.best
        )
    )
    submission.before = former.exploitability if former else None
    if submission.ruling == WITHDRAWN or not beats(submission.exploitability, submission.before):
        return None
    if former is not None:
        former.best = False
    submission.best = submission.improved = True
    session.flush()
    if veil(session) is None:  # what was the best when public standings were frozen is still shown
        best = select(Submission.id).where(Submission.best)
        session.execute(delete(Entry).where(or_(Entry.first_id.not_in(best), Entry.second_id.not_in(best))))
    for other, value in values.items():
        pair = (submission.id, other) if submission.player == 0 else (other, submission.id)
        session.add(Entry(first_id=pair[0], second_id=pair[1], value=value))
    touch(session)
    return former.id if former else None


def beats(exploitability: float | None, former: float | None) -> bool:
    """Whether a figure is better than the best so far, by more than rounding."""
    return exploitability is not None and (former is None or exploitability < former - NOISE)


def clip_exploitability(exploitability: float | None) -> float | None:
    """A figure for programs, at least 0; a stored one may be negative if the game's value is not known exactly."""
    return None if exploitability is None else max(exploitability, 0.0)


# ---------------------------------------------------------------------------------------------
# Who has no standing


MIRRORED = "disqualified"
"""The fact in a further game's database that names its teams without standing, as the course knows them."""


def disqualifications(session: Session) -> dict[tuple[int, int], Disqualification]:
    """The disqualifications in force, by the numbers of team and assignment."""
    found: dict[tuple[int, int], Disqualification] = {}
    for one in session.scalars(select(Disqualification).order_by(Disqualification.id)):
        found[one.team_id, one.assignment_id] = one
    return {pair: one for pair, one in found.items() if one.holds}


def out_of(session: Session, assignment: Assignment) -> set[int]:
    """Numbers of the teams that have no standing in an assignment: disqualified, or without members who rank."""
    return {team for team, number in disqualifications(session) if number == assignment.id} | without_rank(session)


def out_of_game(session: Session, game: str | None = None) -> set[int]:
    """Numbers of the teams without standing in every assignment of a further game; None: of the course's own."""
    found = disqualifications(session)
    assignments = [one.id for one in all_assignments(session, STRATEGIES) if further_of(one) == game] if found else []
    out = {team for team, _ in found if assignments and all((team, one) in found for one in assignments)}
    return out | without_rank(session)


def without_standing(session: Session) -> set[int]:
    """Numbers of the teams without standing in the game whose strategies a database has."""
    mirrored = session.get(Fact, MIRRORED)
    return out_of_game(session) if mirrored is None else set(mirrored.value)
