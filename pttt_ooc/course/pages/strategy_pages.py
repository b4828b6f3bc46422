"""The pages on strategies for the course's own game: leaderboard, matrix, submissions, teams; and what is handed out.

Parts of them are renewed while they are open.
"""

from __future__ import annotations

import time
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse, StreamingResponse
from markupsafe import Markup
from sqlalchemy.orm import Session

from pttt_ooc.course.data import queue, standings
from pttt_ooc.course.data.assignments import veil
from pttt_ooc.course.data.limits import Quota
from pttt_ooc.course.data.models import BASELINE, STATUSES, Submission, Team
from pttt_ooc.course.data.rules import STRATEGIES
from pttt_ooc.course.data.storage import KIT, LISTS, Handout
from pttt_ooc.course.grades.decisions import ruling_of
from pttt_ooc.course.pages import rankings
from pttt_ooc.course.pages.api import file_of, submission_of
from pttt_ooc.course.pages.certificate_pages import shown_certificate
from pttt_ooc.course.pages.context import (
    Course,
    Number,
    Signed,
    UsedCourse,
    check_shown,
    is_inside,
    needed_team,
    no_team,
    reader,
    scale_of,
    shown_to,
    under_way,
)
from pttt_ooc.course.pages.intakes import strategies
from pttt_ooc.course.pages.rankings import RankedGame, leaderboard_ranking
from pttt_ooc.course.pages.uploads import from_browser
from pttt_ooc.course.strategies import figures, submissions
from pttt_ooc.pipeline.show.pictures import MARKS
from pttt_ooc.site.service.pulse import read_sign
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.ranking import AskedRanking, Order
from pttt_ooc.site.shell.rendering import is_piece, is_seen, render_part, wants_part
from pttt_ooc.site.shell.rendering import render as render_page
from pttt_ooc.site.shell.shell import Account, UsedShell

Shown = dict[str, Any]
router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
PageNumber = Annotated[int, Query(ge=1, lt=1 << 20)]
TeamNumber = Annotated[int | None, Query(ge=1, lt=1 << 31)]


def render(request: Request, template: str, team: Team | None, **context: Any) -> HTMLResponse:
    """A page of the course, or a piece of one, for a reader who is signed in as `team`."""
    return render_page(request, f"course/{template}", reader(request, team), team=team, **context)


# ---------------------------------------------------------------------------------------------
# Leaderboard and matrix


@router.get("/")
@router.get("/parts/leaderboard")
async def leaderboard(request: Request, course: UsedCourse, team: Signed, query: AskedRanking) -> Response:
    """The leaderboard."""
    board = RankedGame(course, team)
    asked = leaderboard_ranking(board, query)
    part = await rankings.leaderboard(request, board, asked)
    if is_piece(request):
        return part.answer(request)
    return render(request, "leaderboard.html", team, part=part, handout=course.handout, ranking=asked)


@router.get("/matrix")
@router.get("/parts/matrix")
async def matrix(
    request: Request, course: UsedCourse, team: Signed, rows: Order = "team", columns: Order = "team"
) -> Response:
    """The head-to-head matrix."""
    part = await rankings.matrix(request, RankedGame(course, team), rows, columns)
    return part.answer(request) if is_piece(request) else render(request, "matrix.html", team, part=part)


# ---------------------------------------------------------------------------------------------
# Submissions


@router.get("/submissions")
@router.get("/parts/submissions")
def list_submissions(
    request: Request,
    course: UsedCourse,
    team: Signed,
    page: PageNumber = 1,
    of: TeamNumber = None,
    status: str | None = None,
) -> Response:
    """All submissions, and the form for a new one."""
    if is_piece(request):
        with course.database.reading() as session:
            if is_seen(request, _stamp(session, course, team)):
                return Response(status_code=204)
    shown = _list_context(course, reader(request, team), page, of, status)
    part = _submissions_part(request, team, shown)
    return HTMLResponse(part) if is_piece(request) else render(request, "submissions.html", team, **shown, part=part)


def _submissions_part(request: Request, team: Team | None, shown: Shown) -> Markup:
    """The table, which is rendered once for all who are not signed in."""
    made: dict[str, str] = shown.get("made", {})
    if "html" not in made:
        made["html"] = render_part(request, "course/parts/submissions.html", team=team, **shown)
    return Markup(made["html"])


