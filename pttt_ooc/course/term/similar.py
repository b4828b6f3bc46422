"""Submissions of different teams that are alike: what people with rights see of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.models import Submission, Team
from pttt_ooc.course.names import shown
from pttt_ooc.course.term.rules import BOTS, STRATEGIES
from pttt_ooc.course.term.tables import Likeness

EVALUATOR = "the code that is handed out"


@dataclass(frozen=True)
class Alike:
    """Two submissions, or one and the code that is handed out.

    Attributes
    ----------
    figure
        Of strategies the estimated total variation of their games against Uniform: 0 is the same.  Of bots the share of
        code: 1 is the same.
    same_file
        Whether the files are equal.
    teams, numbers
        Of both; of the code that is handed out, the number is 0.
    """

    kind: str
    figure: float
    same_file: bool
    teams: tuple[str, str]
    numbers: tuple[int, int]

    def facts(self) -> dict[str, Any]:
        """As JSON."""
        return dict(self.__dict__)


def alike(session: Session, data: Path) -> list[Alike]:
    """All that are alike, the most alike first: strategies, then bots."""
    return [*_strategies(session), *_bots(session, data)]


def _strategies(session: Session) -> list[Alike]:
    found = []
    for one in session.scalars(select(Likeness).order_by(Likeness.variation, Likeness.id)):
        pair = [session.get(Submission, number) for number in (one.other, one.submission)]
        first, second = pair
        if first is not None and second is not None:
            teams, numbers = (first.team.own_name, second.team.own_name), (first.id, second.id)
            found.append(Alike(STRATEGIES, one.variation, first.digest == second.digest, teams, numbers))
    return sorted(found, key=lambda one: (not one.same_file, one.figure))


def _bots(session: Session, data: Path) -> list[Alike]:
    """The latest accepted bots of all teams, with each other and with the code that is handed out."""
    from pttt_ooc.course.kinds.bots.code_likeness import NEAR, Code
    from pttt_ooc.course.kinds.bots.league import League, is_there
    from pttt_ooc.course.kinds.bots.submissions import Bots

    if not is_there(data):
        return []
    bots = Bots(League(data))
    try:
        entered = bots.entered_by_all(content=True)
    finally:
        bots.close()
    names = {team.id: team.own_name for team in session.scalars(select(Team))}
    known = [(bot, Code.of(bot.content)) for bot in entered if bot.team_id in names]
    found = [
        Alike(BOTS, code.handed_out, False, (names[bot.team_id], EVALUATOR), (bot.id, 0))
        for bot, code in known
        if code.handed_out >= NEAR
    ]
    for (one, first), (two, second) in combinations(known, 2):
        share, same = first.shared(second), one.digest == two.digest
        if share >= NEAR or same:
            teams = (names[one.team_id], names[two.team_id])
            found.append(Alike(BOTS, share, same, teams, (one.id, two.id)))
    return sorted(found, key=lambda one: (not one.same_file, -one.figure))


def lines(found: Sequence[Alike]) -> list[str]:
    """A line for each."""
    words = {STRATEGIES: "estimated total variation", BOTS: "shared code"}
    told = []
    for one in found:
        first, second = (f"{shown(t)} {n}" if n else t for t, n in zip(one.teams, one.numbers, strict=True))
        same = ", the same file" if one.same_file else ""
        told.append(f"{one.kind}: {first} and {second}: {words[one.kind]} {one.figure:.3f}{same}")
    return told
