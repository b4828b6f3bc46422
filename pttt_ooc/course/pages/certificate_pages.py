"""The certificate of a team's two best strategies: a part of a page, and addresses for programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi import Path as InPath
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse

from pttt_ooc.course.data import standings
from pttt_ooc.course.data.limits import SubmissionError
from pttt_ooc.course.data.models import Team
from pttt_ooc.course.pages.context import Bearer, Course, Number, Signed, UsedCourse, game_course, needed_team
from pttt_ooc.course.pages.schemas import CertificateOut
from pttt_ooc.course.people.rights import Allowed
from pttt_ooc.course.strategies.certificates import MADE, Certificates, PairCertificate, pair_of
from pttt_ooc.games.rules.catalogue import EXACT_VALUES
from pttt_ooc.site.shell.forms import own_form
from pttt_ooc.site.shell.rendering import render
from pttt_ooc.site.shell.schemas import ErrorOut
from pttt_ooc.site.shell.shell import UsedShell

Game = Annotated[str, InPath(pattern=r"^[a-z][a-z0-9-]{0,59}$")]
_REFUSALS: dict[int | str, dict[str, object]] = {
    404: {"model": ErrorOut, "description": "This course makes no certificates, or this one is not made."},
    409: {"model": ErrorOut, "description": "The team has no accepted strategy for one of the players."},
}


def certificate_of(course: Course, team: Team, ask: bool = False) -> PairCertificate:
    """The certificate of a team's best pair.

    Parameters
    ----------
    ask
        Whether to ask for it if it is not there.

    Raises
    ------
    SubmissionError
        If the team has no best pair, or the course makes no certificates.
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
    """What the team's page, or the page of a `further` game, shows of its certificate."""
    base, part = (f"/games/{course.settings.game}", "") if further else (f"/teams/{team.id}", "/parts")
    context: dict[str, object] = {
        "most": course.settings.certificate_infosets,
        "certificate": None,
        "stamp": "none",
        "certificate_at": f"{base}/certificate",
        "certificate_part": f"{part}{base}/certificate" if part else f"{base}/certificate/part",
    }
    try:
        found = certificate_of(course, team)
    except SubmissionError:
        return context
    value = EXACT_VALUES.get(course.settings.game)
    losses = None if value is None else [found.exploitability(player, value) for player in (0, 1)]
    return {**context, "certificate": found, "stamp": found.stamp, "losses": losses}


def _send_certificate(course: Course, team: Team) -> FileResponse:
    """The file of the certificate of a team's best pair; 404 if there is none."""
    found = certificate_of(course, team)
    if found.state != MADE:
        raise HTTPException(404, "There is no certificate of your two best strategies yet.")
    path = Certificates(course.storage.certificates).file(found.pair)
    return FileResponse(path, media_type="application/gzip", filename="certificate.txt.gz")


# ---------------------------------------------------------------------------------------------
# Whose certificate an address means: a team's in the course's own game, or in a further one that of the team that asks

Owned = tuple[Course, Team]


def _of_team(request: Request, course: UsedCourse, team: Signed, number: Number) -> Owned:
    team = needed_team(request, team, "Only the members of a team can see its certificate; sign in.")
    if team.id != number:
        raise HTTPException(403, "Only the team itself can have this certificate: it contains both strategies.")
    return course, team


def _of_bearer(course: UsedCourse, team: Bearer) -> Owned:
    return course, team


def _of_game(course: UsedCourse, account: Allowed, game: Game) -> Owned:
    assert isinstance(account, Team)  # as the table of rights says
    return game_course(course, game), account


def _routes(base: str, part: str, to: str, own: Callable[..., Owned]) -> APIRouter:
    """The addresses of pages.

    Parameters
    ----------
    base, part
        The address of the certificate, and of the part of a page.
    to
        The page that has the part.
    own
        Finds the course and the team.
    """
    router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)
    owned, further = Depends(own), own is _of_game

    @router.post(base)
    async def ask_for(request: Request, shell: UsedShell, used: Any = owned) -> Response:
        """Ask for the certificate of the team's best pair."""
        course, team = used
        await own_form(request, shell)
        await run_in_threadpool(certificate_of, course, team, ask=True)
        return RedirectResponse(to.format(team=team.id, game=course.settings.game), 303)

    @router.get(part)
    def certificate_part(request: Request, used: Any = owned) -> Response:
        """The part of the page, if it has changed."""
        course, team = used
        context = {**shown_certificate(course, team, further), "shown": team, "team": team}
        return render(request, "course/parts/certificate.html", team, **context)

    @router.get(f"{base}.txt.gz", response_class=FileResponse)
    def download(used: Any = owned) -> FileResponse:
        """The certificate of the team's best pair."""
        return _send_certificate(*used)

    return router


def _programs(base: str, summary: str, own: Callable[..., Owned]) -> APIRouter:
    """The addresses for programs."""
    router, owned = APIRouter(prefix=base), Depends(own)

    @router.get("", summary=f"{summary}The certificate of your best pair", responses=_REFUSALS)
    def certificate_facts(used: Any = owned) -> CertificateOut:
        """Whether the certificate of your two best strategies is made, and what it proves."""
        return CertificateOut.of(certificate_of(*used))

    @router.post("", summary=f"{summary}Ask for the certificate", status_code=202, responses=_REFUSALS)
    def ask_for_certificate(used: Any = owned) -> CertificateOut:
        """Have the certificate of your two best strategies made."""
        return CertificateOut.of(certificate_of(used[0], used[1], ask=True))

    @router.get("/file", summary=f"{summary}Download it", response_class=FileResponse, responses=_REFUSALS)
    def certificate_file(used: Any = owned) -> FileResponse:
        """The certificate of your two best strategies, a gzip file."""
        return _send_certificate(*used)

    return router


_AT = "/certificate"
router = _routes(f"/teams/{{number}}{_AT}", f"/parts/teams/{{number}}{_AT}", "/teams/{team}#certificate", _of_team)
programs = _programs(f"/api{_AT}", "", _of_bearer)
game_router = _routes(f"/games/{{game}}{_AT}", f"/games/{{game}}{_AT}/part", "/games/{game}#certificate", _of_game)
game_programs = _programs(f"/api/games/{{game}}{_AT}", "Further game: ", _of_game)