def _stamp(session: Session, course: Course, team: Team | None) -> str:
    """A text that changes whenever a submission or the quota of `team` does."""
    left = course.quota(session, team) if team else None
    words = read_sign(course.storage.alive).words
    return f"{submissions.stamp(session)}-{veil(session) or 0:.0f}-{words}" + (
        f"-{left.hourly}-{left.daily}-{left.places}" if left else ""
    )


def _list_context(course: Course, account: Account | None, page: int, of: int | None, status: str | None) -> Shown:
    team = account if isinstance(account, Team) else None
    if status is not None and status not in STATUSES:
        raise HTTPException(400, f"There is no status {status[:40]!r}; submissions are {', '.join(STATUSES)}.")

    def make() -> Shown:
        only = session.get(Team, of) if of else None
        if of and only is None:
            raise no_team(of)
        rows = submissions.list_page(session, page, team=of, status=status, shown_if=shown_to(session, account))
        places = queue.positions(session)
        context: Shown = {"page": rows, "places": places, "of": of, "only": only, "status": status}
        return {**context, "value": course.game_value(), "made": {}}

    with course.database.reading() as session:
        stamp = _stamp(session, course, team)
        if account is None:  # what everybody sees
            revision = f"{stamp} {standings.revision(session)}"  # names of teams, and the value, change the latter
            found = course.cache.current(("listed", page, of, status), revision, make)
        else:
            found = make()
        words = read_sign(course.storage.alive).words
        return {**found, "words": words, "stamp": stamp, "quota": course.quota(session, team) if team else None}


@router.get("/submissions/{number}")
@router.get("/parts/submissions/{number}")
def one_submission(request: Request, course: UsedCourse, team: Signed, number: Number) -> Response:
    """A submission."""
    template = f"{'parts/' if is_piece(request) else ''}submission.html"
    return render(request, template, team, **_one(course, reader(request, team), number))


def _one(course: Course, account: Account | None, number: int) -> Shown:
    with course.database.reading() as session:
        found = submission_of(session, number)
        check_shown(session, found, account)
        place = queue.positions(session).get(found.id)
        ruling = ruling_of(session, STRATEGIES, found.id)
        standing = standings.place_of(session, found, veil(session))
        compared = standings.compare(session, found, veil(session), is_inside(found, account))
        history = standings.improvements(session, found.team_id, shown_if=shown_to(session, account))
    return {
        "submission": found,
        "ruling": ruling,
        "standing": standing,
        **scale_of(found, compared),
        **under_way(found, place, course.storage.alive),
        "charts": figures.charts(history, time.time()),
        "value": course.game_value(),
        "game": course.settings.rules,
        "marks": MARKS,
    }


@router.get("/submissions/{number}/file", response_class=FileResponse)
def download(request: Request, course: UsedCourse, team: Signed, number: Number) -> FileResponse:
    """The file of one of your own submissions, or of Uniform's."""
    with course.database.reading() as session:
        found = submission_of(session, number)
    return file_of(course, found, reader(request, team))


@router.post("/submissions")
async def take_in(request: Request, course: UsedCourse, shell: UsedShell, team: Signed) -> Response:
    """Take in a strategy from the form."""
    submission, new = await from_browser(request, shell, course, strategies(course), team)
    if not wants_part(request):
        return RedirectResponse(f"/submissions/{submission.id}", 303)
    left = await run_in_threadpool(_quota, course, team)
    response = render(request, "parts/received.html", team, submission=submission, new=new, quota=left)
    response.headers["HX-Trigger"] = "submissions-changed"
    return response


def _quota(course: Course, team: Team | None) -> Quota | None:
    with course.database.reading() as session:
        return course.quota(session, team) if team else None


@router.post("/submissions/{number}/play")
async def open_to_play(
    request: Request, course: UsedCourse, shell: UsedShell, team: Signed, number: Number
) -> Response:
    """Open one of the team's own submissions for everybody to play against, or close it."""
    fields = await own_form(request, shell)
    team = needed_team(request, team, "You are not signed in any more; sign in and try again.")
    opened = fields.get("open") == "yes"
    await run_in_threadpool(submissions.open_to_play, course.database, number, opened, team.id)
    return RedirectResponse(f"/submissions/{number}" if fields.get("back") != "team" else f"/teams/{team.id}", 303)


