"""The pages of a league beside a grader's."""

from __future__ import annotations

from pttt_ooc.course.accounts import Staff
from pttt_ooc.course.context import Grader
from pttt_ooc.course.database import Database
from pttt_ooc.course.kinds.bots import submission_pages
from pttt_ooc.course.kinds.bots.context import OpenLeague
from pttt_ooc.course.kinds.bots.league import League
from pttt_ooc.course.term.assignments import frozen_since
from pttt_ooc.course.term.rules import BOTS
from pttt_ooc.extreme.pages import exports, part, play_pages, practice_pages
from pttt_ooc.extreme.pages.tournament_reader import PracticeReader, TournamentReader
from pttt_ooc.web.parts import Part
from pttt_ooc.web.shell import Account


def parts_of(grader: Grader) -> list[Part]:
    """The parts of the league of a course, which must be there."""
    league = OpenLeague.of(grader)
    tournament = part.part_of(
        TournamentReader(league.files.tournament),
        exports.router,
        practice_pages.router,
        before=before_tournament(league.files, grader.database),
    )
    return [tournament, submission_pages.part_of(league)]


def play_parts(grader: Grader, address: str) -> list[Part]:
    """The part on which teams play against their bots, whose answerer is at `address`."""
    return [play_pages.part_of(play_pages.client_at(address), _owner)]


def _owner(account: Account | None) -> str | None:
    """Who plays: the team; None if nobody is signed in."""
    return None if account is None else part.key_of(account.id)


def before_tournament(league: League, database: Database) -> part.BeforeTournament:
    """What the pages show before the tournament begins; people with rights see practice also while it is frozen."""
    settings = league.settings
    readers: dict[float, PracticeReader] = {}

    def frozen(account: Account | None) -> PracticeReader | None:
        if isinstance(account, Staff):
            return None
        with database.reading() as session:
            since = frozen_since(session, BOTS)
        if since is None or not league.frozen_practice(since).exists():  # nothing has been played since
            return None
        return readers.setdefault(since, PracticeReader(league.frozen_practice(since)))

    return part.BeforeTournament(
        begins=settings.begins.timestamp() if settings.begins else None,
        time_limit=settings.time_limit,
        practice=PracticeReader(league.practice) if settings.practice else None,
        practice_limit=settings.practice_limit,
        kept=settings.practice_matches,
        sign=league.practising,
        frozen=frozen,
    )
