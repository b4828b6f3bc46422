"""What handlers of all kinds of submissions share: who asks, numbers in addresses, parts of pages that are renewed."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Annotated, Any, TypeVar

from fastapi import Depends, HTTPException, Path, Request
from fastapi.responses import FileResponse
from sqlalchemy import ColumnElement, true
from sqlalchemy.orm import Session

from pttt_ooc.course.data.assignments import veil
from pttt_ooc.course.data.models import Judged, Team
from pttt_ooc.course.data.standings import is_shown
from pttt_ooc.course.people.accounts import Staff
from pttt_ooc.site.service.pulse import read_sign
from pttt_ooc.site.shell.accounts import bearer, signed_in
from pttt_ooc.site.shell.shell import Account


def _team_of_token(account: Annotated[Account, Depends(bearer)]) -> Team:
    if not isinstance(account, Team):
        raise HTTPException(403, "This is for teams; your token is of a person with rights.")
    return account


def _team_signed_in(request: Request, account: Annotated[Account | None, Depends(signed_in)]) -> Team | None:
    request.state.account = account
    return account if isinstance(account, Team) else None


def needed_team(request: Request, team: Team | None, otherwise: str) -> Team:
    """The team that is signed in; 401 with the sentence `otherwise` for nobody, 403 for somebody who is in none."""
    if team is None and reader(request, team) is None:
        raise HTTPException(401, otherwise)
    if team is None:
        raise HTTPException(403, "This is for teams, and who is signed in here is in none.")
    return team


Bearer = Annotated[Team, Depends(_team_of_token)]
"""The team of a program's token."""

Signed = Annotated[Team | None, Depends(_team_signed_in)]
"""The team that is signed in; None also for people with rights."""

Number = Annotated[int, Path(ge=1, lt=1 << 31)]


def reader(request: Request, team: Team | None) -> Account | None:
    """Who is signed in, for the head of the page: a team, or somebody with rights."""
    account: Account | None = team or getattr(request.state, "account", None)
    return account


def shown_to(session: Session, account: Account | None) -> ColumnElement[bool]:
    """The condition for a submission to be shown to somebody; people with rights see all of them."""
    if isinstance(account, Staff):
        return true()
    return is_shown(veil(session), account.id if account else None)


def check_shown(session: Session, found: Judged, account: Account | None) -> None:
    """404 if a submission is hidden from somebody, by a ruling or until the standings are unveiled."""
    until = veil(session)
    own = isinstance(account, Staff) or (account is not None and account.id == found.team_id)
    if found.ruling and not own:
        raise HTTPException(404, f"There is no submission {found.id}.")
    if until is not None and found.counts_from > until and not own:
        raise HTTPException(404, f"Submission {found.id} is shown to its own team only until standings are unveiled.")


# ---------------------------------------------------------------------------------------------
# Verdicts: shown to the submission's team, and to people with rights


Row = TypeVar("Row", bound=Judged)


def own_or_any(found: Row | None, account: Account | None, what: str) -> Row:
    """A submission for its team, or any for people with rights; the same 404 for another team's as for none.

    Parameters
    ----------
    what
        The submission in words, such as "agent 3 of yours in rows".
    """
    own = found is not None and account is not None and account.id == found.team_id
    if found is None or not (own or isinstance(account, Staff)):
        raise HTTPException(404, f"There is no {what}.")
    return found


def under_way(row: Judged, place: int | None, pulse: FilePath) -> dict[str, Any]:
    """How far a verdict is, for its page: ``place`` in the queue, ``sign`` of life of the worker, and the ``stamp``."""
    sign = read_sign(pulse)
    stamp = f"{row.changed_at:.3f}-{place}-{row.ruling}-{sign.alive}-{bool(sign.waits_for)}"
    return {"place": place, "sign": sign, "stamp": stamp}


def as_handed_in(file: FilePath, what: str, name: str, media_type: str) -> FileResponse:
    """A file as it was handed in; 404 if it is lost."""
    if not file.is_file():
        raise HTTPException(404, f"The file of {what} is lost; tell the instructors.")
    return FileResponse(file, media_type=media_type, filename=name)
