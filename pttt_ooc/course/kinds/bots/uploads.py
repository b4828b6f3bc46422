"""A bot's file on its way in: through the grader's uploads, with their checks and the disk's reserve."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from fastapi import HTTPException, Request
from fastapi.concurrency import run_in_threadpool

from pttt_ooc.course.context import Grader
from pttt_ooc.course.kinds.bots.league import League
from pttt_ooc.course.kinds.bots.submissions import Bot, Bots
from pttt_ooc.course.uploads import Fields, receive

_NAME = re.compile(r"[A-Za-z]\w{0,59}\.py", re.ASCII)


@dataclass
class Course:
    """What the handlers of a league work on."""

    grader: Grader
    league: League
    bots: Bots

    @classmethod
    def of(cls, grader: Grader) -> Course:
        """The league beside a grader, which must be there."""
        league = League(grader.storage.data)
        return cls(grader, league, Bots(league))


def own_name(given: str) -> str:
    """The name of a bot's file; 400 if it cannot be one."""
    name = re.split(r"[/\\]", given)[-1]
    if not _NAME.fullmatch(name):
        raise HTTPException(400, "A bot is a file whose name is like team39.py, in letters, digits and underscores.")
    return name


async def take_in(
    request: Request, course: Course, team: int, check: Callable[[Fields], object] = lambda fields: None
) -> tuple[Bot, bool]:
    """Receive a bot, which the worker then checks; returns it, and whether it is new.

    Parameters
    ----------
    check
        Called with the fields that came before the file; what it raises ends the request.

    Raises
    ------
    HTTPException, HandInError, FullDiskError
        If it is refused.
    """
    grader, largest = course.grader, course.league.settings.largest_bytes
    with grader.in_flight.begin(team) as flight:
        await run_in_threadpool(course.bots.check_limits, team, flight.ahead)
        _, incoming = await receive(request, grader, check, flight, largest)
        try:
            name, content = own_name(incoming.given), incoming.content()
        finally:
            incoming.discard()
        return await run_in_threadpool(course.bots.hand_in, team, name, content)
