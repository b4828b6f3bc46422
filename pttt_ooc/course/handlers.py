"""What handlers of all kinds of submissions share: who asks, numbers in addresses, parts of pages that are renewed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, HTTPException, Path, Query, Request, Response
from sqlalchemy import ColumnElement, true
from sqlalchemy.orm import Session

from pttt_ooc.course.accounts import Staff
from pttt_ooc.course.models import Judged, Team
from pttt_ooc.course.standings import is_shown
from pttt_ooc.course.term.assignments import veil
from pttt_ooc.web.accounts import bearer, signed_in
from pttt_ooc.web.rendering import render
from pttt_ooc.web.shell import Account


def _team_of_token(account: Annotated[Account, Depends(bearer)]) -> Team:
    if not isinstance(account, Team):
        raise HTTPException(403, "This is for teams; your token is of a person with rights.")
    return account


def _team_signed_in(request: Request, account: Annotated[Account | None, Depends(signed_in)]) -> Team | None:
    request.state.account = account
    return account if isinstance(account, Team) else None


Bearer = Annotated[Team, Depends(_team_of_token)]
"""The team of a program's token."""

Signed = Annotated[Team | None, Depends(_team_signed_in)]
"""The team that is signed in; None also for people with rights."""

Number = Annotated[int, Path(ge=1, lt=1 << 31)]
Seen = Annotated[str, Query(max_length=80)]
"""The stamp of what the page shows."""

UNCHANGED = 204


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


def renewed(request: Request, template: str, team: Team | None, context: dict[str, Any], seen: str) -> Response:
    """A part of a page, if its ``stamp`` is no longer the one that was `seen`."""
    if context["stamp"] == seen:
        return Response(status_code=UNCHANGED)
    return render(request, template, reader(request, team), **{"team": team, **context})
