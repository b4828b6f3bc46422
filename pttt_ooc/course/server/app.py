"""The course as a part of the web application."""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from typing import TypeAlias

from fastapi import FastAPI
from sqlalchemy.exc import DBAPIError

from pttt_ooc.course.data.limits import SubmissionError, in_words
from pttt_ooc.course.data.models import BASELINE, STATUSES
from pttt_ooc.course.data.rules import FIGURE_NAMES
from pttt_ooc.course.data.settings import CourseSettings
from pttt_ooc.course.data.standings import TIE
from pttt_ooc.course.data.storage import FullDiskError, is_full_disk
from pttt_ooc.course.pages import (
    account_pages,
    api,
    certificate_pages,
    desk_pages,
    health,
    openid_pages,
    strategy_pages,
    term_pages,
)
from pttt_ooc.course.pages import agent_pages as agents
from pttt_ooc.course.pages import bot_pages as bots
from pttt_ooc.course.pages import game_pages as games
from pttt_ooc.course.pages.context import HERE as PAGES
from pttt_ooc.course.pages.context import Course
from pttt_ooc.course.pages.health import FromDatabase
from pttt_ooc.course.people.accounts import DESK, TeamAccounts
from pttt_ooc.course.strategies import figures
from pttt_ooc.disk.numbers import NOISE
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.parts import Link, Part, Refusal
from pttt_ooc.site.shell.shell import Shell

_BROKEN_DISK = (errno.EROFS, errno.EIO, errno.EACCES)

LINKS = (
    Link("/", "Leaderboard", "Course"),
    Link("/matrix", "Head-to-head", "Course"),
    Link("/submissions", "Submissions", "Course"),
    Link("/course", "Assignments", "Course", but=(DESK.target,)),
    Link("/about", "About", "Course"),
)


def ways_of(settings: CourseSettings) -> list[Link]:
    """The ways to sign in without a token."""
    ways = [Link("/account/sign-in", "Sign in with a password"), Link("/account/join", "Use a link")]
    return (
        ways
        if settings.openid_issuer is None
        else [Link("/account/openid", f"Sign in with {settings.openid_label}"), *ways]
    )


Looks: TypeAlias = Callable[[], Sequence[Link]]


def create_app(course: Course, *others: Part, looks: Looks = tuple) -> FastAPI:
    """The application of a course.

    Parameters
    ----------
    others
        Parts beside the course.
    looks
        Returns links to further pages about a team's own submission; ``{}`` in a target stands for its number.
    """
    settings = course.settings
    shell = Shell(
        title=settings.title,
        subtitle=settings.game,
        parts=[part_of(course, looks), agents.part_of(), *bots.further_parts_of(course, others), *others],
        accounts=TeamAccounts(course.database, settings.session_days * 86400, ways_of(settings)),
        secret=course.secret,
        wrong_tokens_per_hour=settings.wrong_tokens_per_hour,
        behind_proxy=bool(settings.trusted_proxies),
    )
    return make_application(shell)


def part_of(course: Course, looks: Looks = tuple) -> Part:
    """The part of a course; for `looks` see :func:`create_app`."""
    return Part(
        name="course",
        directory=PAGES,
        routers=(
            api.router,
            strategy_pages.router,
            certificate_pages.router,
            certificate_pages.programs,
            health.router,
            term_pages.router,
            term_pages.programs,
            desk_pages.router,
            account_pages.router,
            openid_pages.router,
            certificate_pages.game_router,
            certificate_pages.game_programs,
            games.router,
            games.programs,
        ),
        links=LINKS,
        state=course,
        filters={
            "known_value": figures.known_value,
            "uncertainty": figures.uncertainty,
            "exploitability": figures.exploitability,
            "exploitability_with_error": figures.exploitability_with_error,
        },
        names={
            "opacity": figures.opacity,
            "BASELINE": BASELINE,
            "NOISE": NOISE,
            "TIE": TIE,
            "FIGURES": FIGURE_NAMES,
            "STATUSES": list(STATUSES),
            "settings": course.settings,
            "in_words": in_words,
            "looks": looks,
        },
        caught=(OSError, DBAPIError),
        explain=explain,
        collectors=(FromDatabase(course),),
        largest_body=course.settings.max_upload_bytes,
    )


def explain(error: Exception) -> Refusal | None:
    """The refusal if a team has reached a limit, or cannot open a submission, or the disk cannot be written."""
    if isinstance(error, SubmissionError):
        return Refusal(error.status, str(error), {"Retry-After": str(max(1, int(error.wait)))} if error.wait else {})
    if is_full_disk(error):
        return Refusal(507, str(FullDiskError()))
    if isinstance(error, OSError) and error.errno in _BROKEN_DISK:
        return Refusal(503, f"The course's disk cannot be used ({error.strerror}); tell the instructors.")
    return None
