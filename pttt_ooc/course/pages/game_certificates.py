"""Certificates of a team's two best strategies in a further game: a part of the game's page, and addresses."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse

from pttt_ooc.course.data.models import Team
from pttt_ooc.course.pages.certificate_pages import certificate_of, certificate_sent, shown_certificate
from pttt_ooc.course.pages.context import UsedCourse
from pttt_ooc.course.pages.game_intake import game_course
from pttt_ooc.course.pages.schemas import CertificateOut
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.rendering import render
from pttt_ooc.site.shell.shell import Account, UsedShell

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False, prefix="/games")
programs = APIRouter(prefix="/api/games")
Game = Annotated[str, Path(pattern=r"^[a-z][a-z0-9-]{0,59}$")]


def _team(account: Account | None) -> Team:
    assert isinstance(account, Team)  # as the table of rights says
    return account


@router.post("/{game}/certificate")
async def ask_for(request: Request, course: UsedCourse, shell: UsedShell, account: Allowed, game: Game) -> Response:
    """Ask for the certificate of the team's best pair."""
    await own_form(request, shell)
    own = await run_in_threadpool(game_course, course, game)
    await run_in_threadpool(certificate_of, own, _team(account), ask=True)
    return RedirectResponse(f"/games/{game}#certificate", 303)


@router.get("/{game}/certificate/part")
def part(request: Request, course: UsedCourse, account: Allowed, game: Game) -> Response:
    """The part of the game's page, if it has changed."""
    context: dict[str, Any] = shown_certificate(game_course(course, game), _team(account), further=True)
    return render(request, "course/parts/certificate.html", account, **context)


@router.get("/{game}/certificate.txt.gz")
def download(course: UsedCourse, account: Allowed, game: Game) -> FileResponse:
    """The certificate of the team's best pair."""
    return certificate_sent(game_course(course, game), _team(account))


@programs.get("/{game}/certificate", summary="Further game: the certificate of your best pair")
def facts(course: UsedCourse, account: Allowed, game: Game) -> CertificateOut:
    """Whether the certificate of your two best strategies is made, and what it proves."""
    return CertificateOut.of(certificate_of(game_course(course, game), _team(account)))


@programs.post("/{game}/certificate", summary="Further game: ask for the certificate", status_code=202)
def ask_by_program(course: UsedCourse, account: Allowed, game: Game) -> CertificateOut:
    """Have the certificate of your two best strategies made."""
    return CertificateOut.of(certificate_of(game_course(course, game), _team(account), ask=True))


@programs.get("/{game}/certificate/file", summary="Further game: download it", response_class=FileResponse)
def file(course: UsedCourse, account: Allowed, game: Game) -> FileResponse:
    """The certificate of your two best strategies, a gzip file."""
    return certificate_sent(game_course(course, game), _team(account))
