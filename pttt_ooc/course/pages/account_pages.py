"""The pages of an account: who is signed in, the team, links for others, the password."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import term_of
from pttt_ooc.course.data.audit import note
from pttt_ooc.course.data.dates import readable_instant
from pttt_ooc.course.data.memberships import times_left, without_rank
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.data.standings import revision
from pttt_ooc.course.data.term_tables import STUDENT, Person
from pttt_ooc.course.grades.gradebook import settle_if_graded
from pttt_ooc.course.pages.context import Course, UsedCourse
from pttt_ooc.course.people import invitations, passwords, self_service, sessions
from pttt_ooc.course.people.accounts import as_member, person_behind
from pttt_ooc.course.people.people import address_key, members
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.errors import CourseError
from pttt_ooc.site.shell.accounts import count_guess, count_wrong_secret, remember_browser
from pttt_ooc.site.shell.forms import SESSION, own_form, set_cookie
from pttt_ooc.site.shell.rendering import render
from pttt_ooc.site.shell.shell import Account, UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/account")
_HASHING = CapacityLimiter(2)  # passwords that are hashed at the same time: each takes 19 MiB
T = TypeVar("T")


@router.get("")
def account_page(request: Request, course: UsedCourse, account: Allowed) -> Response:
    """Who is signed in, and what they can do."""
    return _page(request, course, account)


def _page(request: Request, course: Course, account: Account | None, code: int = 200, **more: Any) -> Response:
    person, team = person_behind(account), account if isinstance(account, Team) else None
    with course.database.reading() as session:
        term = term_of(session)
        there = members(session).get(team.id, []) if team else []
        links = invitations.open_links(session, team) if team else []
        unranked = team is not None and team.id in without_rank(session)
        left = course.settings.team_changes - (times_left(session, person) if person else 0)
    context: dict[str, Any] = {
        "person": person,
        "shown_team": team,
        "members": there,
        "links": links,
        "size": term.team_size,
        "late_days": term.late_days,
        "unranked": unranked,
        "changes_left": max(0, left),
    }
    context |= {"token": "", "link": "", "problem": "", "done": "", "team": team, **more}
    page = render(request, "course/account.html", account, local=lambda at: readable_instant(at, term.zone), **context)
    page.status_code = code
    page.headers["Cache-Control"] = "no-store"  # it may show a token
    return page


async def _act(
    request: Request,
    course: Course,
    account: Account | None,
    work: Callable[[Session], T],
    answer: Callable[[T], Response] = lambda done: RedirectResponse("/account", 303),
) -> Response:
    """Do something in a transaction, and answer; the page says what is refused."""

    def transact() -> T:
        with course.database.writing() as session:
            return work(session)

    try:
        done = await to_thread.run_sync(transact, limiter=_HASHING)
    except CourseError as error:
        return await run_in_threadpool(_page, request, course, account, 400, problem=str(error))
    return await run_in_threadpool(answer, done)


def _person_of(account: Account | None) -> Person:
    """The person who is signed in; 403 for a team's token."""
    person = person_behind(account)
    if person is None:
        raise HTTPException(403, "You are signed in with a team's token; sign in as yourself.")
    return person


# ---------------------------------------------------------------------------------------------
# Signing in


@router.get("/sign-in")
def sign_in_page(request: Request, account: Allowed) -> Response:
    """The form for a password."""
    return render(request, "course/account_sign_in.html", account, team=None, wrong=False)


