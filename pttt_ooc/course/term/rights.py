"""Who may do what on the pages of a term: one table, which all their addresses follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends, HTTPException, Request

from pttt_ooc.course.accounts import Staff
from pttt_ooc.course.models import Team
from pttt_ooc.course.term.tables import ASSISTANT, INSTRUCTOR
from pttt_ooc.web.accounts import known_bearer, signed_in
from pttt_ooc.web.shell import Account, UsedShell

NOBODY, TEAM = "nobody", "team"
EVERYBODY = frozenset({NOBODY, TEAM, ASSISTANT, INSTRUCTOR})
STAFF = frozenset({ASSISTANT, INSTRUCTOR})

RIGHTS: Mapping[tuple[str, str], frozenset[str]] = {
    ("GET", "/course"): EVERYBODY,
    ("GET", "/course/announcements.atom"): EVERYBODY,
    ("POST", "/course/reports/{name}"): frozenset({TEAM}),
    ("GET", "/course/reports/{number}"): frozenset({TEAM, *STAFF}),
    ("POST", "/course/picks/{name}"): frozenset({TEAM}),
    ("POST", "/api/course/picks/{name}"): frozenset({TEAM}),
    ("GET", "/course/own/{name}"): frozenset({TEAM}),
    ("POST", "/course/pairs"): frozenset({TEAM}),
    ("GET", "/course/pairs/{number}"): frozenset({TEAM, *STAFF}),
    ("GET", "/course/parts/pairs/{number}"): frozenset({TEAM, *STAFF}),
    ("POST", "/api/course/pairs"): frozenset({TEAM}),
    ("GET", "/api/course/pairs/{number}"): frozenset({TEAM, *STAFF}),
    ("GET", "/course/desk"): STAFF,
    ("GET", "/course/desk/teams/{number}"): STAFF,
    ("GET", "/course/desk/log"): STAFF,
    ("GET", "/course/desk/grades"): STAFF,
    ("POST", "/course/desk/mark"): STAFF,
    ("POST", "/course/desk/adjust"): frozenset({INSTRUCTOR}),
    ("POST", "/course/desk/extend"): frozenset({INSTRUCTOR}),
    ("POST", "/course/desk/release"): frozenset({INSTRUCTOR}),
    ("POST", "/course/desk/announce"): frozenset({INSTRUCTOR}),
    ("GET", "/course/desk/submissions"): STAFF,
    ("GET", "/course/desk/rejudgements/{number}"): STAFF,
    ("GET", "/course/desk/parts/rejudgements/{number}"): STAFF,
    ("GET", "/course/desk/assignments/{name}/submissions.zip"): STAFF,
    ("GET", "/course/desk/bots/{number}"): STAFF,
    ("GET", "/course/desk/similar"): STAFF,
    ("POST", "/course/desk/rejudge"): frozenset({INSTRUCTOR}),
    ("POST", "/course/desk/rule"): frozenset({INSTRUCTOR}),
    ("POST", "/course/desk/disqualify"): frozenset({INSTRUCTOR}),
    ("GET", "/api/course"): EVERYBODY,
    ("GET", "/api/course/grades"): frozenset({TEAM}),
    ("POST", "/api/course/reports/{name}"): frozenset({TEAM}),
}
"""For each method and address, who may use it.  A team sees its own grades and reports only."""


def role_of(account: Account | None) -> str:
    """What somebody is in the table."""
    if isinstance(account, Staff):
        return account.role
    return TEAM if isinstance(account, Team) else NOBODY


async def _allowed(request: Request, shell: UsedShell) -> Account | None:
    """Who asks, if the table allows it; 401 for nobody, 403 for others."""
    is_program = request.url.path.startswith("/api/")
    account = known_bearer(request, shell) if is_program else await signed_in(request)
    request.state.account = account
    allowed = RIGHTS[request.method, request.scope["route"].path]
    if role_of(account) in allowed:
        return account
    if account is None:
        raise HTTPException(401, "Sign in first: this page is not for everybody.")
    raise HTTPException(403, f"This is for {' and '.join(sorted(f'{role}s' for role in allowed))} only.")


Allowed = Annotated[Account | None, Depends(_allowed)]
"""Who asks; the request is refused unless :data:`RIGHTS` allows it."""
