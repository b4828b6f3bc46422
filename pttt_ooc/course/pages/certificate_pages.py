"""The certificate of a team's two best strategies: a part of the team's page, and addresses for programs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.limits import SubmissionError
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.pages.context import Course, UsedCourse
from pttt_ooc.course.pages.handlers import Bearer, Number, Signed, needed_team
from pttt_ooc.course.pages.schemas import CertificateOut
from pttt_ooc.course.strategies.certificates import MADE, Certificates, PairCertificate, pair_of
from pttt_ooc.games.rules.catalogue import EXACT_VALUES
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.rendering import render
from pttt_ooc.site.shell.schemas import ErrorOut
from pttt_ooc.site.shell.shell import UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
programs = APIRouter(prefix="/api")
_REFUSALS: dict[int | str, dict[str, object]] = {
    404: {"model": ErrorOut, "description": "This course makes no certificates, or this one is not made."},
    409: {"model": ErrorOut, "description": "The team has no accepted strategy for one of the players."},
}


def certificate_of(course: Course, team: Team, ask: bool = False) -> PairCertificate:
    """The certificate of a team's best pair.

    Parameters
    ----------
    ask
        Whether to ask for it, unless it is there.

    Raises
    ------
    SubmissionError
        If the team has no best pair, or there are no certificates.
    """
    with course.database.reading() as session:
        standing = next((row for row in standings.leaderboard(session) if row.team.id == team.id), None)
    if standing is None:
        raise SubmissionError(f"The team {team.name} was removed.", 404)
    pair, certificates = (
        pair_of(standing, course.settings.certificate_infosets),
        Certificates(course.storage.certificates),
    )
    return certificates.ask(pair) if ask else certificates.find(pair)


def shown_certificate(course: Course, team: Team, further: bool = False) -> dict[str, object]:
    """What the team's page shows of it, or the page of a `further` game."""
    context: dict[str, object] = {"most": course.settings.certificate_infosets, "certificate": None, "stamp": "none"}
    at, part = f"/teams/{team.id}/certificate", f"/parts/teams/{team.id}/certificate"
    if further:
        at = f"/games/{course.settings.game}/certificate"
        part = f"{at}/part"
    context |= {"certificate_at": at, "certificate_part": part}
    try:
        found = certificate_of(course, team)
    except SubmissionError:
        return context
    value = EXACT_VALUES.get(course.settings.game)
    losses = None if value is None else [found.exploitability(player, value) for player in (0, 1)]
    return {**context, "certificate": found, "stamp": found.stamp, "losses": losses}


def _own(request: Request, team: Signed, number: Number) -> Team:
    team = needed_team(request, team, "The certificate of a team is for its members; sign in.")
    if team.id != number:
        raise HTTPException(403, "Only the team itself can have this certificate: it contains both strategies.")
    return team


OwnTeam = Annotated[Team, Depends(_own)]


@router.post("/teams/{number}/certificate")
async def ask_for(request: Request, course: UsedCourse, shell: UsedShell, team: OwnTeam) -> Response:
    """Ask for the certificate of the team's best pair."""
    await own_form(request, shell)
    await run_in_threadpool(certificate_of, course, team, ask=True)
    return RedirectResponse(f"/teams/{team.id}#certificate", 303)


@router.get("/parts/teams/{number}/certificate")
def certificate_part(request: Request, course: UsedCourse, team: OwnTeam) -> Response:
    """The part of the team's page, if it has changed."""
    context = {**shown_certificate(course, team), "shown": team, "team": team}
    return render(request, "course/parts/certificate.html", team, **context)


@router.get("/teams/{number}/certificate.txt.gz", response_class=FileResponse)
def download(course: UsedCourse, team: OwnTeam) -> FileResponse:
    """The certificate of the team's best pair."""
    return certificate_sent(course, team)


@programs.get("/certificate", summary="The certificate of your best pair", responses=_REFUSALS)
def certificate_facts(course: UsedCourse, team: Bearer) -> CertificateOut:
    """Whether the certificate of your two best strategies is made, and what it proves."""
    return CertificateOut.of(certificate_of(course, team))


@programs.post("/certificate", summary="Ask for the certificate", status_code=202, responses=_REFUSALS)
def ask_for_certificate(course: UsedCourse, team: Bearer) -> CertificateOut:
    """Have the certificate of your two best strategies made."""
    return CertificateOut.of(certificate_of(course, team, ask=True))


@programs.get("/certificate/file", summary="Download it", response_class=FileResponse, responses=_REFUSALS)
def certificate_file(course: UsedCourse, team: Bearer) -> FileResponse:
    """The certificate of your two best strategies, a gzip file."""
    return certificate_sent(course, team)


def certificate_sent(course: Course, team: Team) -> FileResponse:
    """The file of the certificate of a team's best pair; 404 if there is none."""
    found = certificate_of(course, team)
    if found.state != MADE:
        raise HTTPException(404, "There is no certificate of your two best strategies yet.")
    path = Certificates(course.storage.certificates).file(found.pair)
    return FileResponse(path, media_type="application/gzip", filename="certificate.txt.gz")
