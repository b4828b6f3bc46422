"""The processes of a league, beside a grader's own."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.course.kinds.bots.league import League, is_there
from pttt_ooc.play.database_file import kept_file
from pttt_ooc.service.processes import Child


def processes(data: Path) -> list[Child]:
    """The worker and the analyst of the league in a grader's directory; none where there is no league.

    Raises
    ------
    PtttError
        If its settings are refused, or its database cannot be used.  The processes themselves would be restarted again
        and again.
    """
    if not is_there(data):
        return []
    league = League(data)
    kept_file(league.database, "Bots")
    return [
        Child("league", ["-m", "pttt_ooc.course.kinds.bots.worker", str(data)]),
        Child("analyst", ["-m", "pttt_ooc.extreme.analyst", str(league.tournament)]),
    ]
