"""What handlers of all kinds of submissions share: who asks, numbers in addresses, parts of pages that are renewed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request, Response

from pttt_ooc.course.models import Team
from pttt_ooc.web.accounts import bearer, signed_in
from pttt_ooc.web.rendering import render

Bearer = Annotated[Team, Depends(bearer)]
Signed = Annotated[Team | None, Depends(signed_in)]
Number = Annotated[int, Path(ge=1, lt=1 << 31)]
Seen = Annotated[str, Query(max_length=40)]
"""The stamp of what the page shows."""

UNCHANGED = 204


def renewed(request: Request, template: str, team: Team | None, context: dict[str, Any], seen: str) -> Response:
    """A part of a page, if its ``stamp`` is no longer the one that was `seen`."""
    if context["stamp"] == seen:
        return Response(status_code=UNCHANGED)
    return render(request, template, team, **{"team": team, **context})