@router.post("/sign-in")
async def sign_in(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Sign in with an address and a password."""
    fields = await own_form(request, shell)
    key = address_key(fields.get("email", ""))
    was_right = count_guess(request, shell, key)

    def person() -> Person | None:
        with course.database.reading() as session:
            return passwords.authenticate_person(session, key, fields.get("password", ""))

    found = await to_thread.run_sync(person, limiter=_HASHING)
    if found is None:
        page = await run_in_threadpool(
            lambda: render(request, "course/account_sign_in.html", account, team=None, wrong=True)
        )
        page.status_code = 401
        return page
    was_right()
    response = await run_in_threadpool(begin, request, course, found)
    remember_browser(request, response, shell, key)
    return response


def begin(request: Request, course: Course, person: Person) -> Response:
    """Begin a person's session, which replaces the browser's previous one."""
    if value := request.cookies.get(SESSION):
        sessions.end(course.database, value)
    seconds = int(course.settings.session_days * 86400)
    value = sessions.begin(course.database, person, seconds)
    response = RedirectResponse("/account" if person.role == STUDENT else "/course/desk", 303)
    set_cookie(request, response, SESSION, value, seconds)
    return response


@router.get("/join")
def join_page(request: Request, account: Allowed) -> Response:
    """The form for a link's code, which the page takes from behind the ``#`` of its address."""
    return _join_page(request, account)


def _join_page(request: Request, account: Account | None, problem: str = "", **given: str) -> Response:
    person = person_behind(account)
    context: dict[str, Any] = {"person": person, "problem": problem, "name": "", "email": "", **given}
    page = render(request, "course/account_join.html", account, team=None, **context)
    page.status_code = 400 if problem else 200
    page.headers["Cache-Control"] = "no-store"
    return page


@router.post("/join")
async def join(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Use a link."""
    fields = await own_form(request, shell)
    who, name, email = person_behind(account), fields.get("name", ""), fields.get("email", "")

    def work() -> Person:
        with course.database.writing() as session:
            current = session.get(Person, who.id) if who else None
            before = revision(session)
            used = invitations.use(session, fields.get("code", ""), current, name, email)
            if revision(session) != before:  # the link did more than sign in
                settle_if_graded(session, course.storage.data, "somebody has used a link")
            return used

    try:
        person = await run_in_threadpool(work)
    except CourseError as error:
        count_wrong_secret(request, shell)
        told = str(error)
        return await run_in_threadpool(lambda: _join_page(request, account, told, name=name, email=email))
    return await run_in_threadpool(begin, request, course, person)


@router.post("/password")
async def password(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Set the password; all other browsers are signed out."""
    fields = await own_form(request, shell)
    person = _person_of(account)
    was_right = count_guess(request, shell, person.key)

    def work(session: Session) -> Person:
        current = session.get_one(Person, person.id)
        passwords.set_password(session, current, fields.get("password", ""), fields.get("former", ""))
        note(session, current.email, "password")
        return current

    response = await _act(request, course, account, work, lambda current: begin(request, course, current))
    if response.status_code == 303:  # it was not refused
        was_right()
        remember_browser(request, response, shell, person.key)
    return response


# ---------------------------------------------------------------------------------------------
# The team


@router.post("/team")
async def make_team(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Make a team; the page shows its token, once."""
    fields = await own_form(request, shell)
    person = _person_of(account)

    def work(session: Session) -> tuple[Team, str]:
        return self_service.make_team(session, session.get_one(Person, person.id), fields.get("name", ""))

    def show(made: tuple[Team, str]) -> Response:
        team = as_member(made[0], person)
        return _page(request, course, team, token=made[1], done=f"{team.name} is made.")

    return await _act(request, course, account, work, show)


@router.post("/leave")
async def leave(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Leave the team."""
    await own_form(request, shell)
    person = _person_of(account)

    def work(session: Session) -> None:
        self_service.leave_team(session, session.get_one(Person, person.id), course.settings.team_changes)
        settle_if_graded(session, course.storage.data, "somebody has left a team")

    return await _act(request, course, account, work)


@router.post("/token")
async def renew_token(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Give the team a new token; the page shows it, once."""
    await own_form(request, shell)
    person = _person_of(account)

    def work(session: Session) -> tuple[Team, str]:
        return self_service.renew_token(session, session.get_one(Person, person.id))

    def show(made: tuple[Team, str]) -> Response:
        return _page(request, course, as_member(made[0], person), token=made[1])

    return await _act(request, course, account, work, show)


def _by(account: Account | None) -> str:
    person = person_behind(account)
    assert account is not None
    return person.email if person else f"team {account.name}"


@router.post("/invite")
async def invite(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Make a link into the team; the page shows it, once."""
    await own_form(request, shell)
    assert isinstance(account, Team)
    by, number = _by(account), account.id

    def work(session: Session) -> str:
        return invitations.invite(session, by, session.get_one(Team, number), of_team=True)

    def show(code: str) -> Response:
        link = f"{str(request.base_url).rstrip('/')}{invitations.PAGE}#{code}"
        return _page(request, course, account, link=link)

    return await _act(request, course, account, work, show)


@router.post("/revoke")
async def revoke(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed) -> Response:
    """Make a link of the team unusable."""
    fields = await own_form(request, shell)
    assert isinstance(account, Team)
    by, team, given = _by(account), account.id, fields.get("number", "")
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0

    def work(session: Session) -> None:
        invitations.revoke(session, by, number, session.get_one(Team, team))

    return await _act(request, course, account, work)
