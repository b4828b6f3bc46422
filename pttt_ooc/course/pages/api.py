"""The JSON interface, under ``/api``."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse
from sqlalchemy.orm import Session

from pttt_ooc.course.data import queue, standings
from pttt_ooc.course.data.assignments import veil
from pttt_ooc.course.data.models import BASELINE, STATUSES, Submission
from pttt_ooc.course.pages.context import Bearer, Number, UsedCourse, check_shown, no_team, shown_to
from pttt_ooc.course.pages.intakes import strategies
from pttt_ooc.course.pages.schemas import (
    CourseOut,
    ImprovementOut,
    MatrixOut,
    ReceivedOut,
    StandingOut,
    SubmissionOut,
    SubmissionsOut,
)
from pttt_ooc.course.pages.uploads import form_schema, from_program
from pttt_ooc.course.people import teams
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.course.strategies import submissions
from pttt_ooc.site.service.pulse import read_sign
from pttt_ooc.site.shell.accounts import known_bearer, missing_token
from pttt_ooc.site.shell.schemas import ErrorOut, moment
from pttt_ooc.site.shell.shell import Account, UsedShell

router = APIRouter(prefix="/api")
TeamName = Annotated[str | None, Query(max_length=200, pattern=r"^[^\x00]*$")]  # PostgreSQL takes no NUL
_REFUSALS: dict[int | str, dict[str, object]] = {
    400: {"model": ErrorOut, "description": "The form is incomplete or damaged."},
    401: {"model": ErrorOut, "description": "No token, or one that is not known."},
    408: {"model": ErrorOut, "description": "The body has stopped, or is too slow."},
    413: {"model": ErrorOut, "description": "The file is too large."},
    415: {"model": ErrorOut, "description": "The body is no multipart form."},
    429: {"model": ErrorOut, "description": "The team, or your address, has reached a limit; see Retry-After."},
    507: {"model": ErrorOut, "description": "The course's disk is full."},
}
_FORM = form_schema(
    "A zip with one .npy.", player={"type": "integer", "enum": [0, 1], "description": "Comes before the file."}
)


@router.get("", summary="The course")
def course_facts(course: UsedCourse) -> CourseOut:
    """Game, shapes of the tensors, limits."""
    value, settings = course.game_value(), course.settings
    return CourseOut(
        game=settings.game,
        shapes=(settings.shape(0), settings.shape(1)),
        game_value=value.interval if value else None,
        max_upload_bytes=settings.max_upload_bytes,
        submissions_per_hour=settings.submissions_per_hour,
        submissions_per_day=settings.submissions_per_day,
        waiting_per_team=settings.waiting_per_team,
    )


@router.get("/leaderboard", summary="Leaderboard")
def leaderboard(course: UsedCourse) -> list[StandingOut]:
    """All teams with their best strategies, the smallest sum of exploitabilities first."""
    with course.database.reading() as session:
        return [StandingOut.of(row) for row in course.leaderboard(session)]


@router.get("/history", summary="Improvements")
def history(
    course: UsedCourse, team: TeamName = None, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> list[ImprovementOut]:
    """The submissions that were their team's best when they were judged, latest first."""
    with course.database.reading() as session:
        shown_if = standings.is_shown(veil(session), None)
        steps = standings.improvements(session, _team(session, team), limit, shown_if)
    return [
        ImprovementOut(
            team=s.team.name,
            player=s.player,
            submission=s.id,
            finished_at=moment(s.finished_at),
            exploitability=standings.clip_exploitability(s.exploitability) or 0.0,
            before=standings.clip_exploitability(s.before),
        )
        for s in steps
    ]


@router.get("/matrix", summary="Head-to-head matrix")
def matrix(course: UsedCourse) -> MatrixOut:
    """Value for player 0 of every team's best strategy as player 0 against every team's best as player 1."""
    with course.database.reading() as session:
        return MatrixOut.of(standings.matrix(session, veil(session)))