# ---------------------------------------------------------------------------------------------
# Teams, and the rest


@router.get("/teams/{number}")
def one_team(request: Request, course: UsedCourse, team: Signed, number: Number) -> Response:
    """A team, and the history of its best."""
    with course.database.reading() as session:
        found = session.get(Team, number)
        if found is None or found.house:
            raise no_team(number)
        until, own = veil(session), team is not None and team.id == found.id
        standing = next(r for r in course.leaderboard(session) if r.team.id == found.id)
        shown_if = shown_to(session, reader(request, team))
        history = standings.improvements(session, found.id, shown_if=shown_if)
        played = submissions.list_open(session, found.id)
        accepted = submissions.list_accepted(session, found.id) if own else []
        if own:
            best = [session.get(Submission, s.id) for s in standing.best if s]
            played = list({s.id: s for s in (*best, *played) if s}.values())
    charts = figures.charts(history, time.time())
    facts: Shown = {"standing": standing, "history": history, "charts": charts, "played": played, "until": until}
    facts["ours"] = [[s for s in accepted if s.player == player] for player in (0, 1)]
    facts |= {"value": course.game_value(), "own": own, **(shown_certificate(course, found) if own else {})}
    return render(request, "team.html", team, shown=found, **facts)


@router.get("/about")
def about(request: Request, course: UsedCourse, team: Signed) -> Response:
    """Rules and formats."""
    with course.database.reading() as session:
        uniform = {s.player: s for s in session.query(Submission).join(Team).where(Team.name == BASELINE)}
    context: Shown = {"game": course.settings.rules, "value": course.game_value(), "handout": course.handout}
    return render(request, "about.html", team, **context, uniform=uniform)


# ---------------------------------------------------------------------------------------------
# What the course hands out: the starter kit, and the lists of infosets
_KEPT = "no-cache"  # caches may keep it, and ask each time whether it is still the same
_MAKING = "The starter kit is being made; come back in a minute."


@router.get(f"/{KIT}")
def starter_kit(request: Request, course: UsedCourse) -> Response:
    """The starter kit."""
    kit = _kit(course.handout)
    headers = _headers(kit.revision)
    if _is_known(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return FileResponse(kit.file, media_type="application/zip", filename=KIT, headers=headers)


@router.get("/player{player}-infosets.txt")
def infosets(request: Request, course: UsedCourse, player: Annotated[int, Path(ge=0, le=1)]) -> Response:
    """A player's list of infosets, compressed for programs that take it so."""
    kit = _kit(course.handout)
    gzipped = _takes_gzip(request)
    headers = {**_headers(f"{kit.revision}-{player}{'-gzip' if gzipped else ''}"), "Vary": "Accept-Encoding"}
    if _is_known(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    size = kit.gzipped_size(player) if gzipped else kit.lists[player].file_size
    headers |= {"Content-Length": str(size), "Content-Disposition": f'attachment; filename="{LISTS[player]}"'}
    headers |= {"Content-Encoding": "gzip"} if gzipped else {}
    content = kit.gzip_text(player) if gzipped else kit.text(player)
    return StreamingResponse(content, media_type="text/plain; charset=us-ascii", headers=headers)


def _kit(found: Handout | None) -> Handout:
    if found is None:
        raise HTTPException(503, _MAKING, {"Retry-After": "60"})
    return found


def _headers(tag: str) -> dict[str, str]:
    return {"ETag": f'"{tag}"', "Cache-Control": _KEPT}


def _is_known(request: Request, tag: str) -> bool:
    """Whether the browser has this file already."""
    known = [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]
    return tag in known or "*" in known


def _takes_gzip(request: Request) -> bool:
    for one in request.headers.get("accept-encoding", "").lower().split(","):
        name, _, parameters = one.partition(";")
        if name.strip() in ("gzip", "*"):
            weight = parameters.replace(" ", "").removeprefix("q=")
            return weight.strip("0.") != "" or not parameters
    return False
