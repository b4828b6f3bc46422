"""Submissions of different teams that are alike: what people with rights see of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.agents_tables import Agent
from pttt_ooc.course.data.assignments import all_assignments, further_leagues
from pttt_ooc.course.data.game_directory import sessions_of_games
from pttt_ooc.course.data.models import ACCEPTED, Submission, Team
from pttt_ooc.course.data.names import readable_name
from pttt_ooc.course.data.rules import AGENTS, BOTS, STRATEGIES
from pttt_ooc.course.data.storage import Storage
from pttt_ooc.course.data.term_tables import Likeness


@dataclass(frozen=True)
class Alike:
    """Two submissions, or one and the code that is handed out.

    Attributes
    ----------
    of
        The assignment of agents, or the further game or league; empty: the course's own.
    figure
        Of strategies the estimated total variation of their games against Uniform: 0 is the same.  Of bots and agents
        the share of code: 1 is the same.
    same_file
        Whether the files are equal.
    teams, numbers
        Of both; of the code that is handed out, the team says which, and the number is 0.
    """

    kind: str
    of: str
    figure: float
    same_file: bool
    teams: tuple[str, str]
    numbers: tuple[int, int]

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return dict(self.__dict__)

    def address(self, side: int) -> str:
        """The address of the page of one of them, or of its file; empty: it has none."""
        number = self.numbers[side]
        if not number:
            return ""
        if self.kind == AGENTS:
            return f"/agents/{self.of}/{number}"
        if self.kind == BOTS:
            return f"/course/desk/bots/{number}" + (f"?league={self.of}" if self.of else "")
        return f"/games/{self.of}/submissions/{number}" if self.of else f"/submissions/{number}"


def alike(session: Session, data: Path) -> list[Alike]:
    """All that are alike, the most alike of each kind first: strategies, bots, agents."""
    found = [*_strategies(session, data), *_bots(session, data), *_agents(session, data)]
    kinds = (STRATEGIES, BOTS, AGENTS)
    return sorted(
        found,
        key=lambda one: (
            kinds.index(one.kind),
            not one.same_file,
            one.figure if one.kind == STRATEGIES else -one.figure,
        ),
    )


def _strategies(session: Session, data: Path) -> Iterator[Alike]:
    names = {team.id: team.own_name for team in session.scalars(select(Team))}
    for game, source in chain([("", session)], sessions_of_games(session, data)):
        for one in source.scalars(select(Likeness).order_by(Likeness.id)):
            first, second = (source.get(Submission, number) for number in (one.other, one.submission))
            if first is not None and second is not None and {first.team_id, second.team_id} <= set(names):
                teams, numbers = (names[first.team_id], names[second.team_id]), (first.id, second.id)
                yield Alike(STRATEGIES, game, one.variation, first.digest == second.digest, teams, numbers)


def _bots(session: Session, data: Path) -> Iterator[Alike]:
    """The latest accepted bots of all teams of each league."""
    from pttt_ooc.course.bots.league import League, is_there, league_directory
    from pttt_ooc.course.bots.submissions import Bots
    from pttt_ooc.course.grades.code_likeness import handed_out, shipped_bots

    library = {**shipped_bots(), **handed_out(data)}
    for name in (None, *further_leagues(session)):
        directory = league_directory(data, name)
        if not is_there(directory):
            continue
        bots = Bots(League(directory))
        try:
            entered = [_File(one.id, one.team_id, one.digest, one.content) for one in bots.playing_bots(content=True)]
        finally:
            bots.close()
        yield from _files(session, BOTS, name or "", entered, library)


def _agents(session: Session, data: Path) -> Iterator[Alike]:
    """The latest accepted agents of all teams in each assignment."""
    from pttt_ooc.course.grades.code_likeness import handed_out, shipped_agents

    storage = Storage(data)
    for assignment in all_assignments(session, AGENTS):
        latest: dict[int, Agent] = {}
        accepted = select(Agent).where(Agent.status == ACCEPTED, Agent.assignment_id == assignment.id)
        for agent in session.scalars(accepted.order_by(Agent.id)):
            latest[agent.team_id] = agent
        files = [
            _File(one.id, one.team_id, one.digest, file.read_bytes())
            for one in latest.values()
            if (file := storage.upload(one.file)).is_file()
        ]
        yield from _files(session, AGENTS, assignment.name, files, {**shipped_agents(), **handed_out(data)})


@dataclass(frozen=True)
class _File:
    number: int
    team: int
    digest: str
    content: bytes


def _files(
    session: Session, kind: str, of: str, files: Iterable[_File], library: Mapping[str, frozenset[int]]
) -> Iterator[Alike]:
    """Files of different teams, with each other and with the code that is handed out."""
    from pttt_ooc.course.grades.code_likeness import NEAR, Code

    names = {team.id: team.own_name for team in session.scalars(select(Team))}
    known = [(one, Code.of(one.content, library)) for one in files if one.team in names]
    for one, code in known:
        if code.handed_out >= NEAR:
            teams = names[one.team], f"code that is handed out ({code.nearest})"
            yield Alike(kind, of, code.handed_out, False, teams, (one.number, 0))
    for (one, first), (two, second) in combinations(known, 2):
        share, same = first.overlap(second), one.digest == two.digest
        if share >= NEAR or same:
            yield Alike(kind, of, share, same, (names[one.team], names[two.team]), (one.number, two.number))


def lines(found: Sequence[Alike]) -> list[str]:
    """A line for each."""
    told = []
    for one in found:
        first, second = (f"{readable_name(t)} {n}" if n else t for t, n in zip(one.teams, one.numbers, strict=True))
        what = "estimated total variation" if one.kind == STRATEGIES else "shared code"
        same, of = ", the same file" if one.same_file else "", f" of {one.of}" if one.of else ""
        told.append(f"{one.kind}{of}: {first} and {second}: {what} {one.figure:.3f}{same}")
    return told