@router.get("/submissions", summary="Submissions", responses={404: {"model": ErrorOut}})
def list_submissions(
    request: Request,
    shell: UsedShell,
    course: UsedCourse,
    page: Annotated[int, Query(ge=1, lt=1 << 20)] = 1,
    size: Annotated[int, Query(ge=1, le=100)] = 25,
    team: TeamName = None,
    status: Annotated[str | None, Query(pattern=f"^({'|'.join(STATUSES)})$")] = None,
) -> SubmissionsOut:
    """All submissions, latest first, a page at a time; while standings are frozen, newer ones are only your own."""
    account = known_bearer(request, shell)
    with course.database.reading() as session:
        shown_if = shown_to(session, account)
        listed = submissions.list_page(session, page, size, _team(session, team), status, shown_if)
        places = queue.positions(session)
    sign = read_sign(course.storage.alive)
    rows = [SubmissionOut.of(s, places.get(s.id), sign=sign) for s in listed.rows]
    return SubmissionsOut(submissions=rows, page=listed.number, pages=listed.pages, total=listed.total)


@router.get("/submissions/{number}", summary="A submission", responses={404: {"model": ErrorOut}})
def one_submission(request: Request, shell: UsedShell, course: UsedCourse, number: Number) -> SubmissionOut:
    """One submission, with its place in the queue while it waits; see the list for frozen standings."""
    return _one(course, known_bearer(request, shell), number)


def _one(course: UsedCourse, account: Account | None, number: int) -> SubmissionOut:
    with course.database.reading() as session:
        found = submission_of(session, number)
        check_shown(session, found, account)
        place = standings.place_of(session, found, veil(session))
        compared, sign = standings.compare(session, found, veil(session)), read_sign(course.storage.alive)
        return SubmissionOut.of(found, queue.positions(session).get(found.id), place, compared, sign)


@router.post("/submissions", summary="Submit", status_code=201, responses=_REFUSALS, openapi_extra=_FORM)
async def take_in(request: Request, response: Response, course: UsedCourse, team: Bearer) -> ReceivedOut:
    """Submit a strategy: a zip with one .npy file, streamed; 200 if the very same file was submitted before."""
    submission, new = await from_program(request, response, course, strategies(course), team)
    result = await run_in_threadpool(_one, course, team, submission.id)
    return ReceivedOut(submission=result, duplicate=not new)


@router.get(
    "/submissions/{number}/file",
    summary="Download a submission",
    response_class=FileResponse,
    responses={401: {"model": ErrorOut}, 403: {"model": ErrorOut}, 404: {"model": ErrorOut}},
)
def download(request: Request, shell: UsedShell, course: UsedCourse, number: Number) -> FileResponse:
    """The file of one of your own submissions, by your token, or of Uniform's, which is for everybody."""
    team = known_bearer(request, shell)
    with course.database.reading() as session:
        found = submission_of(session, number)
    if team is None and found.team.name != BASELINE:
        raise missing_token()
    return file_of(course, found, team)


def file_of(course: UsedCourse, found: Submission, team: Account | None) -> FileResponse:
    """The file of a submission, if `team` may download it; people with rights may download all."""
    own = isinstance(team, Staff) or (team is not None and team.id == found.team_id)
    if found.team.name != BASELINE and not own:
        raise HTTPException(403, "Only the team that submitted this file can download it.")
    name = f"pttt_pl{found.player}-{found.id}.zip"
    return FileResponse(course.storage.upload(found.file), media_type="application/zip", filename=name)


def submission_of(session: Session, number: int) -> Submission:
    """A submission by its number; 404 if there is none."""
    found = session.get(Submission, number)
    if found is None:
        raise HTTPException(404, f"There is no submission {number}.")
    return found


def _team(session: Session, name: str | None) -> int | None:
    if name is None:
        return None
    row = teams.public_team(session, name)
    if row is None:
        raise no_team(name)
    return row.id
