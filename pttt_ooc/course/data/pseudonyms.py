"""Aliases of teams on public pages, if a course wants them.

What is public shows a team's `name`.  With aliases, that is the alias, and the team's own name is kept beside it: so no
page has to remember to hide anything.
"""

from __future__ import annotations

import secrets

from sqlalchemy import select
from sqlalchemy.orm import Session

from pttt_ooc.course.data.models import OF_STUDENTS, Team
from pttt_ooc.course.data.names import name_key
from pttt_ooc.course.data.standings import touch

_FIRST = (
    "amber azure brisk bronze calm clever coral crimson daring eager early fair gentle golden green hidden ivory jolly "
    "keen lilac lucky mellow merry mint noble olive orange pale plain proud purple quick quiet red royal ruby sage "
    "scarlet silent silver sly sunny swift teal tidy violet wise young"
)
_SECOND = (
    "badger bear beaver bison camel crane deer dolphin eagle falcon ferret finch fox gecko goose hare hawk heron horse "
    "ibis jackal jay kite koala lark lemur lion lynx marten mole moose moth newt otter owl panda puffin raven robin "
    "salmon seal shrew snail stork swan tiger toad trout turtle vole weasel wolf wren yak zebra"
)


def take_alias(session: Session, team: Team) -> None:
    """Give a team an alias, drawn at random, unless it has one."""
    if team.roster_name is not None:
        return
    taken = {key for pair in session.execute(select(Team.key, Team.roster_key)) for key in pair}
    pairs = [f"{first} {second}".title() for first in _FIRST.split() for second in _SECOND.split()]
    free = [alias for alias in pairs if name_key(alias) not in taken]
    alias = secrets.choice(free) if free else f"Team {secrets.token_hex(6)}"
    team.roster_name, team.roster_key = team.name, team.key
    team.name, team.key = alias, name_key(alias)
    session.flush()


def set_aliases(session: Session, wanted: bool) -> None:
    """Give all teams aliases, or their own names again."""
    for team in session.scalars(select(Team).where(*OF_STUDENTS).order_by(Team.id)).all():
        if wanted:
            take_alias(session, team)
        elif team.roster_name is not None and team.roster_key is not None:
            team.name, team.key, team.roster_name, team.roster_key = team.roster_name, team.roster_key, None, None
    session.flush()
    touch(session)
