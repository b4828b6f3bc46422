"""The processes of a league, beside a grader's own."""

from __future__ import annotations

from pathlib import Path

from pttt_ooc.course.kinds.bots.league import League, is_there
from pttt_ooc.extreme.wing import ANALYST
from pttt_ooc.play.database_file import kept_file
from pttt_ooc.service.wing import Pages


def pages(data: Path) -> list[Pages]:
    """The pages of the league in a grader's directory, with its worker and the analyst; none where there is no league.

    Raises
    ------
    PtttError
        If its settings are refused, or its database cannot be used.
    """
    if not is_there(data):
        return []
    league = League(data)
    kept_file(league.database, "Bots")
    workers = [
        ("league", "pttt_ooc.course.kinds.bots.worker", str(data)),
        ("analyst", ANALYST, str(league.tournament), str(league.practice)),
    ]
    found = [Pages("league", "The league", ("pttt_ooc.course.kinds.bots.parts:parts_of",), workers=workers)]
    if league.settings.games:
        parts, answerer = "pttt_ooc.course.kinds.bots.parts:play_parts", "pttt_ooc.course.kinds.bots.opponents:answerer"
        found.append(Pages("bot games", "The games", (parts,), answerer=(answerer, str(data))))
    return found
